// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_scaled/host/scale_tensor.h"

#include <cstring>
#include <random>

#include "kernels/host/scenario.h"
#include "kernels/isa/arithmetic.h"

namespace sm100::host {
namespace {

// A scale from the lowest code on, of so many.
constexpr uint8_t kLowestUe8m0 = 125, kUe8m0Codes = 4;    // 2^-2 ... 2^1
constexpr uint8_t kLowestUe4m3 = 0x28, kUe4m3Codes = 24;  // 1/4 ... 15/8

}  // namespace

int ScaleTensor::row_groups() const { return ceil_div(rows, kScaleAtomRows); }
int ScaleTensor::k_atoms() const { return ceil_div(scales, kScaleAtomScales); }
uint64_t ScaleTensor::bytes() const { return uint64_t(row_groups()) * uint64_t(k_atoms()) * kScaleAtomBytes; }

void ScaleTensor::fill(uint64_t seed, uint8_t padding, uint8_t* data) const {
  std::memset(data, padding, bytes());
  std::mt19937_64 random(seed);
  for (int row = 0; row < rows; ++row)
    for (int j = 0; j < scales; ++j) {
      const uint64_t draw = random() >> 32;
      data[scale_offset(row, j, k_atoms())] = type == ScaleType::ue8m0 ? uint8_t(kLowestUe8m0 + draw % kUe8m0Codes)
                                                                       : uint8_t(kLowestUe4m3 + draw % kUe4m3Codes);
    }
}

void ScaleTensor::clear(uint8_t code, uint8_t* data) const {
  std::memset(data, 0, bytes());
  for (int row = 0; row < rows; ++row)
    for (int j = 0; j < scales; ++j) data[scale_offset(row, j, k_atoms())] = code;
}

double ScaleTensor::value(const uint8_t* data, int row, int scale) const {
  const uint8_t code = data[scale_offset(row, scale, k_atoms())];
  return double(type == ScaleType::ue8m0 ? decode_ue8m0(code) : decode_e4m3(code & 0x7f));
}

TensorMapFields ScaleTensor::map_fields(GlobalAddr address, const ScaleShape& box) const {
  TensorMapFields f{};
  f.data_type = TensorMapDataType::uint16;  // an atom is one line of 256 elements, the most that a box has
  f.rank = 3;
  f.global_address = address.value;
  f.global_dim[0] = kScaleAtomBytes / 2;
  f.global_dim[1] = uint64_t(k_atoms());
  f.global_dim[2] = uint64_t(row_groups());
  f.global_stride[0] = kScaleAtomBytes;
  f.global_stride[1] = uint64_t(k_atoms()) * kScaleAtomBytes;
  f.box_dim[0] = kScaleAtomBytes / 2;
  f.box_dim[1] = uint32_t(box.k_atoms);
  f.box_dim[2] = uint32_t(box.groups);
  for (uint32_t i = 0; i < f.rank; ++i) f.element_stride[i] = 1;
  if (const TensorMapError error = validate(f); error != TensorMapError::none)
    throw InputError(std::string("the scales have no valid tensor map: ") + message(error));
  return f;
}

}  // namespace sm100::host
