// SPDX-License-Identifier: Apache-2.0
#include "ptx/alu/form_table.h"

namespace sm100::ptx {

void add_narrow_forms(FormTable&) {}

}  // namespace sm100::ptx
