// SPDX-License-Identifier: Apache-2.0
// Rows of the operands: those that one MMA of an accumulator multiplies against those that the others do.
#include <fmt/format.h>

#include <algorithm>

#include "sim/provenance/explainer.h"

namespace sm100::sim::provenance {

const Accumulator* Explainer::multiplied(const RowOf& a, const RowOf& b) const {
  const auto of_row = by_row_.find({a.matrix, a.row});
  if (of_row == by_row_.end()) return nullptr;
  for (const Accumulator* acc : of_row->second)
    if (std::find(acc->b.rows.begin(), acc->b.rows.end(), b) != acc->b.rows.end()) return acc;
  return nullptr;
}

bool Explainer::all_multiplied(size_t p) {
  if (const auto known = all_multiplied_.find(p); known != all_multiplied_.end()) return known->second;
  const host::ExpectedProduct& product = expected_.products[p];
  const int64_t rows = product.a.rows, columns = product.b.rows;
  std::vector<bool> done(size_t(rows * columns), false);
  int64_t left = rows * columns;
  for (const auto& [history, acc] : accumulators_) {
    const bool turned = swapped(acc);
    for (const RowOf& row : turned ? acc.b.rows : acc.a.rows)
      for (const RowOf& column : turned ? acc.a.rows : acc.b.rows)
        if (row.matrix == matrices_.a_of(p) && column.matrix == matrices_.b_of(p) &&
            !done[size_t(row.row * columns + column.row)])
          done[size_t(row.row * columns + column.row)] = true, --left;
  }
  return all_multiplied_[p] = left == 0;
}

const Box* Explainer::load_before(const Mma& mma, models::Cycles at, uint64_t address, const Box* beside) const {
  // Only what lies there then: later boxes at a place hide earlier ones.
  const std::vector<Box>& boxes = record_.boxes();
  const auto behind = std::upper_bound(boxes.begin(), boxes.end(), at,
                                       [](models::Cycles time, const Box& box) { return time < box.time; });
  constexpr int kMostPlaces = 1024;
  std::set<std::pair<int, uint32_t>> seen;
  int looked_at = 0;
  for (auto box = behind; box != boxes.begin() && looked_at < kMostPlaces;) {
    --box;
    if (box->slot != mma.by.slots[0] && box->slot != mma.by.slots[1]) continue;
    ++looked_at;
    if (!seen.insert({box->slot, box->smem}).second || (beside && box->barrier != beside->barrier)) continue;
    if (box->brings(address)) return &*box;
  }
  return nullptr;
}

const Box* Explainer::box_used(const Mma& mma, bool a, int row) const {
  for (const RowRun& run : a ? mma.a : mma.b)
    if (row >= run.first && row < run.first + run.count) {
      const Origin origin = run.of(row, 0);
      const bool loaded = origin.kind == OriginKind::global || origin.kind == OriginKind::fill;
      return loaded ? &record_.boxes()[origin.record] : nullptr;
    }
  return nullptr;
}

const models::Source* Explainer::stored_operand(const Accumulator& acc, bool a) const {
  for (const uint32_t number : acc.mmas)
    for (const RowRun& run : a ? record_.mmas()[number].a : record_.mmas()[number].b)
      for (const Origin& piece : run.chunk)
        if (piece.kind == OriginKind::store) return &record_.writes()[piece.record].source;
  return nullptr;
}

bool Explainer::by_threads(const Accumulator& acc) const {
  for (const uint32_t number : acc.mmas)
    for (const bool a : {true, false})
      for (const RowRun& run : a ? record_.mmas()[number].a : record_.mmas()[number].b)
        for (const Origin& piece : run.chunk) {
          if (piece.kind == OriginKind::store) return true;
          const bool loaded = piece.kind == OriginKind::global || piece.kind == OriginKind::fill;
          if (loaded && record_.boxes()[piece.record].by == Box::By::ld_global) return true;
        }
  return false;
}

/// An operand that is read along K lies along M or N, or the other way round.
bool Explainer::explain_major(const Accumulator& acc) {
  for (const bool a : {true, false}) {
    const OperandRows& operand = a ? acc.a : acc.b;
    const auto known =
        std::find_if(operand.rows.begin(), operand.rows.end(), [](const RowOf& r) { return r.known(); });
    if (known == operand.rows.end()) continue;
    const Mma& mma = record_.mmas()[acc.mmas.front()];
    const bool along_k = a ? mma.a_along_k : mma.b_along_k;
    if (matrices_[known->matrix].along_k() == along_k) continue;
    const char* const across = matrices_.is_a(known->matrix) ? "M" : "N";
    Cause cause{.id = "PV1", .at = mma.source, .details = {}};
    cause.what = fmt::format(
        "{} lies along {} in global memory, and the MMA reads it along {} as operand {}: the transpose bit of the "
        "instruction descriptor is wrong",
        matrices_.name(known->matrix), along_k ? across : "K", along_k ? "K" : across, a ? 'A' : 'B');
    if (const Box* box = box_used(mma, a, int(known - operand.rows.begin())))
      cause.details.push_back(fmt::format("loaded by {}, {}", who_(box->source), place_of(*box)));
    cause.details.push_back(fmt::format("read by {}", who_(mma.source)));
    add(std::move(cause), acc);
    return true;
  }
  return false;
}

/// Both operands are of one tensor, where the product has two.
bool Explainer::explain_same_tensor(const Accumulator& acc) {
  const auto matrix_of = [](const OperandRows& operand) {
    const auto known =
        std::find_if(operand.rows.begin(), operand.rows.end(), [](const RowOf& r) { return r.known(); });
    return known == operand.rows.end() ? -1 : known->matrix;
  };
  const int matrix = matrix_of(acc.a);
  if (matrix < 0 || matrix != matrix_of(acc.b)) return false;
  for (size_t p = 0; p < expected_.products.size(); ++p)
    if (matrices_.a_of(p) == matrix && matrices_.b_of(p) == matrix) return false;
  const bool a = matrices_.is_a(matrix) == turned_by_stores(acc);  // the operand that should be the other one
  const Mma& mma = record_.mmas()[acc.mmas.front()];
  const OperandRows& operand = a ? acc.a : acc.b;
  int row = 0;
  while (!operand.rows[size_t(row)].known()) ++row;
  Cause cause{.id = "PV1", .at = mma.source, .details = {}};
  const Box *box = box_used(mma, a, row), *beside = box_used(mma, !a, 0);
  const bool same_box = box && box == beside;
  cause.what = fmt::format("operand {0} reads {1}, which is operand {2}: {3}", a ? 'A' : 'B',
                           matrices_.name(matrix), a ? 'B' : 'A',
                           same_box ? "the start address of its descriptor leads into the other's tile"
                                    : "the start address of its descriptor, or the load, is wrong");
  if (box && !same_box) cause.at = box->source;
  if (box) cause.details.push_back(fmt::format("loaded by {}, {}", who_(box->source), place_of(*box)));
  cause.details.push_back(fmt::format("read by {}", who_(mma.source)));
  add(std::move(cause), acc);
  return true;
}

/// What MMAs of an accumulator multiply that the others do not.
namespace {

const char* name(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return "no swizzle";
    case Swizzle::b32: return "the 32B swizzle";
    case Swizzle::b64: return "the 64B swizzle";
    case Swizzle::b128: return "the 128B swizzle";
    case Swizzle::b128_atom_32b: return "the 128B swizzle of 32-byte atoms";
    case Swizzle::b128_atom_64b: return "the 128B swizzle of 64-byte atoms";
  }
  return "?";
}

}  // namespace

/// The descriptor names another swizzle than the tensor map by which the operand was loaded.
bool Explainer::explain_swizzle(const Accumulator& acc) {
  if (right_) return false;
  const Mma& mma = record_.mmas()[acc.mmas.front()];
  for (const bool a : {true, false}) {
    const Box* const box = box_used(mma, a, 0);
    if (!box || box->by != Box::By::tensor_copy) continue;
    const Swizzle reads = a ? mma.a_swizzle : mma.b_swizzle, loaded = smem_swizzle(box->map.swizzle);
    if (reads == loaded) continue;
    Cause cause{.id = "PV1", .at = mma.source, .details = {}};
    cause.what = fmt::format(
        "operand {} is read with {}, which its descriptor names, and was loaded with {}, which the "
        "tensor map names",
        a ? 'A' : 'B', name(reads), name(loaded));
    cause.details = {fmt::format("loaded by {}, {}", who_(box->source), place_of(*box)),
                     fmt::format("multiplied by {}", who_(mma.source))};
    add(std::move(cause), acc);
    return true;
  }
  return false;
}

void Explainer::compare_steps(const Accumulator& acc) {
  if (explain_same_tensor(acc) || explain_swizzle(acc) || explain_major(acc)) return;
  for (const bool a : {true, false}) {
    const OperandRows& operand = a ? acc.a : acc.b;
    const auto scrambled =
        std::find_if(operand.scrambled.begin(), operand.scrambled.end(), [](int row) { return row >= 0; });
    if (scrambled != operand.scrambled.end()) {
      const auto step = size_t(scrambled - operand.scrambled.begin());
      const Mma& mma = record_.mmas()[acc.mmas[step]];
      Cause cause{.id = "PV1", .at = mma.source, .details = {}};
      const Box* box = box_used(mma, a, *scrambled);
      const RowOf row = operand.rows[size_t(*scrambled)];
      Origin first;
      for (const RowRun& run : a ? mma.a : mma.b)
        if (*scrambled >= run.first && *scrambled < run.first + run.count) first = run.of(*scrambled, 0);
      const int bits = row.known() ? matrices_[row.matrix].bits : 8;
      const int64_t k = operand.k[step], elements = int64_t(first.bytes) * 8 / bits;
      const bool along_k = a ? mma.a_along_k : mma.b_along_k;
      if (along_k && box && box->by == Box::By::tensor_copy && !load_of(mma, first.address + first.bytes, box)) {
        cause.at = box->source;
        cause.what = fmt::format(
            "{} has other bytes where k {} belongs, which was not loaded: a piece of the tile is loaded "
            "from another column",
            rows_text(row, 1), range_text(k + elements, k + 2 * elements - 1));
      } else {
        cause.what = fmt::format(
            "the {} of {} lie in another order than the descriptor of operand {} reads them: "
            "swizzle, stride or step of the descriptor and of the {} disagree",
            along_k ? "16-byte pieces" : "elements along K", rows_text(row, 1), a ? 'A' : 'B',
            box && box->by != Box::By::tensor_copy ? "threads' stores" : "load");
      }
      if (box) cause.details.push_back(fmt::format("loaded by {}, {}", who_(box->source), place_of(*box)));
      cause.details.push_back(fmt::format("read by {}", who_(mma.source)));
      add(std::move(cause), acc);
      return;
    }
  }
  if (explain_old_sum(acc)) return;
  for (const bool a : {true, false}) {
    const OperandRows& operand = a ? acc.a : acc.b;
    // What warps have stored is in doubt only where tensor copies bring the rest.
    const auto told = std::find_if(operand.deviations.begin(), operand.deviations.end(), [&](const Deviation& d) {
      const RowOf& others = operand.rows[size_t(d.first)];
      return d.is.matrix != RowOf::kStored || (others.known() && copied_.count(others.matrix) > 0);
    });
    if (told == operand.deviations.end()) continue;
    const Deviation& first = *told;
    const Mma& mma = record_.mmas()[acc.mmas[size_t(first.step)]];
    const RowOf most = operand.rows[size_t(first.first)];
    std::set<int> steps;
    for (const Deviation& d : operand.deviations) steps.insert(d.step);
    if (const auto wanted = wanted_row(acc, a, first.first); wanted && *wanted == first.is && !(*wanted == most)) {
      explain_majority(acc, a, first, steps);
      return;
    }
    const int64_t k = operand.k[size_t(first.step)], count = operand.k_count[size_t(first.step)];
    Cause cause{.id = "PV1", .at = mma.source, .details = {}};
    cause.what = fmt::format("{} of {} MMAs of an accumulator of {} multiply {}, at k {}", steps.size(),
                             acc.mmas.size(), rows_text(most, first.count), rows_text(first.is, first.count),
                             k < 0 ? "?" : range_text(k, k + count - 1));
    const Box* needed = most.known() && k >= 0 ? load_of(mma, matrices_.address(most.matrix, most.row, k),
                                                         box_used(mma, a, first.first))
                                               : nullptr;
    if (const Box* box = box_used(mma, a, first.first)) {
      if (!needed) cause.at = box->source;
      cause.details.push_back(fmt::format("loaded by {}, {}", who_(box->source), place_of(*box)));
    }
    if (needed)
      cause.details.push_back(fmt::format("what belongs there was loaded by {}, {}, and not multiplied",
                                          who_(needed->source), place_of(*needed)));
    cause.details.push_back(fmt::format("multiplied by {}", who_(mma.source)));
    add(std::move(cause), acc);
    return;
  }
}

/// The row that belongs where the accumulator's row, or column, `i` was stored; nothing: nobody knows.
std::optional<RowOf> Explainer::wanted_row(const Accumulator& acc, bool a, int i) const {
  for (const Placed& p : placed(acc))
    if (p.of_a == a && i >= p.first && i <= p.last) return p.wanted(i);
  return std::nullopt;
}

/// Most MMAs multiply other rows than those that belong to the place, `right` do not.
void Explainer::explain_majority(const Accumulator& acc, bool a, const Deviation& first,
                                 const std::set<int>& right) {
  const OperandRows& operand = a ? acc.a : acc.b;
  size_t wrong = 0;
  while (right.count(int(wrong)) > 0) ++wrong;
  const Mma& mma = record_.mmas()[acc.mmas[wrong]];
  const RowOf used = operand.rows[size_t(first.first)];
  const int64_t count =
      used.known() ? std::min<int64_t>(first.count, matrices_[used.matrix].rows - used.row) : first.count;
  Cause cause{.id = "PV1", .at = mma.source, .details = {}};
  cause.what = fmt::format("{} of {} MMAs of an accumulator of {} multiply {}", acc.mmas.size() - right.size(),
                           acc.mmas.size(), rows_text(first.is, first.count), rows_text(used, count));
  const Box *box = box_used(mma, a, first.first),
            *beside = box_used(record_.mmas()[acc.mmas[size_t(*right.begin())]], a, first.first);
  if (box && box == beside)
    cause.details.push_back(
        fmt::format("of the same box as those of {}: the descriptor of operand {} steps along it "
                    "wrongly",
                    who_(record_.mmas()[acc.mmas[size_t(*right.begin())]].source), a ? 'A' : 'B'));
  else if (box)
    cause.at = box->source;
  if (box) cause.details.push_back(fmt::format("loaded by {}, {}", who_(box->source), place_of(*box)));
  cause.details.push_back(fmt::format("multiplied by {}", who_(mma.source)));
  add(std::move(cause), acc);
}

/// K begins anew in the middle, with other rows, and the MMA adds.
bool Explainer::explain_old_sum(const Accumulator& acc) {
  const auto first_row = [&](size_t step, bool a) -> RowOf {
    const Mma& mma = record_.mmas()[acc.mmas[step]];
    const std::vector<RowRun>& runs = a ? mma.a : mma.b;
    if (runs.empty() || runs.front().chunk[0].kind != OriginKind::global) return {};
    const auto place = matrices_.at(runs.front().chunk[0].address);
    return place ? RowOf{place->matrix, place->row} : RowOf{};
  };
  // Where an earlier tile's sum was overwritten in the middle of its K, what is left begins there.
  const auto begins_anew = [&](size_t step, bool a) {
    const std::vector<int64_t>& k = a ? acc.a.k : acc.b.k;
    return k[step] == k[0] || (k[step] >= 0 && k[step] < k[0]);
  };
  const auto is_one_tile = [&](size_t first, size_t last) {
    for (size_t step = first + 1; step < last; ++step)
      if (!(first_row(step, true) == first_row(first, true)) ||
          !(first_row(step, false) == first_row(first, false)))
        return false;
    return true;
  };
  for (size_t step = 1; step < acc.mmas.size(); ++step) {
    if (!begins_anew(step, true) || !begins_anew(step, false)) continue;
    const RowOf old_a = first_row(0, true), new_a = first_row(step, true), old_b = first_row(0, false),
                new_b = first_row(step, false);
    if (old_a == new_a && old_b == new_b) continue;
    const bool same_k = acc.a.k[step] == acc.a.k[0] && acc.b.k[step] == acc.b.k[0];
    if (!same_k && (!is_one_tile(0, step) || !is_one_tile(step, acc.mmas.size()))) continue;
    const Mma &last = record_.mmas()[acc.mmas[step - 1]], &next = record_.mmas()[acc.mmas[step]];
    const auto tile = [&](const RowOf& a, const RowOf& b) {
      return fmt::format("{} and {}", rows_text(a, int64_t(acc.a.rows.size())),
                         rows_text(b, int64_t(acc.b.rows.size())));
    };
    Cause cause{.id = "PV1", .at = next.source, .details = {}};
    cause.what = fmt::format(
        "the first MMA of a tile adds to the sum that an earlier tile has left, instead of overwriting it: {} "
        "on top of {}",
        tile(new_a, new_b), tile(old_a, old_b));
    cause.details = {fmt::format("left by {}", who_(last.source)),
                     fmt::format("added to by {}", who_(next.source))};
    add(std::move(cause), acc);
    return true;
  }
  return false;
}

}  // namespace sm100::sim::provenance
