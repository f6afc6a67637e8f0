// What the kernels cost: ptxas's report without spills or stack, and trace points that leave nothing behind.
#include <fmt/format.h>

#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include "catch.h"
#include "kernels/cuda/configurations.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

struct Resources {
  int registers = -1, stack = -1, spill_stores = -1, spill_loads = -1, static_smem = 0, barriers = 0;
};

/// ptxas -v: "Compiling entry function 'S'", "... bytes stack frame, ...", "Used N registers, ...".
std::map<std::string, Resources> read_ptxas_log(const char* path) {
  static const std::regex entry("Compiling entry function '([^']+)'"), registers("Used (\\d+) registers"),
      smem("(\\d+) bytes smem"), barriers("used (\\d+) barriers"),
      stack("(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
  std::map<std::string, Resources> all;
  std::string symbol;
  std::istringstream in(read_text(path));
  for (std::string line; std::getline(in, line);) {
    std::smatch m;
    if (std::regex_search(line, m, entry)) symbol = m[1];
    Resources& r = all[symbol];
    if (std::regex_search(line, m, stack)) {
      r.stack = std::stoi(m[1]);
      r.spill_stores = std::stoi(m[2]);
      r.spill_loads = std::stoi(m[3]);
    }
    if (std::regex_search(line, m, registers)) r.registers = std::stoi(m[1]);
    if (std::regex_search(line, m, smem)) r.static_smem = std::stoi(m[1]);
    if (std::regex_search(line, m, barriers)) r.barriers = std::stoi(m[1]);
  }
  return all;
}

}  // namespace

TEST_CASE("ptxas: no spills and no stack in any kernel") {
  const auto resources = read_ptxas_log(SM100_MATMUL_PTXAS_LOG);
  std::string table = fmt::format("{:32} {:>9} {:>6} {:>6} {:>11} {:>12}\n", "kernel", "registers", "spills",
                                  "stack", "static smem", "dynamic smem");
  for (const PtxEntry& entry : read_ptx(SM100_MATMUL_PTX)) {
    INFO(entry.name());
    REQUIRE(resources.count(entry.symbol()) == 1);
    const Resources& r = resources.at(entry.symbol());
    CHECK(r.spill_stores == 0);
    CHECK(r.spill_loads == 0);
    CHECK(r.stack == 0);
    CHECK(r.static_smem == 0);  // all shared memory is dynamic: the layout starts at the user base
    CHECK(r.barriers == 2);     // named barriers 0 and 1
    CHECK(r.registers > 0);
    CHECK(r.registers <= 255);
    table +=
        fmt::format("{:32} {:9} {:6} {:6} {:11} {:12}\n", entry.name(), r.registers, r.spill_stores + r.spill_loads,
                    r.stack, r.static_smem, shared_storage_bytes(entry.config()));
  }
  std::cout << table;
}

TEST_CASE("Trace off: the PTX is that of a build without trace points, byte for byte") {
  std::map<std::string, std::string> bare;
  for (const PtxEntry& entry : read_ptx(SM100_MATMUL_PTX_WITHOUT_TRACE_POINTS)) bare[entry.symbol()] = entry.text();
  for (const PtxEntry& entry : read_ptx(SM100_MATMUL_PTX)) {
    INFO(entry.name());
    REQUIRE(bare.count(entry.symbol()) == 1);
    CHECK((entry.text() == bare.at(entry.symbol())) == !entry.traced());
    CHECK(entry.find_anywhere("%globaltimer").empty() == !entry.traced());
    CHECK(entry.find_anywhere("%clock").empty() == !entry.traced());
  }
}
