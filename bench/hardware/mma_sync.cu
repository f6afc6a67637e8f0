// SPDX-License-Identifier: Apache-2.0
// mma.sync and mma.sp on this GPU: what it costs a warp, in SM cycles, when each needs the sum of the one before
// and when eight sums take turns, alone on its scheduler and beside others; and, with --products, a hash of what it
// makes of random numbers, which tests/models/test_mma_sync.cpp has of the model.
//
//   mma_sync [--json FILE]
//   mma_sync --products
#include "costs.cuh"
#include "mma_sync_words.h"

namespace {

constexpr int kInstructions = 64, kTurns = 16, kChains = 8;

// Registers of D (and C), A and B; 64-bit ones count twice.
#define FORM(Name, text, kD_, kA_, kB_, kind_, instruction) \
  FORM_WITH(Name, text, none, kD_, kA_, kB_, kind_, instruction)
#define FORM_WITH(Name, text, metadata, kD_, kA_, kB_, kind_, instruction)                         \
  struct Name {                                                                                    \
    static constexpr const char* kName = text;                                                     \
    static constexpr int kD = kD_, kA = kA_, kB = kB_;                                             \
    static constexpr char kKind = kind_;                                                           \
    static constexpr bench::MmaSyncMetadata kMetadata = bench::MmaSyncMetadata::metadata;          \
    __device__ static void step(uint32_t (&d)[8], const uint32_t (&a)[16], const uint32_t (&b)[8], \
                                [[maybe_unused]] uint32_t e) {                                     \
      instruction;                                                                                 \
    }                                                                                              \
  }
#define D4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define D2 "+r"(d[0]), "+r"(d[1])
#define A4 "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])
#define A2 "r"(a[0]), "r"(a[1])
#define MMA_4_4_2(form)                                                                          \
  asm volatile("mma.sync.aligned." form " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : D4                                                                              \
               : A4, "r"(b[0]), "r"(b[1]))
#define MMA_4_2_1(form) \
  asm volatile("mma.sync.aligned." form " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : D4 : A2, "r"(b[0]))
#define MMA_2_4_2(form)                                                              \
  asm volatile("mma.sync.aligned." form " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};" \
               : D2                                                                  \
               : A4, "r"(b[0]), "r"(b[1]))
#define MMA_2_2_1(form) \
  asm volatile("mma.sync.aligned." form " {%0,%1}, {%2,%3}, {%4}, {%0,%1};" : D2 : A2, "r"(b[0]))
FORM(F16K16, "m16n8k16.f32.f16.f16.f32", 4, 4, 2, 'h', MMA_4_4_2("m16n8k16.row.col.f32.f16.f16.f32"));
FORM(F16K8, "m16n8k8.f32.f16.f16.f32", 4, 2, 1, 'h', MMA_4_2_1("m16n8k8.row.col.f32.f16.f16.f32"));
FORM(F16K16Half, "m16n8k16.f16.f16.f16.f16", 2, 4, 2, 'h', MMA_2_4_2("m16n8k16.row.col.f16.f16.f16.f16"));
FORM(F16K8Half, "m16n8k8.f16.f16.f16.f16", 2, 2, 1, 'h', MMA_2_2_1("m16n8k8.row.col.f16.f16.f16.f16"));
FORM(Bf16K16, "m16n8k16.f32.bf16.bf16.f32", 4, 4, 2, 'b', MMA_4_4_2("m16n8k16.row.col.f32.bf16.bf16.f32"));
FORM(Bf16K8, "m16n8k8.f32.bf16.bf16.f32", 4, 2, 1, 'b', MMA_4_2_1("m16n8k8.row.col.f32.bf16.bf16.f32"));
FORM(Tf32K8, "m16n8k8.f32.tf32.tf32.f32", 4, 4, 2, 't', MMA_4_4_2("m16n8k8.row.col.f32.tf32.tf32.f32"));
FORM(Tf32K4, "m16n8k4.f32.tf32.tf32.f32", 4, 2, 1, 't', MMA_4_2_1("m16n8k4.row.col.f32.tf32.tf32.f32"));
FORM(E4m3, "m16n8k32.f32.e4m3.e4m3.f32", 4, 4, 2, 'q', MMA_4_4_2("m16n8k32.row.col.f32.e4m3.e4m3.f32"));
FORM(E5m2, "m16n8k32.f32.e5m2.e5m2.f32", 4, 4, 2, 'q', MMA_4_4_2("m16n8k32.row.col.f32.e5m2.e5m2.f32"));
FORM(E4m3Half, "m16n8k32.f16.e4m3.e4m3.f16", 2, 4, 2, 'q', MMA_2_4_2("m16n8k32.row.col.f16.e4m3.e4m3.f16"));
FORM(E4m3K16, "m16n8k16.f32.e4m3.e4m3.f32", 4, 2, 1, 'q', MMA_4_2_1("m16n8k16.row.col.f32.e4m3.e4m3.f32"));
FORM(S8, "m16n8k32.s32.s8.s8.s32", 4, 4, 2, 'i', MMA_4_4_2("m16n8k32.row.col.s32.s8.s8.s32"));
FORM(S8K16, "m16n8k16.satfinite.s32.u8.s8.s32", 4, 2, 1, 'i',
     MMA_4_2_1("m16n8k16.row.col.satfinite.s32.u8.s8.s32"));
FORM(S8Small, "m8n8k16.s32.s8.u8.s32", 2, 1, 1, 'i',
     asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                  : D2
                  : "r"(a[0]), "r"(b[0])));
FORM(S4, "m16n8k64.s32.s4.u4.s32", 4, 4, 2, 'i', MMA_4_4_2("m16n8k64.row.col.s32.s4.u4.s32"));
FORM(Bits, "m16n8k256.s32.b1.b1.s32.and.popc", 4, 4, 2, 'i', MMA_4_4_2("m16n8k256.row.col.s32.b1.b1.s32.and.popc"));
// f64: pairs of words.
FORM(F64Small, "m8n8k4.f64.f64.f64.f64", 4, 2, 2, 'd',
     asm volatile(
         "{ .reg .f64 a, b, c, d; mov.b64 a, {%4,%5}; mov.b64 b, {%6,%7}; mov.b64 c, {%0,%1}; mov.b64 d, "
         "{%2,%3}; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {c,d}, {a}, {b}, {c,d}; mov.b64 {%0,%1}, "
         "c; mov.b64 {%2,%3}, d; }"
         : D4
         : A2, "r"(b[0]), "r"(b[1])));
FORM(
    F64K8, "m16n8k8.f64.f64.f64.f64", 8, 8, 4, 'd',
    asm volatile(
        "{ .reg .f64 a<4>, b<2>, d<4>; mov.b64 a0, {%8,%9}; mov.b64 a1, {%10,%11}; mov.b64 a2, {%12,%13}; mov.b64 "
        "a3, {%14,%15}; mov.b64 b0, {%16,%17}; mov.b64 b1, {%18,%19}; mov.b64 d0, {%0,%1}; mov.b64 d1, {%2,%3}; "
        "mov.b64 d2, {%4,%5}; mov.b64 d3, {%6,%7}; mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {d0,d1,d2,d3}, "
        "{a0,a1,a2,a3}, {b0,b1}, {d0,d1,d2,d3}; mov.b64 {%0,%1}, d0; mov.b64 {%2,%3}, d1; mov.b64 {%4,%5}, d2; "
        "mov.b64 {%6,%7}, d3; }"
        : D4, "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : A4, "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3])));

// Sparse A; `e` is its metadata.
#define B4 "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3])
#define B2 "r"(b[0]), "r"(b[1])
#define SP_4_4_4(form, selector)                                                                               \
  asm volatile("mma." form " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%0,%1,%2,%3}, %12, " selector ";" \
               : D4                                                                                            \
               : A4, B4, "r"(e))
#define SP_4_2_2(form, selector)                                                                \
  asm volatile("mma." form " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%0,%1,%2,%3}, %8, " selector ";" \
               : D4                                                                             \
               : A2, B2, "r"(e))
#define SP_2_4_4(form, selector)                                                                 \
  asm volatile("mma." form " {%0,%1}, {%2,%3,%4,%5}, {%6,%7,%8,%9}, {%0,%1}, %10, " selector ";" \
               : D2                                                                              \
               : A4, B4, "r"(e))
#define SP_2_2_2(form, selector) \
  asm volatile("mma." form " {%0,%1}, {%2,%3}, {%4,%5}, {%0,%1}, %6, " selector ";" : D2 : A2, B2, "r"(e))
#define SPARSE(Name, variant, metadata, shape, types, selector, kD_, kA_, kB_, kind_)                 \
  FORM_WITH(Name, variant "." shape "." types ", selector " selector, metadata, kD_, kA_, kB_, kind_, \
            SP_##kD_##_##kA_##_##kB_(variant ".sync.aligned." shape ".row.col." types, selector))
SPARSE(SpF16K16, "sp::ordered_metadata", ordered, "m16n8k16", "f32.f16.f16.f32", "0", 4, 2, 2, 'h');
SPARSE(SpF16K32, "sp::ordered_metadata", ordered, "m16n8k32", "f32.f16.f16.f32", "0", 4, 4, 4, 'h');
SPARSE(SpF16K32Second, "sp::ordered_metadata", ordered, "m16n8k32", "f32.f16.f16.f32", "1", 4, 4, 4, 'h');
SPARSE(SpF16K16Half, "sp::ordered_metadata", ordered, "m16n8k16", "f16.f16.f16.f16", "3", 2, 2, 2, 'h');
SPARSE(SpF16K32Half, "sp::ordered_metadata", ordered, "m16n8k32", "f16.f16.f16.f16", "1", 2, 4, 4, 'h');
SPARSE(SpBf16K16, "sp::ordered_metadata", ordered, "m16n8k16", "f32.bf16.bf16.f32", "1", 4, 2, 2, 'b');
SPARSE(SpBf16K32, "sp::ordered_metadata", ordered, "m16n8k32", "f32.bf16.bf16.f32", "0", 4, 4, 4, 'b');
SPARSE(SpTf32K8, "sp::ordered_metadata", tf32, "m16n8k8", "f32.tf32.tf32.f32", "2", 4, 2, 2, 't');
SPARSE(SpTf32K16, "sp::ordered_metadata", tf32, "m16n8k16", "f32.tf32.tf32.f32", "1", 4, 4, 4, 't');
SPARSE(SpE4m3, "sp::ordered_metadata", ordered, "m16n8k64", "f32.e4m3.e4m3.f32", "0", 4, 4, 4, 'q');
SPARSE(SpE5m2, "sp::ordered_metadata", ordered, "m16n8k64", "f32.e5m2.e4m3.f32", "0", 4, 4, 4, 'q');
SPARSE(SpS8K32, "sp::ordered_metadata", ordered, "m16n8k32", "s32.s8.s8.s32", "0", 4, 2, 2, 'i');
SPARSE(SpS8K32Second, "sp::ordered_metadata", ordered, "m16n8k32", "satfinite.s32.u8.s8.s32", "1", 4, 2, 2, 'i');
SPARSE(SpS8K64, "sp::ordered_metadata", ordered, "m16n8k64", "s32.s8.u8.s32", "0", 4, 4, 4, 'i');
SPARSE(SpS4K64, "sp::ordered_metadata", ordered, "m16n8k64", "s32.s4.u4.s32", "1", 4, 2, 2, 'i');
SPARSE(SpS4K128, "sp::ordered_metadata", ordered, "m16n8k128", "satfinite.s32.u4.s4.s32", "0", 4, 4, 4, 'i');
SPARSE(SpF16Any, "sp", any_order, "m16n8k16", "f32.f16.f16.f32", "2", 4, 2, 2, 'h');
SPARSE(SpBf16Any, "sp", any_order, "m16n8k32", "f32.bf16.bf16.f32", "1", 4, 4, 4, 'b');
SPARSE(SpTf32Any, "sp", tf32, "m16n8k16", "f32.tf32.tf32.f32", "0", 4, 4, 4, 't');
SPARSE(SpE5m2Any, "sp", any_order, "m16n8k64", "f32.e4m3.e5m2.f32", "0", 4, 4, 4, 'q');
SPARSE(SpS8Any, "sp", any_order, "m16n8k64", "satfinite.s32.u8.u8.s32", "0", 4, 4, 4, 'i');
SPARSE(SpS4Any, "sp", any_order, "m16n8k64", "s32.u4.u4.s32", "0", 4, 2, 2, 'i');

/// @param Chains  of instructions that need nothing of each other
template <class Form, int Chains>
__global__ void cost_kernel(int64_t* out, uint32_t word) {
  uint32_t d[Chains][8], a[16], b[8];
  const uint32_t e = word ^ 0x44444447;  // 0x44444444
  for (auto& v : a) v = word + threadIdx.x;
  for (auto& v : b) v = word * threadIdx.x;
  for (auto& chain : d)
    for (auto& v : chain) v = 0;
  const auto turn = [&] {
#pragma unroll
    for (int i = 0; i < kInstructions; ++i) Form::step(d[i % Chains], a, b, e);
  };
  const int64_t took = cost(kTurns, turn);
  uint32_t all = 0;
  for (auto& chain : d)
    for (auto& v : chain) all += v;
  if (threadIdx.x == 0) out[size_t{8} * blockIdx.x] = all == 0x12345678 ? 0 : took / kInstructions;
}

__host__ __device__ constexpr bench::MmaSyncWord operand_word(char kind) {
  switch (kind) {
    case 'h': return bench::MmaSyncWord::f16x2;
    case 'b': return bench::MmaSyncWord::bf16x2;
    case 't': return bench::MmaSyncWord::f32;
    case 'q': return bench::MmaSyncWord::fp8x4;
    case 'd': return bench::MmaSyncWord::f64;
    default: return bench::MmaSyncWord::bits;
  }
}
/// Of D and C.
template <class Form>
constexpr bench::MmaSyncWord sum_word() {
  if (Form::kKind == 'd') return bench::MmaSyncWord::f64;
  if (Form::kKind == 'i') return bench::MmaSyncWord::bits;
  return Form::kD == 2 ? bench::MmaSyncWord::f16x2 : bench::MmaSyncWord::f32;
}

template <class Form>
__global__ void product_kernel(uint32_t* out) {
  constexpr int kWords = Form::kKind == 'd' ? 2 : 1;
  uint32_t a[16] = {}, b[8] = {}, d[8] = {};
  bench::MmaSyncWords words(blockIdx.x, threadIdx.x);
  const auto draw = [&](uint32_t* to, int count, bench::MmaSyncWord kind) {
    for (int i = 0; i < count; i += kWords) {
      const uint64_t drawn = words.draw(kind);
      to[i] = uint32_t(drawn);
      if (kWords == 2) to[i + 1] = uint32_t(drawn >> 32);
    }
  };
  draw(a, Form::kA, operand_word(Form::kKind));
  draw(b, Form::kB, operand_word(Form::kKind));
  // Infinities and NaN among the old sums would hide all else.
  words.any = false;
  draw(d, Form::kD, sum_word<Form>());
  const uint32_t e = Form::kMetadata == bench::MmaSyncMetadata::none ? 0 : words.metadata(Form::kMetadata);
  Form::step(d, a, b, e);
  for (int i = 0; i < Form::kD; ++i) out[(blockIdx.x * 32 + threadIdx.x) * Form::kD + i] = d[i];
}

template <class Form>
void measure_form() {
  for (const int warps : {1, 4, 8, 16}) {
    const std::string name = std::string(Form::kName) + ", " + std::to_string(warps) + " warps";
    report(name + ", one chain",
           measure(1, [&](int) { cost_kernel<Form, 1><<<1, 32U * unsigned(warps)>>>(results, 3); }));
    report(name + ", eight chains",
           measure(1, [&](int) { cost_kernel<Form, kChains><<<1, 32U * unsigned(warps)>>>(results, 3); }));
  }
}

template <class Form>
void hash_products() {
  constexpr int kWords = Form::kKind == 'd' ? 2 : 1;
  const size_t words = size_t{bench::kMmaSyncTiles} * 32 * Form::kD;
  uint32_t* out = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, words * 4));
  product_kernel<Form><<<bench::kMmaSyncTiles, 32>>>(out);
  CHECK_CUDA(cudaDeviceSynchronize());
  bench::MmaSyncHash hash;
  for (size_t i = 0; i < words; i += kWords) hash.add(out[i] | (kWords == 2 ? uint64_t{out[i + 1]} << 32 : 0));
  std::printf("%-66s %016llx\n", Form::kName, static_cast<unsigned long long>(hash.value));
  CHECK_CUDA(cudaFree(out));
}

template <class... Forms>
void all(bool products) {
  if (products)
    (hash_products<Forms>(), ...);
  else
    (measure_form<Forms>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
  open_device();
  const bool products = argc == 2 && std::strcmp(argv[1], "--products") == 0;
  all<F16K16, F16K8, F16K16Half, F16K8Half, Bf16K16, Bf16K8, Tf32K8, Tf32K4, E4m3, E5m2, E4m3Half, E4m3K16, S8,
      S8K16, S8Small, S4, Bits, F64Small, F64K8>(products);
  all<SpF16K16, SpF16K32, SpF16K32Second, SpF16K16Half, SpF16K32Half, SpBf16K16, SpBf16K32, SpTf32K8, SpTf32K16,
      SpE4m3, SpE5m2, SpS8K32, SpS8K32Second, SpS8K64, SpS4K64, SpS4K128, SpF16Any, SpBf16Any, SpTf32Any, SpE5m2Any,
      SpS8Any, SpS4Any>(products);
  if (products) return 0;
  return write_json(argc, argv);
}
