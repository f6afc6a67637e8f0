// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/gpu.h"

#include <cuda.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "kernels/cuda/run/ptx_library.h"
#include "kernels/isa/lane_array.h"

namespace sm100::cuda {

CudaError::CudaError(const char* call, cudaError_t error)
    : std::runtime_error(fmt::format("{}: {}", call, cudaGetErrorString(error))), code(error) {}

void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw CudaError(call, code);
}

namespace {
bool device_hangs = false;
}  // namespace

bool device_answers() { return !device_hangs; }

// ---- memory

DeviceBuffer::DeviceBuffer(uint64_t bytes) : bytes_(bytes) { SM100_CUDA(cudaMalloc(&data_, bytes)); }
DeviceBuffer::~DeviceBuffer() {
  if (owns_ && !device_hangs) cudaFree(data_);
}
DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), owns_(other.owns_) {}
void DeviceBuffer::upload(const void* from, uint64_t bytes) {
  SM100_CUDA(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice));
}
void DeviceBuffer::download(void* to, uint64_t bytes) const {
  SM100_CUDA(cudaMemcpy(to, data_, bytes, cudaMemcpyDeviceToHost));
}
void DeviceBuffer::download(void* to, uint64_t bytes, cudaStream_t stream) const {
  SM100_CUDA(cudaMemcpyAsync(to, data_, bytes, cudaMemcpyDeviceToHost, stream));
  SM100_CUDA(cudaStreamSynchronize(stream));
}
void DeviceBuffer::clear() { SM100_CUDA(cudaMemset(data_, 0, bytes_)); }

namespace {

/// A function of the driver.
template <class Function>
Function* driver(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult result{};
  SM100_CUDA(cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &result));
  if (result != cudaDriverEntryPointSuccess) throw host::InputError(fmt::format("the driver has no {}", name));
  return reinterpret_cast<Function*>(entry);
}

}  // namespace

FixedMemory::FixedMemory(uint64_t from, uint64_t to) {
  const auto refused = [&](const char* what, CUresult result) {
    if (result != CUDA_SUCCESS)
      throw host::InputError(fmt::format("the addresses {:#x} to {:#x} of the launch file: {}: CUDA error {}", from,
                                         to, what, int(result)));
  };
  int device = 0;
  SM100_CUDA(cudaGetDevice(&device));
  SM100_CUDA(cudaFree(nullptr));  // the context
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  size_t granularity = 0;
  refused("granularity", driver<decltype(cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(
                             &granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  base_ = from / granularity * granularity;
  bytes_ = (to - base_ + granularity - 1) / granularity * granularity;
  // A driver was seen to put ranges of less than 32 MiB where it likes.
  reserved_ = std::max<uint64_t>(bytes_, uint64_t{64} << 20);
  CUdeviceptr got = 0;
  refused("reserve", driver<decltype(cuMemAddressReserve)>("cuMemAddressReserve")(&got, reserved_, 0, base_, 0));
  if (got != base_)
    throw host::InputError(fmt::format("the addresses {:#x} to {:#x} of the launch file are taken", from, to));
  CUmemGenericAllocationHandle handle = 0;
  refused("allocate", driver<decltype(cuMemCreate)>("cuMemCreate")(&handle, bytes_, &properties, 0));
  allocation_ = handle;
  refused("map", driver<decltype(cuMemMap)>("cuMemMap")(base_, bytes_, 0, handle, 0));
  CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  refused("access", driver<decltype(cuMemSetAccess)>("cuMemSetAccess")(base_, bytes_, &access, 1));
}
FixedMemory::~FixedMemory() {
  if (device_hangs) return;
  driver<decltype(cuMemUnmap)>("cuMemUnmap")(base_, bytes_);
  driver<decltype(cuMemRelease)>("cuMemRelease")(allocation_);
  driver<decltype(cuMemAddressFree)>("cuMemAddressFree")(base_, reserved_);
}

// ---- device

Gpu::Gpu() {
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    throw host::InputError(
        driver == 0
            ? "no CUDA device: this machine has no NVIDIA driver"
            : fmt::format("the NVIDIA driver is too old: it supports CUDA {}.{}, needed is {}.{}", driver / 1000,
                          driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10));
  }
  if (found != cudaSuccess || devices == 0)
    throw host::InputError(fmt::format("no CUDA device: {}", cudaGetErrorString(found)));
  cudaDeviceProp properties{};
  SM100_CUDA(cudaGetDeviceProperties(&properties, 0));
  name_ = properties.name;
  sms_ = properties.multiProcessorCount;
  architecture_ = 10 * properties.major + properties.minor;
  l2_bytes_ = uint64_t(properties.l2CacheSize);
  cudaDriverEntryPointQueryResult result{};
  const std::pair<const char*, void**> functions[] = {{"cuTensorMapEncodeTiled", &encode_tiled_},
                                                      {"cuTensorMapEncodeIm2col", &encode_im2col_}};
  for (const auto& [name, function] : functions) {
    SM100_CUDA(cudaGetDriverEntryPointByVersion(name, function, 12000, cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess)
      throw host::InputError(fmt::format("the driver has no {}: it is older than CUDA 12.0", name));
  }
}

TensorMap Gpu::encode(const TensorMapFields& f) const {
  static_assert(sizeof(CUtensorMap) == sizeof(TensorMap));
  cuuint64_t dims[kTensorMapMaxRank], strides[kTensorMapMaxRank];
  cuuint32_t box[kTensorMapMaxRank], element_strides[kTensorMapMaxRank];
  for (uint32_t i = 0; i < kTensorMapMaxRank; ++i) {
    dims[i] = f.global_dim[i], strides[i] = f.global_stride[i];
    box[i] = f.box_dim[i], element_strides[i] = f.element_stride[i];
  }
  CUtensorMap map;
  // Our enumerators have the driver's values (kernels/isa/tensor_map.h).
  static_assert(int(TensorMapDataType::packed_16u4_align8b) == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B &&
                int(TensorMapDataType::packed_16u4_align16b) == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B &&
                int(TensorMapDataType::packed_16u6_align16b) == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B &&
                int(TensorMapSwizzle::b128_atom_64b) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
  const auto tiled = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode_tiled_);
  const auto im2col = reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(encode_im2col_);
  const auto type = CUtensorMapDataType(f.data_type);
  void* const address = reinterpret_cast<void*>(f.global_address);
  const auto interleave = CUtensorMapInterleave(f.interleave);
  const auto swizzle = CUtensorMapSwizzle(f.swizzle);
  const auto promotion = CUtensorMapL2promotion(f.l2_promotion);
  const auto fill = CUtensorMapFloatOOBfill(f.oob_fill);
  const CUresult result =
      f.im2col ? im2col(&map, type, f.rank, address, dims, strides, f.pixel_box_lower, f.pixel_box_upper, box[0],
                        box[1], element_strides, interleave, swizzle, promotion, fill)
               : tiled(&map, type, f.rank, address, dims, strides, box, element_strides, interleave, swizzle,
                       promotion, fill);
  if (result != CUDA_SUCCESS) {
    const TensorMapError error = validate(f);
    throw host::InputError(fmt::format("cuTensorMapEncode{}: CUDA error {}{}", f.im2col ? "Im2col" : "Tiled",
                                       int(result),
                                       error == TensorMapError::none ? "" : fmt::format(": {}", message(error))));
  }
  TensorMap encoded;
  std::memcpy(encoded.bytes, &map, sizeof map);
  return encoded;
}

// ---- launches

DeviceLaunch device_launch(const host::LaunchShape& shape) {
  return {.grid = shape.grid,
          .cluster = shape.cluster,
          .block = {uint32_t(kWarpLanes * shape.warps), 1, 1},
          .dynamic_smem_bytes = shape.smem_bytes,
          .pdl = shape.pdl};
}

void Gpu::prepare(const Launch& l) const {
  SM100_CUDA(
      cudaFuncSetAttribute(l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(l.how.dynamic_smem_bytes)));
  if (l.how.cluster.x * l.how.cluster.y * l.how.cluster.z > 8)
    SM100_CUDA(cudaFuncSetAttribute(l.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

void Gpu::launch(const Launch& l) const {
  const auto dim3_of = [](const Dim3& d) { return dim3(d.x, d.y, d.z); };
  cudaLaunchConfig_t config{};
  config.gridDim = dim3_of(l.how.grid);
  config.blockDim = dim3_of(l.how.block);
  config.dynamicSmemBytes = l.how.dynamic_smem_bytes;
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {l.how.cluster.x, l.how.cluster.y, l.how.cluster.z};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes;
  config.numAttrs = l.how.pdl ? 2 : 1;
  SM100_CUDA(cudaLaunchKernelExC(&config, l.kernel, const_cast<void**>(l.arguments.data())));
}

void Gpu::wait(double seconds) const {
  // A kernel that hangs can't be stopped from here: look, and give up.
  const auto start = std::chrono::steady_clock::now();
  for (cudaError_t state; (state = cudaStreamQuery(nullptr)) != cudaSuccess;) {
    if (state != cudaErrorNotReady) throw TrapError(cudaGetErrorString(state));
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) {
      device_hangs = true;
      throw HangError(fmt::format("the kernel has not finished after {} s", seconds));
    }
    usleep(50);
  }
}

namespace {

/// Time in the stream between begin() and microseconds().
class StreamTimer {
 public:
  StreamTimer() {
    SM100_CUDA(cudaEventCreate(&begin_));
    SM100_CUDA(cudaEventCreate(&end_));
  }
  ~StreamTimer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  StreamTimer(const StreamTimer&) = delete;
  StreamTimer& operator=(const StreamTimer&) = delete;

  void begin() { SM100_CUDA(cudaEventRecord(begin_)); }
  void end() { SM100_CUDA(cudaEventRecord(end_)); }
  /// After the stream has been waited for.
  double microseconds() const {
    float milliseconds = 0;
    SM100_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e3 * double(milliseconds);
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

Gpu::Times Gpu::time(const std::function<void()>& launch, int repeat, bool cold, double seconds,
                     const std::function<void()>& before) {
  if (repeat == 0) return {};
  StreamTimer timer;
  Times times;
  const std::vector<ClockReading> start = read_clocks();
  for (int i = 0; i < repeat; ++i) {
    before();
    if (cold) flush_l2();
    timer.begin();
    launch();
    timer.end();
    wait(seconds);
    times.microseconds.push_back(timer.microseconds());
  }
  times.sm_clock_ghz = mean_clock_ghz(start, read_clocks());
  return times;
}

Gpu::Times Gpu::time_back_to_back(const std::function<void()>& launch, int repeat, double seconds) {
  StreamTimer timer;
  const std::vector<ClockReading> start = read_clocks();
  timer.begin();
  for (int i = 0; i < repeat; ++i) launch();
  timer.end();
  wait(seconds);
  return {{timer.microseconds() / repeat}, mean_clock_ghz(start, read_clocks())};
}

// ---- clocks

double mean_clock_ghz(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after) {
  double cycles = 0, ns = 0;
  for (size_t sm = 0; sm < std::min(before.size(), after.size()); ++sm) {
    if (before[sm].globaltimer_ns == 0 || after[sm].globaltimer_ns == 0) continue;
    cycles += double(after[sm].cycles - before[sm].cycles);
    ns += double(after[sm].globaltimer_ns - before[sm].globaltimer_ns);
  }
  return ns > 0 ? cycles / ns : 0;
}

namespace {

/// A thread for each CTA writes both clocks of its SM.
constexpr const char* kClockProbe = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry clock_probe(.param .u64 readings)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [readings];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %smid;
  mul.wide.u32 %rd2, %r1, 16;
  add.s64 %rd3, %rd1, %rd2;
  mov.u64 %rd4, %clock64;
  mov.u64 %rd5, %globaltimer;
  st.global.v2.u64 [%rd3], {%rd4, %rd5};
  ret;
}
)";

}  // namespace

std::vector<ClockReading> Gpu::read_clocks() {
  if (!probe_) probe_ = std::make_shared<PtxLibrary>(kClockProbe, "the clock probe");
  std::vector<ClockReading> readings(static_cast<size_t>(sms_));
  DeviceBuffer there(readings.size() * sizeof(ClockReading));
  there.clear();
  void* address = reinterpret_cast<void*>(there.address().value);
  launch({probe_->kernel("clock_probe"), {.grid = {uint32_t(4 * sms_), 1, 1}}, {&address}});
  there.download(readings.data(), there.bytes());
  return readings;
}

void Gpu::flush_l2() {
  if (flush_buffer_.empty()) flush_buffer_.emplace_back(4 * std::max<uint64_t>(l2_bytes_, 1 << 20));
  flush_buffer_.front().clear();
}

}  // namespace sm100::cuda
