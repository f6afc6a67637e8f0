// SPDX-License-Identifier: Apache-2.0
// Outputs that an epilogue quantises: where their scales were stored, what they are, and what elements were
// multiplied by.
#include <fmt/format.h>

#include "sim/provenance/explainer.h"
#include "sim/provenance/output_scale_guesses.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// The line that has written what is stored.
models::Source writer_of(const Record& record, uint32_t delivery) {
  const Delivery& d = record.deliveries()[delivery - 1];
  return d.write != 0 ? record.writes()[d.write - 1].source : record.stores()[d.store - 1].source;
}

}  // namespace

std::optional<Cause> Explainer::explain_output_scales(size_t p, const Watched& output) const {
  const host::ExpectedProduct& product = expected_.products[p];
  if (!product.output_scales) return std::nullopt;
  const host::ExpectedOutputScales& scales = *product.output_scales;
  const uint8_t *const bytes = bytes_(scales.address, scales.bytes), *const c =
                                                                         bytes_(output.address, output.bytes);
  const Watched* watched = nullptr;
  for (const Watched& w : record_.watched())
    if (w.address == scales.address) watched = &w;
  const ElementSums sums = sums_of(p, output, product.k);
  if (!bytes || !c || !watched || !sums.all || sums.parts != 1) return std::nullopt;
  const OutputBlocks blocks(sums, scales);
  const StoredScales stored{blocks, bytes, [&](uint64_t at) { return watched->delivered[at] != 0; }};

  int64_t wrong = 0, untouched = 0;
  std::set<int64_t> wrong_rows;
  uint32_t delivery = 0;  // of one that is wrong
  for (const OutputBlock& b : blocks.all()) {
    if (!stored.is_wrong(b)) continue;
    const uint32_t by = watched->delivered[stored.place_of(b)];
    ++wrong, untouched += by == 0;
    wrong_rows.insert(b.row);
    if (delivery == 0) delivery = by;
  }
  if (delivery == 0)
    for (const uint32_t d : watched->delivered)
      if (d != 0) delivery = d;

  if (wrong >= kFewestScales) {
    const int64_t across = int64_t(product.c.pitch) * 8 / product.c.bits;
    const bool follow = elements_follow_scales(stored, sums, [&](const ElementSums::Element& e) {
      return decoded_at(scales.output, c, e.row * across + e.column);
    });
    std::optional<ScaleClaim> claim = follow ? wrong_scale_values(stored) : std::nullopt;
    const bool made_so = claim.has_value();
    if (!claim) claim = misplaced_scales(stored);
    if (!claim) claim = misplaced_bytes(stored);
    if (!claim) claim = wrong_scale_values(stored);
    if (!claim) claim = scales_not_stored(stored);
    if (!claim || delivery == 0) return std::nullopt;
    Cause cause{.id = "PV2", .at = writer_of(record_, delivery), .details = {}};
    cause.what =
        fmt::format("the scales of the output ({}) are {}, in {} of {} wrong scales ({}{})", scales.name,
                    claim->what, grouped(claim->explained), grouped(claim->wrong),
                    numbers_text(wrong_rows, scales.along_columns ? "column" : "row"),
                    untouched > 0 ? fmt::format("; nobody has stored {} of them", grouped(untouched)) : "");
    cause.details = {"there scales are stored; what was multiplied is right, and so are its sums"};
    if (made_so)
      cause.details.push_back(
          "elements are divided by these scales: they were made so ahead of both stores, and none lies elsewhere");
    return cause;
  }

  const int64_t columns = int64_t(product.c.pitch) * 8 / product.c.bits;
  const WrongElements elements(scales.output, find_wrong_elements(blocks, sums, [&](const ElementSums::Element& e) {
                                 return decoded_at(scales.output, c, e.row * columns + e.column);
                               }));
  if (wrong > 0 || !elements.are_enough()) return std::nullopt;
  const std::optional<ScaleClaim> claim = wrong_quantised_elements(blocks, elements.values());
  if (!claim) return std::nullopt;
  const WrongValue& first = elements.values().front();
  Cause cause{.id = "PV2", .at = writer_of(record_, sums.elements[first.element].delivery), .details = {}};
  cause.what = fmt::format(
      "the scales of the output ({}) are right, and the elements are not: {}, in {} of {} wrong "
      "elements ({}, {})",
      scales.name, claim->what, grouped(claim->explained), grouped(claim->wrong),
      numbers_text(elements.rows(), "row"), numbers_text(elements.columns(), "column"));
  cause.details = {"there elements are written; what was multiplied is right, and so are its sums"};
  return cause;
}

}  // namespace sm100::sim::provenance
