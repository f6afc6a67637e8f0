// SPDX-License-Identifier: Apache-2.0
/// Tensor copies: which bytes land where (compared byte by byte with a host model of the PTX rules), what is
/// signalled, out-of-bounds fill, narrow boxes, swizzles, element strides, interleave; what traps.
#include <cstring>

#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;
using hw::MapSpec;

namespace {

constexpr int kImage = 32 * 1024;  ///< bytes of shared memory that are compared
constexpr unsigned char kUntouched = 0xee;

extern __shared__ char dynamic_smem[];
__device__ u32 image_base() { return (smem(dynamic_smem) + 1023) & ~1023u; }

/// Fills the image, loads one box to `dst` with `expect` bytes armed, copies the image out.
__global__ void load_box(const __grid_constant__ CUtensorMap map, int rank, int x, int y, int z, int dst,
                         int expect, unsigned char* image, int* completed) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), base = image_base();
  for (int i = threadIdx.x * 4; i < kImage; i += blockDim.x * 4) st_shared(base + i, 0xeeeeeeee);
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbarrier_init();
  }
  fence_proxy_async_smem();
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_expect(bar, static_cast<u32>(expect));
    if (rank == 2)
      load_2d(base + dst, &map, x, y, bar);
    else
      load_3d(base + dst, &map, x, y, z, bar);
    *completed = wait(bar, 0, 500'000);
  }
  __syncthreads();
  for (int i = threadIdx.x * 4; i < kImage; i += blockDim.x * 4)
    reinterpret_cast<u32*>(image)[i / 4] = ld_shared(base + i);
}

__global__ void store_box(const __grid_constant__ CUtensorMap map, int x, int y, int src,
                          const unsigned char* image) {
  const u32 base = image_base();
  for (int i = threadIdx.x * 4; i < kImage; i += blockDim.x * 4)
    st_shared(base + i, reinterpret_cast<const u32*>(image)[i / 4]);
  fence_proxy_async_smem();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_2d(&map, x, y, base + src);
    commit_group();
    wait_group<0>();
  }
}

/// Adds 5-ulp subnormals to 256 floats: through the map, or plainly.
__global__ void reduce(const __grid_constant__ CUtensorMap map, u32* data, bool plain) {
  const u32 base = image_base();
  for (u32 i = threadIdx.x; i < 256; i += 32) st_shared(base + 4 * i, 5);
  fence_proxy_async_smem();
  __syncwarp();
  if (threadIdx.x != 0) return;
  if (plain)
    reduce_add_f32(data, base, 1024);
  else
    reduce_add_2d(&map, 0, 0, base);
  commit_group();
  wait_group<0>();
}

int element_bytes(CUtensorMapDataType t) {
  switch (t) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 1;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_UINT16: return 2;
    default: return 4;
  }
}
int swizzle_span(CUtensorMapSwizzle s) {
  return s == CU_TENSOR_MAP_SWIZZLE_32B    ? 32
         : s == CU_TENSOR_MAP_SWIZZLE_64B  ? 64
         : s == CU_TENSOR_MAP_SWIZZLE_128B ? 128
                                           : 0;
}
unsigned swizzled(unsigned a, int span) {
  return a ^ ((a >> 7 & static_cast<unsigned>(span == 0 ? 0 : span / 16 - 1)) << 4);
}

/// Calls visit(in_bounds, global byte offset, shared byte offset) for each element of the box; data bytes of the
/// box.
template <class Visit>
int for_each_element(const MapSpec& s, const int* at, int dst, Visit visit) {
  const int rank = static_cast<int>(s.dims.size()), size = element_bytes(s.type), span = swizzle_span(s.swizzle);
  int n[3] = {1, 1, 1}, step[3] = {1, 1, 1};
  for (int i = 0; i < rank; ++i) {
    if (!s.element_strides.empty())
      step[i] = i == 0 ? 1 : static_cast<int>(s.element_strides[static_cast<std::size_t>(i)]);
    n[i] = (static_cast<int>(s.box[static_cast<std::size_t>(i)]) + step[i] - 1) / step[i];
  }
  const int pitch = span != 0 ? span : n[0] * size;
  int line = 0;
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y, ++line)
      for (int x = 0; x < n[0]; ++x) {
        const int c[3] = {at[0] + x, at[1] + y * step[1], at[2] + z * step[2]};
        bool in = true;
        long long g = static_cast<long long>(c[0]) * size;
        for (int i = 0; i < rank; ++i) {
          in &= c[i] >= 0 && c[i] < static_cast<int>(s.dims[static_cast<std::size_t>(i)]);
          if (i > 0)
            g += static_cast<long long>(c[i]) * static_cast<long long>(s.strides[static_cast<std::size_t>(i - 1)]);
        }
        visit(in, g, swizzled(static_cast<unsigned>(dst + line * pitch + x * size), span), size);
      }
  return n[0] * n[1] * n[2] * size;
}

std::vector<unsigned char> pattern(std::size_t n, unsigned seed) {
  std::vector<unsigned char> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = static_cast<unsigned char>((static_cast<unsigned>(i) * 2654435761u + seed) >> 23 & 0x7f);
  return v;
}

constexpr const char* kLoadOk = "completed, 0 bytes differ";
constexpr const char* kStoreOk = "0 bytes differ";

/// "completed, 0 bytes differ" when the copy did what the model says.
std::string compare_load(const MapSpec& s, std::vector<int> at, int dst, int expect = -1) {
  at.resize(3);
  constexpr std::size_t bytes = 1 << 18;
  Buffer<unsigned char> data(bytes), image(kImage);
  Buffer<int> completed(1);
  const auto global = pattern(bytes, 7);
  data.put(global);
  CUtensorMap map{};
  if (!hw::encode(s, data.get(), map)) return "map refused";
  std::vector<unsigned char> want(kImage, kUntouched);
  const int box_bytes = for_each_element(s, at.data(), dst, [&](bool in, long long g, unsigned a, int size) {
    for (int b = 0; b < size; ++b)
      want[a + static_cast<unsigned>(b)] = in ? global[static_cast<std::size_t>(g + b)] : 0;
  });
  hw::check(hw::launch(load_box, 1, 128, kImage + 1024, 1, map, static_cast<int>(s.dims.size()), at[0], at[1],
                       at[2], dst, expect < 0 ? box_bytes : expect, image.get(), completed.get()),
            "launch");
  if (hw::finish() != "completed") return "trap";
  const auto seen = image.host();
  int differ = 0, first = -1;
  for (int i = 0; i < kImage; ++i)
    if (seen[static_cast<std::size_t>(i)] != want[static_cast<std::size_t>(i)] && differ++ == 0) first = i;
  const std::string end = completed.host()[0] ? "completed" : "timeout";
  if (differ == 0) return end + ", 0 bytes differ";
  return hw::format("%s, %d bytes differ, first at 0x%x", end.c_str(), differ, static_cast<unsigned>(first));
}
std::string compare_store(const MapSpec& s, std::vector<int> at, int src) {
  at.resize(3);
  constexpr std::size_t bytes = 1 << 18;
  Buffer<unsigned char> data(bytes, 0x55), image(kImage);
  const auto shared = pattern(kImage, 3);
  image.put(shared);
  CUtensorMap map{};
  if (!hw::encode(s, data.get(), map)) return "map refused";
  std::vector<unsigned char> want(bytes, 0x55);
  for_each_element(s, at.data(), src, [&](bool in, long long g, unsigned a, int size) {
    for (int b = 0; in && b < size; ++b)
      want[static_cast<std::size_t>(g + b)] = shared[a + static_cast<unsigned>(b)];
  });
  hw::check(hw::launch(store_box, 1, 128, kImage + 1024, 1, map, at[0], at[1], src, image.get()), "launch");
  if (hw::finish() != "completed") return "trap";
  const auto seen = data.host();
  int differ = 0, beyond = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    differ += seen[i] != want[i];
    beyond += seen[i] != want[i] && want[i] == 0x55;
  }
  return differ == 0
             ? kStoreOk
             : hw::format("%d bytes differ: %d written beyond, %d missing", differ, beyond, differ - beyond);
}

MapSpec bf16(cuuint64_t width, cuuint64_t height, cuuint32_t box_x, cuuint32_t box_y,
             CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B) {
  MapSpec s;
  s.dims = {width, height};
  s.strides = {(width * 2 + 15) / 16 * 16};
  s.box = {box_x, box_y};
  s.swizzle = swizzle;
  return s;
}

constexpr CUtensorMapSwizzle kModes[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                         CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};

}  // namespace

HW_TEST("tma.swizzle") {
  for (const auto mode : kModes) {
    const int span = swizzle_span(mode) == 0 ? 128 : swizzle_span(mode);
    std::string load = kLoadOk, store = kStoreOk;
    for (int shift = 0; shift < 1024; shift += 128) {
      const MapSpec s = bf16(256, 64, static_cast<cuuint32_t>(span / 2), 32, mode);
      const auto l = compare_load(s, {64, 8}, shift);
      const auto w = compare_store(s, {64, 8}, shift);
      if (l != kLoadOk) load = hw::format("at +%d: ", shift) + l;
      if (w != kStoreOk) store = hw::format("at +%d: ", shift) + w;
    }
    const std::string name = hw::format("%dB", swizzle_span(mode));
    out.answer(
        "tma.swizzle.load." + name,
        "load with swizzle " + name + ", destinations +0...+896: every byte as the XOR of absolute address bits",
        kLoadOk, load);
    out.answer("tma.swizzle.store." + name, "store with swizzle " + name + ", sources +0...+896", kStoreOk, store);
  }
}
HW_TEST("tma.oob") {
  const MapSpec ten_rows = bf16(64, 10, 64, 16);
  out.answer("tma.oob.partly", "10-row tensor, 16-row box: full box signalled, zeros outside", kLoadOk,
             compare_load(ten_rows, {0, 0}, 0));
  out.answer("tma.oob.in_bounds_bytes", "the same, armed with the in-bounds 1280 bytes only: never completes",
             "timeout, 0 bytes differ", compare_load(ten_rows, {0, 0}, 0, 1280));
  out.answer("tma.oob.wholly", "box wholly outside (y = 64 of 10): full box signalled", kLoadOk,
             compare_load(ten_rows, {0, 64}, 0));
  out.answer("tma.oob.negative", "box at (-8, -3)", kLoadOk, compare_load(bf16(128, 32, 64, 16), {-8, -3}, 0));
  out.answer("tma.oob.right_edge", "box over the right edge, width 100", kLoadOk,
             compare_load(bf16(100, 32, 64, 16), {64, 20}, 0));
  out.answer("tma.oob.store",
             "store over right and lower edge, rows of 200 bytes: 16-byte chunks are written whole",
             "64 bytes differ: 64 written beyond, 0 missing", compare_store(bf16(100, 24, 64, 16), {64, 16}, 0));
  out.answer("tma.oob.store_aligned", "the same with rows of 192 bytes", kStoreOk,
             compare_store(bf16(96, 24, 64, 16), {64, 16}, 0));
  out.answer("tma.oob.store_wholly", "store wholly outside (y = 64 of 10)", kStoreOk,
             compare_store(ten_rows, {0, 64}, 0));
}
HW_TEST("tma.narrow") {
  for (const auto mode : {CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B}) {
    const int span = swizzle_span(mode);
    const MapSpec s = bf16(128, 64, static_cast<cuuint32_t>(span / 4), 24, mode);
    out.answer(hw::format("tma.narrow.load.%d", span),
               hw::format("inner box of half the %d-byte span: pitch is the span, data bytes signalled", span),
               kLoadOk, compare_load(s, {8, 3}, 256));
    out.answer(hw::format("tma.narrow.store.%d", span), "the same, store", kStoreOk, compare_store(s, {8, 3}, 256));
  }
  MapSpec s;
  s.dims = {64, 16, 8};
  s.strides = {128, 2048};
  s.box = {32, 5, 3};
  out.answer("tma.narrow.3d", "3-D box 32 x 5 x 3 of bf16, swizzle 128B: rows continue across planes", kLoadOk,
             compare_load(s, {8, 3, 2}, 0));
  s.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  out.answer("tma.narrow.3d_none", "the same without swizzle: pitch is the inner box", kLoadOk,
             compare_load(s, {8, 3, 7}, 128));
}
HW_TEST("tma.element_strides") {
  MapSpec s = bf16(128, 64, 64, 32);
  s.element_strides = {1, 3};
  out.answer("tma.element_strides", "element stride 3 in dimension 1, box 32: ceil(32/3) rows, over the edge",
             kLoadOk, compare_load(s, {0, 50}, 0));
  s.element_strides = {2, 1};
  out.answer("tma.element_strides.inner", "element stride 2 in dimension 0 is ignored without interleave", kLoadOk,
             compare_load(s, {0, 0}, 0));
}
HW_TEST("tma.strides") {
  MapSpec s;
  s.dims = {64, 16, 8};
  s.strides = {1024, 128};
  s.box = {64, 4, 8};
  out.answer("tma.strides.unordered", "strides {1024, 128}", kLoadOk, compare_load(s, {0, 5, 0}, 0));
  s.strides = {144, 400};
  out.answer("tma.strides.not_nested", "strides {144, 400}", kLoadOk, compare_load(s, {0, 5, 2}, 0));
}
HW_TEST("tma.nan_fill") {
  for (const auto type :
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32}) {
    MapSpec s;
    s.type = type;
    const int size = element_bytes(type);
    s.dims = {static_cast<cuuint64_t>(128 / size), 8};
    s.strides = {128};
    s.box = {static_cast<cuuint32_t>(128 / size), 8};
    s.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
    Buffer<unsigned char> data(4096), image(kImage);
    Buffer<int> completed(1);
    const CUtensorMap map = hw::must_encode(s, data.get());
    hw::run("nan", load_box, 1, 128, kImage + 1024, 1, map, 2, 0, 8, 0, 0, 1024, image.get(), completed.get());
    const auto v = image.host();
    u32 word = 0;
    std::memcpy(&word, v.data() + 512, 4);
    out.answer(hw::format("tma.nan_fill.%d", static_cast<int>(type)),
               "out-of-bounds NaN pattern (two 16-bit elements or one f32)", "0x7ff77ff7",
               hw::format("0x%08x", word));
  }
}
HW_TEST("tma.tf32") {
  const u32 in[] = {0x3f801000, 0x3f803000, 0x3f801001, 0x007fffff, 0xffc00001, 0x7f800000, 0xff800001, 0x80000fff};
  for (const auto type : {CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ}) {
    MapSpec s;
    s.type = type;
    s.dims = {8, 1};
    s.strides = {32};
    s.box = {8, 1};
    s.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    Buffer<u32> data(8);
    data.put(std::vector<u32>(in, in + 8));
    Buffer<unsigned char> image(kImage);
    Buffer<int> completed(1);
    hw::run("tf32", load_box, 1, 128, kImage + 1024, 1, hw::must_encode(s, data.get()), 2, 0, 0, 0, 0, 32,
            image.get(), completed.get());
    std::string seen;
    const auto v = image.host();
    for (std::size_t i = 0; i < 8; ++i) {
      u32 w;
      std::memcpy(&w, v.data() + 4 * i, 4);
      seen += hw::format("%s%08x", i ? " " : "", w);
    }
    const bool tf32 = type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    const std::string q =
        hw::format("%s load of 3f801000 3f803000 3f801001 007fffff ffc00001 7f800000 ff800001 80000fff",
                   tf32 ? "TFLOAT32" : "FLOAT32_FTZ");
    if (tf32)
      out.open("tma.tf32", q, seen);
    else
      out.answer("tma.f32_ftz", q, "3f801000 3f803000 3f801001 007fffff ffc00001 7f800000 ff800001 80000fff", seen);
  }
}
HW_TEST("tma.reduce") {
  for (const int which : {0, 1, 2}) {  // tensor FLOAT32, tensor FLOAT32_FTZ, plain bulk
    MapSpec s;
    s.type = which == 1 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    s.dims = {32, 8};
    s.strides = {128};
    s.box = {32, 8};
    Buffer<u32> data(256);
    data.put(std::vector<u32>(256, 3));
    hw::run("reduce", reduce, 1, 32, kImage + 1024, 1, hw::must_encode(s, data.get()), data.get(), which == 2);
    const char* names[] = {"f32", "f32_ftz", "bulk_f32"};
    const char* what[] = {"tensor add, map type FLOAT32", "tensor add, map type FLOAT32_FTZ",
                          "non-tensor bulk add.f32 (PTX: 0)"};
    out.answer(std::string("tma.reduce.") + names[which], std::string("subnormals of 5 and 3 ulp: ") + what[which],
               which == 1 ? "0" : "8", std::to_string(data.host()[17]));
  }
}
HW_TEST("tma.interleave") {
  for (const bool wide : {false, true}) {
    MapSpec s;
    s.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    const cuuint64_t slice = wide ? 16 : 8;  // elements of one 16- or 32-byte channel slice
    s.dims = {slice, 8, 4};
    s.strides = {slice * 2, slice * 16};
    s.box = {static_cast<cuuint32_t>(slice), 4, 2};
    s.interleave = wide ? CU_TENSOR_MAP_INTERLEAVE_32B : CU_TENSOR_MAP_INTERLEAVE_16B;
    s.swizzle = wide ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE;
    const std::string id = wide ? "tma.interleave.32" : "tma.interleave.16";
    const std::string q = hw::format(
        "interleave %dB: 16-byte chunk of the tensor seen in each 16-byte chunk of shared memory", wide ? 32 : 16);
    Buffer<std::uint16_t> data(1 << 14);
    std::vector<std::uint16_t> v(1 << 14);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::uint16_t>(i / 8);
    data.put(v);
    Buffer<unsigned char> image(kImage);
    Buffer<int> completed(1);
    CUtensorMap map{};
    if (!hw::encode(s, data.get(), map)) {
      out.open(id, q, "the driver refuses the map");
      continue;
    }
    hw::check(hw::launch(load_box, 1, 128, kImage + 1024, 1, map, 3, 0, 1, 1, 0, wide ? 256 : 128, image.get(),
                         completed.get()),
              "launch");
    if (hw::finish() != "completed") return out.open(id, q, "trap");
    std::string seen = completed.host()[0] ? "completed:" : "timeout with the plain byte count:";
    const auto bytes = image.host();
    for (std::size_t c = 0; c < 40; ++c) {
      std::uint16_t w;
      std::memcpy(&w, bytes.data() + 16 * c, 2);
      seen += w == 0xeeee ? " -" : hw::format(" %d", w);
    }
    out.open(id, q, seen);
  }
}

// What traps: each takes its child process with it.
HW_TEST("tma.trap.load_x1") {
  out.answer("tma.trap.load_x1", "bf16 load at x = 1 (2 bytes)", "trap",
             compare_load(bf16(256, 64, 64, 8), {1, 0}, 0));
}
HW_TEST("tma.trap.load_x4") {
  out.answer("tma.trap.load_x4", "bf16 load at x = 4 (8 bytes)", "trap",
             compare_load(bf16(256, 64, 64, 8), {4, 0}, 0));
}
HW_TEST("tma.trap.load_x_minus4") {
  out.answer("tma.trap.load_x_minus4", "bf16 load at x = -4", "trap",
             compare_load(bf16(256, 64, 64, 8), {-4, 0}, 0));
}
HW_TEST("tma.trap.store_x4") {
  out.answer("tma.trap.store_x4", "bf16 store at x = 4", "trap", compare_store(bf16(256, 64, 64, 8), {4, 0}, 0));
}
HW_TEST("tma.trap.store_y_minus1") {
  out.answer("tma.trap.store_y_minus1", "store at y = -1", "trap", compare_store(bf16(256, 64, 64, 8), {0, -1}, 0));
}
HW_TEST("tma.trap.store_x_minus8") {
  out.answer("tma.trap.store_x_minus8", "store at x = -8", "trap", compare_store(bf16(256, 64, 64, 8), {-8, 0}, 0));
}
HW_TEST("tma.trap.smem_16") {
  out.answer("tma.trap.smem_16", "load to a shared address of 16 mod 128, no swizzle", "trap",
             compare_load(bf16(256, 64, 64, 8, CU_TENSOR_MAP_SWIZZLE_NONE), {0, 0}, 16));
}
HW_TEST("tma.trap.smem_64") {
  out.answer("tma.trap.smem_64", "store from a shared address of 64 mod 128", "trap",
             compare_store(bf16(256, 64, 64, 8), {0, 0}, 64));
}
