// SPDX-License-Identifier: Apache-2.0
/// What the simulator's model is held against byte by byte (tests/sim/test_hardware.cpp): reductions of every
/// operation and type, sequences of mbarrier operations, copies and stores between CTAs, atomics.  All through the
/// functions of the seam, so that the device side is tried as well.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "harness.h"
#include "kernels/isa/sm100.cuh"
#include "seam/barrier_script.h"
#include "seam/programs.h"

using hw::Buffer;
using namespace sm100;

namespace {

// ---- programs

template <class P>
__global__ void program(const uint8_t* in, uint8_t* out) {
  Sm100<> isa;
  P{}(isa, GlobalAddr{reinterpret_cast<uint64_t>(in)}, GlobalAddr{reinterpret_cast<uint64_t>(out)});
}

template <class P>
std::string run_program() {
  constexpr size_t kWords = hardware::kBlockBytes / 4;
  Buffer<uint32_t> in(kWords), out(kWords * P::kCtas);
  std::vector<uint32_t> words(kWords);
  for (uint32_t i = 0; i < kWords; ++i) words[i] = hardware::program_input(i);
  in.put(words);
  hw::run(P::kId, program<P>, int(P::kCtas), 32, int(hardware::kProgramSmem), int(P::kCtas),
          reinterpret_cast<const uint8_t*>(in.get()), reinterpret_cast<uint8_t*>(out.get()));
  const auto seen = out.host();
  return hardware::words_text(seen.data(), seen.size());
}

// ---- mbarrier scripts

__global__ void script(const hardware::BarrierOperation* operations, int count, uint32_t* seen) {
  Sm100<> isa;
  constexpr int kStates = 64;
  MbarrierToken states[kStates];
  int arrivals = 0, n = 0;
  const SmemAddr bar = isa.dynamic_smem();
  LaneArray<MbarrierToken, 1> token;
  for (int i = 0; i < count; ++i) {
    const uint32_t operand = operations[i].operand;
    using S = hardware::BarrierStep;
    const S step = operations[i].step;
    switch (step) {
      case S::init: isa.mbarrier_init(bar, operand); break;
      case S::inval: isa.mbarrier_inval(bar), arrivals = 0; break;
      case S::arrive: token = isa.mbarrier_arrive_state(bar, operand, Scope::cta); break;
      case S::arrive_tx: token = isa.mbarrier_arrive_expect_tx_state(bar, operand, Scope::cta); break;
      case S::drop: token = isa.mbarrier_arrive_drop(bar, operand, Scope::cta); break;
      case S::drop_tx: token = isa.mbarrier_arrive_drop_expect_tx(bar, operand, Scope::cta); break;
      case S::no_complete: token = isa.mbarrier_arrive_no_complete(bar, operand); break;
      case S::drop_no_complete: token = isa.mbarrier_arrive_drop_no_complete(bar, operand); break;
      case S::expect: isa.mbarrier_expect_tx(bar, operand, Scope::cta); break;
      case S::complete: isa.mbarrier_complete_tx(bar, operand, Scope::cta); break;
      case S::parity: seen[n++] = isa.mbarrier_test_wait_parity(bar, operand, Scope::cta); break;
      case S::test:
        token[0][0] = states[operand];
        seen[n++] = isa.mbarrier_test_wait(bar, token, Scope::cta);
        break;
      case S::pending:
        token[0][0] = states[operand];
        seen[n++] = isa.mbarrier_pending_count(token)[0][0];
        break;
    }
    const bool arrived = step >= S::arrive && step <= S::drop_no_complete;
    if (arrived && arrivals < kStates) states[arrivals++] = token[0][0];
  }
  const long long begin = clock64();  // an error of a barrier ends the kernel only if the CTA is still there
  while (clock64() - begin < 100'000) {}
}

std::string run_script(const std::string& text) {
  const auto operations = hardware::parse_barrier_script(text);
  Buffer<hardware::BarrierOperation> uploaded(operations.size());
  uploaded.put(operations);
  Buffer<uint32_t> seen(operations.size());
  hw::check(hw::launch(script, 1, 1, 64, 1, uploaded.get(), int(operations.size()), seen.get()), "launch");
  if (hw::finish() != "completed") return "trap";
  const auto values = seen.host();
  std::string all;
  size_t n = 0;
  for (const auto& o : operations)
    if (hardware::observes(o.step)) all += (all.empty() ? "" : " ") + std::to_string(values[n++]);
  return all;
}

// ---- reductions

constexpr uint32_t kReduceSmem = 32768;

template <ReduceOp kOp, ReduceType kType>
__global__ void reduce_global(const uint4* values, uint8_t* memory, uint32_t bytes) {
  Sm100<> isa;
  const SmemAddr smem = isa.dynamic_smem();
  for (uint32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x)
    reinterpret_cast<uint4*>(device::dynamic_smem_bytes)[i] = values[i];
  isa.fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  isa.template cp_reduce_async_bulk_global_shared<kOp, kType>(GlobalAddr{reinterpret_cast<uint64_t>(memory)}, smem,
                                                              bytes);
  isa.cp_async_bulk_commit_group();
  isa.template cp_async_bulk_wait_group<0>();
}

template <ReduceOp kOp>
__global__ void reduce_tensor(const __grid_constant__ CUtensorMap map, const uint4* values, uint32_t bytes) {
  Sm100<> isa;
  const SmemAddr smem = isa.dynamic_smem();
  for (uint32_t i = threadIdx.x; i < bytes / 16; i += blockDim.x)
    reinterpret_cast<uint4*>(device::dynamic_smem_bytes)[i] = values[i];
  isa.fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  isa.template cp_reduce_async_bulk_tensor_global_shared<kOp>(reinterpret_cast<const TensorMap*>(&map),
                                                              TensorCoords<1>{0}, smem);
  isa.cp_async_bulk_commit_group();
  isa.template cp_async_bulk_wait_group<0>();
}

/// Rank 1 holds the old values, rank 0 reduces into them, by a bulk copy or by red.async of each element.
template <ReduceOp kOp, ReduceType kType, bool kBulk>
__global__ void reduce_shared(const uint4* values, uint4* memory, uint32_t bytes, uint32_t* timeout) {
  using Register = std::conditional_t<register_bytes(kType) == 8, uint64_t, uint32_t>;
  Sm100<> isa;
  const SmemAddr smem = isa.dynamic_smem(), data = smem + 1024;
  const uint32_t rank = isa.cluster_ctarank();
  uint4* const here = reinterpret_cast<uint4*>(device::dynamic_smem_bytes + 1024);
  for (uint32_t i = threadIdx.x; i < bytes / 16; i += 32) here[i] = rank == 0 ? values[i] : memory[i];
  if (threadIdx.x == 0 && rank == 1) {
    isa.mbarrier_init(smem, 1);
    isa.fence_mbarrier_init();
    isa.mbarrier_arrive_expect_tx(smem, bytes, Scope::cluster);
  }
  isa.fence_proxy_async_shared_cta();
  __syncwarp();
  isa.barrier_cluster_arrive(), isa.barrier_cluster_wait();
  if (rank == 0) {
    const ClusterSmemAddr to = isa.mapa(data, 1u), bar = isa.mapa(smem, 1u);
    if constexpr (kBulk) {
      if (threadIdx.x == 0) isa.template cp_reduce_async_bulk_shared_cluster<kOp, kType>(to, data, bytes, bar);
    } else {
      for (uint32_t i = threadIdx.x; i < bytes / sizeof(Register); i += 32) {
        LaneArray<ClusterSmemAddr, 1> address, barrier;
        LaneArray<Register, 1> value;
        address[0][0] = {to.value + i * uint32_t(sizeof(Register))};
        barrier[0][0] = bar;
        value[0][0] = reinterpret_cast<const Register*>(here)[i];
        isa.template red_async<kOp, kType>(address, value, barrier);
      }
    }
  } else {
    bool done = false;
    for (int i = 0; i < 500 && !done; ++i) done = isa.mbarrier_try_wait_parity(smem, 0, Scope::cluster);
    if (!done) *timeout = 1;
    for (uint32_t i = threadIdx.x; i < bytes / 16; i += 32) memory[i] = here[i];
  }
  __syncwarp();
  isa.barrier_cluster_arrive(), isa.barrier_cluster_wait();
}

/// Each thread on an element of its own; `old` gets what the atomic returns.
template <ReduceOp kOp, ReduceType kType, class Element>
__global__ void reduce_atomic(const Element* values, Element* memory, Element* old, uint32_t n) {
  using Register = std::conditional_t<register_bytes(kType) == 8, uint64_t, uint32_t>;
  Sm100<> isa;
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
    LaneArray<GlobalAddr, 1> address;
    address[0][0] = GlobalAddr{reinterpret_cast<uint64_t>(memory + i)};
    LaneArray<Register, 1> value;
    value[0][0] = values[i];
    old[i] =
        Element(isa.template atom_global<kOp, kType, MemorySem::relaxed, MemoryScope::gpu>(address, value)[0][0]);
  }
}

/// Operands that ask everything of a type.
std::vector<uint64_t> operands(ReduceType type) {
  switch (type) {
    case ReduceType::f16:
      return {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
              0x3c01, 0x3555, 0x6400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
    case ReduceType::bf16:
      return {0,      0x8000, 1,      0x8001, 0x007f, 0x0080, 0x3f80, 0xbf80,
              0x3f81, 0x3eab, 0x4300, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0};
    case ReduceType::f16x2:
      return {0, 0x80000001, 0x3c003c01, 0xbc0003ff, 0x7bff7bff, 0x7c00fc00, 0x7e003555, 0x64000400};
    case ReduceType::bf16x2:
      return {0, 0x80000001, 0x3f803f81, 0xbf80007f, 0x7f7f7f7f, 0x7f80ff80, 0x7fc03eab, 0x43000080};
    case ReduceType::f32:
    case ReduceType::f32_ftz:
      return {0,          0x80000000, 1,          0x80000003, 0x007fffff, 0x00800000, 0x80800001, 0x3f800000,
              0xbf800000, 0x3f800001, 0x33800000, 0x4b800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
    case ReduceType::f64:
      return {0,
              0x8000000000000000,
              1,
              0x000fffffffffffff,
              0x0010000000000000,
              0x3ff0000000000000,
              0xbff0000000000000,
              0x3ca0000000000001,
              0x7fefffffffffffff,
              0x7ff0000000000000,
              0xfff0000000000000,
              0x7ff8000000000000};
    case ReduceType::u64:
    case ReduceType::s64:
    case ReduceType::b64:
      return {0,
              1,
              0x7fffffff,
              0x80000000,
              0xffffffff,
              0x100000000,
              0x7fffffffffffffff,
              0x8000000000000000,
              0xffffffffffffffff,
              0x123456789abcdef0};
    default: return {0, 1, 2, 9, 0x7fffffff, 0x80000000, 0xffffffff, 0x12345678};
  }
}

/// Every pair of them, packed; the number is a multiple of 16.
struct Pairs {
  std::vector<uint64_t> old, value;
  uint32_t size;
  explicit Pairs(ReduceType type) : size(bytes_of(type)) {
    for (const uint64_t a : operands(type))
      for (const uint64_t b : operands(type)) old.push_back(a), value.push_back(b);
    while (old.size() % 16 != 0) old.push_back(0), value.push_back(0);
  }
  std::vector<uint8_t> packed(const std::vector<uint64_t>& from) const {
    std::vector<uint8_t> bytes(from.size() * size);
    for (size_t i = 0; i < from.size(); ++i) std::memcpy(&bytes[i * size], &from[i], size);
    return bytes;
  }
  /// "old,value=result ..." in hexadecimal.
  std::string text(const std::vector<uint8_t>& results) const {
    std::string all;
    for (size_t i = 0; i < old.size(); ++i) {
      uint64_t result = 0;
      std::memcpy(&result, &results[i * size], size);
      all += hw::format("%s%llx,%llx=%llx", all.empty() ? "" : " ", static_cast<unsigned long long>(old[i]),
                        static_cast<unsigned long long>(value[i]), static_cast<unsigned long long>(result));
    }
    return all;
  }
};

std::string id_of(const char* path, ReduceOp op, ReduceType type) {
  return hw::format("reduce.%s.%s.%s", path, name(op), name(type));
}
constexpr const char* kQuestion = "old,value=result of every pair of operands, in hexadecimal";

template <ReduceOp kOp, ReduceType kType>
void ask_global(hw::Out& out) {
  const Pairs pairs(kType);
  Buffer<uint8_t> values(pairs.old.size() * pairs.size), memory(values.size());
  values.put(pairs.packed(pairs.value)), memory.put(pairs.packed(pairs.old));
  hw::run("reduce", reduce_global<kOp, kType>, 1, 128, int(kReduceSmem), 1,
          reinterpret_cast<const uint4*>(values.get()), memory.get(), uint32_t(values.size()));
  out.open(id_of("bulk_global", kOp, kType), kQuestion, pairs.text(memory.host()));
}

template <ReduceOp kOp, ReduceType kType, bool kBulk>
void ask_shared(hw::Out& out) {
  const Pairs pairs(kType);
  Buffer<uint8_t> values(pairs.old.size() * pairs.size), memory(values.size());
  Buffer<uint32_t> timeout(1);
  values.put(pairs.packed(pairs.value)), memory.put(pairs.packed(pairs.old));
  hw::run("reduce", reduce_shared<kOp, kType, kBulk>, 2, 32, int(kReduceSmem), 2,
          reinterpret_cast<const uint4*>(values.get()), reinterpret_cast<uint4*>(memory.get()),
          uint32_t(values.size()), timeout.get());
  const std::string id = id_of(kBulk ? "bulk_shared" : "red_async", kOp, kType);
  out.open(id, kQuestion, timeout.host()[0] ? "timeout" : pairs.text(memory.host()));
}

template <ReduceOp kOp, ReduceType kType>
void ask_atomic(hw::Out& out) {
  using Element = std::conditional_t<bytes_of(kType) == 8, uint64_t,
                                     std::conditional_t<bytes_of(kType) == 4, uint32_t, uint16_t>>;
  const Pairs pairs(kType);
  Buffer<uint8_t> values(pairs.old.size() * pairs.size), memory(values.size()), old(values.size());
  values.put(pairs.packed(pairs.value)), memory.put(pairs.packed(pairs.old));
  hw::run("atomic", reduce_atomic<kOp, kType, Element>, 1, 128, 0, 1,
          reinterpret_cast<const Element*>(values.get()), reinterpret_cast<Element*>(memory.get()),
          reinterpret_cast<Element*>(old.get()), uint32_t(pairs.old.size()));
  out.open(id_of("atom", kOp, kType), kQuestion, pairs.text(memory.host()));
  out.answer(id_of("atom_old", kOp, kType), "the atomic returns what memory held", "yes",
             old.host() == pairs.packed(pairs.old) ? "yes" : "no");
}

constexpr CUtensorMapDataType driver_type(TensorMapDataType type) {
  switch (type) {
    case TensorMapDataType::int32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case TensorMapDataType::uint64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case TensorMapDataType::int64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case TensorMapDataType::float16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case TensorMapDataType::bfloat16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case TensorMapDataType::float32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case TensorMapDataType::float32_ftz: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
  }
}

template <ReduceOp kOp>
void ask_tensor(hw::Out& out, TensorMapDataType map_type, const char* map_name) {
  const ReduceType type = tensor_reduction(kOp, map_type);
  if (type == ReduceType::none) return;
  const Pairs pairs(type);
  Buffer<uint8_t> values(pairs.old.size() * pairs.size), memory(values.size());
  values.put(pairs.packed(pairs.value)), memory.put(pairs.packed(pairs.old));
  hw::MapSpec spec;
  spec.type = driver_type(map_type);
  spec.dims = {pairs.old.size()};
  spec.strides = {pairs.old.size() * pairs.size};  // of no dimension, but the driver wants a pointer
  spec.box = {static_cast<cuuint32_t>(pairs.old.size())};
  spec.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  const CUtensorMap map = hw::must_encode(spec, memory.get());
  hw::run("tensor reduction", reduce_tensor<kOp>, 1, 128, int(kReduceSmem), 1, map,
          reinterpret_cast<const uint4*>(values.get()), uint32_t(values.size()));
  out.open(hw::format("reduce.tensor_%s.%s.%s", map_name, name(kOp), name(type)), kQuestion,
           pairs.text(memory.host()));
}

/// Calls ask.template operator()<op, type>() for every pair of an operation and a type.
constexpr uint32_t kOps = uint32_t(ReduceOp::exch) + 1, kTypes = uint32_t(ReduceType::bf16x2) + 1;
template <class Ask, uint32_t... kPairs>
void each_pair(Ask&& ask, std::integer_sequence<uint32_t, kPairs...>) {
  (ask.template operator()<ReduceOp(kPairs % kOps), ReduceType(kPairs / kOps)>(), ...);
}
template <class Ask>
void each_pair(Ask&& ask) {
  each_pair(ask, std::make_integer_sequence<uint32_t, kOps * kTypes>());
}
template <class Ask, uint32_t... kOp>
void each_operation(Ask&& ask, std::integer_sequence<uint32_t, kOp...>) {
  (ask.template operator()<ReduceOp(kOp)>(), ...);
}

}  // namespace

HW_TEST("seam.programs") {
  hardware::for_each_program([&]<class P>(P) {
    out.open(std::string("program.") + P::kId, "what the program of bench/hardware/seam/programs.h leaves",
             run_program<P>());
  });
}
HW_TEST("seam.scripts") {
  int n = 0;
  for (const std::string& text : hardware::barrier_scripts()) {
    const auto operations = hardware::parse_barrier_script(text);
    out.answer(hw::format("script.%02d", n++), text, hardware::seen_by_reference(operations), run_script(text));
  }
}
HW_TEST("seam.reduce.bulk_global") {
  each_pair([&]<ReduceOp kOp, ReduceType kType>() {
    if constexpr (reduces_global(kOp, kType)) ask_global<kOp, kType>(out);
  });
}
HW_TEST("seam.reduce.bulk_shared") {
  each_pair([&]<ReduceOp kOp, ReduceType kType>() {
    if constexpr (reduces_shared(kOp, kType)) ask_shared<kOp, kType, true>(out);
  });
}
HW_TEST("seam.reduce.red_async") {
  each_pair([&]<ReduceOp kOp, ReduceType kType>() {
    if constexpr (reduces_shared(kOp, kType)) ask_shared<kOp, kType, false>(out);
  });
}
HW_TEST("seam.reduce.tensor") {
  const std::pair<TensorMapDataType, const char*> types[] = {
      {TensorMapDataType::uint32, "u32"},  {TensorMapDataType::int32, "s32"},
      {TensorMapDataType::uint64, "u64"},  {TensorMapDataType::int64, "s64"},
      {TensorMapDataType::float16, "f16"}, {TensorMapDataType::bfloat16, "bf16"},
      {TensorMapDataType::float32, "f32"}, {TensorMapDataType::float32_ftz, "f32_ftz"}};
  each_operation(
      [&]<ReduceOp kOp>() {
        for (const auto& type : types) ask_tensor<kOp>(out, type.first, type.second);
      },
      std::make_integer_sequence<uint32_t, kOps - 1>());
}
HW_TEST("seam.reduce.atom") {
  each_pair([&]<ReduceOp kOp, ReduceType kType>() {
    if constexpr (atomic_global(kOp, kType)) ask_atomic<kOp, kType>(out);
  });
}

// What PTX calls undefined: only what is seen.
HW_TEST("seam.misuse.use_after_inval") {
  out.open("misuse.use_after_inval", "init 1; inval; arrive 1", run_script("init 1; inval; arrive 1"));
}
HW_TEST("seam.misuse.no_complete_completes") {
  out.open("misuse.no_complete_completes", "init 1; no_complete 1; parity 0",
           run_script("init 1; no_complete 1; parity 0"));
}
HW_TEST("seam.misuse.drop_beyond_expected") {
  out.open("misuse.drop_beyond_expected", "init 1; drop 1; drop 1; parity 0",
           run_script("init 1; drop 1; drop 1; parity 0"));
}
HW_TEST("seam.misuse.old_state") {
  out.open("misuse.old_state", "init 1; arrive 1; arrive 1; test 0 (two phases later); arrive 1; test 0",
           run_script("init 1; arrive 1; test 0; arrive 1; test 0; arrive 1; test 0"));
}
