// SPDX-License-Identifier: Apache-2.0
// Tensor maps that differ from their tensors.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "sim/provenance/explainer.h"
#include "sim/provenance/map_differences.h"

namespace sm100::sim::provenance {

void Explainer::explain_maps() {
  // What a map does not reach are zeros, or is missing.
  const bool lacks = std::any_of(groups_.begin(), groups_.end(), [](const Group& g) { return g.cause.lacks; });
  std::vector<Cause> found, of_scales;  // these say less where their group's operands are wrong, too
  const auto look_at = [&](const TensorMapFields& map, const models::Source& by, std::string detail) {
    const std::optional<MapDifference> difference = map_difference(expected_.products, map);
    if (!difference || (!difference->of_pitch && (difference->of_output || !lacks))) return;
    (difference->of_scales ? of_scales : found)
        .push_back({.id = difference->of_output ? "PV2" : "PV1",
                    .what = difference->text,
                    .at = by,
                    .details = {std::move(detail)}});
  };
  std::set<std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>> seen;
  for (const Box& box : record_.boxes()) {
    const TensorMapFields& m = box.map;
    if (box.by != Box::By::tensor_copy || !in_launch_(box.source.cta) ||
        !seen.insert({m.global_address, m.global_stride[0], m.global_stride[1], m.global_dim[0], m.global_dim[1],
                      m.global_dim[2]})
             .second)
      continue;
    look_at(m, box.source, fmt::format("the first copy with it is by {}, {}", who_(box.source), place_of(box)));
  }
  for (const host::ExpectedProduct& product : expected_.products)
    if (const Record::StoreMap* const stores = record_.map_of_stores(product.c.address)) {
      const Store& store = record_.stores()[stores->store];
      look_at(stores->map, store.source, fmt::format("the first store by it is by {}", who_(store.source)));
    }
  found.insert(found.end(), std::make_move_iterator(of_scales.begin()), std::make_move_iterator(of_scales.end()));
  if (found.empty()) return;
  if (!groups_.empty()) found.front().details.push_back("what follows: " + groups_.front().cause.what);
  // Whatever else is wrong follows from them.
  std::vector<Group> others = std::move(groups_);
  groups_.clear();
  for (Cause& cause : found) add(std::move(cause), std::string());
  groups_.insert(groups_.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
}

}  // namespace sm100::sim::provenance
