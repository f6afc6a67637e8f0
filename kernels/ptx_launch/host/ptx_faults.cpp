// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "kernels/host/toml_reader.h"
#include "kernels/ptx_launch/host/ptx_fault_forms.h"
#include "kernels/ptx_launch/host/ptx_run.h"
#include "ptx/text_edits.h"
#include "ptx/waits.h"

namespace sm100::host {
namespace {

using ptx::StatementText;

// ---- a fault's registers

/// Names that no compiler gives.
std::string reg(size_t fault, const char* what) { return fmt::format("%sm100_fault{}_{}", fault, what); }

constexpr std::string_view kTryWait = "mbarrier_try_wait_parity";
constexpr std::string_view kOffsetMask = "0x00ffffff";  ///< of an address in a cluster's window

class FaultEdits {
 public:
  FaultEdits(const ptx::Module& module, const ptx::Entry& entry, std::span<const FaultSpec> faults,
             const KernelRun& run)
      : module_(module), entry_(entry), faults_(faults), run_(run), edits_(module) {
    const ptx::Program program = ptx::decode(module, entry);
    for (const ptx::Wait& wait : ptx::find_waits(program)) polls_.insert(program.code[wait.poll].line);
  }

  std::string text() {
    static const PtxForm kOther{.function = "", .opcode = ""};  // what faults by line can drop, repeat and delay
    for (const FaultSpec& f : faults_) refuse_unknown(f);
    std::vector<size_t> sites(faults_.size(), 0);
    for (const ptx::Statement& statement : entry_.body.statements) {
      const StatementText text = ptx::statement_text(module_, statement);
      const PtxForm* known = ptx_form_of(text.opcode);
      if (known && known->function == kTryWait && !polls_.contains(statement.line)) known = nullptr;  // a peek
      const PtxForm& form = known ? *known : kOther;
      std::vector<size_t> meant;
      for (size_t i = 0; i < faults_.size(); ++i)
        if (means(faults_[i], form, statement)) meant.push_back(i), ++sites[i];
      if (follows_waits_ && form.function == kTryWait && meant.empty())
        edits_.before(statement, remember_wait(text));
      if (meant.size() == 1 && always_dropped(faults_[meant[0]], form))
        edits_.replace(statement, "");
      else if (!meant.empty())
        alter(statement, text, form, meant);
    }
    std::string start = "\n";
    for (size_t i = 0; i < faults_.size(); ++i) {
      if (sites[i] == 0)
        throw InputError(fmt::format("{}: fault {}: entry {} has no {}", module_.name, i + 1, entry_.name,
                                     faults_[i].instruction));
      start += prologue(i);
    }
    start += "\t.reg .b32 %sm100_fault_waited;\n\tmov.b32 %sm100_fault_waited, 0;\n";
    edits_.body_start(entry_, start);
    return edits_.apply();
  }

 private:
  bool means(const FaultSpec& fault, const PtxForm& form, const ptx::Statement& statement) const {
    constexpr std::string_view kLine = "line ", kSource = "source ";
    const std::string_view wanted = fault.instruction;
    if (wanted.starts_with(kLine)) return wanted.substr(kLine.size()) == std::to_string(statement.line);
    if (wanted.starts_with(kSource)) return wanted.substr(kSource.size()) == module_.place(statement.loc);
    return wanted == form.function;
  }

  /// An instruction whose PTX nobody has described here.
  static void refuse_unknown(const FaultSpec& fault) {
    const auto is = [&](const PtxForm& form) { return form.function == fault.instruction; };
    if (fault.instruction.find(' ') != std::string::npos || std::any_of(ptx_forms().begin(), ptx_forms().end(), is))
      return;
    throw InputError(
        fmt::format("not implemented: fault {} of {} in the text of PTX", name(fault.action), fault.instruction));
  }

  /// Every execution is dropped: the statement goes.  Under a predicate ptxas would compile another kernel: it
  /// serialises wgmma where it cannot see that all warps execute them alike.
  static bool always_dropped(const FaultSpec& f, const PtxForm& form) {
    return f.action == FaultAction::drop && f.occurrence < 0 && f.from == 0 && f.role.empty() && f.warp < 0 &&
           f.cta < 0 && f.barrier.empty() && f.stage < 0 && f.id < 0 && form.function != kTryWait &&
           form.function != "mapa";
  }

  [[noreturn]] void refuse(const FaultSpec& fault, std::string_view opcode) const {
    throw InputError(fmt::format("not implemented: {}: fault {} of {} in the text of PTX ({})", module_.name,
                                 name(fault.action), fault.instruction, opcode));
  }

  /// Whose thread this is, once for each thread.
  std::string prologue(size_t i) const {
    const FaultSpec& f = faults_[i];
    uint32_t warps = 0;
    for (int w = 0; w < run_.launch().warps; ++w)
      if ((f.warp < 0 || f.warp == w) && (f.role.empty() || f.role == run_.role(w))) warps |= 1u << w;
    const std::string here = reg(i, "here"), t = reg(i, "t"), u = reg(i, "u");
    std::string text = fmt::format(
        "\t.reg .pred {0}, {1}, {2}, {3};\n\t.reg .b32 {4}, {5}, {6}, {7}, {8};\n\t.reg .b64 {9}, {10};\n"
        "\t.reg .b16 {11};\n\tmov.b32 {6}, 0;\n\tmov.b32 {7}, 0;\n\tmov.b32 {8}, 0;\n\tsetp.ne.u32 {1}, {6}, "
        "{6};\n",
        here, reg(i, "hit"), reg(i, "q"), reg(i, "x"), t, u, reg(i, "n"), reg(i, "polled"), reg(i, "given_up"),
        reg(i, "wide"), reg(i, "wide2"), reg(i, "half"));
    text += fmt::format(
        "\tmov.u32 {0}, %tid.x;\n\tshr.u32 {0}, {0}, 5;\n\tshr.b32 {0}, {1}, {0};\n"
        "\tand.b32 {0}, {0}, 1;\n\tsetp.ne.b32 {2}, {0}, 0;\n",
        t, warps, here);
    if (f.cta >= 0)
      text += fmt::format(
          "\tmov.u32 {0}, %nctaid.y;\n\tmov.u32 {1}, %ctaid.z;\n\tmul.lo.u32 {0}, {0}, {1};\n"
          "\tmov.u32 {1}, %ctaid.y;\n\tadd.u32 {0}, {0}, {1};\n\tmov.u32 {1}, %nctaid.x;\n"
          "\tmul.lo.u32 {0}, {0}, {1};\n\tmov.u32 {1}, %ctaid.x;\n\tadd.u32 {0}, {0}, {1};\n"
          "\tsetp.eq.and.u32 {2}, {0}, {3}, {2};\n",
          t, u, here, f.cta);
    return text;
  }

  /// The address that an operand like [%r1+8] names, into a register.
  static std::string address_into(const std::string& to, const std::string& operand) {
    std::string inner = operand.substr(1, operand.size() - 2);
    const size_t plus = inner.find('+');
    if (plus == std::string::npos) return fmt::format("\tmov.b32 {}, {};\n", to, inner);
    return fmt::format("\tadd.s32 {}, {}, {};\n", to, inner.substr(0, plus), inner.substr(plus + 1));
  }

  std::string remember_wait(const StatementText& text) const {
    return address_into("%sm100_fault_waited", split_operands(text.operands)[1]) + "\t";
  }

  /// The offsets of the barriers that a fault means; empty: any.
  std::vector<uint32_t> offsets(const FaultSpec& fault) const {
    std::vector<uint32_t> all;
    if (fault.barrier.empty() && fault.stage < 0) return all;
    for (const BarrierArray& array : run_.barriers())
      for (int stage = 0; stage < array.stages; ++stage)
        if ((fault.barrier.empty() || fault.barrier == array.name) && (fault.stage < 0 || fault.stage == stage))
          all.push_back(array.base.offset() + 8u * uint32_t(stage));
    return all;
  }

  /// `hit`: this execution is one that the fault means.
  std::string decide(size_t i, const StatementText& text, const PtxForm& form,
                     const std::vector<std::string>& operands) const {
    const FaultSpec& f = faults_[i];
    const std::string q = reg(i, "q"), t = reg(i, "t"), x = reg(i, "x"), n = reg(i, "n"), hit = reg(i, "hit");
    std::string out = fmt::format("\n\tmov.pred {}, {};\n", q, reg(i, "here"));
    if (!text.guard.empty()) {
      const bool flip = text.guard[1] == '!';
      const std::string guard(text.guard.substr(flip ? 2 : 1));
      if (flip) out += fmt::format("\tnot.pred {}, {};\n\tand.pred {}, {}, {};\n", x, guard, q, q, x);
      if (!flip) out += fmt::format("\tand.pred {0}, {0}, {1};\n", q, guard);
    }
    if (const std::vector<uint32_t> wanted = offsets(f); !wanted.empty()) {
      if (form.barrier >= 0)
        out += address_into(t, operands[size_t(form.barrier)]);
      else
        out += fmt::format("\tmov.b32 {}, %sm100_fault_waited;\n", t);
      out += fmt::format("\tand.b32 {0}, {0}, {1};\n\tsetp.eq.u32 {2}, {0}, {3};\n", t, kOffsetMask, x, wanted[0]);
      for (size_t k = 1; k < wanted.size(); ++k)
        out += fmt::format("\tsetp.eq.or.u32 {0}, {1}, {2}, {0};\n", x, t, wanted[k]);
      out += fmt::format("\tand.pred {0}, {0}, {1};\n", q, x);
    }
    if (f.id >= 0) out += fmt::format("\tsetp.eq.and.s32 {0}, {1}, {2}, {0};\n", q, operands[0], f.id);
    std::string first;  // guard of what decides
    if (form.function == kTryWait) {
      // A poll of the barrier whose last poll has failed is the same wait, whose fate is decided.
      out += address_into(t, operands[1]);
      out += fmt::format("\tsetp.eq.u32 {0}, {1}, {2};\n\tsetp.ne.and.u32 {0}, {3}, 0, {0};\n\tmov.b32 {2}, {1};\n",
                         x, t, reg(i, "polled"), reg(i, "given_up"));
      first = fmt::format("@!{} ", x);
    }
    out += f.occurrence >= 0 ? fmt::format("\t{}setp.eq.and.s32 {}, {}, {}, {};\n", first, hit, n, f.occurrence, q)
                             : fmt::format("\t{}setp.ge.and.s32 {}, {}, {}, {};\n", first, hit, n, f.from, q);
    if (!first.empty()) out += fmt::format("\t@{} setp.ne.u32 {}, {}, {};\n", x, q, t, t);
    return out + fmt::format("\t@{0} add.s32 {1}, {1}, 1;\n", q, n);
  }

  /// The statement with other operands under another guard.
  static std::string statement_with(const StatementText& text, const std::string& guard,
                                    const std::vector<std::string>& operands, const std::string& opcode = "") {
    return fmt::format("\t{}{} {};\n", guard.empty() ? "" : guard + " ",
                       opcode.empty() ? std::string(text.opcode) : opcode, fmt::join(operands, ", "));
  }

  /// The operand plus a value where the fault hits, in a register.
  std::string added(size_t i, const StatementText& text, const PtxOperandPlace& place,
                    std::vector<std::string>& operands, int64_t value) const {
    const FaultSpec& f = faults_[i];
    if (size_t(place.index) >= operands.size()) refuse(f, text.opcode);
    std::string& operand = operands[size_t(place.index)];
    const bool address = operand.starts_with("[");
    const std::string u = reg(i, "u"), t = reg(i, "t");
    if (place.type == "b64") {
      const std::string wide = reg(i, "wide"), wide2 = reg(i, "wide2");
      std::string out = fmt::format("\tadd.s64 {1}, {0}, {3};\n\tselp.b64 {2}, {1}, {0}, {4};\n", operand, wide,
                                    wide2, value, reg(i, "hit"));
      operand = wide2;
      return out;
    }
    std::string out = address ? address_into(u, operand) : fmt::format("\tmov.b32 {}, {};\n", u, operand);
    out += fmt::format("\tadd.s32 {0}, {1}, {2};\n\tselp.b32 {1}, {0}, {1}, {3};\n", t, u, value, reg(i, "hit"));
    operand = address ? "[" + u + "]" : u;
    return out;
  }

  void alter(const ptx::Statement& statement, const StatementText& text, const PtxForm& form,
             const std::vector<size_t>& meant) {
    std::vector<std::string> operands = split_operands(text.operands);
    std::string out, guard(text.guard), behind;
    const bool wait = form.function == kTryWait;
    for (const size_t i : meant) {
      const FaultSpec& f = faults_[i];
      out += decide(i, text, form, operands);
      const std::string hit = reg(i, "hit"), x = reg(i, "x"), u = reg(i, "u"), t = reg(i, "t");
      switch (f.action) {
        case FaultAction::drop: {
          // The guard and not the fault.
          if (guard.empty())
            out += fmt::format("\tnot.pred {}, {};\n", x, hit);
          else if (guard[1] == '!')
            out += fmt::format("\tor.pred {0}, {1}, {2};\n\tnot.pred {0}, {0};\n", x, guard.substr(2), hit);
          else
            out += fmt::format("\tnot.pred {0}, {1};\n\tand.pred {0}, {0}, {2};\n", x, hit, guard.substr(1));
          guard = "@" + x;
          if (wait) behind += fmt::format("\t@{0} setp.eq.u32 {1}, {2}, {2};\n", hit, operands[0], reg(i, "n"));
          if (form.function == "mapa")
            behind += fmt::format("\t@{} mov.b32 {}, {};\n", hit, operands[0], operands[1]);
          break;
        }
        case FaultAction::duplicate:
          for (int64_t k = 1; k < f.value; ++k) behind += statement_with(text, "@" + hit, operands);
          break;
        case FaultAction::delay: {
          const std::string loop = fmt::format("$sm100_fault{}_{}", i, statement.line);
          out += fmt::format(
              "\tmov.u64 {0}, %clock64;\n{3}:\n\tmov.u64 {1}, %clock64;\n\tsub.s64 {1}, {1}, {0};\n"
              "\tsetp.lt.and.s64 {4}, {1}, {2}, {5};\n\t@{4} bra {3};\n",
              reg(i, "wide"), reg(i, "wide2"), f.value, loop, x, hit);
          break;
        }
        case FaultAction::flip_parity:
          if (!wait) refuse(f, text.opcode);
          out += fmt::format("\tselp.b32 {0}, 1, 0, {1};\n\txor.b32 {0}, {0}, {2};\n", u, hit, operands[2]);
          operands[2] = u;
          break;
        case FaultAction::add: {
          if (form.function.ends_with("tensor_shared_global") || form.function.ends_with("_multicast") ||
              form.function.ends_with("tensor_global_shared")) {
            if (f.operand == "x" || f.operand == "y") {
              out += added_coordinate(i, text, form, operands);
              break;
            }
          }
          const auto place = f.operand.empty() && !form.operands.empty()
                                 ? form.operands.begin()
                                 : std::find_if(form.operands.begin(), form.operands.end(),
                                                [&](const PtxOperandPlace& p) { return p.name == f.operand; });
          if (place == form.operands.end()) {
            if (f.operand != "barrier" || form.barrier < 0) refuse(f, text.opcode);
            out += added(i, text, {"barrier", form.barrier}, operands, f.value);
            break;
          }
          // A descriptor's address is in units of 16 bytes.
          out += added(i, text, *place, operands, place->type == "b64" ? f.value / 16 : f.value);
          break;
        }
        case FaultAction::clear_mask: {
          const auto place = std::find_if(form.operands.begin(), form.operands.end(),
                                          [](const auto& p) { return p.name == "mask"; });
          if (place == form.operands.end()) refuse(f, text.opcode);
          std::string& mask = operands[size_t(place->index)];
          out += fmt::format("\tand.b16 {0}, {1}, {2};\n\tselp.b16 {0}, {0}, {1}, {3};\n", reg(i, "half"), mask,
                             uint16_t(~f.value), hit);
          mask = reg(i, "half");
          break;
        }
        case FaultAction::own_cta: {
          if (form.barrier < 0 || text.opcode.find("shared::cluster") == std::string_view::npos)
            refuse(f, text.opcode);
          std::string& barrier = operands[size_t(form.barrier)];
          out += address_into(u, barrier);
          out += fmt::format("\tmov.u32 {0}, %cluster_ctarank;\n\tand.b32 {3}, {1}, {2};\n", t, u, kOffsetMask,
                             reg(i, "polled"));
          out += fmt::format("\tmapa.shared::cluster.u32 {0}, {1}, {0};\n\tselp.b32 {2}, {0}, {2}, {3};\n", t,
                             reg(i, "polled"), u, hit);
          barrier = "[" + u + "]";
          break;
        }
        case FaultAction::cta_scope: {
          std::string narrow(text.opcode);
          const size_t at = narrow.find(".cluster");
          if (at == std::string::npos || form.barrier < 0 || wait) refuse(f, text.opcode);
          narrow.replace(at, 8, ".cta");
          out += fmt::format("\tnot.pred {}, {};\n", x, hit);
          behind += statement_with(text, "@" + hit, operands, narrow);
          if (!guard.empty()) refuse(f, text.opcode);
          guard = "@" + x;
          break;
        }
        case FaultAction::early:
        case FaultAction::all_lanes:
        case FaultAction::one_lane:
        case FaultAction::other_lane: refuse(f, text.opcode);
      }
      if (wait) behind += fmt::format("\tselp.b32 {}, 0, 1, {};\n", reg(i, "given_up"), operands[0]);
    }
    if (wait) out += remember_wait(text) + "\n";
    edits_.replace(statement, out + statement_with(text, guard, operands) + behind);
  }

  /// Of [map, {x, y}].
  std::string added_coordinate(size_t i, const StatementText& text, const PtxForm& form,
                               std::vector<std::string>& operands) const {
    const FaultSpec& f = faults_[i];
    std::string& operand = operands[form.function.ends_with("tensor_global_shared") ? 0 : 1];
    const size_t open = operand.find('{'), close = operand.find('}');
    if (open == std::string::npos || close == std::string::npos) refuse(f, text.opcode);
    std::vector<std::string> coordinates = split_operands(operand.substr(open + 1, close - open - 1));
    const size_t which = f.operand == "x" ? 0 : 1;
    if (which >= coordinates.size()) refuse(f, text.opcode);
    const std::string u = reg(i, "u"), t = reg(i, "t");
    std::string out = fmt::format("\tmov.b32 {0}, {1};\n\tadd.s32 {2}, {0}, {3};\n\tselp.b32 {0}, {2}, {0}, {4};\n",
                                  u, coordinates[which], t, f.value, reg(i, "hit"));
    coordinates[which] = u;
    operand =
        fmt::format("{}{{{}}}{}", operand.substr(0, open), fmt::join(coordinates, ", "), operand.substr(close + 1));
    return out;
  }

  const ptx::Module& module_;
  const ptx::Entry& entry_;
  std::span<const FaultSpec> faults_;
  const KernelRun& run_;
  ptx::TextEdits edits_;
  std::set<uint32_t> polls_;  ///< lines of the try_waits in loops that wait; others are looks, which no fault means
  const bool follows_waits_ = std::any_of(faults_.begin(), faults_.end(),
                                          [](const FaultSpec& f) { return !f.barrier.empty() || f.stage >= 0; });
};

}  // namespace

std::string with_faults(const ptx::Module& module, const ptx::Entry& entry, std::span<const FaultSpec> faults,
                        const KernelRun& run) {
  return FaultEdits(module, entry, faults, run).text();
}

std::string faulty_ptx(const Scenario& scenario) {
  const PtxFile* const file = ptx_of(scenario);
  if (!file)
    throw InputError(
        fmt::format("{}: its warps execute role code, not PTX; run.ptx and run.ptx_entry name the compiled "
                    "kernel's (docs/ptx.md)",
                    scenario.path.string()));
  if (scenario.faults.empty()) return *file->module->text;
  return with_faults(*file->module, file->entry(), scenario.faults, *make_run(scenario));
}

}  // namespace sm100::host
