// SPDX-License-Identifier: Apache-2.0
#include "ptx/special_registers.h"

namespace sm100::ptx {

namespace {

constexpr SpecialRegister kRegisters[] = {
    {"%tid", 4, true, false},
    {"%ntid", 4, true, false},
    {"%laneid", 4, false, false},
    {"%warpid", 4, false, false},
    {"%nwarpid", 4, false, false},
    {"%ctaid", 4, true, false},
    {"%nctaid", 4, true, false},
    {"%smid", 4, false, false},
    {"%nsmid", 4, false, false},
    {"%gridid", 8, false, false},
    {"%is_explicit_cluster", 1, false, false},
    {"%clusterid", 4, true, false},
    {"%nclusterid", 4, true, false},
    {"%cluster_ctaid", 4, true, false},
    {"%cluster_nctaid", 4, true, false},
    {"%cluster_ctarank", 4, false, false},
    {"%cluster_nctarank", 4, false, false},
    {"%lanemask_eq", 4, false, false},
    {"%lanemask_le", 4, false, false},
    {"%lanemask_lt", 4, false, false},
    {"%lanemask_ge", 4, false, false},
    {"%lanemask_gt", 4, false, false},
    {"%clock", 4, false, true},
    {"%clock_hi", 4, false, true},
    {"%clock64", 8, false, true},
    {"%pm", 4, false, true},       // %pm0 to %pm7, and _64
    {"%envreg", 4, false, false},  // %envreg0 to 31
    {"%globaltimer", 8, false, true},
    {"%globaltimer_lo", 4, false, true},
    {"%globaltimer_hi", 4, false, true},
    {"%reserved_smem_offset_begin", 4, false, false},
    {"%reserved_smem_offset_end", 4, false, false},
    {"%reserved_smem_offset_cap", 4, false, false},
    {"%reserved_smem_offset_0", 4, false, false},
    {"%reserved_smem_offset_1", 4, false, false},
    {"%total_smem_size", 4, false, false},
    {"%aggr_smem_size", 4, false, false},
    {"%dynamic_smem_size", 4, false, false},
    {"%current_graph_exec", 8, false, false},
};

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

}  // namespace

const SpecialRegister* find_special_register(std::string_view name) {
  const std::string_view whole = name;
  if (const size_t dot = name.find('.'); dot != std::string_view::npos) name = name.substr(0, dot);
  for (const SpecialRegister& r : kRegisters) {
    if (r.name != name) continue;
    return r.vector || whole == name ? &r : nullptr;
  }
  size_t end = name.size();
  while (end > 0 && is_decimal(name[end - 1])) --end;
  if (end == name.size() || (name.substr(0, end) != "%envreg" && name.substr(0, end) != "%pm")) return nullptr;
  return find_special_register(name.substr(0, end));
}

}  // namespace sm100::ptx
