// SPDX-License-Identifier: Apache-2.0
// mbarrier.expect_tx alone: a copy is waited for whose bytes another instruction expects than the one that arrives;
// what it hands on; faults on it.
#include "catch.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint32_t kFull = 0x400, kWord = 0x800, kTile = 0x1000;
constexpr uint32_t kTileBytes = 128;

SmemAddr own(SimIsa& isa, uint32_t offset) { return {isa.cluster_ctarank() << kClusterRankShift | offset}; }

#define CHECK_TOLD(code, expected)            \
  do {                                        \
    const std::string text = diagnosis(code); \
    CAPTURE(text);                            \
    CHECK(ids_of(text) == expected);          \
  } while (false)

void init(SimIsa& isa, uint32_t count) {
  if (isa.warpid() == 0) isa.elected([&] { isa.mbarrier_init(own(isa, kFull), count); });
  isa.fence_mbarrier_init();
  isa.bar_sync(0, 32 * 3);
}

/// One lane expects the bytes of a row, copies it and arrives; its warp waits.
RoleCode copied_row(std::vector<host::FaultSpec> faults = {}) {
  static TensorMap map;
  return {.program =
              [](RoleIsa& isa) {
                init(isa, 1);
                if (isa.warpid() != 0) return;
                isa.elected([&] {
                  isa.mbarrier_expect_tx(own(isa, kFull), kTileBytes, Scope::cta);
                  isa.cp_async_bulk_tensor_shared_global(own(isa, kTile), &map, TensorCoords{0}, own(isa, kFull));
                  isa.mbarrier_arrive(own(isa, kFull), Scope::cta);
                });
                while (!isa.mbarrier_try_wait_parity(own(isa, kFull), 0, Scope::cta)) {}
              },
          .warps = 3,
          .with_data = true,
          .faults = std::move(faults),
          .before =
              [](Device& device) {
                TensorMapFields f;
                f.data_type = TensorMapDataType::uint32;
                f.rank = 1;
                f.global_address = device.gpu.memory().allocate("row", kTileBytes, true).value;
                f.global_dim[0] = f.box_dim[0] = kTileBytes / 4;
                f.element_stride[0] = 1;
                map = encode(f);
              }};
}

host::FaultSpec fault(host::FaultAction action, int64_t value = 0) {
  return {.instruction = "mbarrier_expect_tx", .action = action, .operand = "bytes", .value = value};
}

}  // namespace

TEST_CASE("expect_tx alone: the phase waits for its bytes and for an arrival", "[expect_tx]") {
  CHECK_TOLD(copied_row(), "clean");
}

TEST_CASE("expect_tx alone: faults alter its bytes, leave it out and repeat it", "[expect_tx][fault]") {
  CHECK_TOLD(copied_row({fault(host::FaultAction::add, 16)}), "hang");
  CHECK_TOLD(copied_row({fault(host::FaultAction::duplicate, 2)}), "hang");
  CHECK_TOLD(copied_row({fault(host::FaultAction::drop)}), "finding MB11");
  CHECK_TOLD(copied_row({fault(host::FaultAction::delay, 100)}), "clean");
}

TEST_CASE("expect_tx alone can be altered as what it is", "[expect_tx][fault]") {
  const host::FaultInstruction* row = host::fault_instruction("mbarrier_expect_tx");
  REQUIRE(row != nullptr);
  CHECK(row->allows(host::FaultAction::add));
  CHECK(row->allows(host::FaultAction::all_lanes));
  CHECK_FALSE(row->allows(host::FaultAction::early));
  CHECK_FALSE(row->allows(host::FaultAction::flip_parity));
  CHECK(row->operand_names() == std::vector<std::string_view>{"bytes", "barrier"});
}

TEST_CASE("expect_tx alone hands on nothing: an arrival of the writer has to", "[expect_tx]") {
  const auto hand_over = [](bool arrives) {
    return RoleCode{.program =
                        [=](RoleIsa& isa) {
                          init(isa, arrives ? 2 : 1);
                          const SmemAddr full = own(isa, kFull), word = own(isa, kWord);
                          LaneArray<SmemAddr, 1> words{};
                          for (auto& lane : words.registers) lane[0] = word;
                          if (isa.warpid() == 0) {
                            isa.elected([&] {
                              isa.st_shared_b32(words, isa.laneid());
                              isa.mbarrier_expect_tx(full, 0, Scope::cta);
                              if (arrives) isa.mbarrier_arrive(full, Scope::cta);
                            });
                          } else if (isa.warpid() == 1) {
                            isa.for_each_lane(1000, [](int) {});
                            isa.elected([&] { isa.mbarrier_arrive(full, Scope::cta); });
                          } else {
                            while (!isa.mbarrier_try_wait_parity(full, 0, Scope::cta)) {}
                            isa.ld_shared_u32(word);
                          }
                        },
                    .warps = 3,
                    .with_data = true};
  };
  CHECK_TOLD(hand_over(true), "clean");
  CHECK(ids_of(diagnosis(hand_over(false))).starts_with("finding "));
}
