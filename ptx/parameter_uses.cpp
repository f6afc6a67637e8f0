// SPDX-License-Identifier: Apache-2.0
#include "ptx/parameter_uses.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace sm100::ptx {

namespace {

using As = ParameterUse::As;

/// What a register holds, as far as it follows from a parameter.
struct Origin {
  enum class What : uint8_t { place, value } what = What::place;  ///< an address in the window, or what lies there
  uint64_t offset = 0;
};

class Follower {
 public:
  explicit Follower(const Program& program) : program_(program) {
    for (const Symbol& symbol : program.symbols)
      if (symbol.space == Space::param)
        for (const auto* rows : {&symbol.rows32, &symbol.rows64})
          for (const auto& [row, addend] : *rows) places_[row.at] = symbol.offset + uint64_t(addend);
  }

  std::vector<ParameterUse> run() {
    // Registers are written before they are read, but for loops; a few passes follow long chains.
    constexpr int kPasses = 4;
    for (int pass = 0; pass < kPasses; ++pass)
      for (uint32_t at = 0; at < program_.code.size(); ++at) visit(at);
    std::vector<ParameterUse> uses;
    for (const auto& [offset, use] : uses_) uses.push_back(use);
    return uses;
  }

 private:
  std::optional<Origin> origin(Row row) const {
    if (const auto place = places_.find(row.at); row.area() != 0 && place != places_.end())
      return Origin{Origin::What::place, place->second};
    const auto known = origins_.find(row.at);
    return row.area() == 0 && known != origins_.end() ? std::optional(known->second) : std::nullopt;
  }
  void set(Row row, const Origin& origin) {
    if (row.area() == 0 && row.at != 0) origins_.try_emplace(row.at, origin);
  }
  std::optional<uint64_t> number(Row row) const {
    if (row.area() == 0 || places_.contains(row.at)) return std::nullopt;
    uint64_t v = 0;
    std::memcpy(&v, program_.constants.data() + row.offset(), sizeof v);
    return v;
  }

  ParameterUse& use(uint64_t offset, uint32_t at) {
    const auto [known, fresh] = uses_.try_emplace(offset);
    if (fresh) known->second.offset = offset, known->second.instruction = at;
    return known->second;
  }
  void is_address(Row row, uint32_t at, bool written) {
    const auto from = origin(row);
    if (!from || from->what != Origin::What::value) return;
    ParameterUse& of = use(from->offset, at);
    if (of.as == As::tensor_map) return;
    of.as = As::address, of.written |= written;
  }

  void visit(uint32_t at) {
    const Instr& i = program_.code[at];
    switch (i.kind) {
      case Kind::alu: return alu(i, at);
      case Kind::memory: return access(program_.accesses[i.detail], at);
      case Kind::service: return service(program_.services[i.detail], at);
      default: return;
    }
  }

  void alu(const Instr& i, uint32_t at) {
    const std::string_view opcode = program_.text(i);
    const Row to = i.rows[0];
    if (opcode.starts_with("cvta.to.global")) is_address(i.rows[1], at, false);
    if (opcode.starts_with("mov.") || opcode.starts_with("cvta.")) {
      if (const auto from = origin(i.rows[1]); from && !(i.written >> 1 & 1)) set(to, *from);
      return;
    }
    const bool add = opcode.starts_with("add."), mad = opcode.starts_with("mad.");
    if (!add && !mad) return;
    for (const int term : mad ? std::vector{3} : std::vector{1, 2}) {
      auto from = origin(i.rows[size_t(term)]);
      if (!from) continue;
      if (from->what == Origin::What::place) {
        const auto by = add ? number(i.rows[size_t(3 - term)]) : std::nullopt;
        if (!by) continue;
        from->offset += *by;
      }
      return set(to, *from);
    }
  }

  void access(const Access& access, uint32_t at) {
    std::optional<Origin> base = origin(access.address.row);
    if (base && base->what == Origin::What::place && !access.store) {
      uint64_t offset = base->offset + uint64_t(access.address.symbol < 0 ? access.address.offset : 0);
      for (const Operand& to : access.data) {
        ParameterUse& of = use(offset, at);
        if (of.type == Type::none) of.type = access.type;
        if (to.kind == Operand::Kind::reg) set(to.row, {Origin::What::value, offset});
        offset += uint64_t(bytes(access.type));
      }
    }
    if (access.space == Space::global || access.space == Space::generic)
      is_address(access.address.row, at, access.store);
  }

  void service(const Service& service, uint32_t at) {
    const bool tensor = service.base.ends_with(".tensor");
    for (const Operand& operand : service.operands) {
      if (operand.kind != Operand::Kind::address) continue;
      const auto base = origin(operand.row);
      const bool map = (tensor && !operand.elements.empty()) || service.modifiers.has(".tensormap");
      if (map && base && base->what == Origin::What::place) {
        ParameterUse& of = use(base->offset + uint64_t(operand.symbol < 0 ? operand.offset : 0), at);
        of.as = As::tensor_map;
        for (const Operand& element : operand.elements)
          if (element.kind == Operand::Kind::vector) of.rank = std::max(of.rank, int(element.elements.size()));
        of.stored |= tensor && &operand == &service.operands[0] && !service.base.ends_with("prefetch.tensor");
      } else if (!map) {
        const bool global = service.base.starts_with("cp.") || service.base == "atom" || service.base == "red";
        if (global) is_address(operand.row, at, &operand == &service.operands[0]);
      }
    }
  }

  const Program& program_;
  std::map<uint32_t, uint64_t> places_;  ///< rows of constants that are addresses in the window
  std::map<uint32_t, Origin> origins_;   ///< by row
  std::map<uint64_t, ParameterUse> uses_;
};

}  // namespace

std::vector<ParameterUse> parameter_uses(const Program& program) { return Follower(program).run(); }

}  // namespace sm100::ptx
