// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_element.h"

#include <cstring>
#include <random>

#include "kernels/isa/lane_array.h"

namespace sm100::host {
namespace {

constexpr PtxElement kElements[] = {{"bf16", 16, DataType::bf16},
                                    {"f16", 16, DataType::f16},
                                    {"tf32", 32, DataType::tf32},
                                    {"f32", 32, DataType::f32},
                                    {"e4m3", 8, DataType::e4m3},
                                    {"e5m2", 8, DataType::e5m2},
                                    {"e2m1", 4, DataType::e2m1},
                                    {"ue8m0", 8, std::nullopt, ScaleType::ue8m0},
                                    {"ue4m3", 8, std::nullopt, ScaleType::ue4m3},
                                    {"s8", 8, DataType::s8},
                                    {"u8", 8, DataType::u8},
                                    {"b16", 16, std::nullopt},
                                    {"u16", 16, std::nullopt},
                                    {"s32", 32, std::nullopt},
                                    {"u32", 32, std::nullopt},
                                    {"s64", 64, std::nullopt},
                                    {"u64", 64, std::nullopt}};

// A scale factor is drawn from the lowest code on, of so many.
constexpr uint8_t kLowestUe8m0 = 125, kUe8m0Codes = 4;    // 2^-2 ... 2^1
constexpr uint8_t kLowestUe4m3 = 0x28, kUe4m3Codes = 24;  // 1/4 ... 15/8

uint64_t drawn_code(const PtxElement& element, uint64_t drawn) {
  if (element.scale)
    return *element.scale == ScaleType::ue8m0 ? kLowestUe8m0 + (drawn >> 32) % kUe8m0Codes
                                              : kLowestUe4m3 + (drawn >> 32) % kUe4m3Codes;
  if (element.is_integer() || element.bits == 4) return drawn;
  return encoded(element, float(int64_t(drawn >> 40) - (1 << 23)) / float(1 << 23));
}

void put(const PtxElement& element, uint64_t code, uint8_t* to, uint64_t i) {
  const size_t bytes = size_t(element.bits) / 8;
  if (element.bits != 4) return void(std::memcpy(to + bytes * i, &code, bytes));
  uint8_t& both = to[i / 2];
  const int shift = 4 * int(i % 2);
  both = uint8_t((both & ~(0xf << shift)) | int(code & 0xf) << shift);
}

}  // namespace

std::span<const PtxElement> ptx_elements() { return kElements; }

uint64_t encoded(const PtxElement& element, float value) {
  if (element.scale)
    return *element.scale == ScaleType::ue8m0 ? cvt_rp_satfinite_ue8m0_f32(value)
                                              : cvt_rn_satfinite_e4m3_f32(value) & 0x7fu;
  if (!element.format) return uint64_t(int64_t(value));
  switch (*element.format) {
    case DataType::f16: return cvt_rn_f16_f32(value);
    case DataType::bf16: return cvt_rn_bf16_f32(value);
    case DataType::tf32: return cvt_rn_tf32_f32(value);
    case DataType::f32: return as_bits(value);
    case DataType::e4m3: return cvt_rn_satfinite_e4m3_f32(value);
    case DataType::e5m2: return cvt_rn_satfinite_e5m2_f32(value);
    case DataType::e2m1: return cvt_rn_satfinite_e2m1_f32(value);
    default: return uint64_t(int64_t(value));
  }
}

double element_value(const PtxElement& element, const uint8_t* tensor, size_t i) {
  if (element.bits == 4) return double(decode(*element.format, uint32_t(tensor[i / 2] >> 4 * (i % 2) & 0xf)));
  const size_t bytes = size_t(element.bits) / 8;
  uint32_t code = 0;
  std::memcpy(&code, tensor + bytes * i, bytes);
  if (element.scale)
    return double(*element.scale == ScaleType::ue8m0 ? decode_ue8m0(uint8_t(code)) : decode_ue4m3(uint8_t(code)));
  return double(decode(*element.format, code));
}

void fill_random(const PtxElement& element, uint64_t seed, uint8_t* to, uint64_t elements) {
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < elements; ++i) put(element, drawn_code(element, random()), to, i);
}

void fill_with(const PtxElement& element, float value, uint8_t* to, uint64_t elements) {
  const uint64_t code = encoded(element, value);
  for (uint64_t i = 0; i < elements; ++i) put(element, code, to, i);
}

}  // namespace sm100::host
