// SPDX-License-Identifier: Apache-2.0
/// Elements of A and B as f32, as an MMA finds them (PTX 9.7.16.10).
///
/// An MMA takes 32 bytes of each row, whatever the type, in two chunks of 16 bytes.  Packing of a chunk:
///   8 bits and more        elements side by side
///   kind::mxf4, mxf4nvf4   32 nibbles, even k in the low half of a byte
///   other kinds, e2m1      16 nibbles in the lower 8 bytes, then padding (tensor-map type 16U4_ALIGN16B)
///   other kinds, 6 bits    16 fields in the lower 12 bytes, lowest bits first, then padding (16U6_ALIGN16B)
/// In tensor memory 4- and 6-bit elements of those other kinds have a byte each: e2m1 in bits 5:2, e2m3 and e3m2 in
/// bits 5:0, as the register operands of the older mma do; for tensor memory that is an assumption.
#pragma once

#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/smem_descriptor.h"
#include "models/shared_memory.h"

namespace sm100::models {

inline constexpr uint32_t kOperandRowBytes = 32;  ///< of K in an MMA; of B in a sparse one twice as many
inline constexpr uint32_t kOperandColumns = 8;    ///< the same in tensor memory

/// What one operand of an MMA consists of.
struct OperandFormat {
  MmaKind kind;
  DataType type;
  Major major = Major::k;
  bool negate = false;
  uint32_t row_bytes = kOperandRowBytes;
};

/// Bytes of an element where an MN-major operand steps along K or MN; nibbles of mxf4 are never MN-major.
constexpr uint32_t container_bytes(DataType type) { return uint32_t(element_bits(type)) / 8; }

/// f(byte address) for each chunk of 16 bytes that the operand's rows consist of.
/// @param rows  of M or N in one CTA
template <class F>
void for_each_chunk(const SmemDescriptorFields& f, const OperandFormat& format, uint32_t rows, F&& body) {
  constexpr uint32_t kChunk = 16;
  const uint32_t bytes = container_bytes(format.type);
  if (format.major == Major::k) {
    for (uint32_t i = 0; i < rows; ++i)
      for (uint32_t along = 0; along < format.row_bytes; along += kChunk)
        body(operand_address(f, Major::k, 1, i, along));
  } else {
    for (uint32_t k = 0; k < format.row_bytes / bytes; ++k)
      for (uint32_t i = 0; i < rows; i += kChunk / bytes) body(operand_address(f, Major::mn, bytes, i, k));
  }
}

/// K of one MMA for `rows` rows of the operand: element (i, k) to out[i * stride + k].
void read_operand(const SharedMemory& smem, const SmemDescriptorFields& f, const OperandFormat& format, int rows,
                  float* out, int stride);

/// The same from the cells of one lane of tensor memory: k = 0 ... in `out`.
void read_operand_row(const float* cells, const OperandFormat& format, float* out);

}  // namespace sm100::models
