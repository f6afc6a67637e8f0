// SPDX-License-Identifier: Apache-2.0
// wgmma alone on an SM of an H200: how soon one instruction follows the other, and how long a chain takes.
// The instructions are PTX, written here for each row: forms, N, where A lies, and how many warpgroups.
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "sim/accuracy/csv.h"
#include "sim/accuracy/data_set.h"

namespace sm100::sim {
namespace {

/// For the files of the replays; goes with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sm100sim-wgmma-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

struct Chain {
  std::string type;  ///< of A and B as PTX calls it, "f16(D f16)" for f16 sums
  int n = 0;
  bool a_in_registers = false;
  int warpgroups = 1;
  int length = 0;  ///< instructions of a warpgroup; 0: no fence and no wait either

  std::string operands() const { return type.substr(0, type.find('(')); }
  bool f16_sums() const { return operands() != type; }
  bool integers() const { return operands() == "s8"; }
  std::string d() const { return f16_sums() ? "f16" : integers() ? "s32" : "f32"; }
  int k() const {
    const std::string of = operands();
    return of == "tf32" ? 8 : of == "bf16" || of == "f16" ? 16 : 32;
  }
  std::string name() const {
    return fmt::format("{}, N = {}, A in {}, {} warpgroup{}", type, n,
                       a_in_registers ? "registers" : "shared memory", warpgroups, warpgroups == 1 ? "" : "s");
  }
  std::string file() const {
    return fmt::format("{}_{}_{}_{}_{}", d() + operands(), n, a_in_registers, warpgroups, length);
  }
};

std::string instruction(const Chain& c, bool accumulates) {
  std::string d;
  for (int i = 0; i < (c.f16_sums() ? c.n / 4 : c.n / 2); ++i) d += fmt::format("{}%d{}", i ? ", " : "", i);
  const std::string flags = c.integers()       ? ""
                            : c.k() != 16      ? ", 1, 1"
                            : c.a_in_registers ? ", 1, 1, 0"
                                               : ", 1, 1, 0, 0";
  return fmt::format("\twgmma.mma_async.sync.aligned.m64n{0}k{1}.{2}.{3}.{3} {{{4}}}, {5}, %rd2, %p{6}{7};\n", c.n,
                     c.k(), c.d(), c.operands(), d, c.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%rd1",
                     int(accumulates), flags);
}

/// All warpgroups multiply whatever lies in shared memory, 128-byte swizzle, K-major.
std::string ptx_of(const Chain& c) {
  std::string chain;
  for (int i = 0; i < c.length; ++i) chain += instruction(c, i > 0);
  if (c.length > 0)
    chain = "\twgmma.fence.sync.aligned;\n" + chain +
            "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n";
  return fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry chain()
.reqntid {}
{{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b32 %a<4>;
	.reg .b32 %d<128>;
	.reg .b64 %rd<4>;
	.shared .align 1024 .b8 tiles[65536];
	mov.u32 %r1, tiles;
	mov.u32 %r2, %tid.x;
	setp.ne.u32 %p0, %r2, %r2;
	setp.eq.u32 %p1, %r2, %r2;
	cvt.u64.u32 %rd1, %r1;
	shr.u64 %rd1, %rd1, 4;
	or.b64 %rd1, %rd1, 0x4000004000010000;
	add.s64 %rd2, %rd1, 512;
{}	ret;
}}
)",
                     128 * c.warpgroups, chain);
}

/// Runs of all the chains that are asked for, each once.
class Chains {
 public:
  explicit Chains(const AccuracyInputs& inputs) : inputs_(inputs) {}
  void add(const Chain& c) {
    if (!at_.try_emplace(c.file(), replays_.size()).second) return;
    folder_.write(c.file() + ".ptx", ptx_of(c));
    replays_.push_back(
        {folder_.write(
             c.file() + ".toml",
             fmt::format("kernel = \"ptx\"\nprofile = \"h200\"\n[problem]\nptx = \"{}.ptx\"\n"
                         "grid = [1, 1, 1]\n[[problem.tensor]]\nname = \"none\"\n"
                         "type = \"u8\"\nshape = [16]\ncontents = \"zeros\"\n[run]\nsms = 1\ndata = \"none\"\n"
                         "hazards = false  # the operands are nobody's\n",
                         c.file())),
         {},
         false,
         [](const ReplayedRun& run) { return std::vector<double>{double(run.result.cycles)}; }});
  }
  void run(const std::string& title) {
    figures_ = run_replays(replays_, inputs_.jobs, [&](double part) { inputs_.progress(part, title); });
  }
  const RowFigures& of(const Chain& c) const { return figures_[at_.at(c.file())]; }

 private:
  const AccuracyInputs& inputs_;
  TemporaryFolder folder_;
  std::map<std::string, size_t> at_;
  std::vector<RowReplay> replays_;
  std::vector<RowFigures> figures_;
};

/// What the longer chain takes more.
void predict_difference(Point& point, const RowFigures& longer, const RowFigures& shorter, double per) {
  point.error = longer.error.empty() ? shorter.error : longer.error;
  if (point.error.empty()) point.predicted = (longer.figures[0] - shorter.figures[0]) / per;
}

Chain chain_of(const CsvTable& table, size_t row) {
  return {.type = table.text(row, "type"),
          .n = table.integer(row, "N"),
          .a_in_registers = table.text(row, "a_src") == "R",
          .warpgroups = table.integer(row, "warpgroups")};
}

std::string group_of(const Chain& c) {
  return fmt::format("{}, A in {}", c.type, c.a_in_registers ? "registers" : "shared memory");
}

DataSet intervals(const AccuracyInputs& inputs) {
  constexpr int kShort = 8, kLong = 40;
  DataSet set{.id = "h200-wgmma-interval",
              .title = "wgmma: one instruction after the other",
              .unit = "cycles",
              .source = "`wgmma_throughput.csv`, without `.b1`",
              .replays = fmt::format("chains of {} and of {} instructions of 1 to 4 warpgroups on an SM; the "
                                     "difference, by instruction",
                                     kShort, kLong),
              .fitted =
                  "`wgmma.columns_per_cycle`, `wgmma.smem_read_bytes_per_cycle` and `wgmma.register_floor_cycles`, "
                  "by a law",
              .x_label = "N"};
  const CsvTable table(inputs.measured / "h200" / "wgmma_throughput.csv");
  Chains chains(inputs);
  std::vector<Chain> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    Chain c = chain_of(table, row);
    if (c.operands() == "b1") continue;
    set.points.push_back(
        {fmt::format("{}, {} x {}", c.name(), table.text(row, "layout_a"), table.text(row, "layout_b")),
         group_of(c), table.number(row, "cycles_per_mma_sm"), 0, double(c.n)});
    rows.push_back(c);
    for (const int length : {kShort, kLong}) c.length = length, chains.add(c);
  }
  chains.run(set.title);
  for (size_t i = 0; i < rows.size(); ++i) {
    Chain few = rows[i], many = rows[i];
    few.length = kShort, many.length = kLong;
    predict_difference(set.points[i], chains.of(many), chains.of(few), (kLong - kShort) * rows[i].warpgroups);
  }
  return set;
}

DataSet latencies(const AccuracyInputs& inputs) {
  DataSet set{.id = "h200-wgmma-latency",
              .title = "wgmma: from the fence until all have been waited for",
              .unit = "cycles",
              .source = "`wgmma_latency.csv`, one warpgroup, the fastest of its repetitions",
              .replays = "chains of 1 to 16 instructions; what they prolong an empty kernel by",
              .fitted = "`wgmma.latency_cycles`, by a law",
              .x_label = "measured",
              .absolute = true};
  const CsvTable table(inputs.measured / "h200" / "wgmma_latency.csv");
  Chains chains(inputs);
  std::vector<Chain> rows;
  for (size_t row = 0; row < table.rows(); ++row) {
    Chain c = chain_of(table, row);
    if (c.warpgroups != 1) continue;
    c.length = table.integer(row, "chain");
    const double measured = table.number(row, "done_min");
    set.points.push_back({fmt::format("{}, chain of {}", c.name(), c.length), group_of(c), measured, 0, measured});
    rows.push_back(c);
    chains.add(c);
    c.length = 0, chains.add(c);
  }
  chains.run(set.title);
  for (size_t i = 0; i < rows.size(); ++i) {
    Chain none = rows[i];
    none.length = 0;
    predict_difference(set.points[i], chains.of(rows[i]), chains.of(none), 1);
  }
  return set;
}

}  // namespace

std::vector<DataSet> replay_h200_wgmma(const AccuracyInputs& inputs) {
  return {intervals(inputs), latencies(inputs)};
}

}  // namespace sm100::sim
