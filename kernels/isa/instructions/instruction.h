// SPDX-License-Identifier: Apache-2.0
/// An instruction is a value: a small struct with its operands by name.  Whoever drives the model builds one: role
/// code through the functions of SimIsa, another front end by decoding.  All that the program says of an
/// instruction stands in its struct:
///
///   struct MbarrierInit {
///     static constexpr Description kIs{...};              its names, and how faults may alter it
///     static constexpr SupportLine kSupport[] = {...};    its lines of `sm100sim list isa`
///     SmemAddr barrier;                                   operands; wide ones are pointers to registers
///     uint32_t count;
///     template <class Self, class Visit>
///     static void operands(Self& i, Visit&& visit);       visit("name", operand) for each that has a name
///     void execute(sim::WarpContext&) const;              on the model: sim/instructions/
///   };
///
/// A struct that returns a value may have `dropped()`: what it returns when a fault leaves it out (otherwise
/// zeros). The device side (kernels/isa/sm100/) does not use these headers; a test compares them with its PTX.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "kernels/isa/isa.h"

namespace sm100::sim {
class WarpContext;
}

namespace sm100::instructions {

enum class Support {
  modelled,      ///< semantics as PTX states them, time from the profile
  approximated,  ///< semantics as PTX states them, time or order simplified as the note says
  rejected,      ///< an error that names it, never a no-op
};

constexpr std::string_view name(Support support) {
  switch (support) {
    case Support::modelled: return "modelled";
    case Support::approximated: return "approximated";
    case Support::rejected: return "rejected";
  }
  return "?";
}

struct SupportLine {
  std::string_view instruction;  ///< "..." stands for any further qualifiers
  Support support;
  std::string_view note;
};

/// What a fault may do to every execution.
enum class Alterable : uint8_t {
  no,
  step,  ///< returns nothing: left out, repeated, delayed
  read,  ///< returns something: left out, delayed
  poll,  ///< delayed only: a poll that reads nothing would never end, registers of a load would hold anything
};

struct Description {
  std::string_view function;  ///< of the concept Isa; overloads share it
  std::string_view opcode;    ///< PTX, without the modifiers that come with the operands
  bool aligned = false;       ///< .sync or .aligned: all lanes of the warp execute it together
  bool each_lane = false;     ///< every active lane executes it by itself
  bool other_ctas = false;    ///< may reach another CTA of the cluster
  bool releases = false;      ///< hands back what its warp has waited for
  Alterable faults = Alterable::no;
  std::array<std::string_view, 7> add{};    ///< operands that a fault may add to; the first unless told
  std::string_view selects_by = "barrier";  ///< operand that is the mbarrier of the execution
};

template <class... I>
struct List {};

/// f(type identity of I) for each instruction of the list, in order.
template <class I>
struct Type {
  using type = I;
};
template <class... I, class F>
constexpr void for_each(List<I...>, F&& f) {
  (f(Type<I>{}), ...);
}

}  // namespace sm100::instructions
