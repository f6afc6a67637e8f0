// SPDX-License-Identifier: Apache-2.0
// The driver library: tensor maps, in a format of our own.
#include <cstring>
#include <string>

#include "exec/shim/driver.h"
#include "kernels/isa/tensor_map.h"

using namespace sm100;
using namespace sm100::exec;
using namespace sm100::exec::abi;

SM100_EXEC_API int cuTensorMapEncodeTiled(void* to, int data_type, unsigned rank, void* address,
                                          const uint64_t* dims, const uint64_t* strides, const uint32_t* box,
                                          const uint32_t* steps, int interleave, int swizzle, int l2_promotion,
                                          int oob_fill) {
  return driver_call_without_context([&](Device& d) {
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

SM100_EXEC_API int cuTensorMapReplaceAddress(void* map, void* address) {
  return driver_call_without_context([&](Device&) {
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
