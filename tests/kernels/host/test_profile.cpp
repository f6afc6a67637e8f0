// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fstream>
#include <regex>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "paths.h"
#include "scratch_directory.h"

namespace sm100::host {
namespace {

std::string b200_text() { return read_whole(std::filesystem::path(profile_dir()) / "b200.toml"); }

/// The b200 profile with the line of `entry` replaced; what load_profile says, without the directory.
std::string complaint(const std::string& entry, const std::string& replacement) {
  const std::string text =
      std::regex_replace(b200_text(), std::regex("(^|\n)" + entry + " = [^\n]*"), "$1" + replacement);
  ScratchDirectory scratch;
  const std::string file = scratch.write("p.toml", text).string();
  try {
    load_profile(file);
    return "";
  } catch (const InputError& error) {
    return std::regex_replace(std::string(error.what()), std::regex("^[^:]*/p.toml(:[0-9]+)?"), "p.toml");
  }
}

}  // namespace

TEST_CASE("profile: b200 is listed and loads") {
  const auto names = list_profiles();
  REQUIRE(std::find(names.begin(), names.end(), "b200") != names.end());
  const models::DeviceProfile p = load_profile("b200");
  CHECK(p.name == "NVIDIA B200");
  CHECK(p.device.sms == 148);
  CHECK(p.device.sm_clock_ghz == 1.856);
  CHECK(p.umma.latency_cycles == 104);
  CHECK(p.memory.dram_tb_per_s == 7.4);
  CHECK(p.jitter.wakeup_cycles == 60);
}

TEST_CASE("profile: every profile in the directory loads") {
  for (const std::string& name : list_profiles()) {
    INFO(name);
    CHECK_NOTHROW(load_profile(name));
  }
}

TEST_CASE("profile: every number states its source in a comment") {
  const std::regex entry(R"(^\s*([a-z0-9_]+)\s*=\s*[-+0-9.].*)"), with_source(R"(^[^#]*#\s*\S.*)");
  for (const auto& file : std::filesystem::directory_iterator(profile_dir())) {
    if (file.path().extension() != ".toml") continue;
    std::ifstream stream(file.path());
    int number = 0, entries = 0;
    for (std::string line; std::getline(stream, line);) {
      ++number;
      if (!std::regex_match(line, entry)) continue;
      ++entries;
      INFO(file.path() << ":" << number << ": " << line);
      CHECK(std::regex_match(line, with_source));
    }
    CHECK(entries > 40);
  }
}

TEST_CASE("profile: missing and unknown and senseless entries are refused") {
  CHECK(complaint("sms", "sms = 148") == "");
  CHECK(complaint("sms", "") == "p.toml: key 'device.sms' is missing; allowed are integers 1 to 1024");
  CHECK(complaint("dram_spread", "dram_spread = 2.0") ==
        "p.toml: key 'memory.dram_spread' = 2.0: allowed are numbers 0 to 1");
  CHECK(complaint("sms", "sms = 0") == "p.toml: key 'device.sms' = 0: allowed are integers 1 to 1024");
  CHECK(complaint("sms", "sms = 148.0") == "p.toml: key 'device.sms' = 148.0: allowed are integers 1 to 1024");
  CHECK(complaint("sm_clock_ghz", "sm_clock_ghz = 1856") ==
        "p.toml: key 'device.sm_clock_ghz' = 1856: allowed are numbers 0.1 to 5");
  CHECK(complaint("elect", "elekt = 4") == "p.toml: unknown key 'issue.elekt' = 4; did you mean 'elect'?");
  CHECK_FALSE(complaint("alu", "alu = -1").empty());
  CHECK_FALSE(complaint("alu", "alu = nan").empty());
  CHECK_FALSE(complaint("line_bytes", "line_bytes = 0").empty());
  CHECK_FALSE(complaint("dram_tb_per_s", "dram_tb_per_s = 0").empty());
  CHECK_FALSE(complaint("load_rows_per_cycle", "load_rows_per_cycle = 0.0").empty());
  CHECK(complaint("alu", "alu = 0") == "");
  CHECK(complaint("response_ns", "response_ns = 400") == "");  // an integer is a number too
}

TEST_CASE("profile: an unknown name lists the known ones") {
  try {
    load_profile("b300");
    FAIL("accepted");
  } catch (const InputError& error) {
    CHECK(std::string(error.what()).rfind("profile 'b300': allowed are b200", 0) == 0);
  }
  CHECK_THROWS_AS(load_profile("nowhere/else.toml"), InputError);
}

}  // namespace sm100::host
