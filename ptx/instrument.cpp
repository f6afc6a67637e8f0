// SPDX-License-Identifier: Apache-2.0
#include "ptx/instrument.h"

#include <algorithm>
#include <cstddef>

#include "ptx/point_sites.h"
#include "ptx/program.h"
#include "ptx/text_edits.h"

namespace sm100::ptx {
namespace {

std::string text(uint64_t number) { return std::to_string(number); }

/// Registers that live as long as the thread: where its next record goes (64 bits), how many it still has room for,
/// what it is doing.  The lanes below are read for each point: a fifth register made ptxas spill in a producer that
/// setmaxnreg leaves 40 (scenarios/hopper/gemm.ptx).
constexpr char kThreadRegisters[] = ".reg .b64 %sm100_at; .reg .b32 %sm100_left, %sm100_doing; ";
constexpr int kThreadRegisterCount = 4;  // of 32 bits

/// The warp's number in the grid, in %sm100_w; its first two thread indices, in %sm100_a and %sm100_b.
constexpr char kWarpNumber[] =
    "mov.u32 %sm100_w, %tid.z; mov.u32 %sm100_a, %ntid.y; mov.u32 %sm100_b, %tid.y; "
    "mad.lo.u32 %sm100_w, %sm100_w, %sm100_a, %sm100_b; mov.u32 %sm100_a, %ntid.x; mov.u32 %sm100_b, %tid.x; "
    "mad.lo.u32 %sm100_w, %sm100_w, %sm100_a, %sm100_b; shr.u32 %sm100_w, %sm100_w, 5; "
    "mov.u32 %sm100_c, %ctaid.z; mov.u32 %sm100_a, %nctaid.y; mov.u32 %sm100_b, %ctaid.y; "
    "mad.lo.u32 %sm100_c, %sm100_c, %sm100_a, %sm100_b; mov.u32 %sm100_a, %nctaid.x; mov.u32 %sm100_b, %ctaid.x; "
    "mad.lo.u32 %sm100_c, %sm100_c, %sm100_a, %sm100_b; ";

constexpr char kPrologue[] =
    "ld.global.v2.u64 {%sm100_at, %sm100_h}, [sm100_trace]; ld.global.u32 %sm100_n, [sm100_trace+24]; "
    "ld.global.v2.u32 {%sm100_left, %sm100_o}, [sm100_trace+16]; "
    "mov.b32 %sm100_doing, 0; setp.ne.u64 %sm100_p, %sm100_at, 0; "
    "mad.lo.u32 %sm100_r, %sm100_c, %sm100_n, %sm100_w; "
    // Where the warp's records begin, then where the lane's do.
    "mad.lo.u32 %sm100_n, %sm100_o, 31, %sm100_left; mul.wide.u32 %sm100_x, %sm100_r, %sm100_n; "
    "mov.u32 %sm100_l, %laneid; setp.ne.u32 %sm100_q, %sm100_l, 0; sub.u32 %sm100_n, %sm100_l, 1; "
    "mad.lo.u32 %sm100_n, %sm100_n, %sm100_o, %sm100_left; selp.b32 %sm100_n, %sm100_n, 0, %sm100_q; "
    "cvt.u64.u32 %sm100_y, %sm100_n; add.u64 %sm100_x, %sm100_x, %sm100_y; shl.b64 %sm100_x, %sm100_x, 3; "
    "add.u64 %sm100_at, %sm100_at, %sm100_x; selp.b32 %sm100_left, %sm100_o, %sm100_left, %sm100_q; "
    "selp.b32 %sm100_left, %sm100_left, 0, %sm100_p; setp.eq.and.u32 %sm100_q, %sm100_l, 0, %sm100_p; "
    // The header, by lane 0.
    "mul.wide.u32 %sm100_x, %sm100_r, 64; add.u64 %sm100_h, %sm100_h, %sm100_x; mov.u32 %sm100_n, 1395732560; "
    "mov.u32 %sm100_a, %cluster_ctarank; mov.u32 %sm100_b, %smid; mov.u32 %sm100_o, %warpid; mov.u32 %sm100_l, 0; "
    "@%sm100_q st.global.v4.b32 [%sm100_h], {%sm100_n, %sm100_c, %sm100_w, %sm100_a}; mov.u32 %sm100_n, 1; "
    "@%sm100_q st.global.v4.b32 [%sm100_h+16], {%sm100_b, %sm100_o, %sm100_l, %sm100_n}; "
    "mov.u64 %sm100_x, %globaltimer; mov.u64 %sm100_y, %clock64; "
    "@%sm100_q st.global.v2.b64 [%sm100_h+32], {%sm100_y, %sm100_x}; ";
static_assert(offsetof(PointTrace, headers) == 8 && offsetof(PointTrace, capacity) == 16 &&
              offsetof(PointTrace, warps_per_cta) == 24 && offsetof(PointTrace, version) == 28);
static_assert(kPointTraceMagic == 1395732560 && kPointTraceVersion == 1);

int statements(std::string_view code) {
  int all = int(std::count(code.begin(), code.end(), ';'));
  for (size_t at = code.find(".reg "); at != code.npos; at = code.find(".reg ", at + 1)) --all;
  return all;
}

class Writer {
 public:
  Writer(const Module& module, const InstrumentOptions& options)
      : module_(module), options_(options), edits_(module) {}

  void entry(const Entry& e) {
    entry_ = &e;
    body_ = &e.body;
    Sites sites = find_sites(module_, e, options_);
    for (const WaitSite& w : sites.waits) over(w);  // in front of what else its exit's statement has
    for (const WaitSite& w : sites.waits) begin(w);
    for (const Site& s : sites.sites) site(s);
    for (Unrecorded& u : sites.unrecorded) made_.unrecorded.push_back(std::move(u));
    const bool any = !sites.sites.empty() || !sites.waits.empty();
    if (!any) return;
    for (const uint32_t s : sites.exits) exit(s);
    insert_into_body(e);
    any_ = true;
  }

  Instrumented finish() {
    if (any_) {
      edits_.module_scope(
          ".visible .global .align 16 .b8 sm100_trace[32] = "
          "{0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1}; ");
      made_.registers = kThreadRegisterCount;
    }
    for (const Entry& f : module_.functions) function(f);
    made_.text = edits_.apply();
    return std::move(made_);
  }

 private:
  const Statement& at(uint32_t s) const { return body_->statements[s]; }
  std::string guard_of(uint32_t s) const {
    const std::string_view guard = statement_text(module_, at(s)).guard;
    return std::string(guard.substr(guard.empty() ? 0 : 1));
  }
  std::string count(std::string code) {
    made_.instructions += statements(code);
    return code;
  }
  void before(uint32_t s, std::string code) { edits_.before(at(s), count(std::move(code))); }
  void before(const Label& l, std::string code) { edits_.before(l, count(std::move(code))); }
  void after(uint32_t s, std::string code) { edits_.after(at(s), count(std::move(code))); }

  uint32_t add(PointGroup group, PointKind kind, TraceEvent event, uint32_t s, Doing from = kAnyDoing) {
    made_.points.push_back({group, kind, event, from, std::string(entry_->name), std::string(at(s).opcode),
                            module_.place(at(s).loc), at(s).line});
    if (made_.points.size() > kMostPoints)
      throw PtxError(module_.name, at(s).line, 1,
                     "more than 65,534 points: instrument fewer entries, or fewer kinds of points");
    return uint32_t(made_.points.size());
  }
  // ---- pieces of text

  static std::string if_so(const std::string& guard) { return guard.empty() ? "" : "@" + guard + " "; }
  /// setp.CMP.TYPE p, a, b under a guard.
  static std::string setp(const std::string& cmp, const std::string& type, const std::string& to,
                          const std::string& operands, const std::string& guard) {
    return "setp." + cmp + (guard.empty() ? "." : ".and.") + type + " " + to + ", " + operands +
           (guard.empty() ? "; " : ", " + guard + "; ");
  }
  std::string register_name(const Term& t) const { return register_name(t.index); }
  std::string register_name(uint32_t index) const {
    const Register& r = body_->registers[index];
    return std::string(r.name) + (r.number < 0 ? "" : std::to_string(r.number));
  }
  /// Bits 0-15 of PointRecord::what, into %sm100_w.
  std::string barrier(const Term& address, bool shared) const {
    const Term& base = body_->children(address)[0];
    const int64_t offset = address.offset + base.offset;
    std::string code;
    if (base.kind == Term::Kind::reg) {
      const std::string from = register_name(base);
      if (bits(body_->registers[base.index].type) == 32)
        code = "mov.b32 %sm100_w, " + from + "; ";
      else if (shared)
        code = "cvt.u32.u64 %sm100_w, " + from + "; ";
      else
        code = "cvta.to.shared.u64 %sm100_x, " + from + "; cvt.u32.u64 %sm100_w, %sm100_x; ";
    } else if (base.kind == Term::Kind::symbol) {
      code = "mov.u32 %sm100_w, " + std::string(base.name) + "; ";
    } else {
      code = "mov.u32 %sm100_w, " + text(uint32_t(base.value)) + "; ";
    }
    if (offset != 0) code += "add.s32 %sm100_w, %sm100_w, " + std::to_string(offset) + "; ";
    return code + "shr.u32 %sm100_w, %sm100_w, 2; and.b32 %sm100_w, %sm100_w, 65534; ";
  }
  std::string parity(const Term& t) const {
    if (t.kind == Term::Kind::reg)
      return "and.b32 %sm100_c, " + register_name(t) + ", 1; or.b32 %sm100_w, %sm100_w, %sm100_c; ";
    return t.value & 1 ? "or.b32 %sm100_w, %sm100_w, 1; " : "";
  }
  /// One record by the lowest of the lanes for which the guard holds.  %sm100_q: it has been written.
  /// @param barrier  %sm100_w holds one
  static std::string record(uint32_t point, bool barrier, const std::string& guard) {
    return if_so(guard) +
           "activemask.b32 %sm100_m; mov.u32 %sm100_c, %lanemask_lt; and.b32 %sm100_m, %sm100_m, %sm100_c; " +
           setp("eq", "u32", "%sm100_p", "%sm100_m, 0", guard) +
           "setp.gt.and.s32 %sm100_q, %sm100_left, 0, %sm100_p; @%sm100_q mov.u32 %sm100_c, %clock; " +
           (barrier ? "or.b32 %sm100_w, %sm100_w, " : "mov.b32 %sm100_w, ") + text(point << 16) +
           "; @%sm100_q st.global.v2.b32 [%sm100_at], {%sm100_c, %sm100_w}; @%sm100_q add.s64 %sm100_at, "
           "%sm100_at, "
           "8; @%sm100_p sub.s32 %sm100_left, %sm100_left, 1; ";
  }
  /// Behind the record of a wait, one in sixteen by the clock: both clocks.
  static std::string sample() {
    return "and.b32 %sm100_m, %sm100_c, 15360; setp.eq.and.u32 %sm100_q, %sm100_m, 0, %sm100_q; "
           "setp.gt.and.s32 %sm100_q, %sm100_left, 1, %sm100_q; mov.b32 %sm100_w, " +
           text(kClockSample) +
           "; @%sm100_q mov.u32 %sm100_m, %globaltimer_lo; @%sm100_q mov.u32 %sm100_c, %clock; "
           "@%sm100_q st.global.v2.b32 [%sm100_at], {%sm100_c, %sm100_w}; mov.b32 %sm100_w, 1; "
           "@%sm100_q st.global.v2.b32 [%sm100_at+8], {%sm100_m, %sm100_w}; "
           "@%sm100_q add.s64 %sm100_at, %sm100_at, 16; @%sm100_q sub.s32 %sm100_left, %sm100_left, 2; ";
  }
  static std::string sets(Doing to, const std::string& guard) {
    return if_so(guard) + "mov.b32 %sm100_doing, " + text(to) + "; ";
  }
  static std::string block(const std::string& code) {
    return "{ .reg .pred %sm100_p, %sm100_q, %sm100_g; .reg .b32 %sm100_m, %sm100_c, %sm100_w; .reg .b64 "
           "%sm100_x; " +
           code + "} ";
  }

  // ---- points

  /// `Site::from` as a condition, into %sm100_g.
  static std::string condition(Doing from, const std::string& guard) {
    if ((from & kNothing) == 0)
      return "and.b32 %sm100_m, %sm100_doing, " + text(from) + "; " +
             setp("ne", "b32", "%sm100_g", "%sm100_m, 0", guard);
    return "and.b32 %sm100_m, %sm100_doing, " + text(~from) + "; " +
           setp("eq", "b32", "%sm100_g", "%sm100_m, 0", guard);
  }

  void site(const Site& s) {
    std::string guard = guard_of(s.statement), code;
    const std::string own_guard = guard;
    if (s.generic) {
      const Term& base = body_->children(*s.generic)[0];
      if (base.kind != Term::Kind::reg || bits(body_->registers[base.index].type) != 64) return;
      code += std::string("isspacep.") + (s.space == Space::shared ? "shared" : "global") + " %sm100_g, " +
              register_name(base) + "; ";
      if (!guard.empty()) code += "and.pred %sm100_g, %sm100_g, %sm100_q; ";
      if (!guard.empty()) {
        const bool negated = guard[0] == '!';
        code = (negated ? "not.pred %sm100_q, " + guard.substr(1) : "mov.pred %sm100_q, " + guard) + "; " + code;
      }
      guard = "%sm100_g";
    }
    const bool begins = s.kind == PointKind::begin;
    if (begins && s.from != kAnyDoing) {
      code += condition(s.from, guard);
      guard = "%sm100_g";
    }
    const bool named = s.barrier && !body_->children(*s.barrier).empty();
    if (named) code += barrier(*s.barrier, s.shared);
    if (named && s.parity) code += parity(*s.parity);
    code += record(add(s.group, s.kind, s.event, s.statement, s.from), named, guard);
    if (begins) code += sets(doing(s.event), guard);
    before(s.statement, block(code));
    if (!s.over_behind) return;
    const uint32_t number = add(s.group, PointKind::over, s.event, s.statement);
    after(s.statement, " " + block(record(number, false, own_guard) + sets(0, own_guard)));
  }

  void begin(const WaitSite& w) {
    const uint32_t number = add(PointGroup::waits, PointKind::begin, TraceEvent::wait, w.poll);
    // The loop may have registers of its own: these hide them, or stand for them where they are not declared yet.
    std::string repeated;
    for (const uint32_t r : w.sets)
      repeated += ".reg ." + std::string(ptx::name(body_->registers[r].type)) + " " + register_name(r) + "; ";
    for (const uint32_t s : w.repeated) {
      const StatementText t = statement_text(module_, at(s));
      repeated += std::string(module_.text->substr(t.begin, t.end - t.begin)) + " ";
    }
    std::replace(repeated.begin(), repeated.end(), '\n', ' ');
    const auto code = [&](const std::string& guard) {
      return block(repeated + barrier(*w.barrier, w.shared) + parity(*w.parity) + record(number, true, guard) +
                   sample() + sets(doing(TraceEvent::wait), guard));
    };
    before(*w.entry, code(guard_of(w.poll)));
    for (const uint32_t jump : w.jumps) before(jump, code(guard_of(jump)));
  }

  void over(const WaitSite& w) {
    const uint32_t number = add(PointGroup::waits, PointKind::over, TraceEvent::wait, w.poll);
    const std::string code =
        block(condition(doing(TraceEvent::wait), "") + record(number, false, "%sm100_g") + sets(0, "%sm100_g"));
    if (w.exit_label)
      before(*w.exit_label, code);
    else
      before(w.exit, code);
  }

  void exit(uint32_t s) {
    const std::string guard = guard_of(s);
    before(s,
           "{ .reg .pred %sm100_p, %sm100_q; .reg .b32 %sm100_a, %sm100_b, %sm100_c, %sm100_w, %sm100_n; "
           ".reg .b64 %sm100_h, %sm100_x, %sm100_y; ld.global.u64 %sm100_h, [sm100_trace+8]; " +
               setp("ne", "u64", "%sm100_p", "%sm100_h, 0", guard) + kWarpNumber +
               "ld.global.u32 %sm100_n, [sm100_trace+24]; mad.lo.u32 %sm100_n, %sm100_c, %sm100_n, %sm100_w; "
               "mul.wide.u32 %sm100_x, %sm100_n, 64; add.u64 %sm100_h, %sm100_h, %sm100_x; "
               "setp.lt.and.s32 %sm100_q, %sm100_left, 0, %sm100_p; neg.s32 %sm100_n, %sm100_left; "
               "@%sm100_q red.global.add.u32 [%sm100_h+24], %sm100_n; @%sm100_p activemask.b32 %sm100_n; "
               "mov.u32 %sm100_c, %lanemask_lt; and.b32 %sm100_n, %sm100_n, %sm100_c; setp.eq.and.u32 %sm100_q, "
               "%sm100_n, 0, %sm100_p; "
               "mov.u64 %sm100_x, %globaltimer; mov.u64 %sm100_y, %clock64; "
               "@%sm100_q st.global.v2.b64 [%sm100_h+48], {%sm100_y, %sm100_x}; } ");
  }

  void insert_into_body(const Entry& e) {
    edits_.body_start(e, count(std::string(" ") + kThreadRegisters +
                               "{ .reg .pred %sm100_p, %sm100_q; .reg .b32 %sm100_a, %sm100_b, %sm100_c, %sm100_w, "
                               "%sm100_n, %sm100_o, %sm100_r, %sm100_l; .reg .b64 %sm100_h, %sm100_x, %sm100_y; " +
                               kWarpNumber + kPrologue + "}"));
  }

  void function(const Entry& f) {
    if (f.external) return;
    Sites sites = find_sites(module_, f, options_);
    std::vector<std::pair<uint32_t, PointGroup>> all;
    for (const Site& s : sites.sites) all.push_back({s.statement, s.group});
    for (const WaitSite& w : sites.waits) all.push_back({w.poll, PointGroup::waits});
    for (const auto& [s, group] : all)
      made_.unrecorded.push_back({std::string(f.name), std::string(f.body.statements[s].opcode),
                                  "it is in a device function, which has no recorder", f.body.statements[s].line});
  }

  const Module& module_;
  const InstrumentOptions& options_;
  TextEdits edits_;
  const Entry* entry_ = nullptr;
  const Body* body_ = nullptr;
  Instrumented made_;
  bool any_ = false;
};

}  // namespace

std::string_view name(PointGroup group) {
  constexpr std::string_view kNames[kPointGroups] = {"waits",   "copies", "mmas",  "commits",
                                                     "arrives", "tiles",  "stores"};
  return kNames[unsigned(group)];
}

Instrumented instrument(const Module& module, const std::vector<const Entry*>& entries,
                        const InstrumentOptions& options) {
  for (const std::string_view taken : {"sm100_trace", "%sm100_"})
    if (const size_t at = module.text->find(taken); at != std::string::npos)
      throw PtxError(module.name, int(std::count(module.text->begin(), module.text->begin() + long(at), '\n')) + 1,
                     1, "'" + std::string(taken) + "' is a name that the recorder uses: this text has one already");
  Writer writer(module, options);
  for (const Entry* entry : entries) writer.entry(*entry);
  return writer.finish();
}

}  // namespace sm100::ptx
