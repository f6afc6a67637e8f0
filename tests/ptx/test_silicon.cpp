// SPDX-License-Identifier: Apache-2.0
/// Scalar forms against what an H100 made of the same operands (bench/hardware/ptx_forms): 64 rows each, every bit.

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "bench/hardware/ptx_forms/here.h"
#include "catch.h"
#include "paths.h"

using namespace sm100::ptx_forms;

TEST_CASE("scalar forms: the results of an H100") {
  std::ifstream file(sm100::source_dir() + "/tests/ptx/forms_h100.txt");
  std::map<std::string, uint64_t> silicon;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream fields(line);
    std::string name;
    uint64_t hash = 0;
    fields >> name >> std::hex >> hash;
    silicon.emplace(name, hash);
  }
  REQUIRE(silicon.size() > 5000);
  size_t compared = 0;
  for (const Case& c : make_cases(false)) {
    const auto found = silicon.find(c.form->name);
    if (found == silicon.end()) continue;  // approximated, or newer than the run on the GPU
    ++compared;
    INFO(c.form->name);
    CHECK(hash_of(computed(c)) == found->second);
  }
  CHECK(compared == silicon.size());
}
