// SPDX-License-Identifier: Apache-2.0
/// Where the groups of alu/ put their forms.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/alu/lanes.h"
#include "ptx/alu/wide.h"

namespace sm100::ptx {

class FormTable {
 public:
  /// A form whose operation is Op{}(S...) -> D.  Returns it so that its cost or accuracy can be set.
  template <class Op, class D, class... S>
  AluForm& add(std::string opcode) {
    return add(std::move(opcode), &map_lanes<Op, D, S...>, {TypeOf<D>::value}, {TypeOf<S>::value...});
  }
  /// The same of a form that code is full of: with the host's widest vectors.
  template <class Op, class D, class... S>
  AluForm& add_wide(std::string opcode) {
    return add(std::move(opcode), wide<&map_many_lanes<Op, D, S...>>(), {TypeOf<D>::value}, {TypeOf<S>::value...});
  }
  /// A form with a function of its own: it writes the rows of `written` and reads those of `read`.
  AluForm& add(std::string opcode, AluFunction function, std::vector<Type> written, std::vector<Type> read);

  std::vector<AluForm> forms;
};

void add_integer_forms(FormTable&);      // integer.cpp: add to rem
void add_carry_forms(FormTable&);        // carry.cpp: add.cc, addc, madc
void add_bit_forms(FormTable&);          // bits.cpp: and to prmt
void add_comparison_forms(FormTable&);   // compare.cpp: setp, set, selp, slct
void add_move_forms(FormTable&);         // moves.cpp: mov, cvta, isspacep
void add_float_forms(FormTable&);        // floats.cpp: f32, f64 and f32x2
void add_half_forms(FormTable&);         // halves.cpp: f16, bf16 and packed ones
void add_approximate_forms(FormTable&);  // approximate.cpp: rcp to tanh
void add_conversion_forms(FormTable&);   // convert.cpp: cvt among integers and floats
void add_narrow_forms(FormTable&);       // convert_narrow.cpp: cvt of packed 8-, 6- and 4-bit formats
/// singles.cpp: faster functions for some forms that are in the table already.
void replace_single_forms(FormTable&);
void replace_f16_conversions(FormTable&);  // f16_conversions.cpp: the same

}  // namespace sm100::ptx
