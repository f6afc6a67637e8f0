// SPDX-License-Identifier: Apache-2.0
/// A page of docs/ as blocks: what the tests of the documents look at.
///
/// A code block "```console" holds commands ("$ sm100sim ...") and what they print; "```console dated" one that no
/// test can run (a GPU, a measured timeline).  A comment "<!-- figures: NAME -->" above a table says who makes it.
#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "paths.h"

namespace sm100::sim {

struct Block {
  enum Kind { heading, text, table, code, comment };
  Kind kind;
  size_t begin, end;    ///< lines of the page; of code without the fences
  std::string info;     ///< of code what stands behind the fence, of a comment its text
  std::string section;  ///< the headings that it stands under, joined by " / "
  std::string figures;  ///< of a table: NAME of the comment above it
};

struct Document {
  std::string name;  ///< "docs/run.md"
  std::vector<std::string> lines;
  std::vector<Block> blocks;

  std::string text_of(const Block& block) const {
    std::string text;
    for (size_t i = block.begin; i < block.end; ++i) text += lines[i] + "\n";
    return text;
  }
  /// All that is said under a heading, before the next one.
  std::string text_of(const std::string& section) const {
    std::string text;
    for (const Block& block : blocks)
      if (block.section == section) text += text_of(block);
    return text;
  }
};

namespace document_parts {

inline bool starts(const std::string& line, const char* with) { return line.rfind(with, 0) == 0; }

/// Level of a heading, 0 of other lines.
inline size_t heading_level(const std::string& line) {
  const size_t level = line.find_first_not_of('#');
  return level != std::string::npos && level > 0 && line[level] == ' ' ? level : 0;
}

inline std::string joined(const std::vector<std::string>& headings) {
  std::string text;
  for (const std::string& heading : headings) text += (text.empty() ? "" : " / ") + heading;
  return text;
}

}  // namespace document_parts

inline Document parse_document(std::string name, const std::string& text) {
  using namespace document_parts;
  Document page{std::move(name), {}, {}};
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) page.lines.push_back(line);
  std::vector<std::string> headings;
  std::string figures;
  const size_t count = page.lines.size();
  const auto fence = [&](size_t i) { return starts(page.lines[i], "```"); };
  const auto table = [&](size_t i) { return starts(page.lines[i], "|"); };
  const auto special = [&](size_t i) {
    return page.lines[i].empty() || fence(i) || table(i) || heading_level(page.lines[i]) > 0 ||
           starts(page.lines[i], "<!--");
  };
  for (size_t i = 0; i < count;) {
    const std::string& line = page.lines[i];
    const size_t begin = i++;
    if (line.empty()) continue;
    if (const size_t level = heading_level(line)) {
      headings.resize(level - 1), headings.push_back(line.substr(level + 1));
      page.blocks.push_back({Block::heading, begin, i, "", joined(headings), ""});
    } else if (fence(begin)) {
      while (i < count && !fence(i)) ++i;
      page.blocks.push_back({Block::code, begin + 1, i, line.substr(3), joined(headings), ""});
      ++i;
    } else if (starts(line, "<!--")) {
      while (i < count && page.lines[i - 1].find("-->") == std::string::npos) ++i;
      page.blocks.push_back({Block::comment, begin, i, line, joined(headings), ""});
      if (starts(line, "<!-- figures: ")) figures = line.substr(14, line.find(" -->") - 14);
    } else if (table(begin)) {
      while (i < count && table(i)) ++i;
      page.blocks.push_back({Block::table, begin, i, "", joined(headings), figures});
      figures.clear();
    } else {
      while (i < count && !special(i)) ++i;
      page.blocks.push_back({Block::text, begin, i, "", joined(headings), ""});
    }
  }
  return page;
}

inline Document read_document(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::filesystem::path(source_dir()) / name).rdbuf();
  return parse_document(name, text.str());
}

inline void write_document(const Document& page) {
  std::ofstream out(std::filesystem::path(source_dir()) / page.name);
  for (const std::string& line : page.lines) out << line << "\n";
}

/// README.md and the pages of docs/ and docs/lessons/, sorted.
inline std::vector<std::string> document_names() {
  std::vector<std::string> names{"README.md"};
  for (const std::string folder : {"docs/", "docs/lessons/"})
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(source_dir()) / folder))
      if (entry.path().extension() == ".md") names.push_back(folder + entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The anchor that a heading gets: lower case, blanks to dashes, other punctuation dropped.
inline std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      anchor += char(std::tolower(static_cast<unsigned char>(c)));
    else if (c == ' ')
      anchor += '-';
  return anchor;
}

}  // namespace sm100::sim
