// SPDX-License-Identifier: Apache-2.0
/// What the text of a program says about a warp before it runs: which instructions it may come to, and what
/// registers hold that depend on nothing but the warp's number and on where shared memory lies.
///
/// Constants are propagated through registers as if every register had one value for the whole run: a register that
/// several instructions write differently, or one that follows from memory, parameters or the CTA, is unknown.  An
/// address of shared memory to which something unknown is added remains known as "from here on", which says which
/// array is meant.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/program.h"

namespace sm100::ptx {

/// An address in shared memory, without the rank of its CTA.
struct SharedAddress {
  uint32_t offset = 0;
  bool exact = true;  ///< false: something unknown is added
};

class Reach {
 public:
  /// @param constants  with the symbols' addresses filled in
  /// @param block      threads of a CTA, [x, y, z]
  Reach(const Program& program, std::span<const std::byte> constants, const Windows& windows, Dim3 block, int warp);

  /// The warp may come to that instruction with a lane that executes it.
  bool reached(uint32_t instruction) const { return reached_[instruction]; }
  /// The same, and its guard holds for some lane, as far as it is known.
  bool executes(uint32_t instruction) const;
  /// Of an operand of Kind::address, at that instruction or any other.
  std::optional<SharedAddress> shared_address(const Operand& operand) const;
  /// Of a register or number; absent: it is not known.
  std::optional<uint64_t> value(const Operand& operand) const;

 private:
  enum class Known : uint8_t {
    nothing,  ///< nobody has written it yet
    value,    ///< in every lane
    base,     ///< an address of shared memory: the value is what it is at least
    unknown,
  };
  struct State {
    Known known = Known::nothing;
    bool address = false;  ///< follows from the address of a shared symbol
    uint8_t lowered = 0;   ///< how often a base has become a lower one
    uint32_t changed = 0;  ///< pass
  };

  void fill_specials(Dim3 block, int warp);
  void mark_addresses();
  void find_guard_writers();
  const State& state(Row row) const;
  void pass();
  void visit(uint32_t at);
  void reach(uint32_t at);
  void branch(const Instr& i, uint32_t at);
  void compute(const Instr& i, uint32_t at);
  bool settle(const Instr& i, std::string_view opcode);
  bool follow_base(const Instr& i, std::string_view opcode);
  void service(const Instr& i);
  void map_address(const Service& service);
  void shuffle(const Service& service);
  void forget(Row row);
  void forget(const Operand& operand);
  void set_base(Row row, uint64_t at);
  void write(Row row, uint64_t v);
  void put_predicate(Row row, bool holds);
  void put(Row row, uint64_t v, bool address);
  void keep(Row row, const std::vector<std::byte>& before, bool address);
  size_t bytes_of(Row row) const;
  uint64_t first_lane(Row row) const;
  /// The guard, as far as it is known: lanes for which it holds.
  std::optional<LaneMask> guard(uint32_t at) const;
  std::optional<LaneMask> rewritten_guard(uint32_t at) const;

  const Program& program_;
  mutable RegisterFile file_;  ///< what a guard's last writer says is tried out in it
  LaneMask live_ = kAllLanes;
  std::vector<bool> reached_;
  std::vector<uint32_t>
      guard_writers_;  ///< by instruction: what has written its guard last, in the same straight piece of code
  std::vector<uint32_t> visited_;    ///< by instruction: pass; 0: never
  std::vector<State> own_;           ///< by the word that a row starts at
  std::vector<bool> symbol_rows_;    ///< of constants, by their word: addresses of shared symbols
  std::vector<uint16_t> row_bytes_;  ///< of own rows, by their word
  uint32_t pass_ = 0;
  bool again_ = false;
};

}  // namespace sm100::ptx
