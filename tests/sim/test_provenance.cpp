// SPDX-License-Identifier: Apache-2.0
// Where numbers come from: what is said of wrong ones, that nothing is said of right ones, and how rows of operands
// are read.
#include "paths.h"
#include "sim/provenance/accumulators.h"
#include "sim/provenance/record.h"

#include <fstream>
#include <string>

#include "catch.h"
#include "scratch_directory.h"
#include "sim/child_process.h"
#include "sim/run_json.h"
#include "sim/verdict.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

const fs::path kScenarios = fs::path(source_dir()) / "scenarios";

Scenario with(const std::string& file, host::ProvenanceMode mode, const std::vector<std::string>& set = {}) {
  Scenario s = load_scenario(kScenarios / file, set);
  s.provenance = mode;
  return s;
}

bool says(const RunResult& r, const std::string& part) {
  return std::any_of(r.provenance.causes.begin(), r.provenance.causes.end(),
                     [&](const Finding& f) { return f.message.find(part) != std::string::npos; });
}

/// A tile of 128 rows x 64 bf16 in the swizzle of the map, and one MMA that reads its first 32 bytes of each row.
provenance::Record record_of(Swizzle loaded, Swizzle read) {
  constexpr uint32_t kTile = 0x4000;
  models::TensorCopy copy;
  copy.map.data_type = TensorMapDataType::bfloat16;
  copy.map.rank = 2;
  copy.map.global_address = 0x10000;
  copy.map.global_dim[0] = 256, copy.map.global_dim[1] = 512;
  copy.map.global_stride[0] = 512;
  copy.map.box_dim[0] = 64, copy.map.box_dim[1] = 128;
  copy.map.element_stride[0] = copy.map.element_stride[1] = 1;
  copy.map.swizzle = loaded == Swizzle::b128 ? TensorMapSwizzle::b128 : TensorMapSwizzle::none;
  copy.coords = {64, 128};
  copy.smem = kTile;
  provenance::Record record;
  record.cta_started(0);
  record.landed(0, copy);
  models::MmaOperation mma{};
  mma.kind = MmaKind::f16, mma.m = 128, mma.n = 64, mma.cta_group = 1;
  mma.a = mma.b = decode(make_smem_descriptor({kTile}, 16, 1024, read));
  record.multiplied({{0, -1}, {0, -1}}, mma, {});
  return record;
}

const std::vector<host::ExpectedProduct> kProduct = {
    {.a = {.name = "A", .address = 0x10000, .rows = 512, .pitch = 512, .bits = 16},
     .b = {.name = "B", .address = 0x90000, .rows = 512, .pitch = 512, .bits = 16},
     .c = {.name = "C", .address = 0x110000, .rows = 512, .pitch = 1024, .bits = 16},
     .k = 256}};

}  // namespace

TEST_CASE("the rows that a descriptor leads to are those of the load, in the load's swizzle", "[provenance]") {
  const provenance::Record record = record_of(Swizzle::b128, Swizzle::b128);
  REQUIRE(record.mmas().size() == 1);
  REQUIRE(record.mmas()[0].a.size() == 1);  // 128 rows that lie alike
  const provenance::Matrices matrices(kProduct);
  const provenance::OperandRows a = provenance::rows_over(record, matrices, {0}, true);
  REQUIRE(a.rows.size() == 128);
  for (int i = 0; i < 128; ++i) CHECK(a.rows[size_t(i)] == provenance::RowOf{0, 128 + i});
  CHECK(a.k[0] == 64);
  CHECK(a.k_count[0] == 16);
  CHECK(a.scrambled[0] == -1);
}

TEST_CASE("a descriptor of another swizzle than the load's finds the pieces of rows in another order",
          "[provenance]") {
  const provenance::Record record = record_of(Swizzle::none, Swizzle::b128);
  const provenance::OperandRows a = provenance::rows_over(record, provenance::Matrices(kProduct), {0}, true);
  CHECK((a.scrambled[0] >= 0 || a.other_k[0] >= 0));
}

TEST_CASE("shared memory that nobody has filled is nobody's", "[provenance]") {
  provenance::Record record;
  record.cta_started(0);
  models::MmaOperation mma{};
  mma.kind = MmaKind::f16, mma.m = 128, mma.n = 64, mma.cta_group = 1;
  mma.a = mma.b = decode(make_smem_descriptor({0x4000}, 16, 1024, Swizzle::b128));
  record.multiplied({{0, -1}, {0, -1}}, mma, {});
  const provenance::OperandRows a = provenance::rows_over(record, provenance::Matrices(kProduct), {0}, true);
  CHECK(a.rows[0].matrix == provenance::RowOf::kNobody);
}

TEST_CASE("an MMA that overwrites begins a new sum, one that adds goes on with the old one", "[provenance]") {
  provenance::Record record = record_of(Swizzle::b128, Swizzle::b128);
  models::MmaOperation mma{};
  mma.kind = MmaKind::f16, mma.m = 128, mma.n = 64, mma.cta_group = 1;
  mma.a = mma.b = decode(make_smem_descriptor({0x4000}, 16, 1024, Swizzle::b128));
  mma.enable_input_d = true;
  record.multiplied({{0, -1}, {0, -1}}, mma, {});
  mma.enable_input_d = false;
  record.multiplied({{0, -1}, {0, -1}}, mma, {});
  CHECK(record.mmas_of(2) == std::vector<uint32_t>{0, 1});
  CHECK(record.mmas_of(3) == std::vector<uint32_t>{2});
}

namespace {

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The GEMM of scenarios/ptx, or another, with a line altered, run as its launch file says.
RunResult run_altered_ptx(const fs::path& folder, const std::string& line, const std::string& altered,
                          host::ProvenanceMode mode, const std::string& of = "ptx") {
  std::string text = text_of(kScenarios / of / "gemm.ptx");
  if (!line.empty()) {
    REQUIRE(text.find(line) != std::string::npos);
    text.replace(text.find(line), line.size(), altered);
  }
  std::ofstream(folder / "gemm.ptx") << text;
  std::ofstream(folder / "gemm.toml") << text_of(kScenarios / of / "gemm.toml");
  Scenario s = load_scenario(folder / "gemm.toml", {});
  s.provenance = mode;
  return run_in_child(s);
}

}  // namespace

TEST_CASE("a PTX kernel with wrong coordinates is explained by the lines of its text", "[provenance]") {
  const ScratchDirectory scratch;
  const auto run = [&](const char* line, const char* altered) {
    return run_altered_ptx(scratch.path(), line, altered, host::ProvenanceMode::automatic);
  };
  const RunResult b_row = run("shl.b32 %r24, %r3, 6;", "shl.b32 %r24, %r3, 5;");
  CHECK(b_row.outcome == Outcome::mismatch);
  CHECK(b_row.provenance.repeated);
  CHECK(says(b_row, "B rows 32-95 were used where B rows 64-127 belong"));
  CHECK(b_row.provenance.causes.at(0).location == "gemm.ptx:93");
  const RunResult k = run("shl.b32 %r22, %r14, 6;", "shl.b32 %r22, %r14, 5;");
  CHECK(says(k, "k 32-127 is multiplied more than once, and k 160-255 is never multiplied"));
  const RunResult beyond = run("shl.b32 %r22, %r14, 6;", "shl.b32 %r22, %r14, 8;");
  CHECK(says(beyond,
             "zeros are multiplied in its place: the tile's last box is one that begins beyond the 256 elements "
             "of its tensor map in dimension 0"));
  const RunResult overwrites = run("setp.ne.u32 %p7, %r14, 0;", "setp.ne.u32 %p7, %r14, 1;");
  CHECK(says(overwrites, "the MMA of k 64 overwrites the sum instead of adding to it"));
}

TEST_CASE("a sum that is stored as the tensor core made it is wrong in the sum", "[provenance]") {
  const ScratchDirectory scratch;
  const std::pair<const char*, const char*> kCases[] = {
      {"0x08102490", "the MMAs negate operand A: the bit of the instruction descriptor that negates A is set"},
      {"0x08100010",
       "A is bf16, and the MMAs take operand A for f16: the A type in the instruction descriptor is"}};
  for (const auto& [descriptor, text] : kCases) {
    CAPTURE(descriptor);
    const RunResult r = run_altered_ptx(scratch.path(), "0x08100490", descriptor, host::ProvenanceMode::automatic);
    CAPTURE(r.provenance.report);
    CHECK(r.outcome == Outcome::mismatch);
    REQUIRE(r.provenance.causes.size() == 1);
    CHECK(r.provenance.causes[0].id == "PV1");
    CHECK(says(r, text));
    CHECK(r.provenance.causes[0].location.rfind("gemm.ptx:1", 0) == 0);  // a tcgen05.mma, not the store
  }
}

TEST_CASE("MMAs whose wait passes on the lap before are told by that wait", "[provenance]") {
  const ScratchDirectory scratch;
  const std::string step = "\tmov.u32 %r14, 0;\nMMA:\n\tand.b32 %r15, %r14, 1;\n\tshr.u32 %r16, %r14, ";
  const RunResult r = run_altered_ptx(scratch.path(), step + "1;", step + "2;", host::ProvenanceMode::automatic);
  REQUIRE(r.outcome == Outcome::findings);
  const Finding first = finding_of(r);
  CAPTURE(r.report);
  CHECK(first.id == "TC7");
  CHECK(first.message.find(
            "mma reads the stage of full[0] before its next fill: its wait passed at once on phase 0") !=
        std::string::npos);
  CHECK(r.report.find("wrong: the stage or the parity of that wait") != std::string::npos);
}

TEST_CASE("two stores to one element are told by their lines", "[provenance]") {
  const ScratchDirectory scratch;
  const RunResult r = run_altered_ptx(scratch.path(), "add.s32 \t%r303, %r301, -56;",
                                      "add.s32 \t%r303, %r301, -48;", host::ProvenanceMode::automatic, "hopper");
  REQUIRE(r.outcome == Outcome::findings);
  const Finding first = finding_of(r);
  CHECK(first.id == "GM3");
  CAPTURE(first.message);
  CHECK(first.message.find("write the same global memory (C, row") != std::string::npos);
  // Two lines of one source line; which comes first is a matter of time.
  CHECK(first.message.find("gemm.ptx:822)") != std::string::npos);
  CHECK(first.message.find(") and at gemm.cu:137") != std::string::npos);
}

TEST_CASE("a PTX kernel with right numbers has nothing to explain", "[provenance]") {
  const ScratchDirectory scratch;
  const RunResult r = run_altered_ptx(scratch.path(), "", "", host::ProvenanceMode::on);
  CHECK(verdict_of(r) == Verdict::clean);
  CHECK(r.provenance.kept);
  CHECK(r.provenance.tiles == 4);
  CHECK(r.provenance.causes.empty());
}

TEST_CASE("a run with wrong numbers is repeated, unless it is told not to", "[provenance]") {
  const char* const wrong = "bugs/provenance/row_of_one_step.toml";
  const RunResult repeated = run_in_child(with(wrong, host::ProvenanceMode::automatic));
  CHECK(repeated.outcome == Outcome::mismatch);
  CHECK(repeated.provenance.repeated);
  CHECK(says(repeated, "B rows 64-191"));
  const RunResult kept = run_in_child(with(wrong, host::ProvenanceMode::on));
  CHECK_FALSE(kept.provenance.repeated);
  CHECK(kept.provenance.report == repeated.provenance.report);
  const RunResult off = run_in_child(with(wrong, host::ProvenanceMode::off));
  CHECK(off.outcome == Outcome::mismatch);
  CHECK_FALSE(off.provenance.kept);
  CHECK(Json(off).at("provenance").is_null());
}

TEST_CASE("right numbers of the wrong rows are a finding", "[provenance]") {
  const RunResult r = run_in_child(with("bugs/provenance/right_by_chance.toml", host::ProvenanceMode::on));
  CHECK(r.verified);
  CHECK(r.outcome == Outcome::findings);
  CHECK(exit_code_of(r) == kFindings);
  CHECK(finding_of(r).id == "PV1");
}

TEST_CASE("nothing is said of what is right, in any kernel", "[provenance]") {
  for (const char* file :
       {"08_more_tiles_than_sms.toml", "12_ragged.toml", "13_pairs.toml", "14_fused_epilogue.toml",
        "21_fallback.toml", "18_dependent_launch.toml", "direct/v1a.toml", "direct/v5.toml",
        "copy/multicast_4_ragged.toml", "smoke/smoke_06.toml", "smoke/block_scaled_03.toml",
        "smoke/block_scaled_output_04.toml", "smoke/cutlass_block_scaled_06.toml", "smoke/blockwise_02.toml",
        "smoke/grouped_1d1d_02.toml", "smoke/grouped_1d2d_03.toml", "smoke/grouped_block_scaled_04.toml"}) {
    CAPTURE(file);
    const RunResult r = run_in_child(with(file, host::ProvenanceMode::on));
    CAPTURE(r.provenance.report);
    CHECK(r.outcome == Outcome::pass);
    CHECK(verdict_of(r) == Verdict::clean);
    CHECK(r.provenance.kept);
    CHECK(r.provenance.causes.empty());
    CHECK(r.provenance.not_looked_at.empty());
  }
}

TEST_CASE("sums that are scaled, or finished by other warps, are not taken for what is stored", "[provenance]") {
  const RunResult scaled =
      run_in_child(with("smoke/blockwise_01.toml", host::ProvenanceMode::on, {"problem.k=96"}));
  CHECK(scaled.outcome == Outcome::pass);
  const RunResult finished =
      run_in_child(with("01_dense_small.toml", host::ProvenanceMode::on,
                        {"problem.m=280", "problem.n=144", "problem.k=64", "config.mma=[64,144,16]",
                         "config.swizzle=32", "config.output=f32", "config.accum_stages=3",
                         "config.ab_swapped=true", "config.activation=relu", "config.register_epilogue=false"}));
  INFO(finished.report);
  CHECK(finished.outcome == Outcome::pass);
  CHECK(finished.provenance.not_looked_at.size() == 1);
}

TEST_CASE("keeping it changes no cycle and no bit", "[provenance]") {
  for (const char* file : {"13_pairs.toml", "smoke/smoke_05.toml", "smoke/grouped_1d1d_01.toml"}) {
    CAPTURE(file);
    const RunResult off = run_in_child(with(file, host::ProvenanceMode::off)),
                    on = run_in_child(with(file, host::ProvenanceMode::on));
    CHECK(on.cycles == off.cycles);
    CHECK(on.output_hash == off.output_hash);
    CHECK(on.barrier_events == off.barrier_events);
  }
}

TEST_CASE("what wgmma multiplies is explained, and where its sums are stored", "[provenance]") {
  const ScratchDirectory scratch;
  const auto run = [&](const char* line, const char* altered) {
    return run_altered_ptx(scratch.path(), line, altered, host::ProvenanceMode::on, "hopper");
  };
  const RunResult sound = run("", "");
  CHECK(verdict_of(sound) == Verdict::clean);
  CHECK(sound.provenance.tiles == 16);
  CHECK(sound.provenance.not_looked_at.empty());
  CHECK(says(run("shl.b32 \t%r356, %r366, 7;", "shl.b32 \t%r356, %r366, 6;"),
             "B rows 192-319 were used where B rows 384-511"));
  CHECK(says(run("add.s32 \t%r331, %r319, 64;", "add.s32 \t%r331, %r319, 32;"), "k 96-127 is never multiplied"));
  CHECK(says(run("add.s32 \t%r132, %r126, 253984;", "add.s32 \t%r132, %r126, 253952;"),
             "A's k 0-15 was multiplied by B's k 16-31"));
  CHECK(says(run("{ cvt.rn.bf16x2.f32 %r252, %f2496, %f2497;}", "{ cvt.rn.bf16x2.f32 %r252, %f2497, %f2496;}"),
             "the sums are right, and lie 1 column away from where they belong, in pairs that have changed places, "
             "between "
             "the sums of wgmma and the store"));
}

TEST_CASE("provenance: another swizzle in the tensor map than in the descriptor") {
  // A launch of scenarios/ptx/gemm.ptx whose map of one operand has another swizzle.
  const auto launch_with = [](const std::string& operand, const std::string& swizzle) {
    std::ifstream in(kScenarios / "ptx/gemm.toml");
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const size_t map = text.find("tensor_map = \"" + operand + "\""), old = text.find("\"128B\"", map);
    REQUIRE(old != std::string::npos);
    text.replace(old, 6, "\"" + swizzle + "\"");
    static const ScratchDirectory folder;
    const std::string name = operand + swizzle;
    fs::copy_file(kScenarios / "ptx/gemm.ptx", folder.path() / "gemm.ptx", fs::copy_options::overwrite_existing);
    return run_in_child(load_scenario(folder.write(name + ".toml", text), {}));
  };
  const RunResult a = launch_with("A", "none");
  INFO(a.report);
  CHECK(says(
      a, "operand A is read with the 128B swizzle, which its descriptor names, and was loaded with no swizzle"));
  const RunResult b = launch_with("B", "none");
  INFO(b.report);
  CHECK(says(b, "operand B is read with the 128B swizzle"));
}
