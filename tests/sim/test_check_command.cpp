// SPDX-License-Identifier: Apache-2.0
// sm100sim check: does every scenario end as it says?
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"
#include "sim/xml_text.h"

namespace sm100::sim {
namespace {

using nlohmann::json;

const std::string kKernel = R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 128
n = 128
k = 64
[config]
mma = [128, 128, 16]
[run]
sms = 1
)";
const std::string kHang = R"([[fault]]
instruction = "tcgen05_commit"
barrier = "accum_full"
action = "drop"
)";

/// Small scenarios of every sort.
void write_scenarios(const ScratchDirectory& scratch) {
  scratch.write("clean.toml", kKernel);
  scratch.write("hangs.toml", kKernel + kHang + "[expect]\noutcome = \"hang\"\n");
  scratch.write("unexpected.toml", kKernel + kHang);
  scratch.write("wrong_barrier.toml", kKernel + kHang + "[expect]\noutcome = \"hang\"\nbarrier = \"input_full\"\n");
  scratch.write("slow.toml", kKernel + "[expect]\nslow = \"an hour\"\n");
  scratch.write("broken.toml", kKernel + "sm = 1\n");
  scratch.write("profile.toml", "name = \"no scenario\"\n");
  scratch.write("unmatched.toml",
                kKernel + "[[fault]]\ninstruction = \"tcgen05_commit\"\noccurrence = 99\naction = \"drop\"\n");
}

/// Takes minutes.
const std::string kEndless = R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 32768
n = 32768
k = 16384
[run]
data = "none"
)";

/// `check endless.toml clean.toml --jobs 2` while it runs.
class RunningCheck {
 public:
  /// @param report  the option that names a report, which is asked for
  RunningCheck(const ScratchDirectory& where, const char* report) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    process_ = fork();
    if (process_ == 0) {
      // The pipe stays open in the program and, under its own number, in whatever the program starts.
      close(ends[0]);
      dup2(ends[1], STDOUT_FILENO), dup2(ends[1], STDERR_FILENO);
      if (chdir(where.path().c_str()) == 0)
        execl(sm100sim_binary().c_str(), "sm100sim", "check", "endless.toml", "clean.toml", "--jobs", "2", report,
              "report", nullptr);
      _exit(9);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~RunningCheck() {
    if (!ended_) kill(process_, SIGKILL), wait();
    close(pipe_);
  }

  /// Until standard error says so.
  void wait_for(const std::string& text) {
    while (said_.find(text) == std::string::npos) REQUIRE(read_more());
  }
  void wait_for_the_end_of_all() {
    while (read_more()) {}
  }
  void send(int signal) const { kill(process_, signal); }
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    ended_ = true;
    return status;
  }
  std::vector<pid_t> children() const {
    std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", process_));
    std::vector<pid_t> found;
    for (pid_t child; list >> child;) found.push_back(child);
    return found;
  }

 private:
  bool read_more() {
    char text[4096];
    const ssize_t got = ::read(pipe_, text, sizeof text);
    if (got > 0) said_.append(text, size_t(got));
    return got > 0;
  }
  pid_t process_;
  int pipe_;
  bool ended_ = false;
  std::string said_;
};

/// By the name of its file.
json scenario(const json& report, const std::string& file) {
  for (const json& s : report["scenarios"])
    if (s["scenario"] == file) return s;
  FAIL("not in the report: " << file);
  return {};
}

/// Elements of an XML text that is well formed as far as this looks: every tag closed in order, attributes quoted,
/// no markup or control character where none may be.
size_t elements_of_xml(const std::string& xml) {
  std::vector<std::string> open;
  size_t elements = 0;
  REQUIRE_THAT(xml, Catch::StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
  for (size_t at = xml.find('\n'); at < xml.size();) {
    const size_t begin = xml.find('<', at);
    const std::string text = xml.substr(at, begin - at);
    CHECK(text.find('>') == std::string::npos);
    for (const char c : text) CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t'));
    if (begin == std::string::npos) break;
    const size_t end = xml.find('>', begin);
    REQUIRE(end != std::string::npos);
    const std::string tag = xml.substr(begin + 1, end - begin - 1);
    CHECK(tag.find('<') == std::string::npos);
    if (tag.front() == '/') {
      REQUIRE(!open.empty());
      CHECK(open.back() == tag.substr(1));
      open.pop_back();
    } else {
      ++elements;
      CHECK(std::count(tag.begin(), tag.end(), '"') % 2 == 0);
      if (tag.back() != '/') open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end + 1;
  }
  CHECK(open.empty());
  return elements;
}

}  // namespace

TEST_CASE("check: exit code 0 and all reports where every scenario ends as it says", "[check]") {
  ScratchDirectory scratch;
  write_scenarios(scratch);
  const Ran ran =
      run(scratch, "check clean.toml hangs.toml slow.toml clean.toml --jobs 2 --junit r.xml --json r.json");
  INFO(ran.out << ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::StartsWith("CHECKED 2 scenarios: all end as they say; 1 not run\n"
                                        "  not run      slow.toml: slow: an hour\n"
                                        "               (--slow runs the slow ones too)\n"
                                        "  time         "));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 3);  // standard error is no terminal: a line for each
  const json report = json::parse(read_whole(scratch / "r.json"));
  CHECK(report["schema"] == "sm100sim.check");
  CHECK(report["as_expected"] == true);
  CHECK(report["passed"] == 2);
  CHECK(report["skipped"] == 1);
  CHECK(scenario(report, "hangs.toml")["outcome"] == "hang");
  CHECK(scenario(report, "slow.toml")["status"] == "skipped");
  const std::string xml = read_whole(scratch / "r.xml");
  CHECK_THAT(xml, Catch::Contains("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"1\""));
  CHECK(elements_of_xml(xml) == 1 + 1 + 3 + 1);  // testsuites, testsuite, testcases, skipped
}

TEST_CASE("check: exit code 1 names what ends otherwise, and goes on", "[check]") {
  ScratchDirectory scratch;
  write_scenarios(scratch);
  const Ran ran = run(scratch, "check . --jobs 2 --junit r.xml --json r.json");
  INFO(ran.out << ran.err);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, Catch::StartsWith("FAILED 4 of 6 scenarios; 2 not run\n"));
  const json report = json::parse(read_whole(scratch / "r.json"));
  CHECK(report["as_expected"] == false);
  CHECK(scenario(report, "./clean.toml")["status"] == "passed");
  CHECK(scenario(report, "./hangs.toml")["status"] == "passed");
  CHECK(scenario(report, "./unexpected.toml")["reason"] ==
        "not as expected: a scenario without [expect] passes, the run ended in hang");
  CHECK(scenario(report, "./unexpected.toml")["status"] == "failed");
  CHECK(scenario(report, "./wrong_barrier.toml")["reason"] == "not as expected: no finding has barrier input_full");
  CHECK_THAT(scenario(report, "./broken.toml")["reason"].get<std::string>(),
             Catch::Contains("unknown key 'run.sm'"));
  CHECK(scenario(report, "./broken.toml")["status"] == "error");
  CHECK(scenario(report, "./unmatched.toml")["status"] == "error");
  CHECK(scenario(report, "./profile.toml")["reason"] == "no scenario: it has no key 'kernel'");
  const std::string xml = read_whole(scratch / "r.xml");
  CHECK_THAT(xml, Catch::Contains("tests=\"8\" failures=\"2\" errors=\"2\" skipped=\"2\""));
  CHECK_THAT(xml, Catch::Contains("HANG at cycle"));
  elements_of_xml(xml);
}

TEST_CASE("check: a scenario that takes too long is a failure of its own", "[check]") {
  ScratchDirectory scratch;
  write_scenarios(scratch);
  scratch.write("endless.toml", kEndless);
  const Ran late = run(scratch, "check endless.toml clean.toml --time-limit 1 --json -");
  CHECK(late.exit_code == 1);
  const json report = json::parse(late.out);
  CHECK(scenario(report, "endless.toml")["reason"] == "it took longer than 1 s (--time-limit) and was ended");
  CHECK(scenario(report, "endless.toml")["status"] == "error");
  CHECK(scenario(report, "clean.toml")["status"] == "passed");
}

TEST_CASE("check: a scenario whose process is killed is a failure, not the end of check", "[check]") {
  ScratchDirectory scratch;
  write_scenarios(scratch);
  scratch.write("endless.toml", kEndless);
  RunningCheck check(scratch, "--json");
  check.wait_for("clean.toml");
  const std::vector<pid_t> children = check.children();
  REQUIRE(children.size() == 1);
  kill(children[0], SIGKILL);
  const int status = check.wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  const json report = json::parse(read_whole(scratch / "report"));
  CHECK(scenario(report, "endless.toml")["status"] == "error");
  CHECK(scenario(report, "endless.toml")["reason"] == "its process ended with signal 9 (Killed)");
  CHECK(scenario(report, "clean.toml")["status"] == "passed");
}

TEST_CASE("check: a link that leads nowhere is an error of its own, not the end of check", "[check]") {
  ScratchDirectory scratch;
  scratch.write("clean.toml", kKernel);
  std::filesystem::create_symlink("round.toml", scratch / "round.toml");
  std::filesystem::create_symlink("nothing", scratch / "nowhere.toml");
  const Ran ran = run(scratch, "check . --json r.json");
  INFO(ran.out << ran.err);
  CHECK(ran.exit_code == 1);
  const json report = json::parse(read_whole(scratch / "r.json"));
  CHECK(scenario(report, "./clean.toml")["status"] == "passed");
  CHECK(scenario(report, "./round.toml")["status"] == "error");
  CHECK(scenario(report, "./nowhere.toml")["status"] == "error");
}

TEST_CASE("check: nothing that was run is no success", "[check]") {
  ScratchDirectory scratch;
  write_scenarios(scratch);
  const Ran ran = run(scratch, "check slow.toml");
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Catch::Contains("nothing was run"));
  CHECK(run(scratch, "check slow.toml --slow").exit_code == 0);
}

TEST_CASE("check: the same reports but for the host, whatever the number of processes", "[check]") {
  ScratchDirectory scratch;
  write_scenarios(scratch);
  json one = json::parse(run(scratch, "check . --jobs 1 --json -").out);
  json three = json::parse(run(scratch, "check . --jobs 3 --json -").out);
  CHECK(one["host"]["jobs"] == 1);
  one.erase("host"), three.erase("host");
  CHECK(one.dump() == three.dump());
}

TEST_CASE("check: whoever ends it ends all its processes, and there is no report", "[check]") {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    ScratchDirectory scratch;
    scratch.write("endless.toml", kEndless);
    scratch.write("clean.toml", kKernel);
    RunningCheck check(scratch, "--junit");
    check.wait_for("clean.toml");
    REQUIRE(check.children().size() == 1);
    check.send(signal);  // to the program alone, not to its children
    const int status = check.wait();
    CHECK(WIFSIGNALED(status));
    check.wait_for_the_end_of_all();
    CHECK(scratch.files() == 2);
  }
}

TEST_CASE("check: XML holds any report", "[check]") {
  CHECK(xml_text("a < b && \"c\" > 'd'") == "a &lt; b &amp;&amp; &quot;c&quot; &gt; 'd'");
  CHECK(xml_text("tab\tand\nline") == "tab\tand\nline");
  const std::string replaced = "\xef\xbf\xbd";
  CHECK(xml_text(std::string("\x01\x1b\0x", 4)) == replaced + replaced + replaced + "x");
  CHECK(xml_text("\xe2\x86\x94 \xf0\x9f\x98\x80") == "\xe2\x86\x94 \xf0\x9f\x98\x80");  // UTF-8 as it is
  CHECK(xml_text("\xff") == replaced);
  CHECK(xml_text("\xc3") == replaced);                                // cut
  CHECK(xml_text("\xc0\xaf") == replaced + replaced);                 // overlong
  CHECK(xml_text("\xed\xa0\x80") == replaced + replaced + replaced);  // a surrogate
  CHECK(xml_text("\xef\xbf\xbf") == replaced + replaced + replaced);  // U+FFFF

  ScratchDirectory scratch;
  std::filesystem::create_directory(scratch / "a&b");
  scratch.write("a&b/x<y\".toml", kKernel + kHang);
  scratch.write("a&b/broken.toml", kKernel + "\"<\x01&\" = 1\n");
  CHECK(run(scratch, "check 'a&b' --junit r.xml").exit_code == 1);
  CHECK(elements_of_xml(read_whole(scratch / "r.xml")) == 1 + 1 + 2 + 2);
}

}  // namespace sm100::sim
