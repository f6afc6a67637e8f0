// SPDX-License-Identifier: Apache-2.0
// What role code states of its per-lane arithmetic (kernels/epilogue/lane_costs.h) against what nvcc makes of it.
//
// The first strip pays for everything, a further one only for what its place changes.  A stated count is the
// average over a loop of strips: at most that of the first, and at least half of a further one's, because ptxas
// makes one instruction of two of PTX where it can (LOP3 of two logical operations, LEA of shift and add).
#include <map>
#include <set>
#include <sstream>

#include "catch.h"
#include "kernels/epilogue/lane_costs.h"
#include "ptx_module.h"

using namespace sm100;

namespace {

/// Arithmetic instructions of each entry: what is neither a move, nor an access, nor a branch.
std::map<std::string, int> arithmetic_of_entries() {
  static const std::set<std::string> kOpcodes = {"add", "sub", "mul",  "mad",  "shl",  "shr",  "and", "or",  "xor",
                                                 "not", "cvt", "selp", "setp", "prmt", "lop3", "bfe", "min", "max"};
  std::map<std::string, int> counts;
  std::istringstream in(read_text(SM100_LANE_COSTS_PTX));
  std::string entry;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == ".visible") {
      words >> word >> entry;
      entry = entry.substr(0, entry.find('('));
    }
    if (word.starts_with('@')) words >> word;
    if (kOpcodes.count(word.substr(0, word.find('.')))) ++counts[entry];
  }
  return counts;
}

}  // namespace

TEST_CASE("PTX: per-lane arithmetic costs what role code states") {
  struct Stated {
    const char* entry;
    int instructions;  ///< of a lane and fragment
  };
  using namespace lane_cost;
  const Stated all[] = {
      {"stmatrix_x4", 2 * kStmatrixX4},
      {"stmatrix_x4_trans", 2 * kStmatrixX4},
      {"stmatrix_x2", kStmatrixX2},
      {"shared_pair_f32", 8 * kSharedPair},
      {"shared_pair_fp8", 4 * kSharedBytes},
      {"shared_element", 16 * kSharedElement},
      {"global_pair", 8 * kGlobalPair},
      {"global_element", 16 * kGlobalElement},
      {"bias_address", 4 * kBiasAddress},
      {"workspace_address", 8 * kWorkspaceAddress},
      {"quantise_rows", 32 * kLargerMagnitude + 2 * kBlockScale + 32},
      {"packed_row", kPackedRow},
      {"scale_address", kScaleAddress},
      {"scale_cell", kScaleCell},
  };
  const std::map<std::string, int> counts = arithmetic_of_entries();
  for (const Stated& stated : all) {
    INFO(stated.entry);
    const auto once = counts.find(std::string(stated.entry) + "_once"),
               twice = counts.find(std::string(stated.entry) + "_twice");
    REQUIRE(once != counts.end());
    REQUIRE(twice != counts.end());
    CHECK(stated.instructions <= once->second);
    CHECK(2 * stated.instructions >= twice->second - once->second);
  }
}
