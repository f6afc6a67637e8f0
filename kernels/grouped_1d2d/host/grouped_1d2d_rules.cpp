// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d2d/host/grouped_1d2d_rules.h"

#include "kernels/blockwise/host/blockwise_rules.h"
#include "kernels/grouped_1d1d/host/token_rules.h"
#include "kernels/grouped_1d2d/grouped_1d2d_kernel.h"

namespace sm100::host {
namespace {

bool fits(const Grouped1d2dConfig& c) { return storage_bytes<Grouped1d2dStorage>(c) <= uint32_t(kSmemBudgetBytes); }

}  // namespace

int default_token_stages(const Grouped1d2dConfig& config) {
  Grouped1d2dConfig c = config;
  c.stages = default_stages(c);
  while (c.stages > 1 && !fits(c)) --c.stages;
  return c.stages;
}

std::vector<RuleViolation> check_grouped_1d2d(const Grouped1d2dProblem& p) {
  Rules<Grouped1d2dConfig> rules{p.config, {}, {}};
  check_tokens(rules, p);
  if (!rules.broken.empty()) return std::move(rules.broken);

  // The number of rows of tokens is not a matter of the configuration: any is right.
  BlockwiseConfig tiles = p.config;
  tiles.pdl = false;  // every role waits for the launch ahead, whose words say which tiles there are
  rules.broken = check_blockwise(tiles, 1, p.n, p.k);
  check_token_tiles(rules, p);
  if (rules.broken.empty())
    rules.require(
        fits(p.config), "config.stages", p.config.stages, fmt::format("1 to {}", default_token_stages(p.config)),
        fmt::format("stages, strips, barriers and the ring of tiles need {} bytes of shared memory, a CTA has {}",
                    storage_bytes<Grouped1d2dStorage>(p.config), kSmemBudgetBytes));
  return std::move(rules.broken);
}

}  // namespace sm100::host
