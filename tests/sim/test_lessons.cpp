// SPDX-License-Identifier: Apache-2.0
// The lessons: each has its parts, what it shows of the source stands there, its scenarios end as they say, and the
// command finds and prints it.  What its runs print is held with that of the other documents (test_documents.cpp).
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "catch.h"
#include "sim/console.h"
#include "sim/document.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> lesson_names() {
  std::vector<std::string> names;
  for (const std::string& name : document_names())
    if (name.rfind("docs/lessons/", 0) == 0 && std::isdigit(static_cast<unsigned char>(name[13])))
      names.push_back(name);
  return names;
}

/// Whether the lines stand in the text one after the other, all indented by as much more.
bool stands_in(const std::vector<std::string>& lines, const std::vector<std::string>& text) {
  for (size_t at = 0; at + lines.size() <= text.size(); ++at) {
    if (text[at].size() < lines.front().size()) continue;
    const std::string indent = text[at].substr(0, text[at].size() - lines.front().size());
    if (indent.find_first_not_of(' ') != std::string::npos) continue;
    bool same = true;
    for (size_t i = 0; same && i < lines.size(); ++i)
      same = text[at + i] == (lines[i].empty() ? "" : indent + lines[i]);
    if (same) return true;
  }
  return false;
}

const char* const kParts[] = {"The code",      "The healthy run",    "Guess first", "What happens",
                              "What it costs", "A bug of the world", "Try next"};

}  // namespace

TEST_CASE("lessons: each has all its parts, in their order", "[docs][lessons]") {
  const std::vector<std::string> names = lesson_names();
  CHECK(names.size() >= 12);
  for (size_t i = 0; i < names.size(); ++i) {
    const Document page = read_document(names[i]);
    CAPTURE(page.name);
    const std::string title = page.blocks.front().section;
    CHECK_THAT(title, Catch::StartsWith(fmt::format("Lesson {}: ", i + 1)));
    std::vector<std::string> parts;
    for (const Block& block : page.blocks)
      if (block.kind == Block::heading && block.section != title)
        parts.push_back(block.section.substr(title.size() + 3));
    CHECK(parts == std::vector<std::string>(std::begin(kParts), std::end(kParts)));
    const auto part = [&](const char* name) { return page.text_of(title + " / " + name); };
    const std::string folder = fmt::format("scenarios/lessons/{:02}_", i + 1);
    CHECK_THAT(part("The healthy run"), Catch::Contains("--timeline\nCTA 0: ") && Catch::Contains(folder));
    CHECK_THAT(part("Guess first"), Catch::Contains("?"));
    CHECK_THAT(part("What happens"), Catch::Contains("_broken.toml"));
    CHECK_THAT(part("What it costs"), Catch::Contains("figures: lesson_cost"));
    CHECK_THAT(part("A bug of the world"), Catch::Contains("(../world-bugs.md#"));
  }
}

TEST_CASE("lessons: the lines of the source that they show stand in it", "[docs][lessons]") {
  for (const std::string& name : document_names()) {
    const Document page = read_document(name);
    for (const Block& block : page.blocks) {
      if (block.kind != Block::code || block.info.rfind("cpp kernels/", 0) != 0) continue;
      const std::string file = block.info.substr(4);
      CAPTURE(name, file, page.lines[block.begin]);
      CHECK(stands_in(lines_of(page.text_of(block)), lines_of(read_whole(fs::path(source_dir()) / file))));
    }
    if (name.rfind("docs/lessons/0", 0) == 0 || name.rfind("docs/lessons/1", 0) == 0)
      CHECK(std::any_of(page.blocks.begin(), page.blocks.end(),
                        [](const Block& b) { return b.info.rfind("cpp kernels/", 0) == 0; }));
  }
  CHECK(stands_in({"a", "", "  b"}, {"x", "  a", "", "    b"}));
  CHECK_FALSE(stands_in({"a", "b"}, {"  a", "b"}));
}

TEST_CASE("lessons: the edit that a lesson shows is that of its scenario", "[docs][lessons]") {
  for (const std::string& name : lesson_names()) {
    const Document page = read_document(name);
    for (const Block& block : page.blocks) {
      if (block.kind != Block::code || block.info != "toml") continue;
      std::string scenario = page.name.substr(13, page.name.size() - 16) + "_broken.toml";
      std::replace(scenario.begin(), scenario.end(), '-', '_');
      CAPTURE(scenario);
      const std::string text = read_whole(fs::path(scenario_dir()) / "lessons" / scenario);
      const std::string shown = page.text_of(block);
      CHECK(text.find(shown.substr(shown.find("[[fault]]"))) != std::string::npos);
    }
  }
}

TEST_CASE("lessons: every scenario of theirs ends as it says", "[lessons]") {
  ScratchDirectory folder;
  make_console_folder(folder);
  const Ran ran = run(folder, "check scenarios/lessons --jobs 2");
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
}

TEST_CASE("lessons: the command lists them, finds one by number and by name, and can stop at the question",
          "[lessons]") {
  ScratchDirectory folder;
  const Ran list = run(folder, "lessons");
  CHECK(list.exit_code == 0);
  for (const std::string& name : lesson_names()) {
    const std::string word = name.substr(16, name.size() - 19);
    CAPTURE(word);
    CHECK_THAT(list.out, Catch::Contains(word));
    CHECK(run(folder, "lessons " + word).exit_code == 0);
  }
  const Ran third = run(folder, "lessons 3");
  CHECK_THAT(third.out, Catch::StartsWith("# Lesson 3: ") && Catch::Contains("HANG at cycle") &&
                            Catch::Contains("// kernels/matmul/load_warp.h") && !Catch::Contains("```") &&
                            !Catch::Contains("<!--") && !Catch::Contains("]("));
  CHECK(run(folder, "lessons 03").out == third.out);
  CHECK(run(folder, "lessons expect_tx").out == third.out);
  const Ran question = run(folder, "lessons 3 --question");
  CHECK_THAT(question.out, Catch::Contains("## Guess first") && !Catch::Contains("HANG") &&
                               Catch::EndsWith("sm100sim lessons 3\n"));
}

TEST_CASE("lessons: their commands can be pasted in any folder", "[lessons]") {
  ScratchDirectory folder;
  const Ran ran = run(folder, "run scenarios/lessons/03_expect_tx_broken.toml");
  CHECK(ran.exit_code == 3);
  CHECK(run(folder, "run scenarios/lessons/no_such.toml").exit_code == 2);
}

TEST_CASE("lessons: what is no lesson ends in one line", "[lessons]") {
  ScratchDirectory folder;
  const Ran none = run(folder, "lessons 99");
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Catch::StartsWith("lessons 99: no such lesson; allowed are 1 to "));
  CHECK_THAT(run(folder, "lessons drain").err, Catch::EndsWith("as drains\n"));
  const Ran empty = run(folder, "lessons", "SM100SIM_LESSONS=/nowhere");
  CHECK(empty.exit_code == 2);
  CHECK_THAT(empty.err, Catch::Contains("SM100SIM_LESSONS names their directory"));
}

TEST_CASE("lessons: a tree that was installed has them", "[lessons][install]") {
  ScratchDirectory scratch;
  const fs::path share = scratch / "somewhere/share/sm100sim", program = scratch / "somewhere/bin/sm100sim";
  fs::create_directories(program.parent_path());
  fs::create_directories(share);
  fs::copy_file(sm100sim_binary(), program);
  fs::copy(profile_dir(), share / "profiles");
  fs::copy(fs::path(source_dir()) / "docs/lessons", share / "lessons");
  const Ran ran = run_program(scratch, "env -u SM100SIM_LESSONS '" + program.string() + "'", "lessons 1");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Catch::StartsWith("# Lesson 1: "));
  CHECK_THAT(read_whole(fs::path(source_dir()) / "cmake/Install.cmake"),
             Catch::Contains("install(DIRECTORY docs/lessons/"));
}
