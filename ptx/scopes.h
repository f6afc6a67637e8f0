// SPDX-License-Identifier: Apache-2.0
/// Names of a body: each block is a scope of registers, variables and labels.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "ptx/cursor.h"
#include "ptx/module.h"

namespace sm100::ptx {

struct Found {
  enum class Kind : uint8_t { nothing, reg, variable } kind = Kind::nothing;
  uint32_t index = 0;
};

class Scopes {
 public:
  explicit Scopes(Body& body) : body_(body) { open(); }

  void open();
  void close();  ///< labels that the block has not are left to the block around it

  void add_register(const Cursor& at, std::string_view name, Type type);
  void add_registers(const Cursor& at, std::string_view stem, uint32_t count, Type type);
  void add_variable(std::string_view name, uint32_t index);
  void add_label(const Cursor& at, std::string_view name);
  void add_table(const Cursor& at, std::string_view name, uint32_t index);

  Found find(std::string_view name) const;
  /// A number that stands for the label until `resolve`.
  uint32_t refer_to_label(const Cursor& at, std::string_view name, bool table = false);
  /// After the last block: puts labels and tables into the terms and tables that name them.
  void resolve(const Cursor& at);

 private:
  struct Range {
    uint32_t first, count;
  };
  struct Scope {
    std::unordered_map<std::string_view, Found> names;
    std::unordered_map<std::string_view, Range> ranges;  // %r<10>
    std::unordered_map<std::string_view, uint32_t> labels, tables;
    std::vector<uint32_t> open_references;
  };
  struct Reference {
    std::string_view name;
    int line, column;
    bool table;
    uint32_t found;
  };
  void reserve(const Cursor& at, uint64_t count) const;
  bool settle(const Scope& scope, Reference& reference) const;

  Body& body_;
  std::deque<Scope> scopes_;
  std::vector<Reference> references_;
};

}  // namespace sm100::ptx
