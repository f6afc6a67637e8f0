// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/matrix_exchange.h"

#include <vector>

namespace sm100::sim::lanes {

namespace {

/// [lane * registers + r]
std::vector<uint64_t> read(const ServiceOperands& c, const ptx::Operand& o) {
  const std::span<const ptx::Operand> from = registers_of(o);
  std::vector<uint64_t> held(size_t(ptx::kLanes) * from.size());
  for (size_t lane = 0; lane < size_t(ptx::kLanes); ++lane)
    for (size_t r = 0; r < from.size(); ++r) held[lane * from.size() + r] = c.value(from[r], int(lane));
  return held;
}

}  // namespace

std::optional<models::MmaSyncForm> mma_sync_of(const ptx::Service& service) {
  const auto form = models::mma_sync_form(service.modifiers.list);
  if (!form || service.operands.size() != (form->sparse ? 6 : 4)) return std::nullopt;
  if (form->sparse) {
    const ptx::Operand& selector = service.operands[5];
    if (registers_of(service.operands[4]).size() != 1 || !selector.is_immediate() || selector.value < 0 ||
        selector.value >= form->selectors())
      return std::nullopt;
  }
  const auto registers = [&](size_t i) { return int(registers_of(service.operands[i]).size()); };
  const bool fit = registers(0) == form->d_registers() && registers(1) == form->a_registers() &&
                   registers(2) == form->b_registers() && registers(3) == form->d_registers();
  return fit ? form : std::nullopt;
}

void mma_sync(const ServiceOperands& c, const models::MmaSyncForm& form, models::Accumulation accumulation,
              models::MmaSyncCore core) {
  const std::vector<uint64_t> a = read(c, c.operand(1)), b = read(c, c.operand(2)), old = read(c, c.operand(3));
  std::vector<uint64_t> sums(old.size()), metadata;
  models::MmaSparsity sparsity;
  if (form.sparse) {
    metadata = read(c, c.operand(4));
    sparsity = {metadata.data(), int(c.operand(5).value)};
  }
  models::mma_sync(form, accumulation, core, a.data(), b.data(), old.data(), sums.data(), sparsity);
  const std::span<const ptx::Operand> to = registers_of(c.operand(0));
  for (size_t lane = 0; lane < size_t(ptx::kLanes); ++lane)
    for (size_t r = 0; r < to.size(); ++r) c.set(to[r], int(lane), sums[lane * to.size() + r]);
}

void movmatrix(const ServiceOperands& c) {
  uint32_t rows[8][8], held[ptx::kLanes];
  for (int lane = 0; lane < ptx::kLanes; ++lane) {
    held[lane] = uint32_t(c.value(c.operand(1), lane));
    for (int half = 0; half < 2; ++half) rows[lane / 4][lane % 4 * 2 + half] = held[lane] >> (16 * half) & 0xffff;
  }
  for (int lane = 0; lane < ptx::kLanes; ++lane) {
    const int row = lane / 4, column = lane % 4 * 2;
    c.set(c.operand(0), lane, rows[column][row] | rows[column + 1][row] << 16);
  }
}

}  // namespace sm100::sim::lanes
