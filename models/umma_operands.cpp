// SPDX-License-Identifier: Apache-2.0
#include "models/umma_operands.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "kernels/isa/number_formats.h"

namespace sm100::models {
namespace {

constexpr int kChunkBytes = 16, kMostElements = 32;

/// Values of all codes of a type of at most 8 bits.
using Codes = std::array<float, 256>;
constexpr Codes codes_of(DataType type) {
  Codes codes{};
  for (uint32_t code = 0; code < codes.size(); ++code) codes[code] = decode(type, code);
  return codes;
}
constexpr Codes kE4m3 = codes_of(DataType::e4m3), kE5m2 = codes_of(DataType::e5m2),
                kE2m3 = codes_of(DataType::e2m3), kE3m2 = codes_of(DataType::e3m2),
                kE2m1 = codes_of(DataType::e2m1), kS8 = codes_of(DataType::s8), kU8 = codes_of(DataType::u8);

const Codes& codes(DataType type) {
  switch (type) {
    case DataType::e4m3: return kE4m3;
    case DataType::e5m2: return kE5m2;
    case DataType::e2m3: return kE2m3;
    case DataType::e3m2: return kE3m2;
    case DataType::s8: return kS8;
    case DataType::u8: return kU8;
    default: return kE2m1;
  }
}

bool has_nibbles(MmaKind kind) { return kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4; }
bool has_six_bits(DataType type) { return type == DataType::e2m3 || type == DataType::e3m2; }

/// Two e2m1 of a byte, the lower nibble first.
void decode_nibbles(const uint8_t* bytes, int count, float sign, float* to) {
  for (int b = 0; b < count; ++b) {
    to[2 * b] = sign * kE2m1[bytes[b] & 0xf];
    to[2 * b + 1] = sign * kE2m1[bytes[b] >> 4];
  }
}

/// Sixteen fields of 6 bits.
void decode_six_bits(const uint8_t* bytes, const Codes& codes, float sign, float* to) {
  for (int group = 0; group < 4; ++group) {
    const uint32_t bits =
        uint32_t{bytes[3 * group]} | uint32_t{bytes[3 * group + 1]} << 8 | uint32_t{bytes[3 * group + 2]} << 16;
    for (int e = 0; e < 4; ++e) to[4 * group + e] = sign * codes[bits >> (6 * e) & 0x3f];
  }
}

template <class Bits, class Decode>
void decode_wide(const uint8_t* bytes, float sign, float* to, Decode&& decode) {
  Bits bits[kChunkBytes / sizeof(Bits)];
  std::memcpy(bits, bytes, sizeof bits);
  for (const Bits b : bits) *to++ = sign * decode(b);
}

/// Sixteen bytes of shared memory to the elements that they hold; returns how many those are.
int decode_chunk(const uint8_t* bytes, MmaKind kind, DataType type, float sign, float* to) {
  if (has_nibbles(kind)) return decode_nibbles(bytes, kChunkBytes, sign, to), 32;
  switch (type) {
    case DataType::e2m1: return decode_nibbles(bytes, kChunkBytes / 2, sign, to), 16;
    case DataType::e2m3:
    case DataType::e3m2: return decode_six_bits(bytes, codes(type), sign, to), 16;
    case DataType::bf16: return decode_wide<uint16_t>(bytes, sign, to, decode_bf16), 8;
    case DataType::f16: return decode_wide<uint16_t>(bytes, sign, to, decode_f16), 8;
    case DataType::tf32:
    case DataType::f32:
      return decode_wide<uint32_t>(bytes, sign, to, [&](uint32_t bits) { return decode(type, bits); }), 4;
    default: {
      const Codes& values = codes(type);
      for (int e = 0; e < kChunkBytes; ++e) to[e] = sign * values[bytes[e]];
      return 16;
    }
  }
}

/// Sixteen bytes of tensor memory: packed as in shared memory, but for the types that get a byte each there.
int decode_cells(const uint8_t* bytes, MmaKind kind, DataType type, float sign, float* to) {
  if (has_nibbles(kind) || !(type == DataType::e2m1 || has_six_bits(type)))
    return decode_chunk(bytes, kind, type, sign, to);
  const Codes& values = codes(type);
  const int low = type == DataType::e2m1 ? 2 : 0;
  const uint32_t mask = type == DataType::e2m1 ? 0xf : 0x3f;
  for (int e = 0; e < kChunkBytes; ++e) to[e] = sign * values[uint32_t{bytes[e]} >> low & mask];
  return 16;
}

/// K-major: every 16-byte chunk along K is contiguous, whatever the swizzle.
template <class Decode>
void read_rows(const SharedMemory& smem, const SmemDescriptorFields& f, uint32_t row_bytes, int rows, float* out,
               int stride, Decode decode) {
  for (int i = 0; i < rows; ++i) {
    float* row = out + std::ptrdiff_t(i) * stride;
    for (uint32_t along = 0; along < row_bytes; along += kChunkBytes)
      row += decode(smem.data(operand_address(f, Major::k, 1, uint32_t(i), along)), row);
  }
}

}  // namespace

void read_operand(const SharedMemory& smem, const SmemDescriptorFields& f, const OperandFormat& format, int rows,
                  float* out, int stride) {
  const float sign = format.negate ? -1.f : 1.f;
  if (format.major == Major::k) {
    // Most of what a full-size product decodes is bf16: no choice of a type for every chunk.
    if (format.type == DataType::bf16)
      read_rows(smem, f, format.row_bytes, rows, out, stride, [sign](const uint8_t* chunk, float* to) {
        return decode_wide<uint16_t>(chunk, sign, to, decode_bf16), 8;
      });
    else
      read_rows(smem, f, format.row_bytes, rows, out, stride, [sign, &format](const uint8_t* chunk, float* to) {
        return decode_chunk(chunk, format.kind, format.type, sign, to);
      });
    return;
  }
  const uint32_t bytes = container_bytes(format.type);
  const int per_chunk = kChunkBytes / int(bytes);
  float column[kMostElements];
  for (int k = 0; k < int(format.row_bytes / bytes); ++k)
    for (int i = 0; i < rows; i += per_chunk) {
      decode_chunk(smem.data(operand_address(f, Major::mn, bytes, uint32_t(i), uint32_t(k))), format.kind,
                   format.type, sign, column);
      for (int e = 0; e < std::min(per_chunk, rows - i); ++e) out[std::ptrdiff_t(i + e) * stride + k] = column[e];
    }
}

void read_operand_row(const float* cells, const OperandFormat& format, float* out) {
  const uint8_t* bytes = reinterpret_cast<const uint8_t*>(cells);
  for (uint32_t along = 0; along < kOperandRowBytes; along += kChunkBytes)
    out += decode_cells(bytes + along, format.kind, format.type, format.negate ? -1.f : 1.f, out);
}

}  // namespace sm100::models
