// The registry of checks: complete, the same in the documentation, and what `explain` makes of it.
#include "sim/checks.h"

#include <filesystem>
#include <regex>
#include <set>

#include "catch.h"
#include "sim/program.h"

using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = SM100_SOURCE_DIR;

/// Registered, not reported yet: the happens-before checker's.  Take an id out when the sources report it.
const std::set<std::string> kHazards = {"TM5",  "TM6",  "TM7",  "TM8", "TC3", "TC4", "TC15", "TC16",
                                        "TC17", "SM3",  "CL6",  "CL8", "GM3", "GM4", "MB14"};

/// Every check id that models/ and sim/ name in a string.
std::set<std::string> ids_in_the_sources() {
  const std::regex id("\"((?:MB|TM|TC|CL|CB|NB|CR|EX|GM|SM|TX)[0-9]+|hang|cycle-budget|mismatch|not-implemented)\"");
  std::set<std::string> found;
  for (const char* folder : {"models", "sim"})
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
      const fs::path& file = entry.path();
      if ((file.extension() != ".cpp" && file.extension() != ".h") || file.filename() == "checks.h") continue;
      const std::string text = sm100::read_whole(file);
      for (std::sregex_iterator at(text.begin(), text.end(), id), end; at != end; ++at) found.insert((*at)[1]);
    }
  return found;
}

}  // namespace

TEST_CASE("every id that the sources report is a registered check, and the reverse", "[checks]") {
  std::set<std::string> registered;
  for (const Check& check : kChecks) {
    CAPTURE(check.id);
    CHECK(registered.insert(std::string(check.id)).second);
    CHECK(!check.title.empty());
    CHECK(!check.meaning.empty());
    CHECK(!check.symptom.empty());
    CHECK(!check.mend.empty());
  }
  const std::set<std::string> reported = ids_in_the_sources();
  CHECK(reported.size() > 30);
  for (const std::string& id : reported) {
    CAPTURE(id);
    CHECK(registered.count(id) == 1);
  }
  for (const std::string& id : registered) {
    CAPTURE(id);
    CHECK((reported.count(id) == 1 || kHazards.count(id) == 1));
  }
}

TEST_CASE("docs/checks.md is what sm100sim list checks --format markdown prints", "[checks][docs]") {
  const sm100::ScratchDirectory here;
  const Ran ran = run(here, "list checks --format markdown");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out == sm100::read_whole(kSource / "docs" / "checks.md"));
}

TEST_CASE("explain prints several checks, in any letter case, in 100 columns, with their scenarios", "[checks]") {
  const sm100::ScratchDirectory here;
  const Ran ran = run(here, "explain tm9 HANG");
  CHECK(ran.exit_code == 0);
  CHECK(ran.err.empty());
  CHECK(ran.out.rfind("TM9 (error)  CTA exits with copies in flight\n  means        ", 0) == 0);
  CHECK(ran.out.find("\n\nhang (error)") != std::string::npos);
  CHECK(ran.out.find("bugs/expect_tx_too_large.toml") != std::string::npos);
  CHECK(ran.out.find("_sound.toml") == std::string::npos);
  size_t begin = 0;
  for (size_t end; (end = ran.out.find('\n', begin)) != std::string::npos; begin = end + 1) CHECK(end - begin <= 100);
}

TEST_CASE("explain of something else names near checks", "[checks]") {
  const sm100::ScratchDirectory here;
  const Ran unit = run(here, "explain MB99"), word = run(here, "explain hnag"), none = run(here, "explain banana");
  CHECK((unit.exit_code == 2 && unit.out.empty()));
  CHECK(unit.err.rfind("sm100sim: 'MB99' is not a check; near ones are MB1, MB2, ", 0) == 0);
  CHECK(word.err == "sm100sim: 'hnag' is not a check; near ones are hang\n");
  CHECK(none.err == "sm100sim: 'banana' is not a check; sm100sim list checks shows all\n");
  CHECK(run(here, "list kernels --format markdown").exit_code == 2);
}
