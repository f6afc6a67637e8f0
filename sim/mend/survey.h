// SPDX-License-Identifier: Apache-2.0
/// Which instructions a run executes, line by line, and with which operands: what there is to change in it.
///
/// WarpContext hands in every instruction that faults may alter (kernels/host/fault.h).  A process makes one run,
/// so it has at most one survey.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/alteration.h"

namespace sm100::sim {

class Warp;

/// The values that an operand has had at one line.
struct SeenOperand {
  static constexpr size_t kValuesKept = 24;
  std::string name;
  std::set<int64_t> values{};  ///< the first so many different ones
  int64_t step = 0;            ///< greatest common divisor of their differences; 0: it never changes
  int64_t first = 0;

  void add(int64_t value);
};

/// An instruction at one line, of one role.
struct InstructionSite {
  std::string function;  ///< Isa function
  std::string role;
  std::string barrier;    ///< array of its mbarrier; empty: it names none
  std::string source;     ///< "load_warp.h:88"; of PTX as reports say it
  unsigned ptx_line = 0;  ///< 0: role code
  uint64_t executed = 0;
  int lanes = 0;  ///< that executed it the first time
  std::vector<SeenOperand> operands;
};

class InstructionSurvey {
 public:
  /// Looks at the runs of this process from now on.
  InstructionSurvey();
  ~InstructionSurvey();
  InstructionSurvey(const InstructionSurvey&) = delete;
  InstructionSurvey& operator=(const InstructionSurvey&) = delete;
  static InstructionSurvey* active() { return active_; }

  template <class I>
  void add(const Warp& warp, const I& instruction, uint32_t lanes, const Selection& by) {
    InstructionSite& s = site(warp, I::kIs.function, lanes, by);
    size_t next = 0;
    const auto put = [&](std::string_view name, int64_t value) { operand(s, next++, name).add(value); };
    const int lane = std::countr_zero(lanes);
    I::operands(instruction, [&]<class T>(std::string_view name, const T& v) {
      if constexpr (std::is_integral_v<T>)
        put(name, int64_t(v));
      else if constexpr (requires { v.value; })
        put(name, int64_t(v.value));
      else if constexpr (requires { v.bits; })
        put(name, int64_t(v.bits));
      else if constexpr (std::is_same_v<T, instructions::OperandA>)
        put(name, v.in_tmem ? int64_t(v.tmem.value) : int64_t(v.tile.bits));
      else if constexpr (requires { v[lane][0].value; })
        put(name, int64_t(v[lane][0].value));
      else if constexpr (requires { int64_t(v[lane][0]); })
        put(name, int64_t(v[lane][0]));
    });
  }

  /// In the order in which they were first executed.
  std::vector<InstructionSite> sites() const;

 private:
  InstructionSite& site(const Warp& warp, std::string_view function, uint32_t lanes, const Selection& by);
  static SeenOperand& operand(InstructionSite& site, size_t index, std::string_view name);

  static InstructionSurvey* active_;
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, const char*, unsigned, unsigned>;
  std::map<Key, size_t> index_;
  std::vector<InstructionSite> sites_;
};

}  // namespace sm100::sim
