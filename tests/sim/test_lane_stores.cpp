// SPDX-License-Identifier: Apache-2.0
// Stores of warps to global memory, lane by lane, also guarded ones: two to one element that nothing orders are GM3
// in every schedule, whichever lanes they come from, and stores side by side are nothing.
#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "sim/ptx/run_ptx.h"
#include "sim/role_code.h"

namespace sm100::sim {
namespace {

GlobalAddr bytes_at{};  // of the run, in its process

struct Lanes {
  LaneArray<GlobalAddr, 1> address;
  LaneArray<uint32_t, 1> value;
  LaneArray<bool, 1> inside;
};
/// Lane l stores `value` to byte `first + l * pitch`; lanes below `from` do not.
Lanes lanes(uint64_t first, uint64_t pitch, uint32_t value, int from = 0) {
  Lanes all{};
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    all.address(lane) = bytes_at + first + uint64_t(lane) * pitch;
    all.value(lane) = value;
    all.inside(lane) = lane >= from;
  }
  return all;
}

std::string said_of(std::function<void(RoleIsa&)> program, int warps, uint32_t clusters) {
  RoleCode code{.program = std::move(program), .warps = warps, .with_data = true, .clusters = clusters};
  code.ctas_per_sm = int(clusters);
  code.before = [](Device& device) { bytes_at = device.gpu.memory().allocate("bytes", 4096, true); };
  return diagnosis(code);
}
std::string ids(std::function<void(RoleIsa&)> program, int warps, uint32_t clusters = 1) {
  return ids_of(said_of(std::move(program), warps, clusters));
}

}  // namespace

TEST_CASE("guarded stores of two CTAs meet in some lanes: GM3", "[hazards]") {
  // The last lane of CTA 0 and lane 31 - 0 of CTA 1: never the first lane of either.
  CHECK(ids(
            [](RoleIsa& isa) {
              const Lanes own = lanes(isa.ctaid().x * 64, 4, isa.ctaid().x + 1, 8);
              isa.st_global_b32(own.address, own.value, own.inside);
            },
            1, 2) == "finding GM3");
}

TEST_CASE("stores of CTAs side by side are in nobody's way, down to a byte", "[hazards]") {
  CHECK(ids(
            [](RoleIsa& isa) {
              const Lanes words = lanes(isa.ctaid().x * 128, 4, isa.ctaid().x + 1);
              isa.st_global_b32(words.address, words.value, words.inside);
              // Both halves of one word: of two CTAs.
              const Lanes halves = lanes(1024 + isa.ctaid().x * 2, 4, isa.ctaid().x + 1);
              isa.st_global_b16(halves.address, halves.value, halves.inside);
            },
            1, 2) == "clean");
}

TEST_CASE("half a word over a word of another CTA: GM3", "[hazards]") {
  CHECK(ids(
            [](RoleIsa& isa) {
              if (isa.ctaid().x == 0) {
                const Lanes words = lanes(0, 4, 7);
                isa.st_global_b32(words.address, words.value, words.inside);
              } else {
                const Lanes halves = lanes(126, 2, 9);  // the first half of it is the last of the words
                isa.st_global_b16(halves.address, halves.value, halves.inside);
              }
            },
            1, 2) == "finding GM3");
}

TEST_CASE("a guard that is false in all lanes that would meet stores nothing", "[hazards]") {
  CHECK(ids(
            [](RoleIsa& isa) {
              const Lanes own = lanes(isa.ctaid().x * 64, 4, isa.ctaid().x + 1, isa.ctaid().x == 0 ? 32 : 0);
              isa.st_global_b32(own.address, own.value, own.inside);
            },
            1, 2) == "clean");
}

TEST_CASE("two warps store to one element one after the other: a barrier orders them", "[hazards]") {
  const auto stores = [](bool barrier) {
    return [barrier](RoleIsa& isa) {
      const bool first = isa.warpid() == 0;
      const Lanes own = lanes(first ? 0 : 64, 4, first ? 1 : 2, 3);
      if (first) isa.st_global_b32(own.address, own.value, own.inside);
      if (barrier) isa.bar_sync(1, 64);
      if (!first) isa.st_global_b32(own.address, own.value, own.inside);
    };
  };
  CHECK(ids(stores(true), 2) == "clean");
  CHECK(ids(stores(false), 2) == "finding GM3");
}

TEST_CASE("who stores what is there already is warned of", "[hazards]") {
  const std::string said = said_of(
      [](RoleIsa& isa) {
        const Lanes own = lanes(0, 4, 5, 3);
        isa.st_global_b32(own.address, own.value, own.inside);
      },
      1, 2);
  CHECK(ids_of(said) == "warning GM3");
  CHECK(said.find("the second writes the bytes that are there already") != std::string::npos);
}

TEST_CASE("compiled kernels: the lanes behind a branch store where another CTA does", "[hazards]") {
  // Thread t of CTA c stores c to word t + 8 * c, if t is 4 or more: words 12 to 23 are both CTAs'.
  const auto kernel = [](int last) {
    return fmt::format(R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry store(.param .u64 to)
.reqntid 16
{{
	.reg .pred %p<3>;
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	setp.lt.u32 %p1, %r1, 4;
	@%p1 bra END;
	setp.gt.u32 %p2, %r1, {};
	@%p2 bra END;
	mad.lo.u32 %r3, %r2, 8, %r1;
	mul.wide.u32 %rd2, %r3, 4;
	add.s64 %rd3, %rd1, %rd2;
	add.u32 %r4, %r2, 1;
	st.global.u32 [%rd3], %r4;
END:
	ret;
}}
)",
                       last);
  };
  const RunResult both = run_ptx(kernel(15), 2, {"zeros"});
  CAPTURE(both.report);
  CHECK(both.report.find("FINDING GM3") == 0);
  CHECK(both.report.find("both touch global memory at ") != std::string::npos);
  CHECK(both.report.find(": t0, byte ") != std::string::npos);
  CHECK(run_ptx(kernel(11), 2, {"zeros"}).outcome == Outcome::pass);  // words 4 to 11, and 12 to 19
}

TEST_CASE("a group's tail that stores the next group's first row races with it: GM3 says which row", "[hazards]") {
  // The epilogue of one CTA takes group 0 for one row longer than it is.
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "run " + scenario_dir() +
                                   "/smoke/grouped_1d1d_01.toml --set 'problem.tokens=[130, 64, 100, 60, 256]' "
                                   "--set 'problem.experts=[0, 3, 1, 2, 1]' --set 'fault=[{role=\"epilogue\", "
                                   "instruction=\"ld_global_u32\", occurrence=1, cta=1, operand=\"value\", "
                                   "action=\"add\", value=1}]'");
  CAPTURE(ran.out);
  CHECK(ran.exit_code == 4);
  CHECK(ran.out.find("FINDING GM3") == 0);
  CHECK(ran.out.find(": C, row 130, column 0") != std::string::npos);
  CHECK(ran.out.find("two CTAs store the same element") != std::string::npos);
}

}  // namespace sm100::sim
