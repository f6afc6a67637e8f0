// SPDX-License-Identifier: Apache-2.0
// What work costs an H200 or H100 in energy, and what becomes of the SM clock: kernels of one kind of work on some
// or all SMs for seconds, the clock of each SM by time since the launch, and the energy that the driver counts
// meanwhile; then products by cuBLAS, which nobody fits to.
//
//   nvcc ... power_costs.cu -lcublas -ldl -o power_costs; ./power_costs [--json FILE]
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "costs.cuh"
#include "kernels/isa/wgmma.h"

namespace {

constexpr int kSmemBytes = 200 << 10;  // one CTA on an SM
constexpr int kStageBytes = 48 << 10, kStages = 4;
constexpr int kThreads = 288;  // two warpgroups and a warp that copies
constexpr double kSeconds = 2.4, kWarmSeconds = 1.0;

/// Since the launch, in us, where each SM writes its clocks and what it has done.
constexpr int kMarks = 17;
__constant__ const double kMarkMicroseconds[kMarks] = {20,   50,   100,   200,   500,   1e3,    2e3,    5e3,   10e3,
                                                       20e3, 50e3, 100e3, 200e3, 500e3, 1000e3, 1700e3, 2300e3};
const double kHostMarks[kMarks] = {20,   50,   100,   200,   500,   1e3,    2e3,    5e3,   10e3,
                                   20e3, 50e3, 100e3, 200e3, 500e3, 1000e3, 1700e3, 2300e3};

struct Mark {
  unsigned long long cycles, ns, done;
};

enum class Work : int { spin, wait, bf16, e4m3, e4m3_fills, bf16_fills, l2, hbm, hbm_loads, l2_loads, store, fma };

__device__ unsigned long long ns_now() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}
__device__ uint32_t mix(uint32_t x) {
  x ^= x >> 16, x *= 0x7feb352dU, x ^= x >> 15, x *= 0x846ca68bU;
  return x ^ (x >> 16);
}
/// About normal: the sum of four uniform numbers.
__device__ float normal(uint32_t i) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum += float(mix(i * 4 + uint32_t(k) + 0x9e3779b9U)) * 2.3283064e-10F;
  return (sum - 2) * 1.7320508F;
}
__device__ uint32_t random_word(uint32_t i, bool fp8) {
  if (fp8) {
    uint32_t word = 0;
    for (uint32_t b = 0; b < 4; ++b) word |= uint32_t(__nv_fp8_e4m3(normal(i * 4 + b)).__x) << (8 * b);
    return word;
  }
  const __nv_bfloat162 pair(normal(i * 2), normal(i * 2 + 1));
  uint32_t word;
  memcpy(&word, &pair, 4);
  return word;
}
__global__ void fill_kernel(uint32_t* data, size_t words, bool fp8, bool zero) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < words; i += size_t(gridDim.x) * blockDim.x)
    data[i] = zero ? 0 : random_word(uint32_t(i), fp8);
}

__device__ uint32_t shared_base() {
  extern __shared__ uint8_t smem[];
  return (uint32_t(__cvta_generic_to_shared(smem)) + 1023) & ~1023u;
}
__device__ void bulk_load(uint32_t to, const uint8_t* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
__device__ void wait_phase(uint32_t barrier, uint32_t parity) {
  uint32_t done = 0;
  while (!done)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(done)
                 : "r"(barrier), "r"(parity)
                 : "memory");
}

template <DataType Type>
__device__ void multiply(int warpgroup, int stages) {
  Device isa{{}};
  constexpr WgmmaForm kForm = {.n = 256, .a = Type, .b = Type};
  LaneArray<float, wgmma_d_registers(kForm)> sums{};
#pragma unroll 1
  for (int s = 0; s < stages; ++s) {
    const uint32_t stage = shared_base() + uint32_t(s % kStages) * kStageBytes;
    isa.wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      isa.template wgmma_mma_async<kForm>(
          sums,
          make_wgmma_descriptor({stage + uint32_t(warpgroup) * 8192 + uint32_t(k) * 32}, 16, 1024, Swizzle::b128),
          make_wgmma_descriptor({stage + 16384 + uint32_t(k) * 32}, 16, 1024, Swizzle::b128), s > 0 || k > 0);
    isa.wgmma_commit_group();
    isa.template wgmma_wait_group<1>();
  }
  isa.template wgmma_wait_group<0>(sums);
  float all = 0;
  for (int i = 0; i < wgmma_d_registers(kForm); ++i) all += sums.registers[i];
  if (all == 1.2345e30F) asm volatile("trap;");
}

struct Job {
  Work work;
  int active;  ///< SMs
  bool zero;   ///< operands
  const uint8_t* data;
  uint8_t* out;
  size_t data_bytes;  ///< that the copies walk through
  double seconds;
  int duty = 16;  ///< sixteenths of a turn's stages that are multiplied; the others are waited for
};

/// Copies pieces of 16 KiB, eight in flight, by one thread.
struct Copier {
  uint32_t barriers, slots;
  unsigned long long issued = 0, waited = 0;
  __device__ void issue(const Job& job) {
    const size_t piece = (issued * gridDim.x + blockIdx.x) & ((job.data_bytes >> 14) - 1);  // a power of two
    const uint32_t slot = uint32_t(issued % 8);
    bulk_load(slots + slot * (16U << 10), job.data + (piece << 14), 16 << 10, barriers + 8 * slot);
    ++issued;
  }
  __device__ void wait(const Job& job, unsigned long long* wrong) {
    wait_phase(barriers + 8 * uint32_t(waited % 8), uint32_t(waited / 8) & 1);
    if (wrong && waited % 64 == 5) {
      const size_t piece = (waited * gridDim.x + blockIdx.x) & ((job.data_bytes >> 14) - 1);
      uint32_t there;
      asm volatile("ld.shared.u32 %0, [%1];"
                   : "=r"(there)
                   : "r"(slots + uint32_t(waited % 8) * 16384 + 16380)
                   : "memory");
      if (there != *reinterpret_cast<const volatile uint32_t*>(job.data + (piece << 14) + 16380))
        atomicAdd(wrong, 1ull);
    }
    ++waited;
  }
  __device__ void turn(const Job& job, int pieces, unsigned long long* wrong = nullptr) {
    for (int i = 0; i < pieces; ++i) {
      while (issued < waited + 8) issue(job);
      wait(job, wrong);
    }
  }
};

__global__ void __launch_bounds__(kThreads, 1) work_kernel(Job job, Mark* marks, unsigned long long* wrong) {
  __shared__ unsigned long long barriers[8], never;
  __shared__ int ended;
  uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  const int warpgroup = int(threadIdx.x) / 128;
  const bool active = int(sm) < job.active;
  const uint32_t base = shared_base();
  const bool fp8 = job.work == Work::e4m3 || job.work == Work::e4m3_fills;
  for (uint32_t i = threadIdx.x; i < uint32_t(kStages * kStageBytes) / 4; i += kThreads) {
    const uint32_t word = job.zero ? 0 : random_word(i + sm * 131072, fp8);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 4 * i), "r"(word) : "memory");
  }
  if (threadIdx.x == 0) {
    for (int i = 0; i < 8; ++i)
      asm volatile(
          "mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(uint32_t(__cvta_generic_to_shared(barriers + i))));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(uint32_t(__cvta_generic_to_shared(&never))));
    ended = 0;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  Copier copier{uint32_t(__cvta_generic_to_shared(barriers)), base};
  unsigned long long done = 0, first_ns = ns_now();
  int mark = 0;
  while (true) {
    if (!active) {
      __nanosleep(2000);
    } else if (job.work == Work::spin) {
      const uint64_t t = clock_now();
      while (clock_now() - t < 8000) {}
    } else if (job.work == Work::wait) {
      uint32_t p;
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                   : "=r"(p)
                   : "r"(uint32_t(__cvta_generic_to_shared(&never)))
                   : "memory");
      (void)p;
    } else if (job.work == Work::bf16 || job.work == Work::bf16_fills) {
      const uint64_t t = clock_now();
      if (warpgroup < 2) multiply<DataType::bf16>(warpgroup, job.duty);
      while (job.duty < 16 && clock_now() - t < 16 * 1024) {}
      if (threadIdx.x == 256 && job.work == Work::bf16_fills) copier.turn(job, 48);
    } else if (job.work == Work::e4m3 || job.work == Work::e4m3_fills) {
      if (warpgroup < 2) multiply<DataType::e4m3>(warpgroup, job.duty);
      if (threadIdx.x == 256 && job.work == Work::e4m3_fills) copier.turn(job, 48);
    } else if (job.work == Work::l2 || job.work == Work::hbm) {
      if (threadIdx.x == 256) copier.turn(job, 32, wrong);
    } else if (job.work == Work::hbm_loads || job.work == Work::l2_loads) {
      uint32_t all = 0;
      for (int r = 0; r < 16; ++r) {  // 16 x 8 x 288 x 16 bytes
        uint4 v[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const size_t word =
              ((done * 128 + uint64_t(r * 8 + i)) * gridDim.x + blockIdx.x) * kThreads + threadIdx.x;
          const uint8_t* from = job.data + ((word * 16) & (job.data_bytes - 1));
          asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                       : "=r"(v[i].x), "=r"(v[i].y), "=r"(v[i].z), "=r"(v[i].w)
                       : "l"(from));
        }
        for (int i = 0; i < 8; ++i) all ^= v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
      }
      if (all == 0x12345) asm volatile("trap;");
    } else if (job.work == Work::store) {
      if (threadIdx.x == 256)
        for (int i = 0; i < 32; ++i) {
          const size_t piece = ((done + uint64_t(i)) * gridDim.x + blockIdx.x) & ((job.data_bytes >> 14) - 1);
          asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(job.out + (piece << 14)),
                       "r"(base + uint32_t(i % 8) * 16384), "r"(16384)
                       : "memory");
          asm volatile("cp.async.bulk.commit_group;" ::: "memory");
          asm volatile("cp.async.bulk.wait_group 7;" ::: "memory");
        }
    } else if (job.work == Work::fma) {
      float v[8];
      for (int i = 0; i < 8; ++i) v[i] = normal(threadIdx.x * 8 + uint32_t(i));
      const float a = normal(threadIdx.x), b = normal(threadIdx.x + 77);
#pragma unroll 1
      for (int r = 0; r < 64; ++r) {
#pragma unroll
        for (int k = 0; k < 4; ++k)
          for (int i = 0; i < 8; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(v[i]) : "f"(a), "f"(b));
      }
      float all = 0;
      for (int i = 0; i < 8; ++i) all += v[i];
      if (all == 1.2345e30F) asm volatile("trap;");
    }
    __syncthreads();
    done += job.work == Work::store || job.work == Work::l2 || job.work == Work::hbm ? 32 : 1;
    if (threadIdx.x == 0) {
      const unsigned long long ns = ns_now();
      while (mark < kMarks && double(ns - first_ns) >= kMarkMicroseconds[mark] * 1e3) {
        marks[size_t(sm) * kMarks + size_t(mark)] = {clock_now(), ns, done};
        ++mark;
      }
      if (double(ns - first_ns) > job.seconds * 1e9) ended = 1;
    }
    __syncthreads();
    if (ended) break;
  }
  if (threadIdx.x == 256 && active)
    while (copier.waited < copier.issued) copier.wait(job, nullptr);
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// ---- what the driver says

struct Driver {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  void* device = nullptr;
  template <class... A>
  int call(const char* name, A... a) const {
    const auto f = reinterpret_cast<int (*)(A...)>(dlsym(library, name));
    return f ? f(a...) : -1;
  }
  Driver() {
    if (!library || call("nvmlInit_v2") != 0 || call("nvmlDeviceGetHandleByIndex_v2", 0U, &device) != 0) {
      std::fprintf(stderr, "no NVML\n");
      std::exit(5);
    }
  }
  double joules() const {
    unsigned long long mj = 0;
    if (const int e = call("nvmlDeviceGetTotalEnergyConsumption", device, &mj); e != 0)
      std::printf("NVML energy: %d\n", e);
    return double(mj) * 1e-3;
  }
  unsigned number(const char* name) const {
    unsigned v = 0;
    call(name, device, &v);
    return v;
  }
  unsigned clock(int which) const {
    unsigned v = 0;
    call("nvmlDeviceGetClockInfo", device, which, &v);
    return v;
  }
  unsigned celsius() const {
    unsigned v = 0;
    call("nvmlDeviceGetTemperature", device, 0, &v);
    return v;
  }
  unsigned long long reasons() const {
    unsigned long long v = 0;
    call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &v);
    return v;
  }
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Mean power between two moments at which the driver's counter has just moved.
struct Watched {
  double watts = 0, celsius = 0, memory_mhz = 0, sm_mhz = 0;
  unsigned long long reasons = 0;
};
Watched watch(const Driver& driver, double from, double to) {
  Watched w;
  const auto step = [&] {
    const double old = driver.joules();
    double now = old;
    while (now == old) {
      usleep(500);
      now = driver.joules();
    }
    return std::pair(seconds_now(), now);
  };
  while (seconds_now() < from) usleep(1000);
  const auto first = step();
  int samples = 0;
  auto last = first;
  while (seconds_now() < to) {
    usleep(50000);
    w.sm_mhz += driver.clock(1), w.memory_mhz += driver.clock(2), w.reasons |= driver.reasons(), ++samples;
  }
  last = step();
  w.watts = (last.second - first.second) / (last.first - first.first);
  w.sm_mhz /= samples, w.memory_mhz /= samples, w.celsius = driver.celsius();
  return w;
}

const char* name_of(Work w) {
  const char* names[] = {"spin", "wait", "bf16",      "e4m3",     "e4m3 with fills", "bf16 with fills",
                         "l2",   "hbm",  "hbm by ld", "l2 by ld", "store",           "fma"};
  return names[int(w)];
}

void measure_work(const Driver& driver, Job job, int sms, Mark* marks) {
  CHECK_CUDA(cudaMemset(marks, 0, sizeof(Mark) * (kMarks * size_t(sms) + 1)));
  CHECK_CUDA(cudaDeviceSynchronize());
  usleep(400000);
  job.seconds = kSeconds;
  const double start = seconds_now();
  work_kernel<<<sms, kThreads, kSmemBytes>>>(job, marks,
                                             reinterpret_cast<unsigned long long*>(marks + size_t(sms) * kMarks));
  const Watched w = watch(driver, start + kWarmSeconds, start + kSeconds - 0.15);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<Mark> host(size_t(sms) * kMarks + 1);
  CHECK_CUDA(cudaMemcpy(host.data(), marks, sizeof(Mark) * host.size(), cudaMemcpyDeviceToHost));
  std::printf("%-16s %s SMs %3d  W %6.1f  C %2.0f  mem %4.0f  nvml SM %4.0f reasons %llx\n", name_of(job.work),
              job.zero ? "zeros " : "random", job.active, w.watts, w.celsius, w.memory_mhz, w.sm_mhz, w.reasons);
  const std::string id = std::string(name_of(job.work)) + (job.zero ? ", zeros, " : ", random, ") +
                         std::to_string(job.active) + " SMs" +
                         (job.duty < 16 ? ", duty " + std::to_string(job.duty) + "/16" : "");
  if (host.back().cycles > 0) std::printf("    %llu pieces are not what was copied\n", host.back().cycles);
  lines.push_back({id + ", nominal MHz", w.sm_mhz});
  lines.push_back({id + ", reasons", double(w.reasons)});
  lines.push_back({id + ", W", w.watts});
  lines.push_back({id + ", C", w.celsius});
  std::printf("   ");
  for (int m = 1; m < kMarks; ++m) {
    double cycles = 0, ns = 0, done = 0, idle_cycles = 0, idle_ns = 0;
    for (int sm = 0; sm < sms; ++sm) {
      const Mark &a = host[size_t(sm) * kMarks + size_t(m) - 1], &b = host[size_t(sm) * kMarks + size_t(m)];
      if (a.ns == 0 || b.ns == 0) continue;
      if (sm < job.active)
        cycles += double(b.cycles - a.cycles), ns += double(b.ns - a.ns), done += double(b.done - a.done);
      else
        idle_cycles += double(b.cycles - a.cycles), idle_ns += double(b.ns - a.ns);
    }
    const double at = ns > 0 ? cycles / ns : idle_cycles / std::max(1.0, idle_ns);
    if (m % 3 == 1) std::printf(" %.0f:%.3f", kHostMarks[m], at);
    lines.push_back({id + ", GHz x 1000 until " + std::to_string(int(kHostMarks[m])) + " us", at * 1e3});
    if (m == kMarks - 1) {
      const double ghz = ns > 0 ? cycles / ns : idle_cycles / std::max(1.0, idle_ns);
      lines.push_back({id + ", GHz x 1000", ghz * 1e3});
      if (ns > 0) {
        lines.push_back({id + ", turns per ms of an SM", done / ns * 1e6});
        std::printf("  turns/ms/SM %.3f", done / ns * 1e6);
        if (idle_ns > 0) std::printf("  others %.3f GHz", idle_cycles / idle_ns);
      }
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

struct Reading {
  unsigned long long cycles, ns;
};
__global__ void probe_kernel(Reading* out) {
  uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  out[sm] = {clock_now(), ns_now()};
}

void measure_product(const Driver& driver, cublasHandle_t blas, int n, bool zero, int sms) {
  __nv_bfloat16 *a, *b, *c;
  const size_t bytes = size_t(n) * size_t(n) * 2;
  CHECK_CUDA(cudaMalloc(&a, bytes));
  CHECK_CUDA(cudaMalloc(&b, bytes));
  CHECK_CUDA(cudaMalloc(&c, bytes));
  fill_kernel<<<1024, 256>>>(reinterpret_cast<uint32_t*>(a), bytes / 4, false, zero);
  fill_kernel<<<1024, 256>>>(reinterpret_cast<uint32_t*>(b), bytes / 4, false, zero);
  Reading *readings, first[256], last[256];
  CHECK_CUDA(cudaMalloc(&readings, sizeof first));
  const float one = 1, nothing = 0;
  const auto product = [&] {
    cublasGemmEx(blas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &one, a, CUDA_R_16BF, n, b, CUDA_R_16BF, n, &nothing, c,
                 CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  };
  product();
  CHECK_CUDA(cudaDeviceSynchronize());
  usleep(400000);
  const int warm = int(1.0 / (2.0 * n * double(n) * n / 700e12)), times = int(1.3 * warm);
  for (int i = 0; i < warm; ++i) product();
  CHECK_CUDA(cudaDeviceSynchronize());
  const double start = seconds_now();
  probe_kernel<<<4 * sms, 32>>>(readings);
  CHECK_CUDA(cudaMemcpyAsync(first, readings, sizeof first, cudaMemcpyDeviceToHost));
  Watched w;
  std::thread watcher([&] { w = watch(driver, start + 0.1, start + 1.0); });
  for (int i = 0; i < times; ++i) product();
  CHECK_CUDA(cudaDeviceSynchronize());
  watcher.join();
  const double seconds = seconds_now() - start;
  probe_kernel<<<4 * sms, 32>>>(readings);
  CHECK_CUDA(cudaMemcpy(last, readings, sizeof last, cudaMemcpyDeviceToHost));
  double cycles = 0, ns = 0;
  for (int s = 0; s < sms; ++s)
    cycles += double(last[s].cycles - first[s].cycles), ns += double(last[s].ns - first[s].ns);
  const double tflops = 2.0 * n * double(n) * n * times / seconds * 1e-12;
  std::printf("cuBLAS bf16 %d^3 %s  W %6.1f  C %2.0f  TFLOPS %6.1f  SM GHz %.3f  nvml %4.0f reasons %llx\n", n,
              zero ? "zeros " : "random", w.watts, w.celsius, tflops, cycles / ns, w.sm_mhz, w.reasons);
  const std::string id = "cuBLAS bf16 " + std::to_string(n) + (zero ? ", zeros" : ", random");
  lines.push_back({id + ", W", w.watts});
  lines.push_back({id + ", nominal MHz", w.sm_mhz});
  lines.push_back({id + ", TFLOPS", tflops});
  lines.push_back({id + ", GHz x 1000", cycles / ns * 1e3});
  cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(readings);
}

}  // namespace

int main(int argc, char** argv) {
  const int sms = open_device();
  const Driver driver;
  unsigned limit = driver.number("nvmlDeviceGetEnforcedPowerLimit");
  std::printf("power limit %.0f W, clocks now SM %u memory %u\n", limit * 1e-3, driver.clock(1), driver.clock(2));
  lines.push_back({"power limit, W", limit * 1e-3});
  CHECK_CUDA(cudaFuncSetAttribute(work_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  Mark* marks;
  uint8_t *data, *out;
  const size_t bytes = size_t{4} << 30;
  CHECK_CUDA(cudaMalloc(&marks, sizeof(Mark) * (kMarks * size_t(sms) + 1)));
  CHECK_CUDA(cudaMalloc(&data, bytes));
  CHECK_CUDA(cudaMalloc(&out, bytes));
  uint8_t* fp8;
  CHECK_CUDA(cudaMalloc(&fp8, size_t{16} << 20));
  fill_kernel<<<2048, 256>>>(reinterpret_cast<uint32_t*>(data), bytes / 4, false, false);
  fill_kernel<<<2048, 256>>>(reinterpret_cast<uint32_t*>(fp8), size_t{4} << 20, true, false);
  CHECK_CUDA(cudaDeviceSynchronize());
  {
    const double start = seconds_now();
    const Watched w = watch(driver, start + 0.5, start + 1.5);
    std::printf("nothing runs: W %.1f C %.0f SM %.0f memory %.0f\n", w.watts, w.celsius, w.sm_mhz, w.memory_mhz);
    lines.push_back({"nothing runs, W", w.watts});
  }
  const auto work = [&](Work kind, int active, bool zero = false, int duty = 16) {
    const size_t walked =
        kind == Work::hbm || kind == Work::hbm_loads || kind == Work::store ? bytes : size_t{16} << 20;
    measure_work(driver, {kind, active, zero, kind == Work::e4m3_fills ? fp8 : data, out, walked, 0, duty}, sms,
                 marks);
  };
  work(Work::wait, 0);
  for (const int n : {66, 132}) work(Work::spin, n);
  for (const int n : {132}) work(Work::wait, n);
  for (const int n : {33, 66, 132}) work(Work::l2, n);
  for (const int n : {33, 66, 132}) work(Work::hbm, n);
  for (const int n : {132}) work(Work::store, n);
  for (const int n : {66, 132}) work(Work::fma, n);
  for (const int n : {4, 16, 33, 66, 99, 132}) work(Work::bf16, n);
  for (const int duty : {1, 2, 4, 8, 12}) work(Work::bf16, 66, false, duty);
  for (const int duty : {4, 8, 12}) work(Work::bf16, 132, false, duty);
  for (const int n : {33, 132}) work(Work::bf16, n, true);
  for (const int n : {33, 66, 99, 132}) work(Work::e4m3, n);
  for (const int n : {132}) work(Work::e4m3, n, true);
  for (const int n : {33, 66, 132}) work(Work::bf16_fills, n);
  for (const int n : {33, 132}) work(Work::e4m3_fills, n);
  cublasHandle_t blas;
  cublasCreate(&blas);
  for (const int n : {2048, 4096, 8192, 16384}) measure_product(driver, blas, n, false, sms);
  for (const int n : {4096, 8192}) measure_product(driver, blas, n, true, sms);
  return write_json(argc, argv);
}
