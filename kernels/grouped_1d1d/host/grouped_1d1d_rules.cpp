// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/grouped_1d1d_rules.h"

#include <fmt/format.h>

#include "kernels/block_scaled/host/block_scaled_rules.h"
#include "kernels/grouped_1d1d/grouped_1d1d_kernel.h"
#include "kernels/grouped_1d1d/host/token_rows.h"
#include "kernels/grouped_1d1d/host/token_rules.h"

namespace sm100::host {
namespace {

bool fits(const Grouped1d1dConfig& c) { return storage_bytes<Grouped1d1dStorage>(c) <= uint32_t(kSmemBudgetBytes); }

}  // namespace

int default_grouped_stages(const Grouped1d1dConfig& config) {
  Grouped1d1dConfig c = config;
  c.stages = default_stages(c);
  while (c.stages > 1 && !fits(c)) --c.stages;
  return c.stages;
}

std::vector<RuleViolation> check_grouped_1d1d(const Grouped1d1dProblem& p) {
  Rules<Grouped1d1dConfig> rules{p.config, {}, {}};
  check_tokens(rules, p);
  if (!rules.broken.empty()) return std::move(rules.broken);

  // The number of rows of tokens is not a matter of the configuration: any is right.
  rules.broken = check_block_scaled(p.config, 1, p.n, p.k);
  check_token_tiles(rules, p);
  if (rules.broken.empty())
    rules.require(
        fits(p.config), "config.stages", p.config.stages, fmt::format("1 to {}", default_grouped_stages(p.config)),
        fmt::format("stages, strips, barriers and the ring of tiles need {} bytes of shared memory, a CTA has {}",
                    storage_bytes<Grouped1d1dStorage>(p.config), kSmemBudgetBytes));
  return std::move(rules.broken);
}

std::vector<ConfigWarning> grouped_1d1d_warnings(const Grouped1d1dProblem& p) {
  return token_warnings(p, p.config);
}

}  // namespace sm100::host
