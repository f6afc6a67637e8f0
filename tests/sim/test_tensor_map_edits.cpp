// SPDX-License-Identifier: Apache-2.0
// Tensor maps that warps edit: what has to lie between an edit and the copies that use the map, and what a copy
// sees where it does not.
#include "sim/real_kernels.h"

using namespace sm100;
using namespace sm100::sim;
using namespace sm100::sim::real_kernels;

namespace {

constexpr uint32_t kCopy = 0x800;  ///< of the map, in shared memory
constexpr uint32_t kRowBytes = 128;

/// Two rows of words, 1 and 2, and a map in global memory that names the first.
struct Rows {
  GlobalAddr rows, map;
};
Rows g_rows;  // of the process of a kernel

void make_rows(Device& device) {
  models::MemorySystem& memory = device.gpu.memory();
  g_rows = {memory.allocate("rows", 2 * kRowBytes, true), memory.allocate("map", 128, true)};
  std::memset(memory.data(g_rows.rows, kRowBytes), 1, kRowBytes);
  std::memset(memory.data(g_rows.rows + kRowBytes, kRowBytes), 2, kRowBytes);
  const TensorMap map = row_of_words(g_rows.rows);
  std::memcpy(memory.data(g_rows.map, 128), map.bytes, 128);
}

void set_up_barriers(SimIsa& isa, int warps = 1) {
  if (isa.warpid() == 0) init_both(isa);
  isa.bar_sync(kAll, 32 * warps);
}
void load(SimIsa& isa, uint32_t barrier = kFull, uint32_t to = kTile) {
  isa.elected([&] {
    isa.mbarrier_arrive_expect_tx(own(isa, barrier), kRowBytes, Scope::cta);
    isa.cp_async_bulk_tensor_shared_global(own(isa, to), g_rows.map, TensorCoords{0}, own(isa, barrier));
  });
}
/// The map names the second row.
void edit_in_place(SimIsa& isa) {
  isa.elected([&] { isa.tensormap_replace_global_address(g_rows.map, g_rows.rows.value + kRowBytes); });
}
void edit_in_shared(SimIsa& isa) {
  isa.elected([&] {
    const TensorMap map = row_of_words(g_rows.rows);
    for (uint32_t at = 0; at < 128; at += 16) {
      UniformWords<4> words;
      std::memcpy(words.w, map.bytes + at, 16);
      isa.st_shared_v4(own(isa, kCopy) + at, words);
    }
    isa.tensormap_replace_global_address(own(isa, kCopy), g_rows.rows.value + kRowBytes);
  });
  isa.bar_warp_sync();
  isa.tensormap_cp_fenceproxy(g_rows.map, own(isa, kCopy), MemoryScope::gpu);
}
uint32_t word(SimIsa& isa, uint32_t at = kTile) { return isa.ld_shared_u32(own(isa, at)); }

RoleCode kernel(std::function<void(RoleIsa&)> program, int warps = 1) {
  return {.program = std::move(program),
          .warps = warps,
          .with_data = true,
          .barriers = full_and_empty(),
          .before = make_rows};
}

/// A load with the old map, then an edit, then a load with the new one.
RoleCode edited(bool shared, bool release, bool acquire, bool wait = true) {
  return kernel([=](RoleIsa& isa) {
    set_up_barriers(isa);
    load(isa);
    if (wait) wait_for(isa, kFull);
    if (shared)
      edit_in_shared(isa);
    else
      edit_in_place(isa);
    if (!shared && release) isa.fence_proxy_tensormap_release(MemoryScope::gpu);
    if (acquire) isa.fence_proxy_tensormap_acquire(g_rows.map, MemoryScope::gpu);
    load(isa, kEmpty, kOther);
    wait_for(isa, kEmpty);
    if (!wait) wait_for(isa, kFull);
    must(word(isa) == 0x01010101 && word(isa, kOther) == 0x02020202);
  });
}

}  // namespace

TEST_CASE("a map edited in shared or in global memory, released and acquired, is the map of the next copy",
          "[tensor_map_edits]") {
  CHECK_DIAGNOSIS(edited(true, true, true), "clean");
  CHECK_DIAGNOSIS(edited(false, true, true), "clean");
}

TEST_CASE("TP1: a map is edited while a load may still read it", "[tensor_map_edits]") {
  CHECK_DIAGNOSIS(edited(true, true, true, false), "finding TP1");
  CHECK_DIAGNOSIS(edited(false, true, true, false), "finding TP1");
}

TEST_CASE("TP1 is a warning where the thread that edits has waited for bulk groups behind its own loads",
          "[tensor_map_edits]") {
  const auto waited = [](bool behind) {
    return kernel([=](RoleIsa& isa) {
      set_up_barriers(isa);
      const auto wait_for_groups = [&] {
        isa.elected([&] { isa.cp_async_bulk_commit_group(); });
        isa.cp_async_bulk_wait_group_read<0>();
      };
      if (!behind) wait_for_groups();
      load(isa);
      if (behind) wait_for_groups();
      edit_in_shared(isa);
      isa.fence_proxy_tensormap_acquire(g_rows.map, MemoryScope::gpu);
      load(isa, kEmpty, kOther);
      wait_for(isa, kEmpty);
      wait_for(isa, kFull);
    });
  };
  CHECK_DIAGNOSIS(waited(true), "warning TP1");
  CHECK_DIAGNOSIS(waited(false), "finding TP1");
}

TEST_CASE("TP2: a map is used without an acquire of its last edit", "[tensor_map_edits]") {
  CHECK_DIAGNOSIS(edited(true, true, false), "finding TP2");
  CHECK_DIAGNOSIS(edited(false, true, false), "finding TP2");
}

TEST_CASE("TP3: a map is used whose edit was not released", "[tensor_map_edits]") {
  CHECK_DIAGNOSIS(edited(false, false, true), "finding TP3");
}

TEST_CASE("a store's map may be edited once wait_group.read has returned", "[tensor_map_edits]") {
  const auto stored = [](bool wait) {
    return kernel([=](RoleIsa& isa) {
      set_up_barriers(isa);
      isa.fence_proxy_async_shared_cta();
      isa.elected([&] {
        isa.cp_async_bulk_tensor_global_shared(g_rows.map, TensorCoords{0}, own(isa, kTile));
        isa.cp_async_bulk_commit_group();
      });
      if (wait) isa.cp_async_bulk_wait_group_read<0>();
      edit_in_shared(isa);
      isa.cp_async_bulk_wait_group_read<0>();
    });
  };
  CHECK_DIAGNOSIS(stored(true), "clean");
  CHECK_DIAGNOSIS(stored(false), "finding TP1");
}

TEST_CASE("one warp edits and another copies: a barrier lies between, and the acquire behind it",
          "[tensor_map_edits]") {
  const auto handed_on = [](bool barrier, bool acquire_first) {
    return kernel(
        [=](RoleIsa& isa) {
          set_up_barriers(isa, 2);
          if (isa.warpid() == 0) {
            edit_in_shared(isa);
            if (barrier) isa.bar_arrive(1, 64);
          } else {
            if (acquire_first) isa.fence_proxy_tensormap_acquire(g_rows.map, MemoryScope::gpu);
            if (barrier) isa.bar_sync(1, 64);
            idle(isa);
            if (!acquire_first) isa.fence_proxy_tensormap_acquire(g_rows.map, MemoryScope::gpu);
            load(isa);
            wait_for(isa, kFull);
          }
        },
        2);
  };
  CHECK_DIAGNOSIS(handed_on(true, false), "clean");
  CHECK_DIAGNOSIS(handed_on(true, true), "finding TP2");
  CHECK_DIAGNOSIS(handed_on(false, false), "finding TP1");
}

TEST_CASE("without the checker a copy without acquire uses the old map", "[tensor_map_edits]") {
  // The view is what the model copies with, whatever is reported: see tests/models/test_tensor_map_proxy.cpp.
  RoleCode code = kernel([](RoleIsa& isa) {
    set_up_barriers(isa);
    load(isa);
    wait_for(isa, kFull);
    edit_in_shared(isa);
    load(isa, kEmpty, kOther);
    wait_for(isa, kEmpty);
    must(word(isa, kOther) == 0x01010101);
  });
  const auto before = code.before;
  code.before = [before](Device& device) {
    before(device);
    device.observer.set_hazards(nullptr);
  };
  CHECK_DIAGNOSIS(code, "clean");
}

TEST_CASE("what is no tensor map cannot be edited or copied with", "[tensor_map_edits]") {
  CHECK_DIAGNOSIS(kernel([](RoleIsa& isa) { isa.tensormap_replace_rank(own(isa, kCopy), 1); }), "finding TM1");
  CHECK_DIAGNOSIS(kernel([](RoleIsa& isa) { isa.tensormap_replace_rank(own(isa, kCopy + 64), 1); }), "finding SM2");
  CHECK_DIAGNOSIS(kernel([](RoleIsa& isa) { isa.tensormap_replace_rank(GlobalAddr{128}, 1); }), "finding GM1");
}
