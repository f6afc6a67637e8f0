// SPDX-License-Identifier: Apache-2.0
#include "ptx/reach.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

namespace sm100::ptx {

namespace {

constexpr uint8_t kMostLowered = 8;
constexpr uint32_t kMostPasses = 40;
constexpr uint32_t kNobody = UINT32_MAX;
constexpr uint32_t kOffsetBits = 0xffffff;  ///< of a shared address, below the CTA's rank

bool is_move(std::string_view opcode) { return opcode.starts_with("mov."); }
bool reads_carry(std::string_view opcode) {
  return opcode.starts_with("addc") || opcode.starts_with("subc") || opcode.starts_with("madc");
}

}  // namespace

Reach::Reach(const Program& program, std::span<const std::byte> constants, const Windows& windows, Dim3 block,
             int warp)
    : program_(program),
      file_(program.register_bytes, constants, windows),
      reached_(program.code.size() + 1),
      visited_(program.code.size() + 1),
      own_(program.register_bytes / 4 + 1),
      symbol_rows_(program.constants.size() / 4 + 1),
      row_bytes_(program.register_bytes / 4 + 1) {
  const uint32_t threads = block[0] * block[1] * block[2], first = uint32_t(warp) * kLanes;
  const uint32_t own = std::min<uint32_t>(kLanes, threads > first ? threads - first : 0);
  live_ = own >= 32 ? kAllLanes : (1u << own) - 1;
  for (const auto& [row, index] : program.register_rows) {
    const Type type = program.entry->body.registers[index].type;
    const int width = bits(type);
    row_bytes_[row.offset() / 4] = uint16_t(type == Type::pred ? 4
                                            : width <= 32      ? 4 * kLanes
                                            : width == 64      ? 8 * kLanes
                                                               : 16 * kLanes);
  }
  mark_addresses();
  find_guard_writers();
  fill_specials(block, warp);
  reach(0);
  do {
    again_ = false;
    ++pass_;
    pass();
  } while (again_ && pass_ < kMostPasses);
  if (again_)  // what has not settled is not known
    for (State& s : own_)
      if (s.changed + 2 >= pass_) s.known = Known::unknown;
}

void Reach::mark_addresses() {
  for (const Symbol& symbol : program_.symbols) {
    if (symbol.space != Space::shared) continue;
    for (const auto* rows : {&symbol.rows32, &symbol.rows64})
      for (const auto& [row, addend] : *rows) symbol_rows_[row.offset() / 4] = true;
  }
}

void Reach::fill_specials(Dim3 block, int warp) {
  for (const Special& special : program_.specials) {
    row_bytes_[special.row.offset() / 4] = uint16_t(special.width == 1 ? 4 : special.width * kLanes);
    State& s = own_[special.row.offset() / 4];
    s.known = Known::unknown;
    const auto fill = [&](auto&& of_lane) {
      s.known = Known::value;
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint64_t v = of_lane(uint32_t(lane));
        if (special.width == 4)
          file_.write<uint32_t>(special.row)[lane] = uint32_t(v);
        else if (special.width == 8)
          file_.write<uint64_t>(special.row)[lane] = v;
      }
    };
    const uint32_t first = uint32_t(warp) * kLanes;
    const std::string_view name = special.name;
    if (name == "%tid.x") fill([&](uint32_t lane) { return (first + lane) % block[0]; });
    if (name == "%tid.y") fill([&](uint32_t lane) { return (first + lane) / block[0] % block[1]; });
    if (name == "%tid.z") fill([&](uint32_t lane) { return (first + lane) / block[0] / block[1]; });
    if (name == "%laneid") fill([](uint32_t lane) { return lane; });
    for (size_t axis = 0; axis < 3; ++axis)
      if (name == std::string("%ntid.") + "xyz"[axis]) fill([&](uint32_t) { return block[axis]; });
    if (name == "%warpid") fill([&](uint32_t) { return uint64_t(warp); });
  }
}

const Reach::State& Reach::state(Row row) const {
  static const State number{.known = Known::value}, symbol{.known = Known::value, .address = true};
  if (row.area() != 0) return symbol_rows_[row.offset() / 4] ? symbol : number;
  return own_[row.offset() / 4];
}

size_t Reach::bytes_of(Row row) const {
  const size_t known = row_bytes_[row.offset() / 4];
  return known > 0 ? known : sizeof(LaneMask);
}

uint64_t Reach::first_lane(Row row) const {
  return row.area() == 0 && bytes_of(row) == 4 * kLanes ? *file_.read<uint32_t>(row) : *file_.read<uint64_t>(row);
}

std::optional<LaneMask> Reach::guard(uint32_t at) const {
  const Instr& i = program_.code[at];
  const State& s = state(i.guard);
  if (s.known == Known::value) return i.guard_of(file_) & live_;
  return s.known == Known::unknown ? rewritten_guard(at) : std::nullopt;
}

/// Code by hand uses predicates again and again: what the last one to write it says, if it has just been written.
std::optional<LaneMask> Reach::rewritten_guard(uint32_t at) const {
  const uint32_t by = guard_writers_[at];
  if (by == kNobody) return std::nullopt;
  const Instr &i = program_.code[at], &writer = program_.code[by];
  if (writer.kind != Kind::alu || writer.guard.area() == 0 || reads_carry(program_.text(writer)))
    return std::nullopt;
  for (size_t r = 0; r < writer.rows.size(); ++r)
    if (!(writer.written >> r & 1) && writer.rows[r].at != 0 && state(writer.rows[r]).known != Known::value)
      return std::nullopt;
  std::array<LaneMask, kMaxRows> before{};
  for (size_t r = 0; r < writer.rows.size(); ++r)
    if (writer.written >> r & 1) {
      if (bytes_of(writer.rows[r]) != sizeof(LaneMask)) return std::nullopt;
      before[r] = file_.predicate(writer.rows[r]);
    }
  writer.alu(file_, writer, kAllLanes);
  const LaneMask holds = i.guard_of(file_) & live_;
  for (size_t r = 0; r < writer.rows.size(); ++r)
    if (writer.written >> r & 1) file_.set_predicate(writer.rows[r], before[r], kAllLanes);
  return holds;
}

void Reach::find_guard_writers() {
  guard_writers_.assign(program_.code.size() + 1, kNobody);
  std::vector<bool> target(program_.code.size() + 1);
  for (const Instr& i : program_.code)
    if (i.kind == Kind::branch) target[i.target] = true;
  for (const IndexedBranch& table : program_.indexed_branches)
    for (const uint32_t to : table.targets) target[to] = true;
  std::map<uint32_t, uint32_t> writers;  // by row
  for (uint32_t at = 0; at < program_.code.size(); ++at) {
    const Instr& i = program_.code[at];
    if (target[at]) writers.clear();
    if (const auto by = writers.find(i.guard.at); i.guard.area() == 0 && by != writers.end())
      guard_writers_[at] = by->second;
    for (size_t r = 0; r < i.rows.size(); ++r)
      if ((i.written >> r & 1) && i.rows[r].area() == 0 && bytes_of(i.rows[r]) == sizeof(LaneMask))
        writers[i.rows[r].at] = at;
    if (i.kind == Kind::service)
      for (const Operand& operand : program_.services[i.detail].operands) {
        writers.erase(operand.row.at);
        for (const Operand& element : operand.elements) writers.erase(element.row.at);
      }
  }
}

// ---------------------------------------------------------------- instructions

void Reach::reach(uint32_t at) {
  if (at >= program_.code.size() || reached_[at]) return;
  reached_[at] = again_ = true;
}

void Reach::pass() {
  for (uint32_t at = 0; at < program_.code.size(); ++at)
    if (reached_[at]) visit(at);
}

/// Once it has been looked at, only if something that it reads has changed since.
void Reach::visit(uint32_t at) {
  const Instr& i = program_.code[at];
  const auto lanes = guard(at);
  if (state(i.guard).known == Known::nothing && i.guard.area() == 0 && visited_[at] == 0 && pass_ < 3)
    return void(again_ = again_ || pass_ < 2);  // its guard may still become known
  const auto changed = [&](Row row) { return row.area() == 0 && own_[row.offset() / 4].changed >= visited_[at]; };
  bool look = visited_[at] == 0 || changed(i.guard);
  if (i.kind == Kind::alu || i.kind == Kind::special)
    look = look || std::any_of(i.rows.begin(), i.rows.end(), changed);
  else
    look = look || i.kind == Kind::service || i.kind == Kind::branch_index;
  if (!look) return;
  visited_[at] = pass_;
  const bool executes = !lanes || *lanes != 0, always = lanes && *lanes == live_;
  switch (i.kind) {
    case Kind::branch:
    case Kind::branch_index: return branch(i, at);
    case Kind::exit:
    case Kind::trap:
      if (!always) reach(at + 1);
      return;
    case Kind::ret: return;
    case Kind::alu:
    case Kind::special:
      if (executes) compute(i, at);
      break;
    case Kind::memory:
      if (executes && !program_.accesses[i.detail].store)
        for (const Operand& to : program_.accesses[i.detail].data) forget(to);
      break;
    case Kind::service:
      if (executes) service(i);
      break;
    case Kind::call:
      for (const Operand& to : program_.calls[i.detail].results) forget(to);
      break;
    default: break;
  }
  reach(at + 1);
}

void Reach::branch(const Instr& i, uint32_t at) {
  const auto lanes = guard(at);
  if (!lanes || *lanes != live_) reach(at + 1);
  if (lanes && *lanes == 0) return;
  if (i.kind == Kind::branch) return reach(i.target);
  const IndexedBranch& table = program_.indexed_branches[i.detail];
  if (const auto index = value(table.index); index && *index < table.targets.size())
    return reach(table.targets[*index]);
  if (state(table.index.row).known == Known::nothing) return void(again_ = true);
  for (const uint32_t target : table.targets) reach(target);
}

void Reach::compute(const Instr& i, uint32_t at) {
  const std::string_view opcode = program_.text(i);
  bool unknown = i.kind == Kind::special || reads_carry(opcode), nothing = false, address = false, base = false;
  for (size_t r = 0; r < i.rows.size(); ++r) {
    if ((i.written >> r & 1) || i.rows[r].at == 0) continue;
    const State& s = state(i.rows[r]);
    unknown |= s.known == Known::unknown;
    nothing |= s.known == Known::nothing;
    base |= s.known == Known::base;
    address |= s.address;
  }
  if (nothing && !unknown) {  // what it reads comes later in the text, or never
    visited_[at] = 0;
    return;
  }
  const auto lanes = guard(at);
  if (lanes && (unknown || base) && address && follow_base(i, opcode)) return;
  if (unknown && lanes && *lanes == live_ && settle(i, opcode)) return;
  if (unknown || base || !lanes) {
    if (!unknown && !base && !lanes && address && is_move(opcode))
      return set_base(i.rows[0], first_lane(i.rows[1]));
    for (size_t r = 0; r < i.rows.size(); ++r)
      if (i.written >> r & 1) forget(i.rows[r]);
    return;
  }
  std::array<std::pair<Row, std::vector<std::byte>>, kMaxRows> before;
  size_t results = 0;
  for (size_t r = 0; r < i.rows.size(); ++r)
    if ((i.written >> r & 1) && i.rows[r].at != 0) {
      const std::byte* bytes = file_.read<std::byte>(i.rows[r]);
      before[results++] = {i.rows[r], std::vector<std::byte>(bytes, bytes + bytes_of(i.rows[r]))};
    }
  i.alu(file_, i, *lanes);
  for (size_t r = 0; r < results; ++r) keep(before[r].first, before[r].second, address);
}

/// A conjunction of which one part is false is false whatever the others are, and so on.
bool Reach::settle(const Instr& i, std::string_view opcode) {
  const auto known = [&](size_t r) { return state(i.rows[r]).known == Known::value; };
  const auto holds = [&](size_t r) { return i.predicate(file_, int(r)) & live_; };
  if (opcode == "and.pred" || opcode == "or.pred") {
    const bool all = opcode == "or.pred";
    for (const size_t r : {size_t{1}, size_t{2}})
      if (known(r) && holds(r) == (all ? live_ : 0u)) return put_predicate(i.rows[0], all), true;
    return false;
  }
  if (opcode.starts_with("setp.") && i.rows[1].at == 0) {
    const bool all = opcode.find(".or.") != std::string_view::npos;
    if (!all && opcode.find(".and.") == std::string_view::npos) return false;
    if (known(4) && holds(4) == (all ? live_ : 0u)) return put_predicate(i.rows[0], all), true;
    return false;
  }
  if (opcode == "and.b16" || opcode == "and.b32" || opcode == "and.b64") {
    for (const size_t r : {size_t{1}, size_t{2}}) {
      if (!known(r)) continue;
      const std::byte* bytes = file_.read<std::byte>(i.rows[r]);
      if (std::all_of(bytes, bytes + bytes_of(i.rows[0]), [](std::byte b) { return b == std::byte{0}; }))
        return put(i.rows[0], 0, false), true;
    }
  }
  return false;
}

/// Sums, masks and moves of an address of which not all is known.
bool Reach::follow_base(const Instr& i, std::string_view opcode) {
  const auto is = [&](std::string_view base) {
    return opcode.starts_with(base) && opcode.size() > base.size() && opcode[base.size()] == '.';
  };
  const auto number = [&](Row row) { return state(row).known == Known::value ? first_lane(row) : 0; };
  const auto is_address = [&](Row row) {
    return state(row).address && (state(row).known == Known::value || state(row).known == Known::base);
  };
  if (is("mov") || is("cvt") || is("cvta")) {
    if (!is_address(i.rows[1]) || std::popcount(unsigned(i.written)) != 1) return false;
    uint64_t at = first_lane(i.rows[1]);
    if (opcode.starts_with("cvta.to.shared"))
      at -= file_.windows.shared.has(at) ? file_.windows.shared.base : 0;
    else if (opcode.starts_with("cvta.shared"))
      at += file_.windows.shared.base;
    return set_base(i.rows[0], at), true;
  }
  if (is("add") || is("or")) {
    for (const auto& [address, other] : {std::pair{1, 2}, std::pair{2, 1}})
      if (is_address(i.rows[size_t(address)]))
        return set_base(i.rows[0], first_lane(i.rows[size_t(address)]) + number(i.rows[size_t(other)])), true;
  }
  if (is("sub") && is_address(i.rows[1]))
    return set_base(i.rows[0], first_lane(i.rows[1]) - number(i.rows[2])), true;
  if (is("and") && is_address(i.rows[1]) && state(i.rows[2]).known == Known::value)
    return set_base(i.rows[0], first_lane(i.rows[1]) & first_lane(i.rows[2])), true;
  if (is("mad") && is_address(i.rows[3]) && !opcode.starts_with("mad.wide") && !opcode.starts_with("mad.hi"))
    return set_base(i.rows[0], first_lane(i.rows[3])), true;
  if (is("mad") && is_address(i.rows[3]) && opcode.starts_with("mad.wide"))
    return set_base(i.rows[0], first_lane(i.rows[3])), true;
  if (is("selp") && is_address(i.rows[1]) && is_address(i.rows[2]))
    return set_base(i.rows[0], std::min(first_lane(i.rows[1]), first_lane(i.rows[2]))), true;
  return false;
}

void Reach::service(const Instr& i) {
  const Service& service = program_.services[i.detail];
  if (service.operands.empty()) return;
  if (service.base == "mapa" && service.operands.size() == 3) return map_address(service);
  if (service.base == "shfl.sync" && service.operands.size() >= 3) return shuffle(service);
  forget(service.operands[0]);
}

/// The rank is left out.
void Reach::map_address(const Service& service) {
  const Operand &to = service.operands[0], &from = service.operands[1];
  const State& s = state(from.row);
  if (to.kind != Operand::Kind::reg || !s.address) return forget(to);
  if (s.known == Known::nothing) return;
  if (s.known == Known::unknown) return forget(to);
  const uint64_t at = first_lane(from.row) + uint64_t(from.kind == Operand::Kind::address ? from.offset : 0);
  if (s.known == Known::base) return set_base(to.row, at);
  put(to.row, at, true);
}

/// What is alike in all lanes stays so; of one lane, all get its value.
void Reach::shuffle(const Service& service) {
  const Operand &result = service.operands[0], &from = service.operands[1], &lane = service.operands[2];
  const Operand& to = result.kind == Operand::Kind::pair ? result.elements[0] : result;
  if (result.kind == Operand::Kind::pair) forget(result.elements[1]);
  const State& s = state(from.row);
  if (to.kind != Operand::Kind::reg || from.kind != Operand::Kind::reg) return forget(to);
  if (s.known == Known::nothing) return;
  if (s.known != Known::value || from.width != 4) return forget(to);
  const uint32_t* values = file_.read<uint32_t>(from.row);
  const bool alike = std::all_of(values, values + kLanes, [&](uint32_t v) { return v == values[0]; });
  if (alike) return put(to.row, values[0], s.address);
  const auto source = value(lane);
  if (!service.modifiers.has(".idx") || !source) return forget(to);
  put(to.row, values[*source % kLanes], s.address);
}

// ---------------------------------------------------------------- registers

void Reach::forget(Row row) {
  if (row.area() != 0 || row.at == 0) return;
  State& s = own_[row.offset() / 4];
  if (s.known == Known::unknown) return;
  s.known = Known::unknown, s.address = false, s.changed = pass_;
  again_ = true;
}

void Reach::forget(const Operand& operand) {
  if (operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::predicate) forget(operand.row);
  if (operand.kind == Operand::Kind::vector || operand.kind == Operand::Kind::pair)
    for (const Operand& element : operand.elements) forget(element);
}

void Reach::write(Row row, uint64_t v) {
  for (int lane = 0; lane < kLanes; ++lane)
    if (bytes_of(row) == 4 * kLanes)
      file_.write<uint32_t>(row)[lane] = uint32_t(v);
    else
      file_.write<uint64_t>(row)[lane] = v;
}

void Reach::put_predicate(Row row, bool holds) {
  if (row.area() != 0 || row.at == 0) return;
  const std::byte* bytes = file_.read<std::byte>(row);
  const std::vector<std::byte> before(bytes, bytes + sizeof(LaneMask));
  file_.set_predicate(row, holds ? kAllLanes : 0, kAllLanes);
  keep(row, before, false);
}

/// One value for all lanes.
void Reach::put(Row row, uint64_t v, bool address) {
  const std::byte* bytes = file_.read<std::byte>(row);
  const std::vector<std::byte> before(bytes, bytes + bytes_of(row));
  write(row, v);
  keep(row, before, address);
}

void Reach::set_base(Row row, uint64_t at) {
  if (row.area() != 0 || row.at == 0) return;
  State& s = own_[row.offset() / 4];
  if (s.known == Known::unknown) return;
  if (bytes_of(row) == 4 * kLanes) at = uint32_t(at);
  if (s.known == Known::value && !s.address) return forget(row);
  if (s.known == Known::base && at >= first_lane(row)) return;
  if (s.known == Known::value) at = std::min(at, first_lane(row));
  if (s.known != Known::nothing && ++s.lowered > kMostLowered) return forget(row);
  s.known = Known::base, s.address = true, s.changed = pass_;
  write(row, at);
  again_ = true;
}

/// A row has been written that held `before`.
void Reach::keep(Row row, const std::vector<std::byte>& before, bool address) {
  State& s = own_[row.offset() / 4];
  address = address && before.size() > sizeof(LaneMask);
  std::byte* bytes = file_.write<std::byte>(row);
  switch (s.known) {
    case Known::unknown: return;
    case Known::nothing: s.known = Known::value, s.address = address; break;
    case Known::value:
      if (std::equal(before.begin(), before.end(), bytes)) return;
      if (!address || !s.address) return forget(row);
      [[fallthrough]];
    case Known::base: {
      const uint64_t now = first_lane(row);
      std::copy(before.begin(), before.end(), bytes);
      return address ? set_base(row, now) : forget(row);
    }
  }
  s.changed = pass_;
  again_ = true;
}

// ---------------------------------------------------------------- answers

bool Reach::executes(uint32_t instruction) const {
  if (!reached_[instruction]) return false;
  const auto lanes = guard(instruction);
  return !lanes || *lanes != 0;
}

std::optional<SharedAddress> Reach::shared_address(const Operand& operand) const {
  const State& s = state(operand.row);
  if (!s.address || s.known == Known::unknown || s.known == Known::nothing) return std::nullopt;
  uint64_t at = UINT64_MAX;
  bool alike = true;
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint64_t v =
        operand.width == 4 ? file_.read<uint32_t>(operand.row)[lane] : file_.read<uint64_t>(operand.row)[lane];
    alike &= lane == 0 || v == at;
    at = std::min(at, v);
  }
  at += uint64_t(operand.kind == Operand::Kind::address && operand.symbol < 0 ? operand.offset : 0);
  if (file_.windows.shared.has(at)) at -= file_.windows.shared.base;
  return SharedAddress{uint32_t(at) & kOffsetBits, s.known == Known::value && alike};
}

std::optional<uint64_t> Reach::value(const Operand& operand) const {
  if (operand.kind == Operand::Kind::immediate) return uint64_t(operand.value);
  if (operand.kind != Operand::Kind::reg || state(operand.row).known != Known::value) return std::nullopt;
  const auto of = [&](int lane) { return operand.lane_value(file_, lane); };
  for (int lane = 1; lane < kLanes; ++lane)
    if (of(lane) != of(0)) return std::nullopt;
  return of(0);
}

}  // namespace sm100::ptx
