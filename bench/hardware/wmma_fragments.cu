// SPDX-License-Identifier: Apache-2.0
// wmma on this GPU: which element of a matrix each register holds, and what wmma.mma makes of random numbers.
// tests/models/test_wmma.cpp has the hashes of the model.
//
//   wmma_fragments             a hash of each fragment by lane, register and place in it; says where loads from
//                              shared memory bring something else, and where stores do not bring it back
//   wmma_fragments --table     beside it row.column of lane 0's first element, then of lanes 1, 2, 4, 8, 16, of
//                              registers 1, 2, 4 and of places 1, 2, 4 …; all others follow by exclusive or, else
//                              they are printed, a line for each lane
//   wmma_fragments --products  a hash of D for each form, of words drawn as mma_sync --products draws them
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "mma_sync_words.h"

namespace {

using namespace sm100;

constexpr int kLanes = 32, kMost = 8;  // kMost: registers
constexpr int kMatrixBytes = 1024, kSetBytes = kLanes * kMost * 8;

#define CHECK_CUDA(call)                                                 \
  do {                                                                   \
    const cudaError_t code = (call);                                     \
    if (code != cudaSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code)); \
      std::exit(5);                                                      \
    }                                                                    \
  } while (0)

#define IN_1 "{%0}"
#define IN_2 "{%0,%1}"
#define IN_4 "{%0,%1,%2,%3}"
#define IN_8 "{%0,%1,%2,%3,%4,%5,%6,%7}"
#define ALL_8(c, x) c(x[0]), c(x[1]), c(x[2]), c(x[3]), c(x[4]), c(x[5]), c(x[6]), c(x[7])

// A register has 32 bits, of f64 64.
#define FRAGMENT(Word, letter, matrix, order, shape, type, bits_, registers_, rows_, columns_)                  \
  struct matrix##_##order##_##shape##_##type {                                                                  \
    using W = Word;                                                                                             \
    static constexpr const char* kName = #shape " " #type " " #matrix " " #order;                               \
    static constexpr int kBits = bits_, kRegisters = registers_, kRows = rows_, kColumns = columns_;            \
    static constexpr bool kRowMajor = #order[0] == 'r', kSum = #matrix[0] == 'c';                               \
    __device__ static void load(W (&x)[kMost], const void* from, unsigned stride) {                             \
      asm volatile("wmma.load." #matrix ".sync.aligned." #order "." #shape ".global." #type " " IN_##registers_ \
                   ", [%8], %9;"                                                                                \
                   : ALL_8("+" letter, x)                                                                       \
                   : "l"(from), "r"(stride)                                                                     \
                   : "memory");                                                                                 \
    }                                                                                                           \
    __device__ static void load_shared(W (&x)[kMost], unsigned from, unsigned stride) {                         \
      asm volatile("wmma.load." #matrix ".sync.aligned." #order "." #shape ".shared." #type " " IN_##registers_ \
                   ", [%8], %9;"                                                                                \
                   : ALL_8("+" letter, x)                                                                       \
                   : "r"(from), "r"(stride)                                                                     \
                   : "memory");                                                                                 \
    }                                                                                                           \
    __device__ static void store(const W (&x)[kMost], void* to, unsigned to_shared, unsigned stride) {          \
      if constexpr (kSum) {                                                                                     \
        asm volatile("wmma.store.d.sync.aligned." #order "." #shape ".global." #type " [%8], " IN_##registers_  \
                     ", %9;" ::ALL_8(letter, x),                                                                \
                     "l"(to), "r"(stride)                                                                       \
                     : "memory");                                                                               \
        asm volatile("wmma.store.d.sync.aligned." #order "." #shape ".shared." #type " [%8], " IN_##registers_  \
                     ", %9;" ::ALL_8(letter, x),                                                                \
                     "r"(to_shared), "r"(stride)                                                                \
                     : "memory");                                                                               \
      }                                                                                                         \
    }                                                                                                           \
  }
#define FRAGMENT_32(...) FRAGMENT(uint32_t, "r", __VA_ARGS__)
#define FRAGMENT_64(...) FRAGMENT(uint64_t, "l", __VA_ARGS__)
#define BOTH_ORDERS(FRAGMENT_N, matrix, ...) \
  FRAGMENT_N(matrix, row, __VA_ARGS__);      \
  FRAGMENT_N(matrix, col, __VA_ARGS__)
BOTH_ORDERS(FRAGMENT_32, a, m16n16k16, f16, 16, 8, 16, 16);
BOTH_ORDERS(FRAGMENT_32, b, m16n16k16, f16, 16, 8, 16, 16);
BOTH_ORDERS(FRAGMENT_32, c, m16n16k16, f16, 16, 4, 16, 16);
BOTH_ORDERS(FRAGMENT_32, c, m16n16k16, f32, 32, 8, 16, 16);
BOTH_ORDERS(FRAGMENT_32, a, m8n32k16, f16, 16, 8, 8, 16);
BOTH_ORDERS(FRAGMENT_32, b, m8n32k16, f16, 16, 8, 16, 32);
BOTH_ORDERS(FRAGMENT_32, c, m8n32k16, f16, 16, 4, 8, 32);
BOTH_ORDERS(FRAGMENT_32, c, m8n32k16, f32, 32, 8, 8, 32);
BOTH_ORDERS(FRAGMENT_32, a, m32n8k16, f16, 16, 8, 32, 16);
BOTH_ORDERS(FRAGMENT_32, b, m32n8k16, f16, 16, 8, 16, 8);
BOTH_ORDERS(FRAGMENT_32, c, m32n8k16, f16, 16, 4, 32, 8);
BOTH_ORDERS(FRAGMENT_32, c, m32n8k16, f32, 32, 8, 32, 8);
BOTH_ORDERS(FRAGMENT_32, a, m16n16k16, bf16, 16, 4, 16, 16);
BOTH_ORDERS(FRAGMENT_32, b, m16n16k16, bf16, 16, 4, 16, 16);
BOTH_ORDERS(FRAGMENT_32, a, m8n32k16, bf16, 16, 2, 8, 16);
BOTH_ORDERS(FRAGMENT_32, b, m8n32k16, bf16, 16, 8, 16, 32);
BOTH_ORDERS(FRAGMENT_32, a, m32n8k16, bf16, 16, 8, 32, 16);
BOTH_ORDERS(FRAGMENT_32, b, m32n8k16, bf16, 16, 2, 16, 8);
BOTH_ORDERS(FRAGMENT_32, a, m16n16k8, tf32, 32, 4, 16, 8);
BOTH_ORDERS(FRAGMENT_32, b, m16n16k8, tf32, 32, 4, 8, 16);
BOTH_ORDERS(FRAGMENT_32, c, m16n16k8, f32, 32, 8, 16, 16);
BOTH_ORDERS(FRAGMENT_32, a, m16n16k16, s8, 8, 2, 16, 16);
BOTH_ORDERS(FRAGMENT_32, b, m16n16k16, s8, 8, 2, 16, 16);
BOTH_ORDERS(FRAGMENT_32, c, m16n16k16, s32, 32, 8, 16, 16);
BOTH_ORDERS(FRAGMENT_32, a, m8n32k16, u8, 8, 1, 8, 16);
BOTH_ORDERS(FRAGMENT_32, b, m8n32k16, u8, 8, 4, 16, 32);
BOTH_ORDERS(FRAGMENT_32, c, m8n32k16, s32, 32, 8, 8, 32);
BOTH_ORDERS(FRAGMENT_32, a, m32n8k16, s8, 8, 4, 32, 16);
BOTH_ORDERS(FRAGMENT_32, b, m32n8k16, s8, 8, 1, 16, 8);
BOTH_ORDERS(FRAGMENT_32, c, m32n8k16, s32, 32, 8, 32, 8);
FRAGMENT_32(a, row, m8n8k32, s4, 4, 1, 8, 32);
FRAGMENT_32(b, col, m8n8k32, s4, 4, 1, 32, 8);
BOTH_ORDERS(FRAGMENT_32, c, m8n8k32, s32, 32, 2, 8, 8);
FRAGMENT_32(a, row, m8n8k128, b1, 1, 1, 8, 128);
FRAGMENT_32(b, col, m8n8k128, b1, 1, 1, 128, 8);
BOTH_ORDERS(FRAGMENT_32, c, m8n8k128, s32, 32, 2, 8, 8);
BOTH_ORDERS(FRAGMENT_64, a, m8n8k4, f64, 64, 1, 8, 4);
BOTH_ORDERS(FRAGMENT_64, b, m8n8k4, f64, 64, 1, 4, 8);
BOTH_ORDERS(FRAGMENT_64, c, m8n8k4, f64, 64, 2, 8, 8);

/// Registers of a load from global memory, of one from shared memory; the matrix as stored to both.
template <class F>
__global__ void fragment_kernel(const uint8_t* matrix, uint64_t* registers, uint8_t* stored) {
  __shared__ __align__(128) uint8_t shared[2 * kMatrixBytes];
  for (int i = int(threadIdx.x); i < kMatrixBytes; i += kLanes) shared[i] = matrix[i], shared[kMatrixBytes + i] = 0;
  __syncwarp();
  const auto at = unsigned(__cvta_generic_to_shared(shared));
  constexpr unsigned kStride = F::kRowMajor ? F::kColumns : F::kRows;
  typename F::W x[kMost] = {}, y[kMost] = {};
  F::load(x, matrix, kStride);
  F::load_shared(y, at, kStride);
  for (int r = 0; r < kMost; ++r) {
    registers[int(threadIdx.x) * kMost + r] = x[r];
    registers[(kLanes + int(threadIdx.x)) * kMost + r] = y[r];
  }
  F::store(x, stored, at + kMatrixBytes, kStride);
  __syncwarp();
  for (int i = int(threadIdx.x); i < kMatrixBytes; i += kLanes) stored[kMatrixBytes + i] = shared[kMatrixBytes + i];
}

void set_bits(uint8_t* to, size_t at, int bits, uint64_t value) {
  for (int i = 0; i < bits; ++i)
    to[(at + size_t(i)) / 8] = uint8_t(to[(at + size_t(i)) / 8] | (value >> i & 1) << (at + size_t(i)) % 8);
}

/// Numbers of elements (row * columns + column) by lane, register and place, found out some bits at a time.
template <class F>
struct Found {
  static constexpr int kPlaces = std::max(1, 32 / F::kBits), kAll = kLanes * F::kRegisters * kPlaces;
  std::vector<int> element = std::vector<int>(kAll);
  bool shared_differs = false, store_differs = false;

  Found() {
    uint8_t *matrix = nullptr, *stored = nullptr;
    uint64_t* registers = nullptr;
    CHECK_CUDA(cudaMallocManaged(&matrix, kMatrixBytes));
    CHECK_CUDA(cudaMallocManaged(&stored, 2 * kMatrixBytes));
    CHECK_CUDA(cudaMallocManaged(&registers, 2 * kSetBytes));
    constexpr int kBits = std::min(F::kBits, 10), kNumbers = F::kRows * F::kColumns;
    for (int first = 0; first < 10; first += kBits) {
      std::memset(matrix, 0, kMatrixBytes), std::memset(stored, 0, 2 * kMatrixBytes);
      for (int n = 0; n < kNumbers; ++n) {
        const int row = n / F::kColumns, column = n % F::kColumns;
        const int at = F::kRowMajor ? n : column * F::kRows + row;
        set_bits(matrix, size_t(at) * F::kBits, F::kBits, uint64_t(n) >> first & ((1u << kBits) - 1));
      }
      fragment_kernel<F><<<1, kLanes>>>(matrix, registers, stored);
      CHECK_CUDA(cudaDeviceSynchronize());
      for (int i = 0; i < kAll; ++i) {
        const int e = i % kPlaces, r = i / kPlaces % F::kRegisters, lane = i / kPlaces / F::kRegisters;
        const uint64_t word = registers[lane * kMost + r];
        shared_differs |= word != registers[(kLanes + lane) * kMost + r];
        element[size_t(i)] |= int(word >> e * std::min(F::kBits, 32) % 64 & ((1u << kBits) - 1)) << first;
      }
      constexpr size_t kBytes = size_t(kNumbers) * F::kBits / 8;
      store_differs |= F::kSum && (std::memcmp(matrix, stored, kBytes) != 0 ||
                                   std::memcmp(matrix, stored + kMatrixBytes, kBytes) != 0);
    }
    for (void* p : {static_cast<void*>(matrix), static_cast<void*>(stored), static_cast<void*>(registers)})
      CHECK_CUDA(cudaFree(p));
  }

  void print_element(int i) const {
    std::printf(" %d.%d", element[size_t(i)] / F::kColumns, element[size_t(i)] % F::kColumns);
  }

  void print_table() const {
    std::printf("   ");
    print_element(0);
    bool linear = true;
    int of_bits[kAll] = {};
    const auto bits_of = [&](const char* what, int unit, int count) {
      std::printf(" %s", what);
      for (int bit = 1; bit < count; bit *= 2) print_element(bit * unit);
    };
    bits_of("lanes", F::kRegisters * kPlaces, kLanes);
    bits_of("registers", kPlaces, F::kRegisters);
    bits_of("places", 1, kPlaces);
    for (int i = 0; i < kAll; ++i) {
      of_bits[i] = element[0];
      for (int bit = 1; bit < kAll; bit *= 2)
        if (i & bit) of_bits[i] ^= element[0] ^ element[size_t(bit)];
      linear = linear && of_bits[i] == element[size_t(i)];
    }
    std::printf("%s\n", linear ? "" : ", not linear:");
    for (int lane = 0; lane < kLanes && !linear; ++lane) {
      std::printf("    lane %d:", lane);
      for (int i = 0; i < F::kRegisters * kPlaces; ++i) print_element(lane * F::kRegisters * kPlaces + i);
      std::printf("\n");
    }
  }
};

template <class F>
void report_fragment(bool table) {
  const Found<F> found;
  bench::MmaSyncHash hash;
  for (const int n : found.element) hash.add(uint64_t(n));
  std::printf("%-22s %016llx%s%s\n", F::kName, static_cast<unsigned long long>(hash.value),
              found.shared_differs ? " shared memory: another" : "",
              found.store_differs ? " stores bring back another" : "");
  if (table) found.print_table();
}

// ---- products

#define D_2 IN_2
#define D_4 IN_4
#define D_8 IN_8
#define A_1 "{%8}"
#define A_2 "{%8,%9}"
#define A_4 "{%8,%9,%10,%11}"
#define A_8 "{%8,%9,%10,%11,%12,%13,%14,%15}"
#define B_1 "{%16}"
#define B_2 "{%16,%17}"
#define B_4 "{%16,%17,%18,%19}"
#define B_8 "{%16,%17,%18,%19,%20,%21,%22,%23}"
#define C_2 "{%24,%25}"
#define C_4 "{%24,%25,%26,%27}"
#define C_8 "{%24,%25,%26,%27,%28,%29,%30,%31}"

using Kind = bench::MmaSyncWord;
#define FORM_OF(Word, letter, Name, text, kD_, kA_, kB_, kC_, ab, c_)                        \
  struct Name {                                                                              \
    using W = Word;                                                                          \
    static constexpr const char* kName = text;                                               \
    static constexpr int kD = kD_, kA = kA_, kB = kB_, kC = kC_;                             \
    static constexpr Kind kOperands = Kind::ab, kOld = Kind::c_;                             \
    __device__ static void multiply(W (&d)[kMost], const W (&a)[kMost], const W (&b)[kMost], \
                                    const W (&c)[kMost]) {                                   \
      asm volatile("wmma.mma." text " " D_##kD_ ", " A_##kA_ ", " B_##kB_ ", " C_##kC_ ";"   \
                   : ALL_8("+" letter, d)                                                    \
                   : ALL_8(letter, a), ALL_8(letter, b), ALL_8(letter, c));                  \
    }                                                                                        \
  }
#define FORM(...) FORM_OF(uint32_t, "r", __VA_ARGS__)
#define ROW_COL "sync.aligned.row.col."
FORM(F16, ROW_COL "m16n16k16.f32.f32", 8, 8, 8, 8, f16x2, f32);
FORM(F16Half, ROW_COL "m16n16k16.f16.f16", 4, 8, 8, 4, f16x2, f16x2);
FORM(F16Widened, ROW_COL "m16n16k16.f32.f16", 8, 8, 8, 4, f16x2, f16x2);
FORM(F16Rounded, ROW_COL "m16n16k16.f16.f32", 4, 8, 8, 8, f16x2, f32);
FORM(F16Wide, ROW_COL "m8n32k16.f32.f32", 8, 8, 8, 8, f16x2, f32);
FORM(F16WideHalf, ROW_COL "m8n32k16.f16.f16", 4, 8, 8, 4, f16x2, f16x2);
FORM(F16Tall, ROW_COL "m32n8k16.f32.f32", 8, 8, 8, 8, f16x2, f32);
FORM(F16TallHalf, ROW_COL "m32n8k16.f16.f16", 4, 8, 8, 4, f16x2, f16x2);
FORM(Bf16, ROW_COL "m16n16k16.f32.bf16.bf16.f32", 8, 4, 4, 8, bf16x2, f32);
FORM(Bf16Wide, ROW_COL "m8n32k16.f32.bf16.bf16.f32", 8, 2, 8, 8, bf16x2, f32);
FORM(Bf16Tall, ROW_COL "m32n8k16.f32.bf16.bf16.f32", 8, 8, 2, 8, bf16x2, f32);
FORM(Tf32, ROW_COL "m16n16k8.f32.tf32.tf32.f32", 8, 4, 4, 8, f32, f32);
FORM(S8, ROW_COL "m16n16k16.s32.s8.s8.s32", 8, 2, 2, 8, bits, bits);
FORM(U8, ROW_COL "m16n16k16.s32.u8.u8.s32.satfinite", 8, 2, 2, 8, bits, bits);
FORM(S8Wide, ROW_COL "m8n32k16.s32.s8.s8.s32.satfinite", 8, 1, 4, 8, bits, bits);
FORM(U8Tall, ROW_COL "m32n8k16.s32.u8.u8.s32", 8, 4, 1, 8, bits, bits);
FORM(S4, ROW_COL "m8n8k32.s32.s4.s4.s32", 2, 1, 1, 2, bits, bits);
FORM(U4, ROW_COL "m8n8k32.s32.u4.u4.s32.satfinite", 2, 1, 1, 2, bits, bits);
FORM(B1And, "and.popc." ROW_COL "m8n8k128.s32.b1.b1.s32", 2, 1, 1, 2, bits, bits);
FORM(B1Xor, "xor.popc." ROW_COL "m8n8k128.s32.b1.b1.s32", 2, 1, 1, 2, bits, bits);
FORM_OF(uint64_t, "l", F64, ROW_COL "m8n8k4.f64.f64.f64.f64", 2, 1, 1, 2, f64, f64);

template <class F>
__global__ void product_kernel(uint64_t* out) {
  using W = typename F::W;
  W a[kMost] = {}, b[kMost] = {}, c[kMost] = {}, d[kMost] = {};
  bench::MmaSyncWords words(blockIdx.x, threadIdx.x);
  for (int i = 0; i < F::kA; ++i) a[i] = W(words.draw(F::kOperands));
  for (int i = 0; i < F::kB; ++i) b[i] = W(words.draw(F::kOperands));
  words.any = false;  // infinities and NaN among the old sums would hide all else
  for (int i = 0; i < F::kC; ++i) c[i] = W(words.draw(F::kOld));
  F::multiply(d, a, b, c);
  for (int i = 0; i < F::kD; ++i) out[(blockIdx.x * kLanes + threadIdx.x) * F::kD + i] = d[i];
}

template <class F>
void hash_products() {
  const size_t words = size_t{bench::kMmaSyncTiles} * kLanes * F::kD;
  uint64_t* out = nullptr;
  CHECK_CUDA(cudaMallocManaged(&out, words * sizeof *out));
  product_kernel<F><<<bench::kMmaSyncTiles, kLanes>>>(out);
  CHECK_CUDA(cudaDeviceSynchronize());
  bench::MmaSyncHash hash;
  for (size_t i = 0; i < words; ++i) hash.add(out[i]);
  std::printf("%-62s %016llx\n", F::kName, static_cast<unsigned long long>(hash.value));
  CHECK_CUDA(cudaFree(out));
}

template <class... Forms>
void all_products() {
  (hash_products<Forms>(), ...);
}
template <class... Fragments>
void all_fragments(bool table) {
  (report_fragment<Fragments>(table), ...);
}
#define ORDERS(matrix, rest) matrix##_row_##rest, matrix##_col_##rest

}  // namespace

int main(int argc, char** argv) {
  const std::string_view option = argc == 2 ? argv[1] : "";
  if (option == "--products") {
    all_products<F16, F16Half, F16Widened, F16Rounded, F16Wide, F16WideHalf, F16Tall, F16TallHalf, Bf16, Bf16Wide,
                 Bf16Tall, Tf32, S8, U8, S8Wide, U8Tall, S4, U4, B1And, B1Xor, F64>();
    return 0;
  }
  all_fragments<ORDERS(a, m16n16k16_f16), ORDERS(b, m16n16k16_f16), ORDERS(c, m16n16k16_f16),
                ORDERS(c, m16n16k16_f32), ORDERS(a, m8n32k16_f16), ORDERS(b, m8n32k16_f16), ORDERS(c, m8n32k16_f16),
                ORDERS(c, m8n32k16_f32), ORDERS(a, m32n8k16_f16), ORDERS(b, m32n8k16_f16), ORDERS(c, m32n8k16_f16),
                ORDERS(c, m32n8k16_f32), ORDERS(a, m16n16k16_bf16), ORDERS(b, m16n16k16_bf16),
                ORDERS(a, m8n32k16_bf16), ORDERS(b, m8n32k16_bf16), ORDERS(a, m32n8k16_bf16),
                ORDERS(b, m32n8k16_bf16), ORDERS(a, m16n16k8_tf32), ORDERS(b, m16n16k8_tf32),
                ORDERS(c, m16n16k8_f32), ORDERS(a, m16n16k16_s8), ORDERS(b, m16n16k16_s8), ORDERS(c, m16n16k16_s32),
                ORDERS(a, m8n32k16_u8), ORDERS(b, m8n32k16_u8), ORDERS(c, m8n32k16_s32), ORDERS(a, m32n8k16_s8),
                ORDERS(b, m32n8k16_s8), ORDERS(c, m32n8k16_s32), a_row_m8n8k32_s4, b_col_m8n8k32_s4,
                ORDERS(c, m8n8k32_s32), a_row_m8n8k128_b1, b_col_m8n8k128_b1, ORDERS(c, m8n8k128_s32),
                ORDERS(a, m8n8k4_f64), ORDERS(b, m8n8k4_f64), ORDERS(c, m8n8k4_f64)>(option == "--table");
  return 0;
}
