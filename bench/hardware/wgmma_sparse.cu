// SPDX-License-Identifier: Apache-2.0
// wgmma.mma_async.sp beside the dense wgmma.mma_async on this GPU: SM cycles from one instruction to the next, and
// from wgmma.fence until wgmma.wait_group returns, of one warpgroup; and, with --products, a hash of what the
// sparse one makes of random numbers, which tests/models/test_wgmma_sparse.cpp has of the model.
//
//   wgmma_sparse [--json FILE]
//   wgmma_sparse --products
#include <string_view>

#include "costs.cuh"
#include "wgmma_sparse_words.h"

namespace {

using bench::WgmmaLayout;
using bench::WgmmaMetadata;

constexpr int kThreads = 128, kSmemBytes = 4 * bench::kWgmmaSmemWords + 1024;

// clang-format off
#define REGISTERS_4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define REGISTERS_8(i) REGISTERS_4(i), REGISTERS_4(i + 4)
#define REGISTERS_16(i) REGISTERS_8(i), REGISTERS_8(i + 8)
#define REGISTERS_32(i) REGISTERS_16(i), REGISTERS_16(i + 16)
#define REGISTERS_64(i) REGISTERS_32(i), REGISTERS_32(i + 32)
#define REGISTERS_128(i) REGISTERS_64(i), REGISTERS_64(i + 64)
#define TEXT_4 "%0, %1, %2, %3"
#define TEXT_8 TEXT_4 ", %4, %5, %6, %7"
#define TEXT_32 TEXT_8 ", %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define TEXT_64 TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TEXT_128 TEXT_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, " \
  "%101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, " \
  "%118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// The operands behind D, by how many registers D has.
#define BEHIND_4(macro, ...) macro(4, "%4", "%5", "%6", "%7", "%8", "%9", "%10", __VA_ARGS__)
#define BEHIND_8(macro, ...) macro(8, "%8", "%9", "%10", "%11", "%12", "%13", "%14", __VA_ARGS__)
#define BEHIND_32(macro, ...) macro(32, "%32", "%33", "%34", "%35", "%36", "%37", "%38", __VA_ARGS__)
#define BEHIND_64(macro, ...) macro(64, "%64", "%65", "%66", "%67", "%68", "%69", "%70", __VA_ARGS__)
#define BEHIND_128(macro, ...) macro(128, "%128", "%129", "%130", "%131", "%132", "%133", "%134", __VA_ARGS__)
// clang-format on

#define SPARSE_SHARED(R, p0, p1, p2, p3, p4, p5, p6, form, selector, immediates)                               \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, " p3 ", 0; wgmma.mma_async.sp.sync.aligned." form " {" TEXT_##R \
               "}, " p0 ", " p1 ", " p2 ", " selector ", p" immediates "; }"                                   \
               : REGISTERS_##R(0)                                                                              \
               : "l"(a_at.bits), "l"(b_at.bits), "r"(e), "r"(scale_d))
#define SPARSE_REGISTERS(R, p0, p1, p2, p3, p4, p5, p6, form, selector, immediates)                            \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, " p6 ", 0; wgmma.mma_async.sp.sync.aligned." form " {" TEXT_##R \
               "}, {" p0 ", " p1 ", " p2 ", " p3 "}, " p4 ", " p5 ", " selector ", p" immediates "; }"         \
               : REGISTERS_##R(0)                                                                              \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_at.bits), "r"(e), "r"(scale_d))
#define DENSE_SHARED(R, p0, p1, p2, p3, p4, p5, p6, form, selector, immediates)                             \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, " p2 ", 0; wgmma.mma_async.sync.aligned." form " {" TEXT_##R \
               "}, " p0 ", " p1 ", p" immediates "; }"                                                      \
               : REGISTERS_##R(0)                                                                           \
               : "l"(a_at.bits), "l"(b_at.bits), "r"(scale_d))
#define DENSE_REGISTERS(R, p0, p1, p2, p3, p4, p5, p6, form, selector, immediates)                          \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, " p5 ", 0; wgmma.mma_async.sync.aligned." form " {" TEXT_##R \
               "}, {" p0 ", " p1 ", " p2 ", " p3 "}, " p4 ", p" immediates "; }"                            \
               : REGISTERS_##R(0)                                                                           \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_at.bits), "r"(scale_d))

#define IN_SHARED "shared memory"
#define IN_REGISTERS "registers"
#define SPARSE_NAME(selector, immediates) ", selector " selector immediates
#define DENSE_NAME(selector, immediates) immediates
/// @param kind_ of the elements of A and B, one letter each: h f16, b bf16, t tf32, q of 8 bits, i integers
#define FORM(Name, sparsity, source, form, selector, immediates, N_, R_, kind_, a_layout, b_layout, metadata) \
  struct Name {                                                                                               \
    static constexpr const char* kName = form ", A in " IN_##source sparsity##_NAME(selector, immediates);    \
    static constexpr int kN = N_, kR = R_;                                                                    \
    static constexpr char kKind = kind_;                                                                      \
    static constexpr WgmmaLayout kA = WgmmaLayout::a_layout, kB = WgmmaLayout::b_layout;                      \
    static constexpr WgmmaMetadata kMetadata = WgmmaMetadata::metadata;                                       \
    __device__ static void step(uint32_t (&d)[R_], [[maybe_unused]] const uint32_t (&a)[4],                   \
                                [[maybe_unused]] SmemDescriptor a_at, SmemDescriptor b_at,                    \
                                [[maybe_unused]] uint32_t e, uint32_t scale_d) {                              \
      BEHIND_##R_(sparsity##_##source, form, selector, immediates);                                           \
    }                                                                                                         \
  }
#define SPARSE(Name, source, form, selector, immediates, N_, R_, kind_, a_layout, b_layout, metadata) \
  FORM(Name, SPARSE, source, form, selector, immediates, N_, R_, kind_, a_layout, b_layout, metadata)
#define PLAIN ", 1, 1"
SPARSE(F16, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0, 0", 16, 8, 'h', k_128, k_128, defined);
SPARSE(F16Second, SHARED, "m64n16k32.f32.f16.f16", "1", PLAIN ", 0, 0", 16, 8, 'h', k_128, k_128, defined);
SPARSE(F16Registers, REGISTERS, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0", 16, 8, 'h', k_128, k_128, defined);
SPARSE(F16RegistersSecond, REGISTERS, "m64n16k32.f32.f16.f16", "1", PLAIN ", 0", 16, 8, 'h', k_128, k_128, defined);
SPARSE(F16Half, SHARED, "m64n16k32.f16.f16.f16", "0", PLAIN ", 0, 0", 16, 4, 'h', k_128, k_128, defined);
SPARSE(F16HalfRegisters, REGISTERS, "m64n16k32.f16.f16.f16", "1", PLAIN ", 0", 16, 4, 'h', k_128, k_128, defined);
SPARSE(Bf16, SHARED, "m64n16k32.f32.bf16.bf16", "0", PLAIN ", 0, 0", 16, 8, 'b', k_128, k_128, defined);
SPARSE(Bf16Registers, REGISTERS, "m64n16k32.f32.bf16.bf16", "1", PLAIN ", 0", 16, 8, 'b', k_128, k_128, defined);
SPARSE(Tf32, SHARED, "m64n16k16.f32.tf32.tf32", "0", PLAIN, 16, 8, 't', k_128, k_128, defined);
SPARSE(Tf32Second, SHARED, "m64n16k16.f32.tf32.tf32", "1", PLAIN, 16, 8, 't', k_128, k_128, defined);
SPARSE(Tf32Registers, REGISTERS, "m64n16k16.f32.tf32.tf32", "1", PLAIN, 16, 8, 't', k_128, k_128, defined);
SPARSE(E4m3, SHARED, "m64n16k64.f32.e4m3.e4m3", "0", PLAIN, 16, 8, 'q', k_128, k_128, defined);
SPARSE(E5m2Registers, REGISTERS, "m64n16k64.f32.e5m2.e4m3", "0", PLAIN, 16, 8, 'q', k_128, k_128, defined);
SPARSE(E4m3Half, SHARED, "m64n16k64.f16.e4m3.e5m2", "0", PLAIN, 16, 4, 'q', k_128, k_128, defined);
SPARSE(E5m2HalfRegisters, REGISTERS, "m64n16k64.f16.e5m2.e5m2", "0", PLAIN, 16, 4, 'q', k_128, k_128, defined);
SPARSE(S8, SHARED, "m64n16k64.s32.s8.s8", "0", "", 16, 8, 'i', k_128, k_128, defined);
SPARSE(S8Registers, REGISTERS, "m64n16k64.s32.s8.u8", "0", "", 16, 8, 'i', k_128, k_128, defined);
SPARSE(U8, SHARED, "m64n16k64.satfinite.s32.u8.s8", "0", "", 16, 8, 'i', k_128, k_128, defined);
SPARSE(U8Registers, REGISTERS, "m64n16k64.satfinite.s32.u8.u8", "0", "", 16, 8, 'i', k_128, k_128, defined);
// Other N, and what the immediates say.
SPARSE(F16Narrow, SHARED, "m64n8k32.f32.f16.f16", "1", PLAIN ", 0, 0", 8, 4, 'h', k_128, k_128, defined);
SPARSE(F16Wide, SHARED, "m64n64k32.f32.f16.f16", "0", PLAIN ", 0, 0", 64, 32, 'h', k_128, k_128, defined);
SPARSE(F16Widest, SHARED, "m64n256k32.f16.f16.f16", "1", PLAIN ", 0, 0", 256, 64, 'h', k_128, k_128, defined);
SPARSE(F16NegativeA, SHARED, "m64n16k32.f32.f16.f16", "0", ", -1, 1, 0, 0", 16, 8, 'h', k_128, k_128, defined);
SPARSE(F16NegativeB, REGISTERS, "m64n16k32.f32.f16.f16", "0", ", 1, -1, 0", 16, 8, 'h', k_128, k_128, defined);
// Other layouts.
SPARSE(F16Span64, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0, 0", 16, 8, 'h', k_64, k_64, defined);
SPARSE(F16None, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0, 0", 16, 8, 'h', k_none, k_none, defined);
SPARSE(E4m3None, SHARED, "m64n16k64.f32.e4m3.e4m3", "0", PLAIN, 16, 8, 'q', k_none, k_none, defined);
SPARSE(F16SpanOfA32, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0, 0", 16, 8, 'h', k_32, k_64, defined);
SPARSE(F16MajorA, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 1, 0", 16, 8, 'h', mn_128, k_128, defined);
SPARSE(F16MajorB, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0, 1", 16, 8, 'h', k_128, mn_128, defined);
SPARSE(F16MajorBoth, SHARED, "m64n64k32.f32.f16.f16", "1", PLAIN ", 1, 1", 64, 32, 'h', mn_none, mn_none, defined);
SPARSE(F16MajorRegisters, REGISTERS, "m64n16k32.f32.f16.f16", "0", PLAIN ", 1", 16, 8, 'h', k_128, mn_none,
       defined);
// What PTX does not define: descending indices, the same one twice, K beyond the span of B.
SPARSE(F16AnyOrder, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0, 0", 16, 8, 'h', k_128, k_128, any_order);
SPARSE(E4m3AnyOrder, SHARED, "m64n16k64.f32.e4m3.e4m3", "0", PLAIN, 16, 8, 'q', k_128, k_128, any_order);
SPARSE(S8AnyOrder, REGISTERS, "m64n16k64.s32.s8.s8", "0", "", 16, 8, 'i', k_128, k_128, any_order);
SPARSE(F16AnyBits, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0, 0", 16, 8, 'h', k_128, k_128, any_bits);
SPARSE(Tf32AnyBits, SHARED, "m64n16k16.f32.tf32.tf32", "0", PLAIN, 16, 8, 't', k_128, k_128, any_bits);
SPARSE(S8AnyBits, REGISTERS, "m64n16k64.s32.s8.s8", "0", "", 16, 8, 'i', k_128, k_128, any_bits);
SPARSE(F16SpanOfB32, SHARED, "m64n16k32.f32.f16.f16", "0", PLAIN ", 0, 0", 16, 8, 'h', k_32, k_32, defined);

// For the time.
#define BESIDE(N_, R_)                                                                                             \
  FORM(Dense##N_, DENSE, SHARED, "m64n" #N_ "k16.f32.f16.f16", "", PLAIN ", 0, 0", N_, R_, 'h', k_128, k_128,      \
       defined);                                                                                                   \
  FORM(DenseRegisters##N_, DENSE, REGISTERS, "m64n" #N_ "k16.f32.f16.f16", "", PLAIN ", 0", N_, R_, 'h', k_128,    \
       k_128, defined);                                                                                            \
  FORM(Sparse##N_, SPARSE, SHARED, "m64n" #N_ "k32.f32.f16.f16", "0", PLAIN ", 0, 0", N_, R_, 'h', k_128, k_128,   \
       defined);                                                                                                   \
  FORM(SparseRegisters##N_, SPARSE, REGISTERS, "m64n" #N_ "k32.f32.f16.f16", "0", PLAIN ", 0", N_, R_, 'h', k_128, \
       k_128, defined)
BESIDE(8, 4);
BESIDE(64, 32);
BESIDE(128, 64);
BESIDE(256, 128);
FORM(Dense8Bit, DENSE, SHARED, "m64n128k32.f32.e4m3.e4m3", "", PLAIN, 128, 64, 'q', k_128, k_128, defined);
FORM(Sparse8Bit, SPARSE, SHARED, "m64n128k64.f32.e4m3.e4m3", "0", PLAIN, 128, 64, 'q', k_128, k_128, defined);
FORM(DenseTf32, DENSE, SHARED, "m64n128k8.f32.tf32.tf32", "", PLAIN, 128, 64, 't', k_128, k_128, defined);
FORM(SparseTf32, SPARSE, SHARED, "m64n128k16.f32.tf32.tf32", "0", PLAIN, 128, 64, 't', k_128, k_128, defined);
FORM(DenseInteger, DENSE, SHARED, "m64n128k32.s32.s8.s8", "", "", 128, 64, 'i', k_128, k_128, defined);
FORM(SparseInteger, SPARSE, SHARED, "m64n128k64.s32.s8.s8", "0", "", 128, 64, 'i', k_128, k_128, defined);
FORM(SparseSpan64, SPARSE, SHARED, "m64n128k32.f32.f16.f16", "0", PLAIN ", 0, 0", 128, 64, 'h', k_64, k_64,
     defined);
FORM(SparseNone, SPARSE, SHARED, "m64n128k32.f32.f16.f16", "0", PLAIN ", 0, 0", 128, 64, 'h', k_none, k_none,
     defined);
FORM(SparseMajorB, SPARSE, SHARED, "m64n128k32.f32.f16.f16", "0", PLAIN ", 0, 1", 128, 64, 'h', k_128, mn_128,
     defined);

__device__ uint32_t smem_base() {
  extern __shared__ uint8_t smem[];
  return (uint32_t(__cvta_generic_to_shared(smem)) + 1023) & ~1023u;
}
template <class Form>
__device__ SmemDescriptor a_descriptor() {
  return bench::wgmma_descriptor(Form::kA, {smem_base() + bench::kWgmmaA}, 64, 32);
}
template <class Form>
__device__ SmemDescriptor b_descriptor() {
  return bench::wgmma_descriptor(Form::kB, {smem_base() + bench::kWgmmaB}, Form::kN, 64);
}

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
template <int R>
__device__ void wait(uint32_t (&d)[R]) {
  asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (uint32_t& v : d) asm volatile("" : "+r"(v)::"memory");
}

__host__ __device__ constexpr bench::MmaSyncWord operand_word(char kind) {
  switch (kind) {
    case 'h': return bench::MmaSyncWord::f16x2;
    case 'b': return bench::MmaSyncWord::bf16x2;
    case 't': return bench::MmaSyncWord::f32;
    case 'q': return bench::MmaSyncWord::fp8x4;
    default: return bench::MmaSyncWord::bits;
  }
}
template <class Form>
constexpr bench::MmaSyncWord sum_word() {
  if (Form::kKind == 'i') return bench::MmaSyncWord::bits;
  return Form::kR == Form::kN / 4 ? bench::MmaSyncWord::f16x2 : bench::MmaSyncWord::f32;
}

template <class Form>
__device__ void fill_shared_memory(uint32_t tile) {
  for (uint32_t i = threadIdx.x; i < bench::kWgmmaSmemWords; i += kThreads) {
    const uint32_t word = bench::WgmmaWords(tile, i).word(operand_word(Form::kKind));
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(smem_base() + 4 * i), "r"(word) : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

template <class Form>
__global__ void __launch_bounds__(kThreads) product_kernel(uint32_t* out) {
  const uint32_t tile = blockIdx.x;
  fill_shared_memory<Form>(tile);
  bench::WgmmaWords words = bench::WgmmaWords::of_thread(tile, threadIdx.x);
  uint32_t a[4], d[Form::kR];
  for (uint32_t& v : a) v = words.word(operand_word(Form::kKind));
  // Infinities and NaN among the old sums would hide all else.
  words.any = false;
  for (uint32_t& v : d) v = words.word(sum_word<Form>());
  const uint32_t e = words.sparsity(Form::kMetadata, Form::kKind == 't');
  fence();
  Form::step(d, a, a_descriptor<Form>(), b_descriptor<Form>(), e, tile % 4 != 0);
  wait(d);
  for (int i = 0; i < Form::kR; ++i) out[(tile * kThreads + threadIdx.x) * Form::kR + i] = d[i];
}

/// From wgmma.fence until wgmma.wait_group has returned, by the first warp.
template <class Form, int Chain>
__global__ void __launch_bounds__(kThreads) chain_kernel(int64_t* out) {
  fill_shared_memory<Form>(0);
  bench::WgmmaWords words = bench::WgmmaWords::of_thread(0, threadIdx.x);
  uint32_t a[4], d[Form::kR];
  for (uint32_t& v : a) v = words.word(operand_word(Form::kKind));
  for (uint32_t& v : d) v = 0;
  const uint32_t e = words.sparsity(Form::kMetadata, Form::kKind == 't');
  const SmemDescriptor a_at = a_descriptor<Form>(), b_at = b_descriptor<Form>();
  uint64_t took = 0;
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {  // the first fetches the code
    __syncthreads();
    const uint64_t begin = clock_now();
    fence();
#pragma unroll
    for (int i = 0; i < Chain; ++i) Form::step(d, a, a_at, b_at, e, 1);
    wait(d);
    took = clock_now() - begin;
  }
  uint32_t all = 0;
  for (const uint32_t v : d) all += v;
  if (threadIdx.x == 0) out[size_t{8} * blockIdx.x] = all == 0x12345678 ? 0 : int64_t(took) * 16;
}

const char* layout_name(WgmmaLayout layout) {
  switch (layout) {
    case WgmmaLayout::k_64: return "64B";
    case WgmmaLayout::k_32: return "32B";
    case WgmmaLayout::k_none: return "no swizzle";
    case WgmmaLayout::mn_128: return "MN-major 128B";
    case WgmmaLayout::mn_none: return "MN-major no swizzle";
    default: return "128B";
  }
}
/// And what is not as with most.
template <class Form>
std::string name_of() {
  std::string name = Form::kName;
  if (Form::kA != WgmmaLayout::k_128) name += std::string(", A ") + layout_name(Form::kA);
  if (Form::kB != WgmmaLayout::k_128) name += std::string(", B ") + layout_name(Form::kB);
  if (Form::kMetadata != WgmmaMetadata::defined)
    name += Form::kMetadata == WgmmaMetadata::any_order ? ", any order" : ", any bits";
  return name;
}

template <class Form, int Chain>
double chain_cycles() {
  constexpr auto kernel = chain_kernel<Form, Chain>;
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  return measure(1, [&](int) { kernel<<<1, kThreads, kSmemBytes>>>(results); });
}

template <class Form>
void measure_form() {
  // With A in registers ptxas serialises longer chains.
  constexpr bool kInRegisters = std::string_view(Form::kName).find(IN_REGISTERS) != std::string_view::npos;
  constexpr int kShort = kInRegisters ? 4 : 16, kLong = kInRegisters ? 16 : 80;
  const std::string name = name_of<Form>();
  const double few = chain_cycles<Form, kShort>(), many = chain_cycles<Form, kLong>();
  report(name + ": cycles each", (many - few) / (kLong - kShort));
  report(name + ": one", chain_cycles<Form, 1>());
  report(name + ": chain of 4", chain_cycles<Form, 4>());
}

template <class Form>
void hash_products() {
  const size_t words = size_t{bench::kWgmmaTiles} * kThreads * Form::kR;
  uint32_t* out = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, words * 4));
  CHECK_CUDA(cudaFuncSetAttribute(product_kernel<Form>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  product_kernel<Form><<<bench::kWgmmaTiles, kThreads, kSmemBytes>>>(out);
  CHECK_CUDA(cudaDeviceSynchronize());
  bench::MmaSyncHash hash;
  for (size_t i = 0; i < words; ++i) hash.add(out[i]);
  std::printf("%-88s %016llx\n", name_of<Form>().c_str(), static_cast<unsigned long long>(hash.value));
  CHECK_CUDA(cudaFree(out));
}

template <class... Forms>
void hash_all() {
  (hash_products<Forms>(), ...);
}
template <class... Forms>
void measure_all() {
  (measure_form<Forms>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
  open_device();
  if (argc == 2 && std::strcmp(argv[1], "--products") == 0) {
    hash_all<F16, F16Second, F16Registers, F16RegistersSecond, F16Half, F16HalfRegisters, Bf16, Bf16Registers, Tf32,
             Tf32Second, Tf32Registers, E4m3, E5m2Registers, E4m3Half, E5m2HalfRegisters, S8, S8Registers, U8,
             U8Registers>();
    hash_all<F16Narrow, F16Wide, F16Widest, F16NegativeA, F16NegativeB>();
    hash_all<F16Span64, F16None, E4m3None, F16SpanOfA32, F16MajorA, F16MajorB, F16MajorBoth, F16MajorRegisters>();
    hash_all<F16AnyOrder, E4m3AnyOrder, S8AnyOrder, F16AnyBits, Tf32AnyBits, S8AnyBits, F16SpanOfB32>();
    return 0;
  }
  measure_all<Dense8, Sparse8, DenseRegisters8, SparseRegisters8, Dense64, Sparse64, DenseRegisters64,
              SparseRegisters64, Dense128, Sparse128, DenseRegisters128, SparseRegisters128, Dense256, Sparse256,
              DenseRegisters256, SparseRegisters256>();
  measure_all<Dense8Bit, Sparse8Bit, DenseTf32, SparseTf32, DenseInteger, SparseInteger, SparseSpan64, SparseNone,
              SparseMajorB>();
  return write_json(argc, argv);
}
