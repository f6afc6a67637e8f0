// SPDX-License-Identifier: Apache-2.0
#include "ptx/alu/form_table.h"

#include <algorithm>
#include <stdexcept>

#include "ptx/opcode.h"

namespace sm100::ptx {

namespace {

struct Catalogue {
  std::vector<AluForm> forms;
  std::unordered_map<std::string_view, const AluForm*> by_name;
};

bool is_integer(Type type) { return type >= Type::u8 && type <= Type::s64; }
bool holds(Type wide, Type narrow) {
  return is_signed(wide) == is_signed(narrow) ? bits(wide) >= bits(narrow)
                                              : is_signed(wide) && bits(wide) > bits(narrow);
}

/// Combinations that loops over modifiers and types bring and that PTX does not have.
bool is_no_form(const AluForm& form) {
  const std::vector<std::string_view> parts = parts_of(form.name);
  const auto has = [&](std::string_view part) {
    return std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  std::vector<Type> types;
  for (const std::string_view part : parts)
    if (const Type t = type_from(part); t != Type::none) types.push_back(t);
  if (parts[0] == "sub") return has("u16x2") || has("s16x2");
  if (parts[0] == "set" && types.size() == 2) {
    if (types[0] == Type::bf16) return has("ftz");
    return types[0] == Type::f16 && types[1] == Type::bf16;
  }
  if (parts[0] != "cvt" || !has("sat") || types.size() != 2) return false;
  if (has("bf16")) return true;
  return is_integer(types[0]) && is_integer(types[1]) && !has("pack") && holds(types[0], types[1]);
}

/// The pipe that computes it, as an H200 has them (docs/accuracy-h200.md).  Approximated: f64 and integers of 64
/// bits count as integers of 32, though an H200 takes two or three times as long for each.
Cost pipe_of(std::string_view name) {
  const std::vector<std::string_view> parts = parts_of(name);
  const auto base_is = [&](std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), parts[0]) != words.end();
  };
  if (base_is({"ex2", "lg2", "sin", "cos", "rcp", "rsqrt", "sqrt", "tanh", "popc", "clz", "bfind", "fns"}))
    return Cost::special_function;
  std::vector<Type> types;
  for (const std::string_view part : parts)
    if (const Type t = type_from(part); t != Type::none) types.push_back(t);
  if (base_is({"cvt"}) && types.size() == 2) {
    const bool integers = is_integer(types[0]) && is_integer(types[1]);
    const bool to_integer = is_integer(types[0]), wide = bits(types[0]) == 64 || bits(types[1]) == 64;
    return !integers && (to_integer || wide) ? Cost::special_function : Cost::integer;
  }
  const bool is_float =
      !types.empty() && (types[0] == Type::f32 || types[0] == Type::f16 || types[0] == Type::f16x2 ||
                         types[0] == Type::bf16 || types[0] == Type::bf16x2 || types[0] == Type::f32x2);
  return is_float && base_is({"add", "sub", "mul", "fma", "mad"}) ? Cost::alu : Cost::integer;
}

Catalogue make_catalogue() {
  FormTable table;
  for (const auto add : {add_integer_forms, add_carry_forms, add_bit_forms, add_comparison_forms, add_move_forms,
                         add_float_forms, add_half_forms, add_approximate_forms, add_conversion_forms,
                         add_narrow_forms, replace_single_forms, replace_f16_conversions})
    add(table);
  table.forms.erase(std::remove_if(table.forms.begin(), table.forms.end(), is_no_form), table.forms.end());
  for (AluForm& form : table.forms)
    if (form.cost == Cost::integer) form.cost = pipe_of(form.name);
  Catalogue catalogue{std::move(table.forms), {}};
  std::sort(catalogue.forms.begin(), catalogue.forms.end(),
            [](const AluForm& a, const AluForm& b) { return a.name < b.name; });
  for (const AluForm& form : catalogue.forms)
    if (!catalogue.by_name.try_emplace(form.name, &form).second)
      throw std::logic_error("the form " + form.name + " is defined twice");
  return catalogue;
}

const Catalogue& catalogue() {
  static const Catalogue all = make_catalogue();
  return all;
}

}  // namespace

AluForm& FormTable::add(std::string opcode, AluFunction function, std::vector<Type> written,
                        std::vector<Type> read) {
  AluForm form;
  form.name = canonical(opcode);
  form.function = function;
  for (const Type t : written) form.operands.push_back({t, true});
  for (const Type t : read) form.operands.push_back({t, false});
  return forms.emplace_back(std::move(form));
}

std::span<const AluForm> alu_forms() { return catalogue().forms; }

const AluForm* find_alu_form(std::string_view opcode) {
  const auto& names = catalogue().by_name;
  auto found = names.find(opcode);
  if (found == names.end()) found = names.find(canonical(opcode));
  return found == names.end() ? nullptr : found->second;
}

std::string canonical(std::string_view opcode) {
  const std::vector<std::string_view> parts = parts_of(opcode);
  std::vector<std::string_view> modifiers, types;
  for (size_t i = 1; i < parts.size(); ++i)
    (type_from(parts[i]) == Type::none ? modifiers : types).push_back(parts[i]);
  std::sort(modifiers.begin(), modifiers.end());
  std::string text(parts[0]);
  for (const auto* list : {&modifiers, &types})
    for (const std::string_view part : *list) (text += '.') += part;
  return text;
}

}  // namespace sm100::ptx
