// SPDX-License-Identifier: Apache-2.0
// Scale factors: those of the rows and of the blocks of K that an MMA multiplies.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/isa/scale_layout.h"
#include "sim/provenance/explainer.h"

namespace sm100::sim::provenance {
namespace {

constexpr int64_t kAtomRows = kScaleAtomRows, kAtomScales = kScaleAtomScales, kAtomBytes = kScaleAtomBytes;

/// Where the scale of a row and of a block of K lies, in atoms of 128 rows x 4.
uint64_t address_of(const host::ExpectedMatrix& scales, int64_t row, int64_t block) {
  return scales.address + uint64_t(row / kAtomRows) * scales.pitch +
         uint64_t(block / kAtomScales * kAtomBytes + row % 32 * 16 + row % kAtomRows / 32 * 4 +
                  block % kAtomScales);
}

bool has(const host::ExpectedMatrix& scales, uint64_t address) {
  const uint64_t groups = uint64_t(scales.rows + kAtomRows - 1) / kAtomRows;
  return address >= scales.address && address - scales.address < groups * scales.pitch;
}

/// "row 3, k block 5"
std::string place_in_scales(const host::ExpectedMatrix& scales, uint64_t address) {
  const int64_t at = int64_t(address - scales.address), group = at / int64_t(scales.pitch),
                in_group = at % int64_t(scales.pitch);
  const int64_t atom = in_group / kAtomBytes, byte = in_group % kAtomBytes;
  const int64_t row = group * kAtomRows + byte % 16 / 4 * 32 + byte / 16, block = atom * kAtomScales + byte % 4;
  return fmt::format("row {}, k block {}", row, block);
}

}  // namespace

std::string Explainer::scale_text(const host::ExpectedMatrix& scales, uint64_t address) const {
  if (has(scales, address)) return fmt::format("{} of {}", scales.name, place_in_scales(scales, address));
  for (const host::ExpectedProduct& p : expected_.products)
    for (const auto* other : {&p.sfa, &p.sfb})
      if (*other && !p.name.empty() && (*other)->name == scales.name && has(**other, address))
        return fmt::format("{} of {}, {}", scales.name, p.name, place_in_scales(**other, address));
  return "bytes that are no " + scales.name;
}

std::string Explainer::other_scales_text(const Accumulator& acc, bool a) const {
  const int p = product_of(acc);
  if (p < 0) return {};
  const host::ExpectedProduct& product = expected_.products[size_t(p)];
  if (product.scale_block == 0 || !product.sfa || !product.sfb) return {};
  const OperandRows& operand = a ? acc.a : acc.b;
  const bool of_a = a != swapped(acc);
  const host::ExpectedMatrix& scales = of_a ? *product.sfa : *product.sfb;
  const int matrix = of_a ? matrices_.a_of(size_t(p)) : matrices_.b_of(size_t(p));
  const Mma& mma = record_.mmas()[acc.mmas.front()];
  const auto& cells = a ? mma.sfa : mma.sfb;
  if (!cells || operand.k.front() < 0 || operand.k.front() >= product.k) return {};
  for (size_t i = 0; i < cells->size(); ++i) {
    const RowOf& row = operand.rows[i % operand.rows.size()];
    const ScaleCell& cell = (*cells)[i];
    if (row.matrix != matrix || cell.box == 0 || cell.address == 0) continue;
    const uint64_t used = cell.address + uint64_t(a ? mma.sfa_byte : mma.sfb_byte),
                   wanted = address_of(scales, row.row, operand.k.front() / product.scale_block);
    if (used != wanted)
      return fmt::format("{} was used where {} belongs", scale_text(scales, used), scale_text(scales, wanted));
  }
  return {};
}

void Explainer::compare_scales(const Accumulator& acc) {
  const int p = product_of(acc);
  if (p < 0 || !is_stored(acc)) return;  // beyond a group's end anything may be multiplied
  const host::ExpectedProduct& product = expected_.products[size_t(p)];
  if (product.scale_block == 0 || !product.sfa || !product.sfb) return;
  const bool turned = swapped(acc);
  for (const bool a : {true, false}) {
    const OperandRows& operand = a ? acc.a : acc.b;
    const bool of_a = a != turned;  // of the product's A
    const host::ExpectedMatrix& scales = of_a ? *product.sfa : *product.sfb;
    const int matrix = of_a ? matrices_.a_of(size_t(p)) : matrices_.b_of(size_t(p));
    for (size_t step = 0; step < acc.mmas.size(); ++step) {
      const Mma& mma = record_.mmas()[acc.mmas[step]];
      const auto& cells = a ? mma.sfa : mma.sfb;
      if (!cells || operand.k[step] < 0 || operand.k[step] >= product.k) continue;
      for (size_t i = 0; i < cells->size(); ++i) {
        const RowOf& row = operand.rows[i % operand.rows.size()];
        const ScaleCell& cell = (*cells)[i];
        if (row.matrix != matrix) continue;  // of rows that are not stored
        if (cell.store != 0 && explain_stored_scale(acc, step, a, i, scales, product.scale_block)) return;
        if (cell.box == 0) continue;
        const bool zeros = cell.address == 0;
        const uint64_t used = cell.address + uint64_t(a ? mma.sfa_byte : mma.sfb_byte),
                       wanted = address_of(scales, row.row, operand.k[step] / product.scale_block);
        if (used == wanted || (zeros && !has(scales, wanted))) continue;
        const Box& box = record_.boxes()[cell.box - 1];
        const Box* needed = load_of(mma, wanted, &box);
        // Wrong from the box's first MMA on: the box itself begins elsewhere.
        const std::vector<ScaleCell>* before =
            step == 0 ? nullptr
                      : (a ? record_.mmas()[acc.mmas[step - 1]].sfa : record_.mmas()[acc.mmas[step - 1]].sfb).get();
        // But boxes begin at whole atoms: what lies at another place of its atom has been taken from there wrongly.
        const bool within_atom =
            has(scales, used) && (used - scales.address) % kAtomBytes != (wanted - scales.address) % kAtomBytes;
        if (needed == &box && !within_atom && (!before || i >= before->size() || (*before)[i].box != cell.box))
          needed = nullptr;
        // The other operand's, which the same MMA takes from there too: the copy is right.
        const host::ExpectedMatrix& of_other = of_a ? *product.sfb : *product.sfa;
        const auto& other_cells = a ? mma.sfb : mma.sfa;
        const bool swapped = !zeros && !has(scales, used) && has(of_other, used) && other_cells &&
                             std::any_of(other_cells->begin(), other_cells->end(),
                                         [&](const ScaleCell& other) { return other.box == cell.box; });
        Cause cause{.id = "PV1", .at = needed || swapped ? mma.source : box.source, .details = {}};
        cause.lacks = zeros;
        cause.what = fmt::format(
            "scale factors of operand {} are others{}: {} was used where {} belongs", a ? 'A' : 'B',
            i < operand.rows.size() ? "" : " in the odd CTA of a pair",
            zeros ? "a zero from beyond the tensor's end" : scale_text(swapped ? of_other : scales, used),
            scale_text(scales, wanted));
        cause.details = {fmt::format("loaded by {}, {}", who_(box.source), place_of(box)),
                         fmt::format("multiplied by {}", who_(mma.source))};
        if (needed)
          cause.details.push_back(
              fmt::format("what belongs there was loaded by {}, {}: the copy to tensor memory, the MMA's "
                          "scale address or its scale id leads to another",
                          who_(needed->source), place_of(*needed)));
        if (swapped && !needed)
          cause.details.push_back(
              fmt::format("they are those of operand {}, which the same MMA uses: its scale "
                          "address leads to the other operand's columns",
                          a ? 'B' : 'A'));
        return add(std::move(cause), acc);
      }
    }
  }
}

/// A scale factor that a warp has stored to tensor memory is not the one that belongs to its row and block.
/// @param i  the first of the MMA's cells that may be wrong
bool Explainer::explain_stored_scale(const Accumulator& acc, size_t step, bool a, size_t i,
                                     const host::ExpectedMatrix& scales, int scale_block) {
  const OperandRows& operand = a ? acc.a : acc.b;
  const Mma& mma = record_.mmas()[acc.mmas[step]];
  const std::vector<ScaleCell>& cells = a ? *mma.sfa : *mma.sfb;
  const int byte = a ? mma.sfa_byte : mma.sfb_byte;
  const int64_t block = operand.k[step] / scale_block;
  const auto stored = [&](size_t cell) { return uint8_t(cells[cell].value >> (8 * byte)); };
  const auto code = [&](int64_t row, int64_t of_block) -> const uint8_t* {
    const uint64_t address = row < 0 || of_block < 0 ? 0 : address_of(scales, row, of_block);
    return row < scales.rows && has(scales, address) ? bytes_(address, 1) : nullptr;
  };
  const uint8_t* const wanted = code(operand.rows[i % operand.rows.size()].row, block);
  if (!wanted || *wanted == stored(i)) return false;
  // Whose it is: other rows or blocks that fit all that were stored together.
  const auto fits = [&](int64_t rows, int64_t blocks) {
    std::set<uint8_t> codes;
    for (size_t c = 0; c < cells.size(); ++c) {
      const RowOf& row = operand.rows[c % operand.rows.size()];
      if (cells[c].store != cells[i].store || row.matrix != operand.rows[i % operand.rows.size()].matrix) continue;
      const uint8_t* const other = code(row.row + rows, block + blocks);
      if (!other || *other != stored(c)) return false;
      codes.insert(*other);
    }
    return codes.size() > 1;  // one code may be anybody's
  };
  constexpr int64_t kFarthestRow = 512, kFarthestBlock = 16;
  std::string whose;
  int64_t rows_off = 0, blocks_off = 0;
  for (int64_t distance = 1; whose.empty() && distance <= kFarthestRow; ++distance)
    for (const int64_t by : {-distance, distance}) {
      if (whose.empty() && fits(by, 0))
        whose = fmt::format("those of the rows {} {}", distance, by < 0 ? "before" : "behind"), rows_off = by;
      if (whose.empty() && distance <= kFarthestBlock && fits(0, by))
        whose = fmt::format("those of the block of K {} {}", distance, by < 0 ? "before" : "behind"),
        blocks_off = by;
    }
  const models::Source& by = record_.scale_store(cells[i].store);
  const int64_t row = operand.rows[i % operand.rows.size()].row;
  Cause cause{.id = "PV1", .at = by, .details = {}};
  cause.what = fmt::format(
      "scale factors of operand {} are others: {:#04x} was stored where {} of row {}, k block {}, "
      "which is {:#04x}, belongs{}",
      a ? 'A' : 'B', stored(i), scales.name, row, block, *wanted, whose.empty() ? "" : ": they are " + whose);
  cause.details = {fmt::format("stored to tensor memory by {}", who_(by)),
                   fmt::format("multiplied by {}", who_(mma.source))};
  // What belongs there lay in shared memory when the warp stored, or the load has brought something else.
  const models::Cycles then = by.issued > 0 ? by.issued : mma.time;
  const auto load = [&](int64_t of_row, int64_t of_block, const Box* beside) {
    return load_before(mma, then, address_of(scales, of_row, of_block), beside);
  };
  // Of the same stage, where it is known: others may still have it for another tile.
  const Box* const taken = whose.empty() ? nullptr : load(row + rows_off, block + blocks_off, nullptr);
  const Box* const needed = load(row, block, taken);
  const Box* const used = needed ? nullptr : taken;
  if (needed)
    cause.details.push_back(
        fmt::format("what belongs there was loaded by {}, {}: the warp reads another row, "
                    "atom or stage, or stores to other columns",
                    who_(needed->source), place_of(*needed)));
  if (used) {
    cause.at = used->source;
    cause.what += ", which were loaded in their place: the load's coordinates are wrong";
    cause.details.insert(cause.details.begin(),
                         fmt::format("loaded by {}, {}", who_(used->source), place_of(*used)));
  }
  add(std::move(cause), acc);
  return true;
}

}  // namespace sm100::sim::provenance
