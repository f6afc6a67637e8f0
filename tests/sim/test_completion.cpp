// SPDX-License-Identifier: Apache-2.0
// sm100sim completion SHELL and sm100sim manual: what the parser knows is what they say.
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "catch.h"
#include "program.h"
#include "scratch_directory.h"

namespace sm100::sim {
namespace {

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

/// What bash offers for the last of these words.
std::set<std::string> offered(const std::string& words) {
  const ScratchDirectory here;
  std::ofstream(here / "mine.toml") << "";
  std::ofstream(here / "complete.sh") << "sm100sim() { '" << sm100sim_binary() << "' \"$@\"; }\n"
                                      << ". <(sm100sim completion bash)\n"
                                      << "COMP_WORDS=(" << words << "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                                      << "_sm100sim\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const Ran ran = run_program(here, "bash", "complete.sh");
  CAPTURE(words, ran.err);
  CHECK(ran.err.empty());
  return lines_of(ran.out);
}

bool has(const std::set<std::string>& words, const std::string& word) { return words.count(word) == 1; }

bool there_is(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// Names of the commands, from --help.
std::set<std::string> commands() {
  const ScratchDirectory here;
  const std::string help = run(here, "--help").out;
  std::set<std::string> names;
  std::istringstream stream(help.substr(help.find("Subcommands:\n") + 13));
  for (std::string line; std::getline(stream, line) && line.starts_with("  ");)
    names.insert(line.substr(2, line.find(' ', 2) - 2));
  return names;
}

}  // namespace

TEST_CASE("bash completes commands, options, their words, files and scenarios", "[completion]") {
  CHECK(offered("sm100sim ''") == commands());
  CHECK(offered("sm100sim expl") == std::set<std::string>{"explore", "explain", "explain-config"});
  CHECK(offered("sm100sim run --trace-") == std::set<std::string>{"--trace-sms", "--trace-window"});
  CHECK(offered("sm100sim run --data ''") == std::set<std::string>{"full", "none"});
  CHECK(offered("sm100sim list pro") == std::set<std::string>{"profiles"});
  CHECK(offered("sm100sim export a.pftrace --format ''") ==
        std::set<std::string>{"chrome-json", "vcd", "csv", "html"});
  const std::set<std::string> scenarios = offered("sm100sim run ''");
  CHECK(has(scenarios, "mine.toml"));  // a file that is here
  CHECK(has(scenarios, "01_dense_small"));
  CHECK(has(scenarios, "bugs/bytes/expect_tx_too_large"));
  CHECK(offered("sm100sim run --trace mi") == std::set<std::string>{"mine.toml"});
  CHECK(offered("sm100sim run --jitter ''") == std::set<std::string>{""});  // a number: nothing to offer
}

TEST_CASE("completion for zsh and fish are scripts that these shells take", "[completion]") {
  const ScratchDirectory here;
  for (const std::string shell : {"zsh", "fish"}) {
    const Ran script = run(here, "completion " + shell);
    CHECK(script.exit_code == 0);
    for (const std::string& command : commands()) CHECK_THAT(script.out, Catch::Contains(command));
    if (!there_is(shell)) continue;
    std::ofstream(here / shell) << script.out;
    const Ran checked = run_program(here, shell + " -n", shell);
    CHECK(checked.exit_code == 0);
    CHECK(checked.err.empty());
  }
  CHECK(run(here, "completion tcsh").exit_code == 2);
}

TEST_CASE("the manual has every command and every option of --help", "[completion]") {
  const ScratchDirectory here;
  const Ran manual = run(here, "manual");
  REQUIRE(manual.exit_code == 0);
  const std::string page = std::regex_replace(manual.out, std::regex(R"(\\-)"), "-");
  for (const std::string& command : commands()) {
    const size_t begin = page.find(".SS \"sm100sim " + command + "\"\n");
    CAPTURE(command);
    REQUIRE(begin != std::string::npos);
    const std::string section = page.substr(begin, page.find("\n.S", begin + 1) - begin);
    const std::string help = run(here, command + " --help").out;
    const std::regex option(R"(\n  (?:-\w,)?(--[\w-]+))");
    for (std::sregex_iterator o(help.begin(), help.end(), option), end; o != end; ++o) {
      CAPTURE((*o)[1].str());
      CHECK(section.find("\\fB" + (*o)[1].str() + "\\fR") != std::string::npos);
    }
  }
}

}  // namespace sm100::sim
