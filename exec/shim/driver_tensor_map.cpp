// SPDX-License-Identifier: Apache-2.0
// The driver library: tensor maps, in a format of our own.
#include <algorithm>
#include <cstring>
#include <string>

#include "exec/shim/driver.h"
#include "kernels/isa/tensor_map.h"

using namespace sm100;
using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

/// cuTensorMapEncode...: the object in a format of our own, unless a rule is broken.
Error encoded(Device& d, const char* function, const TensorMapFields& fields, void* to) {
  if (const TensorMapError wrong = validate(fields); wrong != TensorMapError::none) {
    d.note(std::string(function) + " refuses this map: " + message(wrong));
    return invalid_value;
  }
  const TensorMap map = encode(fields);
  std::memcpy(to, map.bytes, sizeof map.bytes);
  return success;
}

/// What tiled and im2col maps have in common.
TensorMapFields fields_of(int data_type, unsigned rank, void* address, const uint64_t* dims,
                          const uint64_t* strides, const uint32_t* steps, int interleave, int swizzle,
                          int l2_promotion, int oob_fill) {
  TensorMapFields fields;
  fields.data_type = TensorMapDataType(data_type), fields.rank = rank;
  fields.global_address = reinterpret_cast<uint64_t>(address);
  for (unsigned i = 0; i < rank; ++i) {
    fields.global_dim[i] = dims[i], fields.element_stride[i] = steps[i];
    if (i + 1 < rank) fields.global_stride[i] = strides[i];
  }
  fields.interleave = TensorMapInterleave(interleave), fields.swizzle = TensorMapSwizzle(swizzle);
  fields.l2_promotion = TensorMapL2Promotion(l2_promotion), fields.oob_fill = TensorMapOobFill(oob_fill);
  return fields;
}

}  // namespace

SM100_EXEC_API int cuTensorMapEncodeTiled(void* to, int data_type, unsigned rank, void* address,
                                          const uint64_t* dims, const uint64_t* strides, const uint32_t* box,
                                          const uint32_t* steps, int interleave, int swizzle, int l2_promotion,
                                          int oob_fill) {
  return driver_call_without_context([&](Device& d) {
    if (!to || !dims || !box || !steps || rank == 0 || rank > kTensorMapMaxRank || (rank > 1 && !strides))
      return invalid_value;
    TensorMapFields fields =
        fields_of(data_type, rank, address, dims, strides, steps, interleave, swizzle, l2_promotion, oob_fill);
    std::copy_n(box, rank, fields.box_dim);
    return encoded(d, "cuTensorMapEncodeTiled", fields, to);
  });
}

SM100_EXEC_API int cuTensorMapEncodeIm2col(void* to, int data_type, unsigned rank, void* address,
                                           const uint64_t* dims, const uint64_t* strides, const int* lower,
                                           const int* upper, uint32_t channels, uint32_t pixels,
                                           const uint32_t* steps, int interleave, int swizzle, int l2_promotion,
                                           int oob_fill) {
  return driver_call_without_context([&](Device& d) {
    if (!to || !dims || !strides || !lower || !upper || !steps || rank < 3 || rank > kTensorMapMaxRank)
      return invalid_value;
    TensorMapFields fields =
        fields_of(data_type, rank, address, dims, strides, steps, interleave, swizzle, l2_promotion, oob_fill);
    fields.im2col = true;
    std::fill_n(fields.box_dim, rank, 1u);
    fields.box_dim[0] = channels, fields.box_dim[1] = pixels;
    std::copy_n(lower, image_rank(fields), fields.pixel_box_lower);
    std::copy_n(upper, image_rank(fields), fields.pixel_box_upper);
    return encoded(d, "cuTensorMapEncodeIm2col", fields, to);
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
