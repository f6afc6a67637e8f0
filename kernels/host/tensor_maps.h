// SPDX-License-Identifier: Apache-2.0
/// Tensor maps of row-major matrices, as the kernels' parameters need them.
#pragma once

#include "kernels/isa/tensor_map.h"

namespace sm100::host {

/// A row-major matrix of `rows` x `columns` elements at `address`; `copies` of them, one after the other, make a
/// third dimension (0: none).  `box_rows` x `box_columns` (x 1) elements move at a time.
struct MatrixMap {
  GlobalAddr address;
  TensorMapDataType type = TensorMapDataType::bfloat16;
  int rows = 0, columns = 0, copies = 0;
  int box_rows = 0, box_columns = 0;
  Swizzle swizzle = Swizzle::none;
};

/// The fields for cuTensorMapEncodeTiled.  Throws InputError where the driver would refuse them.
TensorMapFields matrix_fields(const MatrixMap& matrix);

/// A row-major matrix seen in slabs of `slab_columns`: dimensions are column in the slab, row, slab, so that a box
/// writes its slabs one after the other.  `box_slabs` 0: a plain map whose box is a slab.
struct SlabMap {
  GlobalAddr address;
  TensorMapDataType type = TensorMapDataType::bfloat16;
  int rows = 0, columns = 0;
  int box_rows = 0, slab_columns = 0, box_slabs = 0;
  Swizzle swizzle = Swizzle::none;
};
TensorMapFields slab_fields(const SlabMap& map);

}  // namespace sm100::host
