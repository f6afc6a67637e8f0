// SPDX-License-Identifier: Apache-2.0
// A CUDA program without nvcc, for tests of `sm100sim exec`: what nvcc would have generated is written by hand.
//
//   program add          adds two vectors; 0: the sums are right
//   program copies       twelve launches on the models
//   program hang         a kernel that waits for an arrival which never comes
//   program ignore       the same, then adds and copies without looking at errors; 0: the sums are right
//   program symbol       writes a constant, reads a variable that the kernel has written
//   program nothing      launches nothing
//   program early        a launch that need not wait for the one ahead, and reads before griddepcontrol.wait
//   program late         the same behind griddepcontrol.wait
//   program waited       the same as early, but the host has waited for the launch ahead
//   program bounds       launches more threads than the kernel was compiled for
//   program null         adds to a null pointer, and says which error the next call gets
//   program attribute    a launch attribute that is not implemented
//   program refused      a function that is not implemented
//   program read         reads device memory through its pointer
//   program streams HOW  two copies of a kernel on two streams, the second of what the first has written, ordered
//   by
//                        nothing, event, host, destroyed (the stream, and all work is waited for), or "apart": of
//                        other bytes; legacy (an event of the legacy stream, which waits for the blocking one),
//                        capture (nothing but a capture between them), freed (by the second stream); and a copy to
//                        the host behind a kernel: blocking, nonblocking, waited
//   program unwritten    0: fresh memory holds 0xff
//   program old          code for another architecture
//   program binary       machine code only
//   program wait         adds, then sleeps until it is killed
//   program spin         a kernel that runs for minutes
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
struct Dim3 {
  unsigned x, y, z;
};
struct LaunchAttribute {
  int id;
  alignas(8) unsigned char value[64];
};
struct LaunchConfig {
  Dim3 grid, block;
  size_t dynamic_smem_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** module);
void __cudaRegisterFunction(void** module, const char* host, char* device, const char* name, int, void*, void*,
                            void*, void*, int*);
void __cudaRegisterVar(void** module, char* host, char* device, const char* name, int, size_t, int, int);
int __cudaGetKernel(void** kernel, const void* host);
int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments, size_t, void* stream);
int cudaLaunchKernelExC(const LaunchConfig* config, const void* host, void** arguments);
int cudaMalloc(void** pointer, size_t bytes);
int cudaFree(void* pointer);
int cudaMemcpy(void* to, const void* from, size_t bytes, int kind);
int cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind);
int cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind);
int cudaDeviceSynchronize();
int cudaGetLastError();
const char* cudaGetErrorName(int error);
int cudaEventCreate(void** event);
int cudaEventRecord(void* event, void* stream);
int cudaEventElapsedTime(float* milliseconds, void* from, void* to);
int cudaArrayGetInfo(void* pointer, size_t extent);
int cudaMallocHost(void** pointer, size_t bytes);
int cudaFreeHost(void* pointer);
int cudaHostRegister(void* pointer, size_t bytes, unsigned flags);
int cudaHostUnregister(void* pointer);
int cudaPointerGetAttributes(void* attributes, const void* pointer);
int cudaFreeAsync(void* pointer, void* stream);
int cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                 int kind);
int cudaStreamCreateWithFlags(void** stream, unsigned flags);
int cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
int cudaStreamSynchronize(void* stream);
int cudaEventSynchronize(void* event);
int cudaStreamDestroy(void* stream);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
}

namespace {

constexpr char kPtx[] = R"(
.version 8.7
.target sm_100a
.address_size 64

.const .align 4 .f32 scale = 0f3F800000;
.global .align 4 .u32 counter;

.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .f32 %f<6>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd4, %rd1;
  cvta.to.global.u64 %rd5, %rd2;
  cvta.to.global.u64 %rd6, %rd3;
  mul.wide.u32 %rd7, %r5, 4;
  add.s64 %rd8, %rd4, %rd7;
  add.s64 %rd9, %rd5, %rd7;
  add.s64 %rd10, %rd6, %rd7;
  ld.global.f32 %f1, [%rd8];
  ld.global.f32 %f2, [%rd9];
  add.f32 %f3, %f1, %f2;
  ld.const.f32 %f4, [scale];
  mul.f32 %f5, %f3, %f4;
  st.global.f32 [%rd10], %f5;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra DONE;
  st.global.u32 [counter], %r1;
DONE:
  ret;
}

.visible .entry hang()
.maxntid 64, 1, 1
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .shared .align 8 .b64 never;
  mov.u32 %r1, never;
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra READY;
  mbarrier.init.shared::cta.b64 [%r1], 1;
READY:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;
  @!%p2 bra WAIT;
  ret;
}

.visible .entry copy(.param .u64 from, .param .u64 to)
{
  .reg .pred %p<3>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  .shared .align 128 .b8 tile[256];
  .shared .align 8 .b64 arrived;
  mov.u32 %r1, arrived;
  mov.u32 %r2, tile;
  mov.u32 %r3, %tid.x;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra READY;
  mbarrier.init.shared::cta.b64 [%r1], 1;
  fence.mbarrier_init.release.cluster;
READY:
  bar.sync 0;
  @%p1 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 256;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [%r1];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;
  @!%p2 bra WAIT;
  shl.b32 %r4, %r3, 2;
  add.u32 %r5, %r2, %r4;
  ld.shared.u32 %r6, [%r5];
  cvt.u64.u32 %rd3, %r4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r6;
  ret;
}

.visible .entry spin()
{
  .reg .pred %p<2>;
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 0;
AGAIN:
  add.u64 %rd1, %rd1, 1;
  setp.lt.u64 %p1, %rd1, 100000000000;
  @%p1 bra AGAIN;
  ret;
}
)";

struct Wrapper {
  uint32_t magic = 0x466243b1, version = 1;
  const void* container = nullptr;
  void* other = nullptr;
};

template <class T>
void put(std::vector<uint8_t>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A container with one entry, uncompressed.
std::vector<uint8_t> container(const std::string& text, uint16_t kind, uint32_t architecture) {
  constexpr size_t kHeader = 16, kEntry = 64;
  const size_t payload = (text.size() + 1 + 7) / 8 * 8;
  std::vector<uint8_t> bytes(kHeader + kEntry + payload);
  put(bytes, 0, uint32_t{0xba55ed50}), put(bytes, 4, uint16_t{1}), put(bytes, 6, uint16_t(kHeader));
  put(bytes, 8, uint64_t(kEntry + payload));
  put(bytes, kHeader, kind), put(bytes, kHeader + 2, uint16_t{0x0101}), put(bytes, kHeader + 4, uint32_t(kEntry));
  put(bytes, kHeader + 8, uint64_t(payload)), put(bytes, kHeader + 28, architecture);
  std::memcpy(bytes.data() + kHeader + kEntry, text.data(), text.size());
  return bytes;
}

char add_stub, copy_stub, hang_stub, spin_stub;  // what the kernels' addresses are to the host
float scale;
uint32_t counter;

void load(const std::string& text, uint16_t kind, uint32_t architecture) {
  static std::vector<uint8_t> code;
  static Wrapper wrapper;
  code = container(text, kind, architecture);
  wrapper.container = code.data();
  void** const module = __cudaRegisterFatBinary(&wrapper);
  const auto entry = [&](char* host, const char* name) {
    __cudaRegisterFunction(module, host, const_cast<char*>(name), name, -1, nullptr, nullptr, nullptr, nullptr,
                           nullptr);
  };
  entry(&add_stub, "add"), entry(&copy_stub, "copy"), entry(&hang_stub, "hang"), entry(&spin_stub, "spin");
  __cudaRegisterVar(module, reinterpret_cast<char*>(&scale), nullptr, "scale", 0, 4, 1, 0);
  __cudaRegisterVar(module, reinterpret_cast<char*>(&counter), nullptr, "counter", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(module);
}

int launch(const void* host, unsigned ctas, unsigned threads, void** arguments) {
  void* kernel = nullptr;
  __cudaGetKernel(&kernel, host);
  return __cudaLaunchKernel(kernel, {ctas, 1, 1}, {threads, 1, 1}, arguments, 0, nullptr);
}

int hang() { return launch(&hang_stub, 1, 64, nullptr); }

/// Elements that are not the sum times `factor`; all of them where anything failed.
int add(float factor) {
  constexpr unsigned kElements = 1000;
  std::vector<float> a(kElements), b(kElements), c(kElements, -1);
  for (unsigned i = 0; i < kElements; ++i) a[i] = float(i), b[i] = float(2 * i);
  void *da = nullptr, *db = nullptr, *dc = nullptr;
  const size_t bytes = 4 * kElements;
  cudaMalloc(&da, bytes), cudaMalloc(&db, bytes), cudaMalloc(&dc, bytes);
  cudaMemcpy(da, a.data(), bytes, 1), cudaMemcpy(db, b.data(), bytes, 1);
  unsigned n = kElements;
  void* arguments[] = {&da, &db, &dc, &n};
  launch(&add_stub, (kElements + 255) / 256, 256, arguments);
  const int error = cudaDeviceSynchronize();
  cudaMemcpy(c.data(), dc, bytes, 2);
  int wrong = 0;
  for (unsigned i = 0; i < kElements; ++i) wrong += !(c[i] == factor * 3 * float(i));
  std::printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
  cudaFree(da), cudaFree(db), cudaFree(dc);
  return wrong;
}

/// Copies that were wrong.
int copies() {
  constexpr unsigned kWords = 64;
  std::vector<uint32_t> from(kWords), to(kWords);
  void *device_from = nullptr, *device_to = nullptr;
  cudaMalloc(&device_from, 4 * kWords), cudaMalloc(&device_to, 4 * kWords);
  int wrong = 0;
  for (unsigned turn = 0; turn < 12; ++turn) {
    for (unsigned i = 0; i < kWords; ++i) from[i] = turn + i;
    cudaMemcpy(device_from, from.data(), 4 * kWords, 1);
    void* arguments[] = {&device_from, &device_to};
    launch(&copy_stub, 1, kWords, arguments);
    cudaMemcpy(to.data(), device_to, 4 * kWords, 2);
    wrong += from != to;
  }
  std::printf("%d wrong\n", wrong);
  return wrong;
}

int timed_add() {
  void *begin = nullptr, *end = nullptr;
  float milliseconds = 0;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  cudaEventRecord(begin, nullptr);
  const int wrong = add(1);
  cudaEventRecord(end, nullptr);
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::printf("%s\n", milliseconds > 0 ? "took simulated time" : "took no time");
  return wrong;
}

int with_symbols() {
  const float three = 3;
  uint32_t written = 0;
  cudaMemcpyToSymbol(&scale, &three, sizeof three, 0, 1);
  const int wrong = add(3);
  cudaMemcpyFromSymbol(&written, &counter, sizeof written, 0, 2);
  std::printf("counter %u\n", written);
  return wrong != 0 || written != 1000;
}

int with_attribute() {
  LaunchAttribute policy = {};
  policy.id = 1;
  const LaunchConfig config{{1, 1, 1}, {64, 1, 1}, 0, nullptr, &policy, 1};
  const int error = cudaLaunchKernelExC(&config, &hang_stub, nullptr);
  std::printf("%s\n", cudaGetErrorName(error));
  return 0;
}

/// Two copies, the second with programmatic stream serialization.
int overlapping_copies(bool wait) {
  constexpr int kProgrammatic = 6;
  constexpr unsigned kWords = 64;
  void *from = nullptr, *between = nullptr, *to = nullptr;
  for (void** pointer : {&from, &between, &to}) cudaMalloc(pointer, 4 * kWords);
  std::vector<uint32_t> words(kWords, 7), copied(kWords);
  cudaMemcpy(from, words.data(), 4 * kWords, 1);
  void* first[] = {&from, &between};
  void* second[] = {&between, &to};
  launch(&copy_stub, 1, kWords, first);
  if (wait) cudaDeviceSynchronize();
  LaunchAttribute attribute = {};
  attribute.id = kProgrammatic, attribute.value[0] = 1;
  const LaunchConfig config{{1, 1, 1}, {kWords, 1, 1}, 0, nullptr, &attribute, 1};
  cudaLaunchKernelExC(&config, &copy_stub, second);
  cudaMemcpy(copied.data(), to, 4 * kWords, 2);
  return copied != words;
}

/// The words of one buffer are copied into a second by a kernel on one stream, and so on.
int streams(const std::string& how) {
  constexpr unsigned kWords = 64, kNonBlocking = 1;
  void *from = nullptr, *between = nullptr, *to = nullptr, *first = nullptr, *second = nullptr, *event = nullptr;
  for (void** pointer : {&from, &between, &to}) cudaMalloc(pointer, 8 * kWords);
  std::vector<uint32_t> words(2 * kWords, 7), copied(kWords);
  cudaMemcpy(from, words.data(), 8 * kWords, 1);
  cudaMemcpy(between, words.data(), 8 * kWords, 1);
  cudaStreamCreateWithFlags(&first, how == "blocking" || how == "legacy" ? 0 : kNonBlocking);
  cudaStreamCreateWithFlags(&second, kNonBlocking);
  const auto copy = [&](void* stream, void* source, void* target) {
    void* arguments[] = {&source, &target};
    const LaunchConfig config{{1, 1, 1}, {kWords, 1, 1}, 0, stream, nullptr, 0};
    cudaLaunchKernelExC(&config, &copy_stub, arguments);
  };
  if (how == "device")
    cudaMemcpy(between, from, 4 * kWords, 3);
  else
    copy(first, from, between);
  if (how == "event") cudaEventCreate(&event), cudaEventRecord(event, first), cudaStreamWaitEvent(second, event, 0);
  if (how == "legacy") cudaEventCreate(&event), cudaEventRecord(event, nullptr), cudaEventSynchronize(event);
  if (how == "capture") cudaStreamBeginCapture(first, 2), cudaStreamEndCapture(first, &event);
  if (how == "freed") return cudaFreeAsync(between, second);
  if (how == "host" || how == "waited") cudaStreamSynchronize(first);
  if (how == "destroyed") cudaStreamDestroy(first), cudaDeviceSynchronize();
  if (how == "blocking" || how == "nonblocking" || how == "waited") {
    cudaMemcpy(copied.data(), between, 4 * kWords, 2);
  } else {
    copy(second, how == "apart" ? static_cast<char*>(between) + 4 * kWords : between, to);
    cudaDeviceSynchronize();
    cudaMemcpy(copied.data(), to, 4 * kWords, 2);
  }
  return copied != std::vector<uint32_t>(kWords, 7);
}

int is_unwritten() {
  void* memory = nullptr;
  std::vector<uint8_t> bytes(5000);
  cudaMalloc(&memory, bytes.size());
  cudaMemcpy(bytes.data(), memory, bytes.size(), 2);
  int other = 0;
  for (const uint8_t byte : bytes) other += byte != 0xff;
  std::printf("%d bytes are not 0xff\n", other);
  return add(1) + other;  // something must run
}

int read_directly() {
  void* memory = nullptr;
  cudaMalloc(&memory, 16);
  return *static_cast<volatile int*>(memory);
}

/// What an H200 answers, line by line; of a non-blocking stream what the CUDA guide says.
int host_memory() {
  struct {
    int type, device;
    void *device_pointer, *host_pointer;
    long reserved[8];
  } attributes;
  const auto say = [](const char* what, int error) { std::printf("%s: %s\n", what, cudaGetErrorName(error)); };
  const auto type = [&](const char* what, const void* pointer) {
    say(what, cudaPointerGetAttributes(&attributes, pointer));
    std::printf("type %d\n", attributes.type);
  };
  void *pinned = nullptr, *memory = nullptr;
  static char own[8192];
  cudaMallocHost(&pinned, 1000), cudaMalloc(&memory, 1000);
  type("pinned", static_cast<char*>(pinned) + 999);
  say("interior", cudaFreeHost(static_cast<char*>(pinned) + 16));
  say("foreign", cudaFreeHost(own));
  say("free", cudaFreeHost(pinned));
  say("free null", cudaFreeHost(nullptr));
  say("not registered", cudaHostUnregister(own));
  say("register", cudaHostRegister(own, sizeof own, 0));
  say("register a part", cudaHostRegister(own + 4096, 16, 0));
  type("registered", own + 100);
  say("unregister", cudaHostUnregister(own));
  type("plain", own);
  cudaFree(memory);
  type("freed", memory);
  say("free null later", cudaFreeAsync(nullptr, nullptr));
  say("pitch", cudaMemcpy2D(own, 16, own + 4096, 16, 32, 2, 0));
  for (const unsigned flags : {0u, 1u}) {  // blocking, non-blocking
    void *stream = nullptr, *graph = nullptr;
    cudaStreamCreateWithFlags(&stream, flags);
    cudaStreamBeginCapture(stream, /*relaxed*/ 2);
    say("legacy copy", cudaMemcpy(own, own + 4096, 16, 0));
    say("end", cudaStreamEndCapture(stream, &graph));
  }
  return add(1);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  constexpr char kCopy[] = "  cp.async.bulk.shared::cluster";
  if (what == "late")
    load(replaced(kPtx, kCopy, std::string("  griddepcontrol.wait;\n") + kCopy), 1, 100);
  else if (what == "old")
    load(replaced(kPtx, "sm_100a", "sm_90a"), 1, 90);
  else
    load(kPtx, what == "binary" ? 2 : 1, 100);
  if (what == "add") return timed_add();
  if (what == "copies") return copies();
  if (what == "old" || what == "binary") return add(1) == 0;
  if (what == "hang") return hang(), cudaDeviceSynchronize() == 0 ? 1 : 0;
  if (what == "spin") return launch(&spin_stub, 1, 32, nullptr);
  if (what == "ignore") return hang(), add(1);
  if (what == "symbol") return with_symbols();
  if (what == "bounds") {
    std::printf("%s\n", cudaGetErrorName(launch(&hang_stub, 1, 96, nullptr)));
    return add(1);
  }
  if (what == "null") {
    void *a = nullptr, *none = nullptr;
    unsigned n = 32;
    cudaMalloc(&a, 4 * n);
    void* arguments[] = {&a, &a, &none, &n};
    launch(&add_stub, 1, n, arguments);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  if (what == "attribute") return with_attribute();
  if (what == "early" || what == "late" || what == "waited") return overlapping_copies(what == "waited");
  if (what == "streams") return streams(argc > 2 ? argv[2] : "");
  if (what == "unwritten") return is_unwritten();
  if (what == "read") return read_directly();
  if (what == "host") return host_memory();
  if (what == "refused") {
    void* memory = nullptr;
    std::printf("%s\n", cudaGetErrorName(cudaArrayGetInfo(&memory, 16)));
    return add(1);
  }
  if (what == "wait") {
    const int wrong = add(1);
    std::printf("ready\n"), std::fflush(stdout);
    pause();
    return wrong;
  }
  return cudaDeviceSynchronize();
}
