// SPDX-License-Identifier: Apache-2.0
/// cvt.f32.f16 and cvt.rn.f16.f32 of whole warps with the host's own instructions for them (x86-64-v3 has F16C);
/// elsewhere they keep the forms of convert.cpp.  The results are the same, bit for bit: only a NaN, which becomes
/// the canonical one, is PTX's own.

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "models/vector/instruction_set.h"
#include "ptx/alu/form_table.h"
#include "ptx/alu/side_by_side.h"

namespace sm100::ptx {

#if defined(__x86_64__)
namespace {

#define SM100_F16C __attribute__((target("avx2,f16c")))

SM100_F16C inline __m256 load_eight(const uint32_t* from) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
}
/// `number`, or `nan` in lanes where x is one.
SM100_F16C inline void store_eight(uint32_t* to, __m256 number, __m256 x, uint32_t nan) {
  const __m256 canonical = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(nan)));
  const __m256 is_nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  _mm256_storeu_ps(reinterpret_cast<float*>(to), _mm256_blendv_ps(number, canonical, is_nan));
}

SM100_F16C void all_from_f16(uint32_t* to, const uint32_t* from) {
  const __m256i low = _mm256_set1_epi32(0xffff);
  for (int lane = 0; lane < kLanes; lane += 16) {
    const __m256i a = _mm256_and_si256(_mm256_castps_si256(load_eight(from + lane)), low);
    const __m256i b = _mm256_and_si256(_mm256_castps_si256(load_eight(from + lane + 8)), low);
    const __m256i halves = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);  // which packs by 128 bits
    const __m256 x = _mm256_cvtph_ps(_mm256_castsi256_si128(halves));
    const __m256 y = _mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
    store_eight(to + lane, x, x, 0x7fffffffu);
    store_eight(to + lane + 8, y, y, 0x7fffffffu);
  }
}
SM100_F16C void all_to_f16(uint32_t* to, const uint32_t* from) {
  for (int lane = 0; lane < kLanes; lane += 8) {
    const __m256 x = load_eight(from + lane);
    const __m256i halves = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    store_eight(to + lane, _mm256_castsi256_ps(halves), x, 0x7fffu);
  }
}
#undef SM100_F16C

/// All lanes, of which those of the mask are taken; few are computed as Op does.
template <auto kAll, class Op, class D, class S>
void convert_lanes(RegisterFile& file, const Instr& in, LaneMask mask) {
  if (mask != kAllLanes && is_few(mask)) return map_lanes<Op, D, S>(file, in, mask);
  uint32_t* const to = file.write<uint32_t>(in.rows[0]);
  uint32_t before[kLanes];
  if (mask != kAllLanes) std::memcpy(before, to, sizeof before);
  kAll(to, file.read<uint32_t>(in.rows[1]));
  if (mask != kAllLanes) keep_lanes(to, before, mask);
}

}  // namespace
#endif

void replace_f16_conversions([[maybe_unused]] FormTable& table) {
#if defined(__x86_64__)
  if (vector::chosen_instruction_set() < vector::InstructionSet::x86_64_v3) return;
  for (AluForm& form : table.forms) {
    if (form.name == "cvt.f32.f16")
      form.function = &convert_lanes<&all_from_f16, side_by_side::SingleFromHalf<F16>, float, F16>;
    if (form.name == "cvt.rn.f16.f32")
      form.function = &convert_lanes<&all_to_f16, side_by_side::HalfFromSingle<F16>, F16, float>;
  }
#endif
}

}  // namespace sm100::ptx
