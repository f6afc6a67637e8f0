// SPDX-License-Identifier: Apache-2.0
#include "sim/mend/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sim/text.h"

namespace sm100::sim {
namespace {

using host::FaultAction;
using host::FaultSpec;

constexpr int64_t kBarrierBytes = 8;

/// What an operand means, as far as it says by how much it may be wrong.
enum class Meaning { count, coordinate, bytes, barrier, address, descriptor, bits, flag, other };

Meaning meaning_of(std::string_view operand) {
  struct Row {
    std::string_view name;
    Meaning is;
  };
  static constexpr Row kRows[] = {
      {"count", Meaning::count},         {"threads", Meaning::count},     {"id", Meaning::count},
      {"rank", Meaning::count},          {"pending", Meaning::count},     {"lane_mask", Meaning::count},
      {"columns", Meaning::count},       {"cta_group", Meaning::flag},    {"predicate", Meaning::flag},
      {"enable_input_d", Meaning::flag}, {"scale_d", Meaning::flag},      {"x", Meaning::coordinate},
      {"y", Meaning::coordinate},        {"column", Meaning::coordinate}, {"sfa", Meaning::coordinate},
      {"sfb", Meaning::coordinate},      {"bytes", Meaning::bytes},       {"barrier", Meaning::barrier},
      {"smem", Meaning::address},        {"address", Meaning::address},   {"offset", Meaning::address},
      {"source", Meaning::descriptor},   {"response", Meaning::address},  {"a", Meaning::descriptor},
      {"b", Meaning::descriptor},        {"idesc", Meaning::bits},        {"mask", Meaning::bits}};
  for (const Row& row : kRows)
    if (row.name == operand) return row.is;
  return Meaning::other;
}

void both_signs(std::vector<int64_t>& to, int64_t value) { to.push_back(value), to.push_back(-value); }

/// By how much an operand may be off, the likely first.
std::vector<int64_t> differences(const SeenOperand& operand) {
  std::vector<int64_t> all;
  const int64_t step = std::abs(operand.step);
  const auto powers = [&](int64_t first, int64_t last) {
    for (int64_t p = first; p <= last; p *= 2) both_signs(all, p);
  };
  switch (meaning_of(operand.name)) {
    case Meaning::flag: both_signs(all, 1); break;
    case Meaning::count: powers(1, 256), both_signs(all, 3), both_signs(all, 31); break;
    case Meaning::coordinate:
      if (step) both_signs(all, step), both_signs(all, 2 * step), both_signs(all, step / 2);
      powers(1, 512);
      break;
    case Meaning::bytes:
      powers(16, 1 << 17);
      for (int64_t p = 16; p <= 1 << 16; p *= 2) both_signs(all, 3 * p);
      break;
    case Meaning::barrier:
      for (int64_t i = 1; i <= 12; ++i) both_signs(all, i * kBarrierBytes);
      break;
    case Meaning::address:
      if (step) both_signs(all, step), both_signs(all, 2 * step), both_signs(all, step / 2);
      powers(4, 1 << 16);
      break;
    case Meaning::descriptor: {
      powers(16, 1 << 16);  // the start address
      // Leading and stride byte offsets and the swizzle mode stand in bits of their own; 16 bytes of `add` are one.
      for (const int field : {16, 32})
        for (int64_t units = 1; units <= 256; units *= 2) both_signs(all, (units << field) * 16);
      break;
    }
    case Meaning::bits:
      for (int bit = 0; bit < 32; ++bit) {
        const bool set = operand.first >> bit & 1;
        all.push_back(set ? -(int64_t(1) << bit) : int64_t(1) << bit);
      }
      // Fields of the instruction descriptor that count: N / 8 from bit 17, M / 16 from bit 24.
      if (operand.name == "idesc")
        for (const int field : {17, 24})
          for (const int64_t by : {1, 2, 4, 8, 16}) both_signs(all, by << field);
      break;
    case Meaning::other: break;
  }
  std::vector<int64_t> once;
  for (const int64_t d : all)
    if (d != 0 && std::find(once.begin(), once.end(), d) == once.end()) once.push_back(d);
  return once;
}

/// The field of an instruction descriptor that a change is about (PTX 9.7.16.4.2; those of block-scaled MMAs that
/// differ are left to the number); "": several, or none of these.
std::string_view instr_field(int64_t by) {
  struct Row {
    int first, last;
    std::string_view name;
  };
  static constexpr Row kRows[] = {{7, 9, " (the type of A)"},
                                  {10, 12, " (the type of B)"},
                                  {13, 13, " (negation of A)"},
                                  {14, 14, " (negation of B)"},
                                  {15, 15, " (A's major-ness)"},
                                  {16, 16, " (B's major-ness)"},
                                  {17, 22, " (N)"}};
  for (const Row& row : kRows)
    if (const int64_t mask = (int64_t(2) << row.last) - (int64_t(1) << row.first); (std::abs(by) & ~mask) == 0)
      return row.name;
  return "";
}

/// "idesc: 0x8200490 instead of 0x8200410 (the type of A)"
std::string bits_words(const SeenOperand& operand, int64_t by) {
  const std::string_view field = operand.name == "idesc" ? instr_field(by) : "";
  return operand.step == 0
             ? fmt::format("{}: {:#x} instead of {:#x}{}", operand.name, operand.first + by, operand.first, field)
             : fmt::format("{}: {:#x} {} than it is{}", operand.name, std::abs(by), by > 0 ? "more" : "less",
                           field);
}

/// "32,768 instead of 32,752"; of one that changes: "64 more than 0, 64, 128, ..."
std::string added_words(const SeenOperand& operand, int64_t by) {
  if (meaning_of(operand.name) == Meaning::descriptor) {
    const int64_t units = by / 16;
    for (const auto& [field, name] :
         {std::pair<int, const char*>{32, "stride byte offset"}, {16, "leading byte offset"}})
      if (units % (int64_t(1) << field) == 0)
        return fmt::format("{} of the descriptor {}: {} bytes {}", name, operand.name,
                           grouped(std::abs(units >> field) * 16), by > 0 ? "more" : "less");
    return fmt::format("start address of {}: {} bytes {}", operand.name, grouped(std::abs(by)),
                       by > 0 ? "more" : "less");
  }
  if (meaning_of(operand.name) == Meaning::bits) return bits_words(operand, by);
  if (operand.step == 0)
    return fmt::format("{}: {} instead of {}", operand.name, grouped(operand.first + by), grouped(operand.first));
  std::vector<std::string> some;
  for (const int64_t v : operand.values)
    if (some.size() < 3) some.push_back(grouped(v));
  return fmt::format("{}: {} {} than it is ({}{})", operand.name, grouped(std::abs(by)), by > 0 ? "more" : "less",
                     fmt::join(some, ", "), operand.values.size() > some.size() ? ", ..." : "");
}

class Collector {
 public:
  Collector(const std::vector<InstructionSite>& sites, const RunResult& failing) : sites_(sites) {
    for (const auto* list : {&failing.findings, &failing.warnings})
      for (const Finding& f : *list) {
        lines_.push_back(f.location), blamed_.push_back(f.fault_location);
        barriers_.push_back(f.barrier);
        roles_.push_back(f.role), roles_.push_back(f.fault_role);
        if (f.stage >= 0 && !f.barrier.empty()) stages_.push_back({f.barrier, f.stage});
      }
  }

  std::vector<Change> collect() {
    for (size_t i = 0; i < sites_.size(); ++i) add_site(i);
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
    std::vector<Change> changes;
    for (Ranked& r : found_) changes.push_back(std::move(r.change));
    return changes;
  }

 private:
  struct Ranked {
    Change change;
    int rank;
  };

  /// 0: a finding blames the line, and the barrier; 1: it names the line; 2: it is about the role; 3: none of
  /// these.
  int distance(const InstructionSite& site) const {
    const auto is = [](const std::vector<std::string>& all, const auto& like) {
      return std::any_of(all.begin(), all.end(), [&](const std::string& s) { return !s.empty() && like(s); });
    };
    const auto same = [](const std::string& as) { return [&as](const std::string& s) { return s == as; }; };
    if (is(blamed_, same(site.source)) && (site.barrier.empty() || is(barriers_, same(site.barrier)))) return 0;
    if (is(lines_, same(site.source)) || is(blamed_, same(site.source))) return 1;
    // "epilogue 2" is a warp of the epilogue.
    return is(roles_, [&](const std::string& s) { return s.starts_with(site.role); }) ? 2 : 3;
  }

  void add_site(size_t index) {
    const InstructionSite& site = sites_[index];
    const host::FaultInstruction* const row = host::fault_instruction(site.function);
    if (!row) return;
    constexpr int kTier = 1'000'000;
    const int near = distance(site) * kTier;
    int order = 0;  // within the site: small changes first
    const auto put = [&](FaultAction action, std::string words, std::string operand = "", int64_t value = 0,
                         int64_t occurrence = -1, int64_t from = 0) {
      FaultSpec f;
      f.role = site.role, f.barrier = site.barrier;
      if (site.ptx_line > 0)
        f.instruction = fmt::format("line {}", site.ptx_line);
      else
        f.instruction = site.function, f.source = site.source;
      f.action = action, f.operand = std::move(operand), f.value = value, f.occurrence = occurrence, f.from = from;
      f.optional = true;
      found_.push_back({{f, words, index}, near + order++});
      // Of the stage alone that a finding names: behind the changes of all.
      for (const auto& [barrier, stage] : stages_)
        if (barrier == site.barrier && occurrence < 0 && from == 0) {
          f.stage = stage;
          found_.push_back({{f, fmt::format("stage {} alone: {}", stage, words), index}, near + kTier / 2 + order});
        }
    };
    const auto may = [&](FaultAction action) { return row->allows(action); };
    if (may(FaultAction::flip_parity)) {
      put(FaultAction::flip_parity, "waits for the other parity");
      put(FaultAction::flip_parity, "waits for the other parity the first time", "", 0, 0);
      put(FaultAction::flip_parity, "waits for the other parity from the second time on", "", 0, -1, 1);
    }
    if (may(FaultAction::drop)) put(FaultAction::drop, "left out");
    if (may(FaultAction::duplicate)) put(FaultAction::duplicate, "executed twice", "", 2);
    if (may(FaultAction::one_lane) && site.lanes > 1)
      put(FaultAction::one_lane, fmt::format("executed by one lane instead of {}", site.lanes));
    if (may(FaultAction::all_lanes) && site.lanes < 32)
      put(FaultAction::all_lanes, fmt::format("executed by 32 lanes instead of {}", site.lanes));
    for (const SeenOperand& operand : site.operands) {
      const auto names = row->operand_names();
      if (!may(FaultAction::add) || std::find(names.begin(), names.end(), operand.name) == names.end()) continue;
      for (const int64_t by : differences(operand)) {
        if (operand.step == 0 && operand.first >= 0 && operand.first + by < 0) continue;
        put(FaultAction::add, added_words(operand, by), operand.name, by);
      }
    }
  }

  const std::vector<InstructionSite>& sites_;
  std::vector<std::string> lines_, blamed_, roles_, barriers_;
  std::vector<std::pair<std::string, int>> stages_;  ///< barriers and stages that findings name
  std::vector<Ranked> found_;
};

}  // namespace

std::vector<Change> changes_of(const std::vector<InstructionSite>& sites, const RunResult& failing) {
  return Collector(sites, failing).collect();
}

std::string fault_toml(const FaultSpec& f) {
  std::string text = "[[fault]]\n";
  const auto word = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) text += fmt::format("{} = \"{}\"\n", key, value);
  };
  word("role", f.role);
  constexpr std::string_view kLine = "line ";
  if (f.instruction.starts_with(kLine))
    text += fmt::format("line = {}\n", f.instruction.substr(kLine.size()));
  else
    word("instruction", f.instruction);
  word("source", f.source);
  word("barrier", f.barrier);
  if (f.stage >= 0) text += fmt::format("stage = {}\n", f.stage);
  if (f.occurrence >= 0) text += fmt::format("occurrence = {}\n", f.occurrence);
  if (f.from > 0) text += fmt::format("from = {}\n", f.from);
  word("action", name(f.action));
  word("operand", f.operand);
  if (f.action == FaultAction::add || f.action == FaultAction::duplicate)
    text += fmt::format("value = {}\n", f.value);
  return text;
}

}  // namespace sm100::sim
