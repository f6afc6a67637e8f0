// SPDX-License-Identifier: Apache-2.0
/// Arithmetic with the carry flag CC.CF (PTX 9.7.2): a bit of each lane.  A subtraction adds the complement, so the
/// flag behind it says that there was no borrow, as an H200 has it (bench/hardware/carry.cu): PTX calls it the
/// borrow-out, and code of nvcc reads what sub.cc has left with addc.

#include "ptx/alu/form_table.h"
#include "ptx/alu/integers.h"

namespace sm100::ptx {

namespace {

/// d = a op b, with the flag read, written, or both.
template <class U, bool kSubtract, bool kReads, bool kWrites>
void sum(RegisterFile& file, const Instr& in, LaneMask mask) {
  Destination<U> d(file, in, 0);
  const Source<U> a(file, in, 1), b(file, in, 2);
  LaneMask flags = 0;
  const LaneMask before = file.carry;
  for_each_lane(mask, [&](int lane) {
    const U x = a[lane], y = kSubtract ? static_cast<U>(~b[lane]) : b[lane],
            flag = kReads ? before >> lane & 1 : (kSubtract ? 1 : 0);
    const U result = x + y + flag;
    flags |= static_cast<LaneMask>(result < x || (flag && result == x)) << lane;
    d.set(lane, result);
  });
  if (kWrites) file.carry = (file.carry & ~mask) | flags;
}

/// d = part of a * b, + c.
template <class T, bool kHigh, bool kReads, bool kWrites>
void product_sum(RegisterFile& file, const Instr& in, LaneMask mask) {
  using U = std::make_unsigned_t<T>;
  Destination<U> d(file, in, 0);
  const Source<T> a(file, in, 1), b(file, in, 2);
  const Source<U> c(file, in, 3);
  LaneMask flags = 0;
  const LaneMask before = file.carry;
  for_each_lane(mask, [&](int lane) {
    const U x = static_cast<U>(kHigh ? mul_hi(a[lane], b[lane]) : mul_lo(a[lane], b[lane]));
    const U flag = kReads ? before >> lane & 1 : 0, result = x + c[lane] + flag;
    flags |= static_cast<LaneMask>(result < x || (flag && result == x)) << lane;
    d.set(lane, result);
  });
  if (kWrites) file.carry = (file.carry & ~mask) | flags;
}

template <class T>
void add_of(FormTable& table) {
  using U = std::make_unsigned_t<T>;
  const Type type = TypeOf<T>::value;
  const std::string t = "." + std::string(name(type));
  const auto two = [&](const std::string& opcode, AluFunction f) {
    table.add(opcode + t, f, {type}, {type, type});
  };
  two("add.cc", &sum<U, false, false, true>);
  two("addc", &sum<U, false, true, false>);
  two("addc.cc", &sum<U, false, true, true>);
  two("sub.cc", &sum<U, true, false, true>);
  two("subc", &sum<U, true, true, false>);
  two("subc.cc", &sum<U, true, true, true>);
  const auto three = [&](const std::string& opcode, AluFunction f) {
    table.add(opcode + t, f, {type}, {type, type, type});
  };
  three("mad.lo.cc", &product_sum<T, false, false, true>);
  three("mad.hi.cc", &product_sum<T, true, false, true>);
  three("madc.lo", &product_sum<T, false, true, false>);
  three("madc.hi", &product_sum<T, true, true, false>);
  three("madc.lo.cc", &product_sum<T, false, true, true>);
  three("madc.hi.cc", &product_sum<T, true, true, true>);
}

}  // namespace

void add_carry_forms(FormTable& table) {
  add_of<uint32_t>(table), add_of<int32_t>(table);
  add_of<uint64_t>(table), add_of<int64_t>(table);
}

}  // namespace sm100::ptx
