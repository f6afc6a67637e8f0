// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/launches.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace sm100::exec {

using namespace abi;

namespace {

// cudaFuncAttribute
enum FunctionAttribute : int {
  attribute_most_dynamic_smem = 8,
  preferred_carveout = 9,
  cluster_must_be_set = 10,
  required_depth = 13,
  non_portable_cluster = 14,
  scheduling_policy = 15,
};

// cudaLaunchAttributeID
enum LaunchAttributeId : int {
  ignore = 0,
  cooperative = 2,
  synchronization_policy = 3,
  cluster_dimension = 4,
  cluster_scheduling_policy = 5,
  programmatic_stream_serialization = 6,
  priority = 8,
  memory_sync_domain_map = 9,
  memory_sync_domain = 10,
  preferred_cluster_dimension = 11,
  preferred_smem_carveout = 14,
};

const char* name_of_attribute(int id) {
  switch (id) {
    case 1: return "cudaLaunchAttributeAccessPolicyWindow";
    case 7: return "cudaLaunchAttributeProgrammaticEvent";
    case 12: return "cudaLaunchAttributeLaunchCompletionEvent";
    case 13: return "cudaLaunchAttributeDeviceUpdatableKernelNode";
    case 16: return "cudaLaunchAttributeNvlinkUtilCentricScheduling";
    default: return "";
  }
}

constexpr int kSmemWithoutAsking = 48 * 1024, kPortableCluster = 8, kMostCluster = 16;

void set(uint32_t (&to)[3], const Dim3& from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

int number_of(const LaunchAttribute& attribute) {
  int value = 0;
  std::memcpy(&value, attribute.value, sizeof value);
  return value;
}

}  // namespace

Shape shape_of(const Dim3& grid, const Dim3& block, size_t dynamic_smem_bytes, const void* stream) {
  Shape shape;
  set(shape.grid, grid), set(shape.block, block);
  shape.dynamic_smem_bytes = uint32_t(std::min<size_t>(dynamic_smem_bytes, UINT32_MAX));
  shape.stream = reinterpret_cast<uint64_t>(stream);
  return shape;
}

Error read_attributes(Device& device, const LaunchAttribute* attributes, unsigned count, Shape& shape) {
  for (unsigned i = 0; i < count; ++i) {
    const LaunchAttribute& attribute = attributes[i];
    switch (attribute.id) {
      case cluster_dimension: {
        Dim3 cluster;
        std::memcpy(&cluster, attribute.value, sizeof cluster);
        set(shape.cluster, cluster), shape.cluster_stated = 1;
        break;
      }
      case cooperative: shape.cooperative = number_of(attribute) != 0; break;
      // Launches of a stream are run one after the other all the same.
      case programmatic_stream_serialization: shape.programmatic = number_of(attribute) != 0; break;
      case ignore:
      case synchronization_policy:
      case cluster_scheduling_policy:
      case priority:
      case memory_sync_domain_map:
      case memory_sync_domain:
      case preferred_cluster_dimension:
      case preferred_smem_carveout: break;
      default:
        device.note("not implemented: launch attribute " + std::to_string(attribute.id) + " " +
                    name_of_attribute(attribute.id));
        return not_supported;
    }
  }
  return success;
}

Error launch(Device& device, Function& function, Shape shape, std::vector<uint8_t> window) {
  if (const Error error = device.check(function, shape)) return error;
  Function* const launched = &function;
  return device.enqueue(reinterpret_cast<void*>(shape.stream),
                        [=, bytes = std::move(window)](Device& d) { return d.launch(*launched, shape, bytes); });
}

Error launch(Device& device, Function& function, Shape shape, void** arguments) {
  if (const Error error = device.describe(function)) return error;
  if (!arguments && !function.parameters.empty()) return invalid_value;
  return launch(device, function, shape, device.parameter_window(function, arguments));
}

Error set_attribute(Device& device, Function& function, int attribute, int value) {
  if (const Error error = device.describe(function)) return error;
  switch (attribute) {
    case attribute_most_dynamic_smem:
      if (value < 0 || uint64_t(value) + function.facts->static_smem_bytes > device.facts().smem_bytes_per_cta)
        return invalid_value;
      function.most_dynamic_smem = value;
      return success;
    case non_portable_cluster: function.non_portable_cluster = value != 0; return success;
    case preferred_carveout:
    case scheduling_policy: return success;
    default:
      if (attribute < cluster_must_be_set || attribute > required_depth) return invalid_value;
      device.note("not implemented: attribute " + std::to_string(attribute) + " of a function");
      return not_supported;
  }
}

int most_dynamic_smem(const Function& function) {
  return function.most_dynamic_smem >= 0 ? function.most_dynamic_smem
                                         : kSmemWithoutAsking - int(function.facts->static_smem_bytes);
}

int most_ctas_of_cluster(const Function& function) {
  return function.non_portable_cluster ? kMostCluster : kPortableCluster;
}

}  // namespace sm100::exec
