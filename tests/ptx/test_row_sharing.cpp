// SPDX-License-Identifier: Apache-2.0
/// Registers that share rows: programs do the same, in every lane, and few rows do.
#include <algorithm>
#include <random>
#include <string>
#include <tuple>

#include "catch.h"
#include "ptx/lane_groups.h"
#include "ptx/row_sharing.h"
#include "ptx/row_uses.h"

using namespace sm100::ptx;

namespace {

Module module_of(const std::string& body, const std::string& before = "") {
  return parse(
      ".version 9.0\n.target sm_100a\n.address_size 64\n" + before +
          ".visible .entry k()\n{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<300>; .reg .b64 %d<99>; "
          ".reg .b128 %q<3>;\n" +
          body + "\n}\n",
      "x.ptx");
}
Program shared(const Module& module) {
  Program program = decode(module, module.entries[0]);
  share_rows(program);
  return program;
}

/// What its lanes store, in the order of each lane: lane, line, value.
using Stores = std::vector<std::tuple<int, uint32_t, uint64_t>>;
Stores run(const Program& program) {
  RegisterFile file(program.register_bytes, program.constants, {});
  for (const Special& s : program.specials)
    for (int lane = 0; lane < kLanes; ++lane) file.write<uint32_t>(s.row)[lane] = static_cast<uint32_t>(lane);
  Stores stores;
  LaneGroups groups;
  groups.add_ready({0, kAllLanes});
  for (int steps = 0; groups.others() && steps < 100'000;) {
    LaneGroup group = groups.next();
    for (bool goes_on = true; goes_on; ++steps) {
      const Instr& i = program.code[group.pc];
      const LaneMask lanes = group.lanes & i.guard_of(file);
      if (i.kind == Kind::exit && (group.lanes &= ~lanes) == 0) break;
      if (i.kind == Kind::branch) {
        goes_on = !groups.branch(group, lanes, i.target);
        if (!goes_on) groups.add_ready(group);
        continue;
      }
      if (i.kind == Kind::alu) i.alu(file, i, lanes);
      if (i.kind == Kind::memory)
        for (const Operand& o : program.accesses[i.detail].data)
          for (int lane = 0; lane < kLanes; ++lane)
            if (lanes >> lane & 1) stores.emplace_back(lane, i.line, o.lane_value(file, lane));
      ++group.pc;
      goes_on = group.pc < groups.limit();
      if (!goes_on) groups.add_ready(group);
    }
  }
  std::stable_sort(stores.begin(), stores.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  return stores;
}

/// Code with branches forward, loops and guards, in which lanes go different ways.
class RandomBody {
 public:
  explicit RandomBody(uint32_t seed) : random_(seed) {}
  std::string text() {
    line("mov.u32 %r0, %tid.x;");
    for (int i = 1; i < 6; ++i)
      line("mad.lo.u32 %r" + n(i) + ", %r0, " + n(below(99)) + ", " + n(below(999)) + ";");
    for (int i = 0; i < 3; ++i) line("cvt.u64.u32 %d" + n(i) + ", %r" + n(i) + ";");
    statements(40, 3);
    for (int i = 0; i < kWords; ++i) line("st.shared.u32 [%r0], %r" + n(i) + ";");
    return body_;
  }

 private:
  static constexpr int kWords = 14, kWide = 6, kPredicates = 4;
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint32_t>(limit)); }
  static std::string n(int i) { return std::to_string(i); }
  std::string r() { return "%r" + n(1 + below(kWords - 1)); }
  std::string d() { return "%d" + n(below(kWide)); }
  std::string p() { return "%p" + n(below(kPredicates)); }
  std::string guard() { return below(4) == 0 ? (below(2) ? "@" : "@!") + p() + " " : ""; }
  void line(const std::string& text) { body_ += text + "\n"; }
  void statements(int count, int depth) {
    for (int i = 0; i < count; ++i) switch (below(depth > 0 ? 12 : 10)) {
        case 0: line(guard() + "add.u32 " + r() + ", " + r() + ", " + r() + ";"); break;
        case 1: line(guard() + "xor.b32 " + r() + ", " + r() + ", " + n(below(1 << 20)) + ";"); break;
        case 2: line(guard() + "mul.wide.u32 " + d() + ", " + r() + ", " + r() + ";"); break;
        case 3: {
          const std::string low = r();
          line(guard() + "mov.b64 {" + low + ", " + other_than(low) + "}, " + d() + ";");
          break;
        }
        case 4: line(guard() + "mov.b64 " + d() + ", {" + r() + ", " + r() + "};"); break;
        case 5: line(guard() + "add.u64 " + d() + ", " + d() + ", " + d() + ";"); break;
        case 6: line("setp.lt.u32 " + p() + ", " + r() + ", " + r() + ";"); break;
        case 7: line("selp.b32 " + r() + ", " + r() + ", " + r() + ", " + p() + ";"); break;
        case 8: line(guard() + "mov.u32 " + r() + ", " + r() + ";"); break;
        case 9: line(guard() + "st.shared.u32 [%r0], " + r() + ";"); break;
        case 10: {
          const std::string label = "L" + n(labels_++);
          line("@" + p() + " bra " + label + ";");
          statements(1 + below(8), depth - 1);
          line(label + ":");
          break;
        }
        case 11: {  // so often as the lane's counter says
          const std::string label = "L" + n(labels_++), counter = "%r" + n(100 + labels_), again = "%p8";
          line("and.b32 " + counter + ", " + r() + ", 3;");
          line(label + ":");
          statements(1 + below(8), 0);
          line("setp.ne.u32 " + again + ", " + counter + ", 0;\nsub.u32 " + counter + ", " + counter + ", 1;");
          line("@" + again + " bra " + label + ";");
          break;
        }
      }
  }
  std::string other_than(const std::string& taken) {
    for (;;)
      if (const std::string other = r(); other != taken) return other;
  }

  std::mt19937 random_;
  std::string body_;
  int labels_ = 0;
};

}  // namespace

TEST_CASE("A program does the same with shared rows, in lanes that go different ways") {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const std::string body = RandomBody(seed).text();
    const Module module = module_of(body);
    const Program as_written = decode(module, module.entries[0]), in_few_rows = shared(module);
    REQUIRE(unsupported(as_written).empty());
    CHECK(in_few_rows.register_bytes < as_written.register_bytes / 4);
    const Stores expected = run(as_written);
    if (run(in_few_rows) != expected) FAIL("seed " << seed << "\n" << body);
  }
}

TEST_CASE("Values that are not needed together lie in one row") {
  std::string body = "mov.u32 %r0, %tid.x;\n";
  for (int i = 1; i < 200; ++i)
    body += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", 1;\n";
  body += "st.shared.u32 [%r199], %r199;";
  const Module module = module_of(body);
  const Program program = shared(module);
  CHECK(program.register_bytes < 12 * 4 * kLanes);  // two, and what is not a register
  // An instruction's results do not lie on its operands.
  for (const Instr& i : program.code)
    if (i.kind == Kind::alu) CHECK(i.rows[0] != i.rows[1]);
}

TEST_CASE("What a unit writes while the warp goes on has a row of its own, and so has a predicate") {
  const Module module = module_of(
      "mov.u32 %r1, 0;\n"
      "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];\n"
      "mov.u32 %r4, 1; st.shared.u32 [%r1], %r4;\n"
      "mov.u32 %r5, 2; st.shared.u32 [%r1], %r5;\n"
      "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1;\n"
      "@%p1 st.shared.u32 [%r1], %r1; @%p2 st.shared.u32 [%r1], %r1;");
  const Program program = shared(module);
  const std::vector<Operand>& loaded = program.services[0].operands[0].elements;
  REQUIRE(loaded.size() == 2);
  CHECK(loaded[0].row != loaded[1].row);
  std::vector<Row> predicates, rows;
  for (const Instr& i : program.code) {
    if (i.kind != Kind::alu) continue;
    (i.rows[0].at < program.predicate_bytes ? predicates : rows).push_back(i.rows[0]);
    CHECK(i.rows[0] != loaded[0].row);
    CHECK(i.rows[0] != loaded[1].row);
  }
  REQUIRE(predicates.size() == 2);
  CHECK(program.row_number(predicates[0]) != program.row_number(predicates[1]));
  REQUIRE(rows.size() == 3);
  CHECK(rows[1] == rows[2]);
}

TEST_CASE("A service's result begins a value, an operand that may be one does not") {
  CHECK(has_result("shfl.sync"));
  CHECK(has_result("tcgen05.ld"));
  CHECK(!has_result("wgmma.mma_async"));  // it reads its accumulators
  CHECK(!has_result("tcgen05.st"));
  const Module module = module_of(
      "mov.u32 %r1, 7; st.shared.u32 [%r1], %r1;\n"
      "shfl.sync.idx.b32 %r2, %r3, 0, 31, -1; st.shared.u32 [%r2], %r2;");
  const Program program = decode(module, module.entries[0]);
  std::vector<std::pair<std::string, RowUse>> uses;
  for (const Instr& i : program.code)
    if (i.kind == Kind::service)
      for_each_row(program, i, [&](Row row, RowUse use) { uses.emplace_back(program.register_name(row), use); });
  CHECK(uses == std::vector<std::pair<std::string, RowUse>>{{"%r2", RowUse::writes}, {"%r3", RowUse::reads}});
}

TEST_CASE("What a called function gets in registers is written") {
  const Module module =
      module_of(".reg .b32 %a, %b; mov.u32 %a, 5; call (%b), twice, (%a); st.shared.u32 [%a], %b;",
                ".func (.reg .b32 %to) twice(.reg .b32 %from)\n{\nadd.u32 %to, %from, %from;\nret;\n}\n");
  const Program program = shared(module);
  const Stores stores = run(program);
  REQUIRE(stores.size() == 32);
  CHECK(std::get<2>(stores[0]) == 10);
}
