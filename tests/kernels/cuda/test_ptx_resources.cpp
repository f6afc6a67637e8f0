// SPDX-License-Identifier: Apache-2.0
// What the kernels cost: ptxas's report without spills or stack, and trace points that leave nothing behind.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include "catch.h"
#include "kernels/block_scaled/block_scaled_kernel.h"
#include "kernels/blockwise/blockwise_kernel.h"
#include "kernels/copy/shared_storage.h"
#include "kernels/cutlass_block_scaled/cutlass_block_scaled_kernel.h"
#include "kernels/direct/shared_storage.h"
#include "kernels/fallback/shared_storage.h"
#include "kernels/grouped_1d1d/shared_storage.h"
#include "kernels/grouped_1d2d/grouped_1d2d_kernel.h"
#include "kernels/grouped_block_scaled/grouped_block_scaled_kernel.h"
#include "kernels/hopper_matmul/shared_storage.h"
#include "kernels/matmul/split_reduction.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

struct Resources {
  int registers = -1, stack = -1, spill_stores = -1, spill_loads = -1, static_smem = 0, barriers = 0;
};

/// ptxas -v: "Compiling entry function 'S'", "... bytes stack frame, ...", "Used N registers, ...".
std::map<std::string, Resources> read_ptxas_log(const char* paths) {
  static const std::regex entry("Compiling entry function '([^']+)'"), registers("Used (\\d+) registers"),
      smem("(\\d+) bytes smem"), barriers("used (\\d+) barriers"),
      stack("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  // An entry that was compiled for several targets is reported for each: the most counts.
  const auto raise = [](int& most, const std::string& number) { most = std::max(most, std::stoi(number)); };
  std::map<std::string, Resources> all;
  std::string symbol;
  std::istringstream in(read_text(paths));
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (std::regex_search(line, m, entry)) symbol = m[1];
    Resources& r = all[symbol];
    if (std::regex_search(line, m, stack)) {
      raise(r.stack, m[1]);
      raise(r.spill_stores, m[2]);
      raise(r.spill_loads, m[3]);
    }
    if (std::regex_search(line, m, registers)) raise(r.registers, m[1]);
    if (std::regex_search(line, m, smem)) raise(r.static_smem, m[1]);
    if (std::regex_search(line, m, barriers)) raise(r.barriers, m[1]);
  }
  return all;
}

uint32_t dynamic_smem_bytes(const PtxEntry& entry) {
  switch (entry.kernel()) {
    case PtxEntry::Kernel::block_scaled: return storage_bytes<BlockScaledStorage>(entry.block_scaled_config());
    case PtxEntry::Kernel::grouped_1d1d: return storage_bytes<Grouped1d1dStorage>(entry.grouped_1d1d_config());
    case PtxEntry::Kernel::grouped_1d2d: return storage_bytes<Grouped1d2dStorage>(entry.grouped_1d2d_config());
    case PtxEntry::Kernel::blockwise: return storage_bytes<BlockwiseStorage>(entry.blockwise_config());
    case PtxEntry::Kernel::grouped: return storage_bytes<GroupedStorage>(entry.grouped_config());
    case PtxEntry::Kernel::cutlass: return storage_bytes<CutlassStorage>(entry.cutlass_config());
    case PtxEntry::Kernel::copy: return storage_bytes<CopyStorage>(entry.copy_config());
    case PtxEntry::Kernel::fallback: return storage_bytes<FallbackStorage>(entry.fallback_config());
    case PtxEntry::Kernel::direct: return storage_bytes<DirectStorage>(entry.direct_config());
    case PtxEntry::Kernel::hopper: return storage_bytes<HopperStorage>(entry.hopper_config());
    default: return storage_bytes<SharedStorage>(entry.config());
  }
}

/// Checks the report of every entry and prints it as a table.
void check_resources(const char* what, const std::vector<PtxEntry>& entries, const char* log, int barriers) {
  const auto resources = read_ptxas_log(log);
  std::string table = fmt::format("{:32} {:>9} {:>6} {:>6} {:>11} {:>12}\n", what, "registers", "spills", "stack",
                                  "static smem", "dynamic smem");
  for (const PtxEntry& entry : entries) {
    INFO(entry.name());
    REQUIRE(resources.count(entry.symbol()) == 1);
    const Resources& r = resources.at(entry.symbol());
    CHECK(r.spill_stores == 0);
    CHECK(r.spill_loads == 0);
    CHECK(r.stack == 0);
    CHECK(r.static_smem == 0);  // all shared memory is dynamic: the layout starts at the user base
    // ptxas counts up to the highest id; splits use kReductionBarrier.
    const bool split = entry.kernel() == PtxEntry::Kernel::matmul && entry.config().num_split_k > 1;
    const bool turns = entry.kernel() == PtxEntry::Kernel::hopper && is_pingpong(entry.hopper_config());
    CHECK(r.barriers == (split ? kReductionBarrier + 1 : turns ? kHopperTurnBarrier + 2 : barriers));
    CHECK(r.registers > 0);
    CHECK(r.registers <= 255);
    table += fmt::format("{:32} {:9} {:6} {:6} {:11} {:12}\n", entry.name(), r.registers,
                         r.spill_stores + r.spill_loads, r.stack, r.static_smem, dynamic_smem_bytes(entry));
  }
  std::cout << table;
}

/// Labels without the entry's number in its file, which counts the traced entries, too.
std::string with_plain_labels(const std::string& text) {
  static const std::regex label(R"(\$L__BB\d+_)");
  return std::regex_replace(text, label, "$$L__BB_");
}

/// A plain entry is that of a build without trace points, byte for byte; a traced one reads the clocks.
void check_trace_points(const char* with, const char* without) {
  std::map<std::string, std::string> bare;
  for (const PtxEntry& entry : read_ptx(without)) bare[entry.symbol()] = entry.text();
  for (const PtxEntry& entry : read_ptx(with)) {
    INFO(entry.name());
    REQUIRE(bare.count(entry.symbol()) == !entry.traced());
    if (!entry.traced()) CHECK(with_plain_labels(entry.text()) == with_plain_labels(bare.at(entry.symbol())));
    CHECK(entry.find_anywhere("%globaltimer").empty() == !entry.traced());
    CHECK(entry.find_anywhere("%clock").empty() == !entry.traced());
  }
}

}  // namespace

TEST_CASE("ptxas: no spills and no stack in any kernel") {
  check_resources("matmul, sm_100a", read_ptx(SM100_MATMUL_PTX), SM100_MATMUL_PTXAS_LOG,
                  2);  // named barriers 0 and 1
  check_resources("block_scaled, sm_100a", read_ptx(SM100_BLOCK_SCALED_PTX), SM100_BLOCK_SCALED_PTXAS_LOG, 2);
  check_resources("grouped_1d1d, sm_100a", read_ptx(SM100_GROUPED_1D1D_PTX), SM100_GROUPED_1D1D_PTXAS_LOG, 2);
  check_resources("grouped_1d2d, sm_100a", read_ptx(SM100_GROUPED_1D2D_PTX), SM100_GROUPED_1D2D_PTXAS_LOG, 2);
  check_resources("blockwise, sm_100a", read_ptx(SM100_BLOCKWISE_PTX), SM100_BLOCKWISE_PTXAS_LOG, 2);
  check_resources("grouped_block_scaled, sm_100a", read_ptx(SM100_GROUPED_PTX), SM100_GROUPED_PTXAS_LOG, 2);
  check_resources("cutlass_block_scaled, sm_100a", read_ptx(SM100_CUTLASS_PTX), SM100_CUTLASS_PTXAS_LOG, 2);
  check_resources("pipeline_copy, sm_90a and sm_100a", read_ptx(SM100_COPY_PTX), SM100_COPY_PTXAS_LOG, 1);
  check_resources("fallback, sm_100a", read_ptx(SM100_FALLBACK_PTX), SM100_FALLBACK_PTXAS_LOG, 1);
  check_resources("direct, sm_100a", read_ptx(SM100_DIRECT_PTX), SM100_DIRECT_PTXAS_LOG, 1);
  check_resources("hopper_matmul, sm_90a", read_ptx(SM100_HOPPER_PTX), SM100_HOPPER_PTXAS_LOG,
                  kHopperStripBarrier + 2);
}

TEST_CASE("ptxas: wgmma of hopper_matmul are neither serialised nor waited for where the source does not say so") {
  const std::string log = read_text(SM100_HOPPER_PTXAS_LOG);
  CHECK(log.find("Compiling entry function") != std::string::npos);
  for (const char* code : {"C7510", "C7514", "C7517", "serialized"}) {
    CAPTURE(code);
    CHECK(log.find(code) == std::string::npos);
  }
}

TEST_CASE("Trace off: the PTX is that of a build without trace points, byte for byte") {
  check_trace_points(SM100_MATMUL_PTX, SM100_MATMUL_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_BLOCK_SCALED_PTX, SM100_BLOCK_SCALED_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_GROUPED_1D1D_PTX, SM100_GROUPED_1D1D_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_GROUPED_1D2D_PTX, SM100_GROUPED_1D2D_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_BLOCKWISE_PTX, SM100_BLOCKWISE_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_GROUPED_PTX, SM100_GROUPED_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_CUTLASS_PTX, SM100_CUTLASS_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_COPY_PTX, SM100_COPY_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_FALLBACK_PTX, SM100_FALLBACK_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_DIRECT_PTX, SM100_DIRECT_PTX_WITHOUT_TRACE_POINTS);
  check_trace_points(SM100_HOPPER_PTX, SM100_HOPPER_PTX_WITHOUT_TRACE_POINTS);
}
