// SPDX-License-Identifier: Apache-2.0
#include "ptx/text_edits.h"

#include <algorithm>
#include <cctype>

namespace sm100::ptx {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Offset of the first of `wanted` at or behind `from` that stands in no comment and no string.
size_t find_code(std::string_view text, size_t from, std::string_view wanted) {
  for (size_t i = from; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("//"))
      i = std::min(text.find('\n', i), text.size() - 1);
    else if (rest.starts_with("/*"))
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 1;
    else if (text[i] == '"')
      i = std::min(text.find('"', i + 1), text.size() - 1);
    else if (wanted.find(text[i]) != std::string_view::npos)
      return i;
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

StatementText statement_text(const Module& module, const Statement& statement) {
  const std::string_view text = *module.text;
  const auto opcode = static_cast<size_t>(statement.opcode.data() - text.data());
  StatementText found{.begin = opcode, .end = 0, .guard = {}, .opcode = statement.opcode, .operands = {}};
  const size_t semicolon = find_code(text, opcode, ";");
  found.end = std::min(semicolon + 1, text.size());
  found.operands =
      trimmed(text.substr(opcode + statement.opcode.size(), semicolon - opcode - statement.opcode.size()));
  if (statement.guard != Statement::kNoGuard) {
    found.begin = text.rfind('@', opcode);
    found.guard = trimmed(text.substr(found.begin, opcode - found.begin));
  }
  return found;
}

void TextEdits::replace(const Statement& statement, std::string text) {
  const StatementText where = at(statement);
  edits_.push_back({where.begin, where.end, std::move(text)});
}

void TextEdits::module_scope(std::string text) {
  // The header's directives come first; each ends with its line.
  const std::string_view all = *module_.text;
  size_t at = 0;
  while (true) {
    const size_t directive = find_code(all, at, ".");
    const std::string_view rest = all.substr(directive);
    if (!rest.starts_with(".version") && !rest.starts_with(".target") && !rest.starts_with(".address_size")) break;
    at = std::min(all.find('\n', directive), all.size() - 1) + 1;
  }
  insert(at, std::move(text));
}

void TextEdits::body_start(const Entry& entry, std::string text) {
  const std::string_view all = *module_.text;
  const size_t brace = find_code(all, static_cast<size_t>(entry.name.data() - all.data()), "{");
  insert(std::min(brace + 1, all.size()), std::move(text));
}

std::string TextEdits::apply() const {
  std::vector<const Edit*> order;
  for (const Edit& edit : edits_) order.push_back(&edit);
  std::stable_sort(order.begin(), order.end(), [](const Edit* a, const Edit* b) { return a->begin < b->begin; });
  const std::string_view all = *module_.text;
  std::string text;
  size_t from = 0;
  for (const Edit* edit : order) {
    text += all.substr(from, edit->begin - from);
    text += edit->text;
    from = edit->end;
  }
  text += all.substr(from);
  return text;
}

}  // namespace sm100::ptx
