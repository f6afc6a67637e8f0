// SPDX-License-Identifier: Apache-2.0
/// A recorder in PTX text: where its points stand, what it leaves alone, what it refuses, and what ptxas says of
/// it.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "paths.h"
#include "ptx/instrument.h"
#include "ptx/program.h"
#include "scratch_directory.h"

using namespace sm100;
using namespace sm100::ptx;

namespace {

Instrumented all_of(const Module& module, const InstrumentOptions& options = {}) {
  std::vector<const Entry*> entries;
  for (const Entry& entry : module.entries) entries.push_back(&entry);
  return instrument(module, entries, options);
}

InstrumentOptions only(PointGroup group) { return {.groups = 1u << unsigned(group)}; }

std::string entry(const std::string& name, const std::string& body) {
  return ".visible .entry " + name +
         "(.param .u64 a)\n{\n\t.reg .pred %p<4>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n" + body +
         "\tret;\n}\n";
}
std::string module_text(const std::string& entries) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n" + entries;
}
const std::string kWait = "L1:\n\tmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1+8], %r2;\n\t@!%p1 bra L1;\n";
const std::string kCopy =
    "\t@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 512, [%r1];\n";

int lines_of(const std::string& text) { return int(std::count(text.begin(), text.end(), '\n')); }

/// What ptxas prints; "-": there is no ptxas.
std::string ptxas(const std::string& text, const std::string& target) {
  static const ScratchDirectory directory;
  const auto file = directory.write("traced.ptx", text);
  const std::string at =
      std::filesystem::exists("/usr/local/cuda/bin/ptxas") ? "/usr/local/cuda/bin/ptxas" : "ptxas";
  if (std::system((at + " --version > /dev/null 2>&1").c_str()) != 0) return "-";
  const std::string log = file.string() + ".log";
  const int status =
      std::system((at + " -v -arch=" + target + " -o /dev/null " + file.string() + " > " + log + " 2>&1").c_str());
  return (status == 0 ? "" : "refused: ") + read_whole(log);
}

}  // namespace

TEST_CASE("instrument: a loop that waits stays as it is, and lines keep their numbers") {
  const std::string text = module_text(entry("k", kWait + kCopy));
  const Module module = parse(text, "k.ptx");
  const Instrumented made = all_of(module);
  CHECK(lines_of(made.text) == lines_of(text));
  CHECK(made.text.find(kWait.substr(0, kWait.size() - 1)) != std::string::npos);
  const Module traced = parse(made.text, "k.ptx");
  CHECK(decode(traced, traced.entries[0]).waits.size() == 1);
  CHECK(unsupported(decode(traced, traced.entries[0])).empty());
  REQUIRE(made.points.size() == 3);
  CHECK(std::count_if(made.points.begin(), made.points.end(),
                      [](const Point& p) { return p.kind == PointKind::over; }) == 1);
  CHECK(made.unrecorded.empty());
}

TEST_CASE("instrument: a copy's guard is its point's") {
  const Module module = parse(module_text(entry("k", kCopy)), "k.ptx");
  const Instrumented made = all_of(module);
  REQUIRE(made.points.size() == 1);
  CHECK(made.points[0].event == TraceEvent::load_issue);
  CHECK(made.text.find("@%p2 activemask.b32") != std::string::npos);
  CHECK(made.text.find(", 0, %p2;") != std::string::npos);
}

TEST_CASE("instrument: kinds of points, two entries, an entry without any") {
  const Module module =
      parse(module_text(entry("one", kWait + kCopy) + entry("two", kCopy) + entry("none", "")), "k.ptx");
  CHECK(all_of(module).points.size() == 4);
  CHECK(all_of(module, only(PointGroup::waits)).points.size() == 2);
  CHECK(all_of(module, only(PointGroup::copies)).points.size() == 2);
  const Instrumented second = instrument(module, {&module.entries[1]});
  REQUIRE(second.points.size() == 1);
  CHECK(second.points[0].entry == "two");
  const Instrumented none = instrument(module, {&module.entries[2]});
  CHECK(none.points.empty());
  CHECK(none.text == *module.text);
}

TEST_CASE("instrument: a branch into a loop that waits records its beginning, too") {
  const Module module = parse(module_text(entry("k", "\t@%p3 bra L1;\n\tmov.b32 %r1, 0;\n" + kWait)), "k.ptx");
  const Instrumented made = all_of(module);
  CHECK(made.unrecorded.empty());
  CHECK(made.text.find("@%p3 activemask.b32") != std::string::npos);
}

TEST_CASE("instrument: what a wait's operands follow from in its loop is computed on the way in, too") {
  const std::string own =
      "L1:\n\t{ .reg .b32 xx; xor.b32 xx, %r2, 1; mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], xx; "
      "}\n\t@!%p1 bra L1;\n";
  const Module module = parse(module_text(entry("k", own)), "k.ptx");
  const Instrumented made = all_of(module);
  CHECK(made.unrecorded.empty());
  const Module traced = parse(made.text, "k.ptx");
  CHECK(decode(traced, traced.entries[0]).waits.size() == 1);
  CHECK(made.text.find("xor.b32 xx, %r2, 1;") != made.text.rfind("xor.b32 xx, %r2, 1;"));
}

TEST_CASE("instrument: what cannot be recorded is said") {
  const std::string changing =
      "L1:\n\txor.b32 %r2, %r2, 1;\n\tmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;\n\t@!%p1 bra L1;\n";
  const Module module = parse(module_text(entry("k", changing)), "k.ptx");
  const Instrumented made = all_of(module);
  REQUIRE(made.unrecorded.size() == 1);
  CHECK(made.unrecorded[0].why == "its operands change while it waits");

  const Module called =
      parse(module_text(".func f()\n{\n\t.reg .b32 %r<2>;\n\tmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], "
                        "8;\n\tret;\n}\n" +
                        entry("k", kCopy)),
            "k.ptx");
  const Instrumented rest = all_of(called);
  REQUIRE(rest.unrecorded.size() == 1);
  CHECK(rest.unrecorded[0].function == "f");
}

TEST_CASE("instrument: a text that has a recorder is refused") {
  const Module module = parse(module_text(entry("k", kCopy)), "k.ptx");
  const std::string once = all_of(module).text;
  const Module again = parse(once, "again.ptx");
  CHECK_THROWS_AS(all_of(again), PtxError);
}

TEST_CASE("instrument: ptxas takes the text and spills nothing") {
  for (const auto& [file, target] :
       {std::pair{"hopper/gemm.ptx", "sm_90a"}, std::pair{"ptx/gemm.ptx", "sm_100a"}}) {
    const auto path = std::filesystem::path(source_dir()) / "scenarios" / file;
    const Module module = parse(read_whole(path), file);
    const std::string report = ptxas(all_of(module).text, target);
    if (report == "-") SM100_SKIP("no ptxas");
    std::printf("%s: %s\n", file, report.c_str());
    INFO(report);
    CHECK(report.find("refused") == std::string::npos);
    CHECK(report.find(" 0 bytes spill stores, 0 bytes spill loads") != std::string::npos);
  }
}
