// SPDX-License-Identifier: Apache-2.0
/// Groups of tokens and their experts, as [problem] describes them, and what [config] says of their tiles.
#pragma once

#include <vector>

#include "kernels/grouped_1d1d/token_schedule.h"
#include "kernels/matmul/host/read_matmul_config.h"

namespace sm100::host {

struct TokenProblem {
  std::vector<int> tokens;   ///< rows of each group; masked: of each expert
  std::vector<int> experts;  ///< of each group, -1: none; masked: 0, 1, ...
  int num_experts = 0;       ///< that B stacks
  int n = 0, k = 0;          ///< of each expert
  int alignment = 128;       ///< contiguous: groups begin at multiples of so many rows
  int slot_rows = 0;         ///< masked: of each expert's slot
};

inline const TomlTable::Words<TokenLayout> kTokenLayouts = {{"prefix_sum", TokenLayout::prefix_sum},
                                                            {"contiguous", TokenLayout::contiguous},
                                                            {"masked", TokenLayout::masked}};

/// The keys kTokenKeys of [problem].
/// @param slot_granule  masked: slots without a size are multiples of so many rows
void read_tokens(const TomlDocument& document, const TomlTable& table, int slot_granule, TokenProblem& p,
                 TokenLayout& layout, Refusals& refused);
inline const std::vector<std::string> kTokenKeys = {"tokens", "experts", "num_experts", "n",
                                                    "k",      "layout",  "slot_rows",   "alignment"};

/// The keys kTokenScheduleKeys of [config].
void read_token_schedule(const TomlDocument& document, const TomlTable& table, TokenSchedule& schedule,
                         Refusals& refused);
inline const std::vector<std::string> kTokenScheduleKeys = {"scheduling", "work_stages", "store"};

}  // namespace sm100::host
