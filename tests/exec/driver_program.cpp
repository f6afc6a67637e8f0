// SPDX-License-Identifier: Apache-2.0
// A program of the driver API without CUDA's headers, for tests of `sm100sim exec`.
//
//   driver_program module       a module from PTX text: entries, a variable, a launch with addresses, one with a
//   buffer driver_program library      the same through cuLibrary*, and a kernel's attributes driver_program file
//   PATH    a module from a file driver_program map          a copy by a tensor map driver_program bad_map      a
//   tensor map that the driver refuses driver_program graph        launches and a copy, captured on two streams and
//   launched twice driver_program unjoined     a capture whose second stream never comes back driver_program sync
//   a capture that is invalidated driver_program memory       copies, fills, ranges, pools driver_program managed
//   managed memory: the host waits driver_program early        managed memory: the host does not wait
//   driver_program cooperative  as many CTAs as fit, then more
//   driver_program grid_sync    CTAs that meet at the grid's barrier, twice in two launches each
//   driver_program fenced       CTAs that meet at a counter (fence, then a relaxed atomic), and read what the
//   others wrote driver_program unfenced     the same without the fence driver_program no_memory    more than there
//   is driver_program names        functions by name driver_program not_initialized, no_context, cubin, old,
//   broken, refused
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
using Pointer = uint64_t;
struct LaunchAttribute {
  int id;
  alignas(8) unsigned char value[64];
};
struct LaunchConfig {
  unsigned grid[3], block[3], dynamic_smem_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
int cuInit(unsigned flags);
int cuDeviceGet(int* device, int ordinal);
int cuDeviceGetAttribute(int* value, int attribute, int device);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cuCtxSetCurrent(void* context);
int cuCtxSynchronize();
int cuGetErrorName(int error, const char** name);
int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status);
int cuModuleLoad(void** module, const char* file);
int cuModuleLoadData(void** module, const void* image);
int cuModuleUnload(void* module);
int cuModuleGetFunction(void** function, void* module, const char* name);
int cuModuleGetFunctionCount(unsigned* count, void* module);
int cuModuleGetGlobal_v2(Pointer* pointer, size_t* bytes, void* module, const char* name);
int cuLibraryLoadData(void** library, const void* code, int*, void**, unsigned, int*, void**, unsigned);
int cuLibraryGetKernel(void** kernel, void* library, const char* name);
int cuKernelGetFunction(void** function, void* kernel);
int cuKernelGetAttribute(int* value, int attribute, void* kernel, int device);
int cuFuncGetName(const char** name, void* function);
int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* bytes);
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void* stream, void** parameters, void** extra);
int cuLaunchKernelEx(const LaunchConfig* config, void* function, void** parameters, void** extra);
int cuLaunchCooperativeKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              void* stream, void** parameters);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, void* function, int threads, size_t dynamic_smem_bytes);
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const uint64_t* dims,
                           const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave,
                           int swizzle, int l2, int fill);
int cuMemAlloc_v2(Pointer* pointer, size_t bytes);
int cuMemAllocManaged(Pointer* pointer, size_t bytes, unsigned flags);
int cuMemAllocAsync(Pointer* pointer, size_t bytes, void* stream);
int cuMemFreeAsync(Pointer pointer, void* stream);
int cuMemFree_v2(Pointer pointer);
int cuMemGetAddressRange_v2(Pointer* base, size_t* bytes, Pointer pointer);
int cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes);
int cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes);
int cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, void* stream);
int cuMemsetD8_v2(Pointer to, unsigned char value, size_t count);
int cuMemsetD32_v2(Pointer to, unsigned value, size_t count);
int cuMemsetD32Async(Pointer to, unsigned value, size_t count, void* stream);
int cuMemsetD2D16_v2(Pointer to, size_t pitch, unsigned short value, size_t width, size_t height);
int cuDeviceGetDefaultMemPool(void** pool, int device);
int cuMemPoolSetAttribute(void* pool, int attribute, void* value);
int cuMemPoolGetAttribute(void* pool, int attribute, void* value);
int cuStreamCreate(void** stream, unsigned flags);
int cuStreamSynchronize(void* stream);
int cuStreamWaitEvent(void* stream, void* event, unsigned flags);
int cuStreamBeginCapture_v2(void* stream, int mode);
int cuStreamEndCapture(void* stream, void** graph);
int cuEventCreate(void** event, unsigned flags);
int cuEventRecord(void* event, void* stream);
int cuEventElapsedTime(float* milliseconds, void* from, void* to);
int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags);
int cuGraphLaunch(void* executable, void* stream);
int cuArrayCreate_v2(void** array, const void* description);
}

namespace {

constexpr char kPtx[] = R"(
.version 8.7
.target sm_100a
.address_size 64

.global .align 4 .u32 offset = 5;

.visible .entry increase(.param .u64 values, .param .u32 by)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [values];
  ld.param.u32 %r1, [by];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  add.u32 %r6, %r6, %r1;
  ld.global.u32 %r7, [offset];
  add.u32 %r6, %r6, %r7;
  st.global.u32 [%rd3], %r6;
  ret;
}

.visible .entry copy_tile(.param .align 64 .b8 map[128], .param .u64 to)
{
  .reg .pred %p<3>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 128 .b8 tile[1024];
  .shared .align 8 .b64 arrived;
  mov.u32 %r1, tile;
  mov.u32 %r2, arrived;
  mov.u32 %r3, %tid.x;
  mov.b64 %rd1, map;
  cvta.param.u64 %rd2, %rd1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra READY;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
READY:
  bar.sync 0;
  mov.u32 %r4, %ctaid.x;
  shl.b32 %r5, %r4, 4;
  mov.u32 %r6, 0;
  @%p1 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 1024;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r5, %r6}], [%r2];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  shl.b32 %r7, %r3, 2;
  add.u32 %r8, %r1, %r7;
  ld.shared.u32 %r9, [%r8];
  ld.param.u64 %rd3, [to];
  shl.b32 %r10, %r4, 8;
  add.u32 %r11, %r10, %r3;
  mul.wide.u32 %rd4, %r11, 4;
  add.s64 %rd5, %rd3, %rd4;
  st.global.u32 [%rd5], %r9;
  ret;
}

.visible .entry neighbour(.param .u64 from, .param .u64 to, .param .u64 counter, .param .u32 fenced)
{
  .reg .pred %p<8>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.param.u64 %rd3, [counter];
  ld.param.u32 %r1, [fenced];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, %ntid.x;
  mad.lo.u32 %r6, %r2, %r5, %r4;
  mul.wide.u32 %rd4, %r6, 4;
  add.s64 %rd5, %rd1, %rd4;
  st.global.u32 [%rd5], %r6;
  bar.sync 0;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra MET;
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra COUNT;
  fence.acq_rel.gpu;
COUNT:
  red.relaxed.gpu.global.add.u32 [%rd3], 1;
POLL:
  ld.acquire.gpu.global.u32 %r7, [%rd3];
  setp.ne.u32 %p4, %r7, %r3;
  @%p4 bra POLL;
MET:
  bar.sync 0;
  add.u32 %r16, %r2, 1;
  rem.u32 %r17, %r16, %r3;
  mad.lo.u32 %r18, %r17, %r5, %r4;
  mul.wide.u32 %rd7, %r18, 4;
  add.s64 %rd8, %rd1, %rd7;
  ld.global.u32 %r19, [%rd8];
  add.s64 %rd9, %rd2, %rd4;
  st.global.u32 [%rd9], %r19;
  ret;
}

.visible .entry count_after_all(.param .u64 counts, .param .u64 counter)
{
  .reg .pred %p<8>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [counts];
  ld.param.u64 %rd2, [counter];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %envreg1;
  mov.u32 %r4, %envreg2;
  mov.b64 %rd3, {%r4, %r3};
  atom.global.add.u32 %r5, [%rd2], 1;
  sub.u32 %r6, %r2, 1;
  mov.u32 %r7, 0x80000000;
  sub.u32 %r7, %r7, %r6;
  setp.eq.u32 %p1, %r1, 0;
  selp.u32 %r8, %r7, 1, %p1;
  atom.add.release.gpu.u32 %r9, [%rd3+4], %r8;
FLIP:
  ld.acquire.gpu.u32 %r10, [%rd3+4];
  xor.b32 %r11, %r9, %r10;
  setp.ge.s32 %p2, %r11, 0;
  @%p2 bra FLIP;
  atom.global.add.u32 %r12, [%rd2], 0;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  st.global.u32 [%rd5], %r12;
  ret;
}
)";

constexpr unsigned kElements = 256, kBytes = 4 * kElements, kOffset = 5;

int say(int error) {
  const char* name = nullptr;
  cuGetErrorName(error, &name);
  std::printf("%s\n", name ? name : "unknown");
  return error;
}

int start() {
  int device = 0;
  void* context = nullptr;
  return cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
         cuCtxSetCurrent(context);
}

void* load(const char* name) {
  void *module = nullptr, *function = nullptr;
  if (cuModuleLoadData(&module, kPtx) || cuModuleGetFunction(&function, module, name)) return nullptr;
  return function;
}

/// 0, 1, 2 ... in device memory.
Pointer counted(unsigned count = kElements) {
  Pointer values = 0;
  std::vector<uint32_t> own(count);
  for (unsigned i = 0; i < count; ++i) own[i] = i;
  cuMemAlloc_v2(&values, 4 * count), cuMemcpyHtoD_v2(values, own.data(), 4 * count);
  return values;
}

/// How many of the values are not their index and `more`.
int wrong(Pointer values, unsigned more) {
  std::vector<uint32_t> own(kElements);
  if (say(cuMemcpyDtoH_v2(own.data(), values, kBytes))) return -1;
  int count = 0;
  for (unsigned i = 0; i < kElements; ++i) count += own[i] != i + more;
  std::printf("%d wrong\n", count);
  return count;
}

int increase(void* function, Pointer values, unsigned by, void* stream = nullptr, unsigned ctas = 4) {
  void* parameters[] = {&values, &by};
  return cuLaunchKernel(function, ctas, 1, 1, kElements / 4, 1, 1, 0, stream, parameters, nullptr);
}

int run_module(void* module) {
  void* function = nullptr;
  unsigned entries = 0;
  Pointer offset = 0, values = counted();
  size_t bytes = 0;
  const unsigned seven = 7;
  if (cuModuleGetFunction(&function, module, "increase") || cuModuleGetFunctionCount(&entries, module)) return 1;
  if (cuModuleGetGlobal_v2(&offset, &bytes, module, "offset") || bytes != 4) return 1;
  std::printf("%u entries, another is ", entries);
  say(cuModuleGetFunction(&function, module, "decrease"));
  cuModuleGetFunction(&function, module, "increase");
  cuMemcpyHtoD_v2(offset, &seven, sizeof seven);
  int failed = increase(function, values, 1) || wrong(values, 8);
  struct {
    Pointer values;
    unsigned by;
  } buffer{values, 2};
  size_t buffer_bytes = 12;
  void* extra[] = {reinterpret_cast<void*>(1), &buffer, reinterpret_cast<void*>(2), &buffer_bytes, nullptr};
  failed += cuLaunchKernel(function, 4, 1, 1, kElements / 4, 1, 1, 0, nullptr, nullptr, extra) || wrong(values, 17);
  failed += cuModuleUnload(module);
  std::printf("unloaded: "), say(increase(function, values, 1));
  return failed;
}

int module_of_text() {
  void* module = nullptr;
  return cuModuleLoadData(&module, kPtx) || run_module(module);
}

int module_of_file(const char* path) {
  if (FILE* const file = std::fopen(path, "w")) std::fputs(kPtx, file), std::fclose(file);
  void* module = nullptr;
  std::printf("none: "), say(cuModuleLoad(&module, "/nowhere/at.ptx"));
  return cuModuleLoad(&module, path) || run_module(module);
}

int library() {
  void *library = nullptr, *kernel = nullptr, *function = nullptr;
  int threads = 0;
  const char* name = nullptr;
  size_t offset = 0, bytes = 0;
  if (cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0) ||
      cuLibraryGetKernel(&kernel, library, "increase") || cuKernelGetFunction(&function, kernel) ||
      cuKernelGetAttribute(&threads, 0, kernel, 0) || cuFuncGetName(&name, function) ||
      cuFuncGetParamInfo(function, 1, &offset, &bytes))
    return 1;
  std::printf("%s: %d threads, parameter 1 at %zu of %zu bytes\n", name, threads, offset, bytes);
  LaunchAttribute cluster = {};
  cluster.id = 4;
  const unsigned two[3] = {2, 1, 1};
  std::memcpy(cluster.value, two, sizeof two);
  const LaunchConfig config{{4, 1, 1}, {kElements / 4, 1, 1}, 0, nullptr, &cluster, 1};
  Pointer values = counted();
  unsigned by = 3;
  void* parameters[] = {&values, &by};
  return cuLaunchKernelEx(&config, function, parameters, nullptr) || wrong(values, 3 + kOffset);
}

int tensor_map(unsigned box_width) {
  constexpr unsigned kWidth = 64, kHeight = 16;
  void* const function = load("copy_tile");
  Pointer from = counted(kWidth * kHeight), to = 0;
  cuMemAlloc_v2(&to, 4 * kWidth * kHeight);
  alignas(64) unsigned char map[128];
  const uint64_t dims[] = {kWidth, kHeight}, strides[] = {4 * kWidth};
  const uint32_t box[] = {box_width, 16}, steps[] = {1, 1};
  constexpr int kUint32 = 2;
  if (say(cuTensorMapEncodeTiled(map, kUint32, 2, reinterpret_cast<void*>(from), dims, strides, box, steps, 0, 0, 0,
                                 0)))
    return 1;
  void* parameters[] = {map, &to};
  if (cuLaunchKernel(function, kWidth / 16, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr)) return 1;
  std::vector<uint32_t> own(kWidth * kHeight);
  cuMemcpyDtoH_v2(own.data(), to, 4 * kWidth * kHeight);
  int count = 0;
  for (unsigned i = 0; i < kWidth * kHeight; ++i) {
    const unsigned tile = i / 256, row = i % 256 / 16, column = i % 16;
    count += own[i] != row * kWidth + tile * 16 + column;
  }
  std::printf("%d wrong\n", count);
  return count;
}

int graph() {
  void *first, *second, *fork, *join, *begin, *end, *graph = nullptr, *executable = nullptr;
  void* const function = load("increase");
  Pointer values = counted(), other = counted();
  std::vector<uint32_t> copy(kElements, 1);
  cuStreamCreate(&first, 1), cuStreamCreate(&second, 1);
  cuEventCreate(&fork, 2), cuEventCreate(&join, 2), cuEventCreate(&begin, 0), cuEventCreate(&end, 0);
  if (cuStreamBeginCapture_v2(first, 0)) return 1;
  increase(function, values, 1, first);
  cuEventRecord(fork, first), cuStreamWaitEvent(second, fork, 0);
  increase(function, other, 2, second);
  cuEventRecord(join, second), cuStreamWaitEvent(first, join, 0);
  cuMemcpyDtoHAsync_v2(copy.data(), values, kBytes, first);
  if (say(cuStreamEndCapture(first, &graph)) || cuGraphInstantiateWithFlags(&executable, graph, 0)) return 1;
  if (wrong(values, 0) || wrong(other, 0)) return 1;  // nothing has run
  cuEventRecord(begin, first);
  for (int i = 0; i < 2; ++i)
    if (cuGraphLaunch(executable, first)) return 1;
  cuEventRecord(end, first);
  cuStreamSynchronize(first);
  float milliseconds = 0;
  cuEventElapsedTime(&milliseconds, begin, end);
  std::printf("copied %u, %s\n", copy[0], milliseconds > 0 ? "took simulated time" : "took no time");
  return wrong(values, 2 * (1 + kOffset)) || wrong(other, 2 * (2 + kOffset));
}

int unjoined() {
  void *first, *second, *fork, *graph = nullptr;
  void* const function = load("increase");
  const Pointer values = counted();
  cuStreamCreate(&first, 1), cuStreamCreate(&second, 1), cuEventCreate(&fork, 2);
  cuStreamBeginCapture_v2(first, 0);
  cuEventRecord(fork, first), cuStreamWaitEvent(second, fork, 0);
  increase(function, values, 1, second);
  say(cuStreamEndCapture(first, &graph));
  return increase(function, values, 1) || wrong(values, 1 + kOffset);
}

int synchronize_in_capture() {
  void *stream, *graph = nullptr;
  void* const function = load("increase");
  const Pointer values = counted();
  cuStreamCreate(&stream, 0);
  cuStreamBeginCapture_v2(stream, 0);
  Pointer more = 0;
  say(cuMemAlloc_v2(&more, 16));
  say(cuStreamEndCapture(stream, &graph));
  return increase(function, values, 1) || wrong(values, 1 + kOffset);
}

int memory() {
  Pointer values = 0, base = 0;
  size_t bytes = 0;
  std::vector<uint32_t> own(16);
  cuMemAlloc_v2(&values, 64);
  cuMemsetD32_v2(values, 0x01020304, 16), cuMemsetD8_v2(values + 4, 0xaa, 2),
      cuMemsetD2D16_v2(values + 8, 8, 0xbbcc, 1, 2);
  cuMemcpyDtoH_v2(own.data(), values, 64);
  std::printf("%08x %08x %08x %08x %08x\n", own[0], own[1], own[2], own[3], own[4]);
  cuMemGetAddressRange_v2(&base, &bytes, values + 20);
  std::printf("%s %zu\n", base == values ? "base" : "not the base", bytes);
  std::printf("past the end: "), say(cuMemsetD8_v2(values + 60, 0, 8));
  void *stream, *pool = nullptr;
  cuStreamCreate(&stream, 0);
  uint64_t threshold = 1 << 20, kept = 0;
  cuDeviceGetDefaultMemPool(&pool, 0), cuMemPoolSetAttribute(pool, 4, &threshold),
      cuMemPoolGetAttribute(pool, 4, &kept);
  Pointer of_stream = 0;
  const int failed = cuMemAllocAsync(&of_stream, kBytes, stream) ||
                     cuMemsetD32Async(of_stream, 0, kElements, stream) ||
                     increase(load("increase"), of_stream, 1, stream) || cuMemFreeAsync(of_stream, stream);
  std::printf("pool %s, freed twice: ", kept == threshold ? "kept" : "lost"), say(cuMemFree_v2(of_stream));
  return failed;
}

int managed(bool waits) {
  Pointer pointer = 0;
  if (cuMemAllocManaged(&pointer, kBytes, 1)) return 1;
  auto* const values = reinterpret_cast<volatile uint32_t*>(pointer);
  for (unsigned i = 0; i < kElements; ++i) values[i] = i;
  if (increase(load("increase"), pointer, 1)) return 1;
  if (waits && cuCtxSynchronize()) return 1;
  int count = 0;
  for (unsigned i = 0; i < kElements; ++i) count += values[i] != i + 1 + kOffset;
  std::printf("%d wrong\n", count);
  return count;
}

int cooperative() {
  void* const function = load("increase");
  int ctas = 0, sms = 0;
  cuOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, function, kElements / 4, 0), cuDeviceGetAttribute(&sms, 16, 0);
  const unsigned most = unsigned(ctas * sms);
  Pointer values = counted(most * kElements / 4 + kElements);
  unsigned by = 1;
  void* parameters[] = {&values, &by};
  const auto launch = [&](unsigned grid) {
    return cuLaunchCooperativeKernel(function, grid, 1, 1, kElements / 4, 1, 1, 0, nullptr, parameters);
  };
  std::printf("%d SMs: ", sms), say(launch(most));
  std::printf("one more: "), say(launch(most + 1));
  return wrong(values, 1 + kOffset);
}

/// Each CTA counts itself, meets the others, and reads the count.
int grid_sync() {
  constexpr unsigned kCtas = 6;
  Pointer counts = counted(kCtas), counter = 0;
  cuMemAlloc_v2(&counter, 4), cuMemsetD32_v2(counter, 0, 1);
  void* parameters[] = {&counts, &counter};
  int wrong = 0;
  for (unsigned turn = 1; turn <= 2; ++turn) {
    if (cuLaunchCooperativeKernel(load("count_after_all"), kCtas, 1, 1, 1, 1, 1, 0, nullptr, parameters)) return 1;
    std::vector<uint32_t> own(kCtas);
    if (cuMemcpyDtoH_v2(own.data(), counts, 4 * kCtas)) return 1;
    for (const uint32_t count : own) wrong += count != turn * kCtas;
  }
  std::printf("%d wrong\n", wrong);
  return wrong;
}

/// @param fenced  1: a fence stands in front of the counter
int neighbour(unsigned fenced) {
  constexpr unsigned kCtas = 4, kThreads = kElements / kCtas;
  Pointer from = counted(), to = counted(), counter = 0;
  cuMemAlloc_v2(&counter, 4), cuMemsetD32_v2(counter, 0, 1);
  void* parameters[] = {&from, &to, &counter, &fenced};
  if (cuLaunchCooperativeKernel(load("neighbour"), kCtas, 1, 1, kThreads, 1, 1, 0, nullptr, parameters)) return 1;
  std::vector<uint32_t> own(kElements);
  if (cuMemcpyDtoH_v2(own.data(), to, kBytes)) return 1;
  int count = 0;
  for (unsigned i = 0; i < kElements; ++i) count += own[i] != (i + kThreads) % kElements;
  std::printf("%d wrong\n", count);
  return count;
}

int no_memory() {
  Pointer values = counted(), more = 0;
  say(cuMemAlloc_v2(&more, size_t{1} << 50));
  return increase(load("increase"), values, 1) || wrong(values, 1 + kOffset);
}

int names() {
  int found = -1;
  void *plain = nullptr, *refused = nullptr, *none = &found;
  cuGetProcAddress_v2("cuMemAlloc", &plain, 13000, 0, &found);
  std::printf("cuMemAlloc %s\n",
              plain == reinterpret_cast<void*>(&cuMemAlloc_v2) && found == 0 ? "is _v2" : "is not");
  cuGetProcAddress_v2("cuMulticastCreate", &refused, 13000, 0, nullptr);
  say(reinterpret_cast<int (*)(void*, void*)>(refused)(nullptr, nullptr));
  say(cuGetProcAddress_v2("cuNothing", &none, 13000, 0, &found));
  std::printf("%s %d\n", none ? "something" : "nothing", found);
  return increase(load("increase"), counted(), 1);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

int loaded(const std::string& image) {
  void* module = nullptr;
  say(cuModuleLoadData(&module, image.c_str()));
  return increase(load("increase"), counted(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  Pointer pointer = 0;
  if (what == "not_initialized") return say(cuMemAlloc_v2(&pointer, 16));
  if (what == "no_context") return cuInit(0), say(cuMemAlloc_v2(&pointer, 16));
  if (start()) return 1;
  if (what == "module") return module_of_text();
  if (what == "library") return library();
  if (what == "file" && argc > 2) return module_of_file(argv[2]);
  if (what == "map") return tensor_map(16);
  if (what == "bad_map") return tensor_map(3);
  if (what == "graph") return graph();
  if (what == "unjoined") return unjoined();
  if (what == "sync") return synchronize_in_capture();
  if (what == "memory") return memory();
  if (what == "managed") return managed(true);
  if (what == "early") return managed(false);
  if (what == "cooperative") return cooperative();
  if (what == "grid_sync") return grid_sync();
  if (what == "fenced") return neighbour(1);
  if (what == "unfenced") return neighbour(0);
  if (what == "no_memory") return no_memory();
  if (what == "names") return names();
  if (what == "cubin") return loaded("\177ELF");
  if (what == "old") return loaded(replaced(kPtx, "sm_100a", "sm_90a"));
  if (what == "broken") return loaded(replaced(kPtx, "ret;", "ret"));
  if (what == "refused") return say(cuArrayCreate_v2(nullptr, nullptr)), increase(load("increase"), counted(), 1);
  return 1;
}
