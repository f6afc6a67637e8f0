// SPDX-License-Identifier: Apache-2.0
// Functions of the driver that programs take from cudaGetDriverEntryPoint: tensor maps, texts of errors.
#include <cstring>
#include <string>

#include "exec/shim/device.h"
#include "kernels/isa/tensor_map.h"

using namespace sm100;
using namespace sm100::exec;
using namespace sm100::exec::abi;

extern "C" const char* cudaGetErrorString(int error);
extern "C" const char* cudaGetErrorName(int error);

namespace {

int encode_tiled(void* to, int data_type, unsigned rank, void* address, const uint64_t* dims,
                 const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave, int swizzle,
                 int l2_promotion, int oob_fill) {
  return call([&](Device& d) {
    if (!to || !dims || !box || !steps || rank == 0 || rank > kTensorMapMaxRank || (rank > 1 && !strides))
      return invalid_value;
    TensorMapFields fields;
    fields.data_type = TensorMapDataType(data_type), fields.rank = rank;
    fields.global_address = reinterpret_cast<uint64_t>(address);
    for (unsigned i = 0; i < rank; ++i) {
      fields.global_dim[i] = dims[i], fields.box_dim[i] = box[i], fields.element_stride[i] = steps[i];
      if (i + 1 < rank) fields.global_stride[i] = strides[i];
    }
    fields.interleave = TensorMapInterleave(interleave), fields.swizzle = TensorMapSwizzle(swizzle);
    fields.l2_promotion = TensorMapL2Promotion(l2_promotion), fields.oob_fill = TensorMapOobFill(oob_fill);
    if (const TensorMapError wrong = validate(fields); wrong != TensorMapError::none) {
      d.note("cuTensorMapEncodeTiled refuses this map: " + std::string(message(wrong)));
      return invalid_value;
    }
    const TensorMap map = encode(fields);
    std::memcpy(to, map.bytes, sizeof map.bytes);
    return success;
  });
}

int replace_address(void* map, void* address) {
  return call([&](Device&) {
    if (!map) return invalid_value;
    TensorMap object;
    std::memcpy(object.bytes, map, sizeof object.bytes);
    TensorMapFields fields;
    if (!decode(object, fields)) return invalid_value;
    fields.global_address = reinterpret_cast<uint64_t>(address);
    if (validate(fields) != TensorMapError::none) return invalid_value;
    const TensorMap replaced = encode(fields);
    std::memcpy(map, replaced.bytes, sizeof replaced.bytes);
    return success;
  });
}

int error_string(int error, const char** text) {
  *text = cudaGetErrorString(error);
  return success;
}
int error_name(int error, const char** text) {
  *text = cudaGetErrorName(error);
  return success;
}

struct EntryPoint {
  std::string_view name;
  void* function;
};
template <class F>
void* pointer(F* function) {
  return reinterpret_cast<void*>(function);
}

const EntryPoint kEntryPoints[] = {
    {"cuTensorMapEncodeTiled", pointer(encode_tiled)},
    {"cuTensorMapReplaceAddress", pointer(replace_address)},
    {"cuGetErrorString", pointer(error_string)},
    {"cuGetErrorName", pointer(error_name)},
};

// cudaDriverEntryPointQueryResult
constexpr int kFound = 0, kNotFound = 1;

}  // namespace

SM100_EXEC_API int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                                    int* result) {
  return call([&](Device& d) {
    if (!name || !function) return invalid_value;
    *function = nullptr;
    for (const EntryPoint& entry : kEntryPoints)
      if (entry.name == name) *function = entry.function;
    if (result) *result = *function ? kFound : kNotFound;
    if (*function) return success;
    d.note("not implemented: " + std::string(name) + " of cudaGetDriverEntryPoint");
    return result ? success : symbol_not_found;
  });
}
SM100_EXEC_API int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                           int* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 13000, flags, result);
}
