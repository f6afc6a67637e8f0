// SPDX-License-Identifier: Apache-2.0
/// sm100sim lessons [LESSON]: the lessons of docs/lessons/, listed, or one of them in the terminal.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "kernels/host/data_directory.h"
#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"
#include "sim/cli/commands.h"

namespace sm100::sim::cli {

using namespace host;
namespace fs = std::filesystem;
namespace {

struct Lesson {
  int number = 0;     ///< 0: a page beside the lessons
  std::string name;   ///< "expect-tx" of 03-expect-tx.md
  std::string title;  ///< the page's first heading
  std::vector<std::string> lines;
};

Lesson read_lesson(const fs::path& file) {
  Lesson lesson;
  const std::string stem = file.stem().string();
  std::smatch parts;
  static const std::regex numbered(R"((\d\d)-(.+))");
  const bool is_numbered = std::regex_match(stem, parts, numbered);
  lesson.number = is_numbered ? std::stoi(parts[1]) : 0;
  lesson.name = is_numbered ? parts[2].str() : stem;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lesson.lines.push_back(line);
  if (!lesson.lines.empty() && lesson.lines.front().starts_with("# "))
    lesson.title = lesson.lines.front().substr(2);
  return lesson;
}

/// Numbered ones in their order, the others behind them.
std::vector<Lesson> lessons() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(lesson_directory(), error))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  if (files.empty())
    throw InputError(
        fmt::format("{}: no lessons here (SM100SIM_LESSONS names their directory)", lesson_directory().string()));
  std::sort(files.begin(), files.end());
  std::vector<Lesson> all;
  for (const fs::path& file : files) all.push_back(read_lesson(file));
  return all;
}

void list_lessons(const std::vector<Lesson>& all) {
  size_t width = 0;
  for (const Lesson& lesson : all) width = std::max(width, lesson.name.size());
  for (const Lesson& lesson : all)
    fmt::print("  {:>2}  {:<{}}  {}\n", lesson.number > 0 ? std::to_string(lesson.number) : "", lesson.name, width,
               lesson.title.substr(lesson.title.find(": ") == std::string::npos ? 0 : lesson.title.find(": ") + 2));
  fmt::print(
      "\n`sm100sim lessons 1` prints the first one, `--question` only as far as its question.  All of them:\n{}\n",
      lesson_directory().string());
}

const Lesson& find(const std::vector<Lesson>& all, const std::string& wanted) {
  std::string name = wanted;
  std::replace(name.begin(), name.end(), '_', '-');
  const auto found = std::find_if(all.begin(), all.end(), [&](const Lesson& lesson) {
    return lesson.name == name || (lesson.number > 0 && (std::to_string(lesson.number) == name ||
                                                         fmt::format("{:02}", lesson.number) == name));
  });
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Lesson& lesson : all) names.push_back(lesson.name);
  const std::string near = nearest_word(name, names);
  int last = 0;
  for (const Lesson& lesson : all) last = std::max(last, lesson.number);
  throw InputError(
      one_line(fmt::format("lessons {}: no such lesson; allowed are 1 to {} and names of `sm100sim lessons`{}",
                           wanted, last, near.empty() ? "" : ", as " + near)));
}

/// "[text](target)" as "text", with the page where it is none of the lessons: "text (docs/checks.md)".
std::string without_links(const std::string& line) {
  static const std::regex link(R"(\[([^\]]+)\]\(([^)\s]+)\))");
  std::string text;
  auto rest = line.cbegin();
  for (std::sregex_iterator it(line.begin(), line.end(), link), end; it != end; ++it) {
    text.append(rest, line.cbegin() + it->position());
    const std::string target = (*it)[2].str(), page = target.substr(0, target.find('#'));
    text += (*it)[1].str();
    if (page.starts_with("../")) text += " (docs/" + page.substr(3) + ")";
    rest = line.cbegin() + it->position() + it->length();
  }
  return text.append(rest, line.cend());
}

/// The page without what only a browser needs.
/// @param question  stop where the answer begins
void print_lesson(const Lesson& lesson, bool question) {
  bool code = false, comment = false;
  for (const std::string& line : lesson.lines) {
    if (line.starts_with("```")) {
      code = !code;
      const size_t file = line.find(' ');
      if (code && file != std::string::npos) fmt::print("    // {}\n", line.substr(file + 1));
      continue;
    }
    if (code) {
      fmt::print("{}{}\n", line.empty() ? "" : "    ", line);
      continue;
    }
    if (question && line == "## What happens") {
      fmt::print("Guess, then go on: sm100sim lessons {}\n",
                 lesson.number > 0 ? std::to_string(lesson.number) : lesson.name);
      return;
    }
    if (line.starts_with("<!--")) comment = true;
    if (!comment) fmt::print("{}\n", without_links(line));
    if (line.find("-->") != std::string::npos) comment = false;
  }
}

}  // namespace

void add_lessons_command(CLI::App& app, int& exit_code) {
  struct Options {
    std::string lesson;
    bool question = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("lessons", "Learn the pipeline: break a kernel, guess what happens, read the report");
  CLI::Option* lesson =
      command->add_option("LESSON", options->lesson, "A number or a name; all are listed if left out")
          ->check(some_text());
  command->add_flag("--question", options->question, "Only as far as the question")->needs(lesson);
  command->callback([options, &exit_code] {
    const std::vector<Lesson> all = lessons();
    if (options->lesson.empty())
      list_lessons(all);
    else
      print_lesson(find(all, options->lesson), options->question);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
