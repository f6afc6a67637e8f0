// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/token_problem.h"

#include <algorithm>
#include <numeric>

#include "kernels/isa/arithmetic.h"

namespace sm100::host {
namespace {

constexpr int kDefaultWorkStages = 2;

std::vector<int> read_list(const TomlTable& table, std::string_view key) {
  std::vector<int> values;
  for (int64_t value : table.integer_list(key, INT64_MIN, INT64_MAX)) values.push_back(clamp_to_int(value));
  return values;
}

/// Keys that mean something in one layout only.
void refuse_keys_of_other_layouts(const TomlDocument& document, const TomlTable& table, TokenLayout layout,
                                  Refusals& refused) {
  const auto only = [&](std::string_view key, bool here, const char* text) {
    if (table.has(key) && !here) refused.push_back(document.message(table.path(key), text));
  };
  only("experts", layout != TokenLayout::masked,
       "not with layout = \"masked\": the slots are those of the experts 0, 1, 2 ... in their order");
  only("num_experts", layout != TokenLayout::masked,
       "not with layout = \"masked\": there are as many experts as problem.tokens has counts");
  only("slot_rows", layout == TokenLayout::masked, "for layout = \"masked\" only: rows of each expert's slot");
  only("alignment", layout == TokenLayout::contiguous,
       "for layout = \"contiguous\" only: groups begin at multiples of so many rows");
}

/// What tokens and layout leave open.
/// @param granule  slots without a size are multiples of so many rows
void complete_groups(const TomlTable& table, TokenLayout layout, int granule, TokenProblem& s) {
  s.experts.resize(s.tokens.size());
  std::iota(s.experts.begin(), s.experts.end(), 0);
  s.num_experts = int(s.tokens.size());
  if (layout == TokenLayout::masked) {
    const int most = *std::max_element(s.tokens.begin(), s.tokens.end());
    s.slot_rows = most > 0 && most <= 1 << 30 ? align_up(most, granule) : granule;
    if (table.has("slot_rows")) s.slot_rows = read_unjudged(table, "slot_rows");
    return;
  }
  if (table.has("experts")) {
    s.experts = read_list(table, "experts");
    s.num_experts = std::max(0, *std::max_element(s.experts.begin(), s.experts.end())) + 1;
  }
  if (table.has("num_experts")) s.num_experts = read_unjudged(table, "num_experts");
  if (table.has("alignment")) s.alignment = read_unjudged(table, "alignment");
}

}  // namespace

void read_tokens(const TomlDocument& document, const TomlTable& table, int slot_granule, TokenProblem& p,
                 TokenLayout& layout, Refusals& refused) {
  p.tokens = read_list(table, "tokens");
  p.n = read_unjudged(table, "n"), p.k = read_unjudged(table, "k");
  if (table.has("layout")) layout = table.choice("layout", kTokenLayouts);
  refuse_keys_of_other_layouts(document, table, layout, refused);
  complete_groups(table, layout, slot_granule, p);
}

void read_token_schedule(const TomlDocument& document, const TomlTable& table, TokenSchedule& s,
                         Refusals& refused) {
  if (table.has("store")) s.whole_tiles = table.word("store", {"guarded", "whole"}) == "whole";
  const bool ring = table.has("scheduling") && table.word("scheduling", {"replay", "ring"}) == "ring";
  if (ring) s.work_stages = kDefaultWorkStages;
  if (!table.has("work_stages")) return;
  s.work_stages = read_unjudged(table, "work_stages");
  if (!ring)
    refused.push_back(document.message("config.work_stages", "for scheduling = \"ring\" only: slots of the ring"));
  else if (s.work_stages == 0)
    refused.push_back(
        document.message("config.work_stages", "allowed are 1 to 64 (slots of the scheduler warp's ring)"));
}

}  // namespace sm100::host
