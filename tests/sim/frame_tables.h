// SPDX-License-Identifier: Apache-2.0
/// The tables of docs/frames.md: an NVFP4 tile frame by frame, and what a walk-through of the same kernel says,
/// beside what the run shows.  Every number of the run's side is taken from the run.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.h"
#include "kernels/cutlass_block_scaled/tiles.h"
#include "paths.h"
#include "sim/console.h"
#include "sim/text.h"

namespace sm100::sim::frame_tables {

using TableRows = std::vector<std::string>;

/// A row of a trace's CSV, and what its columns are called.
class Span {
 public:
  Span(const std::map<std::string, size_t>& columns, std::vector<std::string> cells)
      : columns_(&columns), cells_(std::move(cells)) {}

  std::string text(const char* column) const { return cells_.at(columns_->at(column)); }
  int64_t number(const char* column) const { return std::stoll(text(column)); }
  int64_t begin() const { return number("begin"); }
  int64_t end() const { return number("end"); }

 private:
  const std::map<std::string, size_t>* columns_;
  std::vector<std::string> cells_;
};

/// The spans of one CTA of a run.
class Spans {
 public:
  explicit Spans(const std::string& csv) {
    for (const std::string& line : lines_of(csv)) {
      std::vector<std::string> cells;
      std::istringstream in(line);
      for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
      if (columns_.empty()) {
        for (size_t i = 0; i < cells.size(); ++i) columns_[cells[i]] = i;
      } else {
        cells.resize(columns_.size());
        all_.emplace_back(columns_, cells);
      }
    }
  }
  Spans(const Spans&) = delete;  // spans refer to the columns
  Spans& operator=(const Spans&) = delete;

  /// Those of a track and a kind, in which the columns hold these values.
  std::vector<Span> of(const std::string& track, const std::string& kind,
                       const std::map<const char*, std::string>& where = {}) const {
    std::vector<Span> found;
    for (const Span& s : all_) {
      const bool fits =
          s.text("track") == track && s.text("span") == kind &&
          std::all_of(where.begin(), where.end(), [&](const auto& w) { return s.text(w.first) == w.second; });
      if (fits) found.push_back(s);
    }
    if (found.empty()) throw std::runtime_error(track + " " + kind + ": not in the trace");
    return found;
  }

 private:
  std::map<std::string, size_t> columns_;
  std::vector<Span> all_;
};

inline int64_t sum_of(const std::vector<Span>& spans, const char* column) {
  int64_t sum = 0;
  for (const Span& s : spans) sum += s.number(column);
  return sum;
}
inline int64_t last_end(const std::vector<Span>& spans) {
  int64_t last = 0;
  for (const Span& s : spans) last = std::max(last, s.end());
  return last;
}
/// Spans that lie in [begin, end].
inline std::vector<Span> between(const std::vector<Span>& spans, int64_t begin, int64_t end) {
  std::vector<Span> inside;
  for (const Span& s : spans)
    if (s.begin() >= begin && s.begin() <= end) inside.push_back(s);
  return inside;
}

constexpr const char* kFrames = "scenarios/22_nvfp4_frames.toml";
constexpr int kCta = 5;  ///< the one that the walk-through follows: tile (5, 0)

/// The trace of CTA 5.
inline std::string csv_of_run(const ScratchDirectory& folder) {
  const auto done = [&](const std::string& arguments) {
    const Ran ran = run(folder, arguments);
    if (ran.exit_code != 0) throw std::runtime_error(arguments + ": " + ran.out + ran.err);
  };
  done(fmt::format("run {} --data none --trace frames.pftrace --trace-sms {}", kFrames, kCta));
  done("export frames.pftrace --format csv -o frames.csv");
  return read_whole(folder / "frames.csv");
}

/// What happens to the first tile of the CTA, in the order of its frames.
inline TableRows chronicle(const ScratchDirectory& folder, const TableRows&) {
  const Spans spans(csv_of_run(folder));
  std::multimap<int64_t, std::string> by_begin;
  const auto add = [&](int64_t begin, int64_t end, const char* who, const std::string& what) {
    const std::string when = begin == end ? grouped(begin) : fmt::format("{} to {}", grouped(begin), grouped(end));
    by_begin.emplace(begin, fmt::format("| {} | {} | {} |", when, who, what));
  };
  const Span set_up = spans.of("load", "setup")[0];
  add(set_up.begin(), set_up.end(), "all warps", "barriers are initialised, the CTA meets");
  const Span request = spans.of("scheduler", "clc_request")[0], cancel = spans.of("clc", "clc_cancel")[0];
  add(request.begin(), cancel.end(), "scheduler",
      fmt::format("asks for another CTA's tile; the response is {} bytes", cancel.text("bytes")));

  const auto copies = spans.of("tma load", "tma_load");
  for (const char* k : {"0", "1", "4", "5", "7"}) {
    const Span issue = spans.of("load", "load_issue", {{"k", k}})[0];
    const auto own = between(copies, issue.begin(), issue.end());
    std::string bytes;
    for (const Span& c : own) bytes += fmt::format("{}{}", bytes.empty() ? "" : " + ", grouped(c.number("bytes")));
    add(issue.begin(), last_end(own), "load, TMA",
        fmt::format("k tile {} into stage {}: announces {} bytes, copies {}; the last byte lands at the end", k,
                    issue.text("stage"), grouped(sum_of(own, "bytes")), bytes));
  }
  const Span alloc = spans.of("tmem", "tmem_alloc")[0];
  add(alloc.begin(), alloc.begin(), "mma", fmt::format("allocates {} columns", alloc.text("columns")));
  const Span first_accumulator = spans.of("mma", "wait", {{"pipeline", "accum_empty"}})[0];
  add(first_accumulator.begin(), first_accumulator.end(), "mma",
      "acquires accumulator 0: on a fresh barrier the phase before the first is over");

  const auto scales = spans.of("tmem", "tmem_write"), mmas = spans.of("umma", "umma");
  for (const char* k : {"0", "1", "7"}) {
    const Span issue = spans.of("mma", "mma_issue", {{"k", k}})[0];
    // The unit works after the issue: up to the next one's.
    const size_t index = size_t(std::stoi(k));
    const auto own = between(scales, mmas.at(index).begin(), mmas.at(index).end());
    const auto cps = std::vector<Span>(own.begin(), own.begin() + std::min<ptrdiff_t>(8, ptrdiff_t(own.size())));
    add(issue.begin(), mmas.at(index).end(), "mma, tensor core",
        fmt::format(
            "k tile {} of stage {}: {} `tcgen05.cp` of {} bytes to columns {} to {} and {} to {}, then the MMAs "
            "into columns {} to {}; their commit frees the stage at the end",
            k, issue.text("stage"), cps.size(), cps[0].text("bytes"), cps[0].text("column"),
            cps[3].number("column") + 3, cps[4].text("column"), cps[7].number("column") + 3,
            mmas.at(index).text("column"), mmas.at(index).number("column") + mmas.at(index).number("columns") - 1));
  }
  const Span commit = spans.of("mma", "mma_commit")[0];
  const Span full = spans.of("epilogue", "wait", {{"pipeline", "accum_full"}, {"warp", "4"}})[0];
  add(commit.begin(), full.end(), "mma, epilogue",
      "the commit behind the last MMA; the epilogue wakes when it is performed");
  const auto loads = spans.of("epilogue", "tmem_load", {{"warp", "4"}});
  const auto writes = spans.of("epilogue", "smem_write", {{"warp", "4"}});
  const auto stores = spans.of("tma store", "tma_store");
  for (size_t i = 0; i < loads.size(); ++i)
    add(loads[i].begin(), stores.at(i).end(), "epilogue, TMA",
        fmt::format("strip {}: `tcgen05.ld` until {}{}, to shared memory until {}, a store of {} bytes", i,
                    grouped(loads[i].end()), i + 1 == loads.size() ? " (the accumulator is released here)" : "",
                    grouped(writes[i].end()), grouped(stores[i].number("bytes"))));
  const Span dealloc = spans.of("mma", "wait", {{"pipeline", "tmem_dealloc"}})[0];
  add(dealloc.end(), dealloc.end(), "mma", "all loads of tensor memory are done: frees the columns");
  TableRows rows{"| cycle | who | what |", "|---|---|---|"};
  for (const auto& [begin, row] : by_begin) rows.push_back(row);
  return rows;
}

/// Numbers of the run, by the names that the rows below give them.
inline std::map<std::string, std::string> facts(const ScratchDirectory& folder) {
  std::map<std::string, std::string> f;
  const host::Scenario scenario = host::load_scenario(scenario_dir() + "/22_nvfp4_frames.toml", {});
  const host::CutlassBlockScaledRun kernel(scenario);
  const CutlassBlockScaledConfig& c = kernel.config();
  for (const BarrierArray& b : kernel.barriers()) f[b.name] = grouped(b.count);
  f["stages"] = grouped(c.stages);
  f["stage_bytes"] = grouped(stage_transaction_bytes(c));
  f["tile_bytes"] = grouped(a_tile(c).bytes()), f["scale_bytes"] = grouped(sfa_tile(c).bytes());
  f["smem"] = grouped(kernel.launch().smem_bytes), f["smem_most"] = grouped(kSmemBudgetBytes);
  f["threads"] = grouped(kernel.launch().warps * kWarpLanes);
  f["sfa"] = grouped(sfa_column(c, 0)), f["sfb"] = grouped(sfb_column(c, 0));
  f["slot_columns"] = grouped(sfa_tile(c).columns());
  f["used"] = grouped(used_columns(c)), f["columns"] = grouped(kTmemColumns);
  f["mmas_per_tile"] = grouped(mmas_per_k_tile(c));
  f["mma_k"] = grouped(c.mma_k), f["k_tile"] = grouped(block_k(c));
  const int k_tiles = ceil_div(kernel.shape().k, block_k(c));
  f["k_tiles"] = grouped(k_tiles), f["mmas"] = grouped(k_tiles * mmas_per_k_tile(c));
  f["mma_bytes"] = grouped(block_m(c) * int(kMmaKBytes));
  f["mma_macs"] = grouped(int64_t{c.mma_m} * c.mma_n * c.mma_k);

  const Spans spans(csv_of_run(folder));
  const auto copies = spans.of("tma load", "tma_load");
  f["copies"] = grouped(int64_t(spans.of("load", "load_issue").size())),
  f["loaded"] = grouped(sum_of(copies, "bytes"));
  f["cp_bytes"] = spans.of("tmem", "tmem_write")[0].text("bytes");
  f["cps_per_tile"] = grouped(int64_t(spans.of("tmem", "tmem_write").size()) / k_tiles);
  f["cps_bytes_per_tile"] = grouped(sum_of(spans.of("tmem", "tmem_write"), "bytes") / k_tiles);
  f["alloc"] = spans.of("tmem", "tmem_alloc")[0].text("columns");
  f["base"] = spans.of("tmem", "tmem_alloc")[0].text("column");
  const Span wait = spans.of("load", "wait", {{"pipeline", "input_empty"}})[0];
  f["first_acquire"] = grouped(wait.end() - wait.begin());
  const auto ummas = spans.of("umma", "umma");
  f["k_tile_cycles"] = grouped(ummas[0].end() - ummas[0].begin());
  f["tile_cycles"] =
      grouped(last_end(spans.of("tma store", "tma_store")) - spans.of("load", "load_issue")[0].begin());
  f["mma_tile_cycles"] = grouped(last_end(ummas) - ummas[0].begin());
  f["strips"] = grouped(int64_t(spans.of("tma store", "tma_store").size()));
  f["store_bytes"] = grouped(spans.of("tma store", "tma_store")[0].number("bytes"));
  f["clc_bytes"] = spans.of("clc", "clc_cancel")[0].text("bytes");
  return f;
}

/// A claim, in which frame it stands, and what the run shows or PTX says.
struct Claim {
  const char *frame, *said, *so;
};

inline const Claim kPipelineClaims[] = {
    {"1.4", "a barrier is initialised with two counts, of those who arrive and of those who wait",
     "one count, of arrivals: `input_full` {input_full}, `input_empty` {input_empty}, `accum_full` {accum_full}, "
     "`accum_empty` {accum_empty}"},
    {"1.4, 1.6, 5.3", "a phase goes from 0 to 1, and a wait is for that value",
     "a wait is for the end of the phase of a parity; on a fresh barrier a wait for parity 1 passes, one for 0 "
     "does not"},
    {"5.1, 5.4, 6.1", "the producer starts at phase 0 with a count of all stages",
     "at parity 1 with count 0: its first wait takes {first_acquire} cycles. At parity 0 it never ends: "
     "`scenarios/bugs/phases/load_initial_parity.toml`"},
    {"1.6, 1.7", "an mbarrier.arrive of a special form signals for the tensor core",
     "there is none; `tcgen05.commit` arrives when the MMAs issued before it are done"},
    {"1.6", "a producer commits what TMA brings with an arrive of its own",
     "it arrives once with `expect_tx`, before the copies; their bytes end the phase"},
    {"1.7, 6.7", "32 threads release a stage with plain arrives",
     "`input_empty` counts {input_empty}: a commit. A release that does not cover the MMAs: "
     "`scenarios/bugs/lanes/release_by_another_lane.toml`"},
    {"5.4.4", "TMA arrives and announces bytes when a copy is done",
     "the load warp announces, before; a copy that is done only takes its bytes off"},
    {"5.4.5 to 5.4.8", "each copy raises the bytes that are expected",
     "they are announced at once, {stage_bytes}; each copy lowers what is missing"},
    {"5.3, 5.4.1, 6.6", "barriers have numbers, two for each stage", "they are words of 8 bytes in shared memory"},
    {"5.3, 6.4", "a try returns a pointer to a barrier", "it returns whether the phase is over"},
    {"5.3", "how many bytes are expected depends on multicast", "a stage holds {stage_bytes} bytes in any case"},
    {"5.4.1, 6.6.2", "waits poll with test_wait, or with an instruction mbarrier.wait",
     "`mbarrier.try_wait.parity`, in a loop: it sleeps; the other does not exist"},
    {"6.1, 6.10", "the accumulators' pipeline is TMA's, and its producer arrives",
     "`accum_full` counts {accum_full} commit, `accum_empty` {accum_empty} threads"},
    {"7.10", "a warp releases the accumulator with one arrive",
     "{accum_empty} threads arrive, after `tcgen05.wait::ld`"},
    {"1.8", "from stage 1 of 20, 19 steps lead to stage 19", "to stage 0, with the other parity"},
    {"6.7", "the arrive takes a 64-bit pointer",
     "a 32-bit address of shared memory; a generic pointer is another form"},
};
inline const Claim kMemoryClaims[] = {
    {"1.1, 1.2", "about 20 stages of 32,800 bytes",
     "{stages} stages of {stage_bytes}: the CTA has {smem} bytes of {smem_most}"},
    {"1.1, 3.4, 5.4.6", "one scale for a tile's 128 rows, which TMA rounds up to 16 bytes",
     "a scale for each row and 16 elements: {scale_bytes} bytes of A and as many of B in a stage; TMA rounds "
     "nothing"},
    {"3.4", "the scale tensor has a row for each tile of A",
     "a row for each row of A, stored in atoms of 512 bytes"},
    {"5.4.4, 7.8", "a tensor map is 64 bytes with fields to read", "128 opaque bytes"},
    {"5.4.4", "coordinates count boxes, M first", "elements, along K first: {{0, 640}} for the first box of A"},
    {"5.4.4", "a copy in five dimensions with a mask, without multicast",
     "two dimensions of A and B, no mask: a cluster of one CTA does not multicast"},
    {"5.4.4", "shared addresses are 64 bits wide", "32"},
    {"5.4.7", "the scales of B lie 16 bytes behind those of A",
     "behind {scale_bytes} bytes; TMA writes to multiples of 128"},
    {"7.9", "a TMA store completes on a barrier",
     "{strips} stores of {store_bytes} bytes, each a bulk group that the storing thread waits for"},
    {"3.7", "masks of a 4 x 4 cluster: A shared by every other CTA",
     "CTA (2, 1) shares A with ranks 2, 6, 10, 14 (0x4444) and B with 4 to 7 (0x00F0)"},
    {"3.7", "A is multicast along M", "to the CTAs of the same rows, along N"},
    {"3.1, 3.2", "a TMA tensor is a pointer and strides, and M is contiguous",
     "it is coordinates; rows of A are contiguous along K, {tile_bytes} bytes a box"},
    {"5.4.3", "elect.sync with the active mask takes lane 0", "with a full mask, any lane"},
    {"5.8, 6.12", "262,400 bytes are loaded for a tile", "{loaded} in {copies} stages of four copies"},
    {"8.8", "at the end 512 KB of shared memory are freed and barriers reset",
     "{smem} bytes, and nothing resets a barrier's word"},
};
inline const Claim kTensorClaims[] = {
    {"4.2", "tensor memory has 1024 columns", "{columns}, of 128 lanes and 32 bits"},
    {"4.2", "one lane allocates, the address comes in a register",
     "a whole warp, `tcgen05.alloc` of {alloc} columns; the address goes to shared memory"},
    {"8.5", "one elected lane frees the columns", "a whole warp, `tcgen05.dealloc` with their number"},
    {"8.2", "the permit to allocate is a lock that a store releases", "`tcgen05.relinquish_alloc_permit`"},
    {"4.2", "CTAs share tensor memory, from address 0x1000",
     "a CTA has what it allocates, here from column {base}; an address is lane * 65536 + column"},
    {"4.4, 6.6.10, 6.11", "tensor memory is addressed in bytes: 0x1000 for accumulators, 0x3000 for scales",
     "accumulators from columns 0 and 128, scales of A from {sfa}, of B from {sfb}, {slot_columns} for each stage: "
     "{used} in all"},
    {"6.6.4", "a copy of 16 bytes brings a tile's scale",
     "{cps_per_tile} `tcgen05.cp` of {cp_bytes} bytes for each k tile, 4 of A and 4 of B"},
    {"6.2, 6.6.7", "the MMA is one for BF16 with A in registers",
     "`tcgen05.mma` of kind mxf4nvf4, both operands in shared memory"},
    {"6.6.9", "an MMA returns four registers",
     "it adds into tensor memory; operands are descriptors and addresses"},
    {"6.6.5, 6.11", "16 blocks of K = 16 in a k tile, 128 MMAs for a tile",
     "{mmas_per_tile} MMAs of K = {mma_k} in a k tile of {k_tile}, {mmas} for the tile"},
    {"6.6.9", "elements become BF16 before they are multiplied", "undocumented; here products are exact"},
    {"6.6.8, 4.5, 7.5", "threads share the tile's multiplication, 4 x 4 elements each",
     "one lane issues; the epilogue's lanes read rows"},
    {"6.6.7, 6.6.9", "two scalars scale the tile", "each row of A and of B has a scale for 16 elements"},
    {"6.5, 6.6.9", "the old accumulator is multiplied by 0", "it is not read: a NaN there does no harm"},
    {"6.6.6", "an MMA reads 1,024 bytes of A", "{mma_bytes}: 128 rows of 32 bytes"},
    {"7.5", "the epilogue's reads need no instruction",
     "`tcgen05.ld` and `tcgen05.wait::ld`: without the wait: "
     "`scenarios/bugs/tensor_memory/wait_ld_missing.toml`"},
    {"8.5, 8.8", "128 KB are freed", "{alloc} columns, 256 KiB"},
    {"8.4", "a pair's CTAs share tensor memory", "each has its own; an MMA of a pair writes both"},
};
inline const Claim kKernelClaims[] = {
    {"7, 8.9", "three warps work, the epilogue is one",
     "{threads} threads: MMA, scheduler, load, epilogue load, four of the epilogue; a warp reads 32 lanes of "
     "tensor memory"},
    {"7.1", "a barrier instruction arrive_and_wait", "`bar.sync` of 160 threads, MMA and epilogue"},
    {"1.10", "CLC decides which CTA computes what",
     "it cancels a CTA that has not been launched, whose tile the asking one takes: a response is {clc_bytes} "
     "bytes"},
    {"2.4", "the response has bit fields", "opaque: two instructions query it"},
    {"2.2", "the block index is linear, y a batch", "x is along M, y along N: CTA 5 has tile (5, 0)"},
    {"8.7", "a CTA's end is a barrier of its threads", "a warp ends alone, when its role is done"},
    {"8.2", "launch_dependents frees memory early", "it permits the next launch to begin"},
    {"7.7", "FP4 reaches 7, a scale is amax / 7", "6, and amax / 6: values are 0, 0.5, 1, 1.5, 2, 3, 4, 6"},
    {"7.7", "3.0 is 0110 and 4.0 0111", "0101 and 0110; 6.0 is 0111"},
    {"7.7", "17.64 is 0x4c as an FP8 scale", "0x59, which is 18; 0x4c is 6"},
    {"6.12, 8.9, 8.10", "about 20 cycles for a tile, 10 for an MMA",
     "{tile_cycles} cycles from the first load to the last store; {k_tile_cycles} for the first k tile's MMAs, "
     "{mma_tile_cycles} "
     "for all"},
    {"6.12", "262,144 operations for an MMA", "{mma_macs} multiply-adds"},
    {"6.12", "2,048 bytes of scales are copied in all", "{cps_bytes_per_tile} for each of {k_tiles} k tiles"},
    {"end", "lines of the library are quoted",
     "the bodies there differ: this page quotes a run, which anybody can repeat"},
};

/// {name} becomes the fact of that name, {{ and }} braces.
inline std::string filled(const std::string& text, const std::map<std::string, std::string>& facts) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "{{") == 0 || text.compare(i, 2, "}}") == 0) {
      out += text[i++];
    } else if (text[i] == '{') {
      const size_t end = text.find('}', i);
      out += facts.at(text.substr(i + 1, end - i - 1));
      i = end;
    } else {
      out += text[i];
    }
  }
  return out;
}

template <size_t kCount>
TableRows claims(const ScratchDirectory& folder, const Claim (&list)[kCount]) {
  const auto known = facts(folder);
  TableRows rows{"| frame | said | so it is |", "|---|---|---|"};
  for (const Claim& c : list) rows.push_back(fmt::format("| {} | {} | {} |", c.frame, c.said, filled(c.so, known)));
  return rows;
}

inline TableRows pipeline_claims(const ScratchDirectory& f, const TableRows&) { return claims(f, kPipelineClaims); }
inline TableRows memory_claims(const ScratchDirectory& f, const TableRows&) { return claims(f, kMemoryClaims); }
inline TableRows tensor_claims(const ScratchDirectory& f, const TableRows&) { return claims(f, kTensorClaims); }
inline TableRows kernel_claims(const ScratchDirectory& f, const TableRows&) { return claims(f, kKernelClaims); }

}  // namespace sm100::sim::frame_tables
