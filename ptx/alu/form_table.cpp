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

Catalogue make_catalogue() {
  FormTable table;
  for (const auto add :
       {add_integer_forms, add_carry_forms, add_bit_forms, add_comparison_forms, add_move_forms, add_float_forms,
        add_half_forms, add_approximate_forms, add_conversion_forms, add_narrow_forms})
    add(table);
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
