// SPDX-License-Identifier: Apache-2.0
// The documents say what is so: what commands print and the tables of figures are made again and compared; every
// other figure is dated with its commit.  docs/figures.md, which says which, is written from the documents
// themselves. SM100_UPDATE_GOLDEN=1 puts in what is printed now; read the differences.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "catch.h"
#include "sim/console.h"
#include "sim/document.h"
#include "sim/figure_tables.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

/// Pages that another test holds as a whole.
const std::map<std::string, const char*> kWholePages = {
    {"docs/bugs.md", "bugs: each ends as it expects and is reported word for word, and docs/bugs.md lists it"},
    {"docs/checks.md", "docs/checks.md is what sm100sim list checks --format markdown prints"},
    {"docs/faults.txt", "docs/faults.txt is what sm100sim list faults prints"},
    {"docs/figures.md", "documents: docs/figures.md lists who holds which figures"},
    {"docs/isa-support.txt", "docs/isa-support.txt is what sm100sim list isa prints"},
    {"docs/world-bugs.md", "world bugs: each ends as it expects, and docs/world-bugs.md says what it prints"},
};

/// Quantities that are no figures of a run: units, the thing asked about, what a word means.
const std::set<std::string> kNoFigures = {"1 ns", "32 ns", "1 cycle", "100 %"};

bool updating() { return std::getenv("SM100_UPDATE_GOLDEN"); }

/// The commit of "... at commit `1a2b3c4` ..."; empty: none is named.
std::string date_in(const std::string& text) {
  std::smatch found;
  return std::regex_search(text, found, std::regex("at commit\\s+`?([0-9a-f]{7,40})")) ? found[1].str() : "";
}

/// The commit that a section, or one that it belongs to, is dated with.
std::string date_of(const Document& page, std::string section) {
  for (;;) {
    const std::string date = date_in(page.text_of(section));
    const size_t up = section.rfind(" / ");
    if (!date.empty() || up == std::string::npos) return date;
    section.resize(up);
  }
}

bool is_console(const Block& b) { return b.kind == Block::code && b.info.rfind("console", 0) == 0; }
bool is_held(const Block& b) {
  return (b.kind == Block::code && b.info == "console") || (b.kind == Block::table && !b.figures.empty());
}

/// Whether some figures of the section are held by a test.
bool has_held_blocks(const Document& page, const std::string& section) {
  return std::any_of(page.blocks.begin(), page.blocks.end(),
                     [&](const Block& b) { return b.section == section && is_held(b); });
}

/// Whether no test holds the block's figures, and a date says so: its own, else that of its section.  Beside
/// figures that are held, a sentence is not excused by the date of others.
bool is_dated(const Document& page, const Block& block) {
  if (block.kind == Block::text && has_held_blocks(page, block.section))
    return !date_in(page.text_of(block)).empty();
  return !date_of(page, block.section).empty();
}

/// Numbers with a unit that a run or a measurement has, outside of `code`, as they are written.
std::vector<std::string> figures_in(const std::string& text) {
  static const std::regex code("`[^`]*`"),
      figure(R"((^|[^\w.,])([-+]?\d[\d,.]*(e[-+]\d+)?\s?(%|(TFLOPS|[GT]B/s|MB|us|ns|ms|s|cycles?)\b)))");
  const std::string plain = std::regex_replace(text, code, "");
  std::vector<std::string> figures;
  for (std::sregex_iterator it(plain.begin(), plain.end(), figure), end; it != end; ++it)
    figures.push_back(std::regex_replace((*it)[2].str(), std::regex(R"(\s)"), " "));
  return figures;
}

/// Whether a held block of the section shows the number, or a dated page that the text links to does.
bool stands_elsewhere(const Document& page, const Block& block, const std::string& figure) {
  const std::string number = figure.substr(0, figure.find_first_not_of("-+0123456789,.e"));
  const auto shows = [&](const std::string& text) {
    for (size_t at = 0; (at = text.find(number, at)) != std::string::npos; ++at) {
      const auto part = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
      const size_t end = at + number.size();
      if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
    }
    return false;
  };
  for (const Block& other : page.blocks)
    if (other.section == block.section && is_held(other) && shows(page.text_of(other))) return true;
  const std::string text = page.text_of(block);
  static const std::regex link(R"(\]\(([\w./-]+\.md))");
  for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
    const auto name = (std::filesystem::path(page.name).parent_path() / (*it)[1].str()).lexically_normal().string();
    const Document linked = read_document(name);
    for (const Block& other : linked.blocks)
      if (!date_of(linked, other.section).empty() && shows(linked.text_of(other))) return true;
  }
  return false;
}

/// Runs the commands of the page, in a folder for each section; returns whether a line has been changed.
void hold_commands(Document& page) {
  std::map<std::string, std::unique_ptr<ScratchDirectory>> folders;
  for (size_t b = 0; b < page.blocks.size(); ++b) {
    const Block block = page.blocks[b];
    if (block.kind != Block::code || block.info != "console") continue;
    auto& folder = folders[block.section];
    if (!folder) make_console_folder(*(folder = std::make_unique<ScratchDirectory>()));
    std::vector<std::string> now;
    for (Command& command : commands_of(page.text_of(block))) {
      CAPTURE(page.name, block.section, command.line);
      REQUIRE_FALSE(command.arguments.empty());
      const Printed printed = print(*folder, command);
      CAPTURE(fmt::format("{}", fmt::join(printed.lines, "\n")));
      CHECK(printed.exit_code != 2);
      CHECK(printed.exit_code != 5);
      const auto lines = updating() ? updated(command, printed) : std::nullopt;
      CHECK((lines || shows(command, printed)));
      now.push_back(command.line);
      for (const std::string& line : lines.value_or(command.shown)) now.push_back(line);
    }
    REQUIRE(now.size() == block.end - block.begin);  // a block begins with a command
    std::copy(now.begin(), now.end(), page.lines.begin() + long(block.begin));
  }
}

/// Makes the tables of figures again.
void hold_tables(Document& page) {
  ScratchDirectory folder;
  make_console_folder(folder);
  for (size_t b = page.blocks.size(); b-- > 0;) {  // from the end: a table may get other lines
    const Block block = page.blocks[b];
    if (block.kind != Block::table || block.figures.empty()) continue;
    CAPTURE(page.name, block.section, block.figures);
    const auto begin = page.lines.begin() + long(block.begin), end = page.lines.begin() + long(block.end);
    const TableRows rows(begin, end);
    const TableRows made = kFigureTables.at(block.figures)(folder, rows);
    if (!updating()) CHECK(fmt::format("{}", fmt::join(rows, "\n")) == fmt::format("{}", fmt::join(made, "\n")));
    page.lines.insert(page.lines.erase(begin, end), made.begin(), made.end());
  }
}

void hold(const std::string& name, void (*check)(Document&)) {
  Document page = read_document(name);
  check(page);
  if (updating()) write_document(page);
}

std::string first_command(const Document& page, const Block& block) {
  for (const Command& command : commands_of(page.text_of(block)))
    if (!command.shown.empty()) return command.line.substr(2);
  return page.lines[block.begin].substr(std::min<size_t>(2, page.lines[block.begin].size()));
}

constexpr const char* kCommandsTest = "documents: commands print what the pages show";
constexpr const char* kTablesTest = "documents: tables of figures are made again";

/// A row for each block of figures, and for each dated section.
std::string rows_of(const Document& page) {
  const std::string file = page.name.rfind("docs/", 0) == 0 ? page.name.substr(5) : "../" + page.name;
  const auto row = [&](const std::string& section, const std::string& what, const std::string& by) {
    std::string heading = section.substr(section.rfind(" / ") == std::string::npos ? 0 : section.rfind(" / ") + 3);
    return fmt::format("| [{}]({}#{}) | {} | {} |\n", heading, file, anchor_of(heading), what, by);
  };
  if (const auto whole = kWholePages.find(page.name); whole != kWholePages.end())
    return page.name == "docs/figures.md" ? "" : row(page.blocks.front().section, "the page", whole->second);
  std::string rows, dated;
  for (const Block& block : page.blocks) {
    if (is_held(block))
      rows += block.kind == Block::table
                  ? row(block.section, "table `" + block.figures + "`", kTablesTest)
                  : row(block.section, "`" + first_command(page, block) + "`", kCommandsTest);
    const std::string date = block.kind == Block::text ? date_in(page.text_of(block)) : "";
    if (!date.empty()) rows += row(block.section, "what no command above holds", "dated: commit " + date);
  }
  return rows;
}

std::string figures_page() {
  std::string text =
      "# Figures\n\n"
      "Which test holds which figures of the documents, and which are dated with their commit instead, because a "
      "test\n"
      "would take too long, or needs a GPU or other people's measurements. A test writes this page from the "
      "documents\n"
      "and compares it. A figure in a sentence stands in a held block of its section as well, or on a dated page "
      "that the\n"
      "sentence links to; that is tested too. Pages of `bench/` are records of measurements and are not listed.\n\n"
      "| section | what | held by |\n|---|---|---|\n";
  for (const std::string& name : document_names()) text += rows_of(read_document(name));
  for (const auto& [name, test] : kWholePages)
    if (name.ends_with(".txt"))
      text += fmt::format("| [{}]({}) | the page | {} |\n", name.substr(5), name.substr(5), test);
  return text;
}

/// The second-level headings of a page.
std::vector<std::string> sections_of(const Document& page) {
  std::vector<std::string> sections;
  for (const Block& block : page.blocks) {
    const size_t below = block.section.find(" / ");
    if (block.kind == Block::heading && below != std::string::npos && below == block.section.rfind(" / "))
      sections.push_back(block.section.substr(below + 3));
  }
  return sections;
}

}  // namespace

TEST_CASE("documents: commands print what the pages show", "[docs][golden]") {
  for (const std::string& name : document_names())
    if (!kWholePages.count(name)) hold(name, hold_commands);
}

TEST_CASE("documents: tables of figures are made again", "[docs][golden]") {
  for (const std::string& name : document_names())
    if (!kWholePages.count(name)) hold(name, hold_tables);
}

TEST_CASE("documents: every figure is held by a test or dated", "[docs]") {
  for (const std::string& name : document_names()) {
    if (kWholePages.count(name)) continue;
    const Document page = read_document(name);
    for (const Block& block : page.blocks) {
      CAPTURE(name, block.section, block.begin + 1);
      const bool dated = is_dated(page, block);
      if (is_console(block)) CHECK((block.info == "console" || (block.info == "console dated" && dated)));
      if (block.kind == Block::code && !is_console(block))
        CHECK(page.text_of(block).find("$ sm100") == std::string::npos);
      if (dated || is_held(block) || block.kind == Block::code || block.kind == Block::comment) continue;
      for (const std::string& figure : figures_in(page.text_of(block))) {
        CAPTURE(figure);
        CHECK((kNoFigures.count(figure) == 1 || stands_elsewhere(page, block, figure)));
      }
    }
  }
}

TEST_CASE("documents: docs/figures.md lists who holds which figures", "[docs][golden]") {
  const auto file = std::filesystem::path(source_dir()) / "docs/figures.md";
  const std::string page = figures_page();
  if (updating()) std::ofstream(file) << page;
  CHECK(page == read_whole(file));
}

TEST_CASE("documents: links lead somewhere", "[docs]") {
  static const std::regex link(R"(\]\(([^)#\s]*)(#[^)\s]*)?\))");
  for (const std::string& name : document_names()) {
    const Document page = read_document(name);
    for (const Block& block : page.blocks) {
      if (block.kind == Block::code) continue;
      const std::string text = page.text_of(block);
      for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
        const std::string target = (*it)[1], anchor = (*it)[2];
        CAPTURE(name, block.section, target, anchor);
        if (target.rfind("http", 0) == 0) continue;
        const auto file = target.empty() ? std::filesystem::path(name)
                                         : (std::filesystem::path(name).parent_path() / target).lexically_normal();
        CHECK(std::filesystem::exists(std::filesystem::path(source_dir()) / file));
        if (anchor.empty() || file.extension() != ".md") continue;
        const Document linked = read_document(file.string());
        CHECK(std::any_of(linked.blocks.begin(), linked.blocks.end(), [&](const Block& b) {
          return b.kind == Block::heading &&
                 "#" + anchor_of(b.section.substr(
                           b.section.rfind(" / ") == std::string::npos ? 0 : b.section.rfind(" / ") + 3)) ==
                     anchor;
        }));
      }
    }
  }
}

TEST_CASE("documents: files and folders that are named are there", "[docs]") {
  static const std::regex path(
      "`((kernels|models|sim|traces|report|scenarios|tests|bench|docs|cmake)/[\\w./-]*[\\w/])`");
  for (const std::string& name : document_names()) {
    const Document page = read_document(name);
    for (const Block& block : page.blocks) {
      if (block.kind == Block::code) continue;
      const std::string text = page.text_of(block);
      for (std::sregex_iterator it(text.begin(), text.end(), path), end; it != end; ++it) {
        CAPTURE(name, block.section, (*it)[1].str());
        CHECK(std::filesystem::exists(std::filesystem::path(source_dir()) / (*it)[1].str()));
      }
    }
  }
}

TEST_CASE("documents: a contents list names every section", "[docs]") {
  size_t lists = 0;
  for (const std::string& name : document_names()) {
    const Document page = read_document(name);
    const std::string contents = page.text_of(page.blocks.front().section);
    if (contents.find("\n- [") == std::string::npos) continue;
    ++lists;
    for (const std::string& heading : sections_of(page)) {
      CAPTURE(name, heading);
      CHECK(contents.find("[" + heading + "](#" + anchor_of(heading) + ")") != std::string::npos);
    }
  }
  CHECK(lists >= 6);
}

TEST_CASE("documents: the user guide's index names every section of its pages", "[docs]") {
  const Document index = read_document("docs/user-guide.md");
  static const std::regex row(R"(^\| ([^|]+) \| \[([\w-]+\.md)\])");
  size_t pages = 0;
  for (const std::string& line : index.lines) {
    std::smatch found;
    if (!std::regex_search(line, found, row)) continue;
    ++pages;
    const Document page = read_document("docs/" + found[2].str());
    CAPTURE(page.name);
    CHECK(page.blocks.front().section == found[1].str());
    for (const std::string& heading : sections_of(page)) {
      CAPTURE(heading);
      CHECK(line.find("[" + heading + "](" + found[2].str() + "#" + anchor_of(heading) + ")") != std::string::npos);
    }
  }
  CHECK(pages >= 8);
}

TEST_CASE("documents: what a page shows is compared line by line", "[docs]") {
  const auto fits = [](const char* shown, std::vector<std::string> printed) {
    return shows(commands_of(std::string("$ sm100sim x\n") + shown).front(), {0, std::move(printed)});
  };
  CHECK(fits("a 1\nb 2\n", {"a 1", "b 2"}));
  CHECK_FALSE(fits("a 1\nb 2\n", {"a 1", "b 3"}));
  CHECK_FALSE(fits("a 1\n", {"a 1", "b 2"}));  // more is printed than shown
  CHECK(fits("a 1\n...\n", {"a 1", "b 2"}));
  CHECK(fits("...\nb 2\n", {"a 1", "b 2"}));
  CHECK(fits("a 1\n  ...\nc 3\n", {"a 1", "b 2", "b 2", "c 3"}));
  CHECK_FALSE(fits("a 1\n...\nb 2\n", {"a 1", "b 2", "c 3"}));
  CHECK(fits("a = {1, ... }\n", {"a = {1, 2, 3 }"}));
  CHECK(fits("took 3.5 s with 2 processes\n", {"took 12 s with 16 processes"}));
  CHECK_FALSE(fits("took 3.5 us\n", {"took 3.6 us"}));
}

TEST_CASE("documents: what is printed now takes the place of what was", "[docs]") {
  const Command command = commands_of("$ sm100sim x\na 1\n...\nc 3, d\n").front();
  CHECK(*updated(command, {0, {"a 7", "b 8", "c 1,009, d"}}) ==
        std::vector<std::string>{"a 7", "...", "c 1,009, d"});
  CHECK_FALSE(updated(command, {0, {"something else"}}));
}

TEST_CASE("documents: what counts as a figure", "[docs]") {
  CHECK(figures_in("it takes 24,346 cycles or 12 %, `5 us` not; 16 bytes") ==
        std::vector<std::string>{"24,346 cycles", "12 %"});
  CHECK(date_in("measured at commit `1a2b3c4` by") == "1a2b3c4");
  CHECK(date_in("committed").empty());
}
