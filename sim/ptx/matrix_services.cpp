// SPDX-License-Identifier: Apache-2.0
// stmatrix and ldmatrix, stores to other CTAs that complete bytes at an mbarrier, cache policies
// (PTX 9.7.14.5, 9.7.9.12, 9.7.9.2).
#include <fmt/format.h>

#include "sim/ptx/atomic_forms.h"
#include "sim/ptx/byte_matrices.h"
#include "sim/ptx/lane_memory.h"
#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::LaneMask;
using ptx::Operand;
using Together = PtxServiceEntry::Together;

namespace {

const std::vector<std::string_view> kRefusedMatrix = {".m8n16", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"};
constexpr const char* kOtherMatrices = "of other than 8 x 8 matrices of b16, or transposed ones of b8";

/// Eight rows of 16 bytes each: 8 x 8 matrices of 16-bit elements, or (parts of) matrices of bytes; 0: another
/// form.
int matrices_of(const ServiceCall& c) {
  const int count = c.has(".x4") ? 4 : c.has(".x2") ? 2 : 1;
  if (c.has(".m8n8") && c.has(".b16")) return count;
  if (!c.has(".b8") || !c.has(".trans")) return 0;
  return c.has(".m16n16") && count < 4 ? 2 * count : c.has(".m16n8") ? count : 0;
}

LaneArray<SmemAddr, 1> rows_of(const ServiceCall& c, const Operand& address) {
  LaneArray<SmemAddr, 1> rows{};
  for (int lane = 0; lane < ptx::kLanes; ++lane) rows(lane) = {c.shared(address, lane)};
  return rows;
}

PtxOutcome stmatrix(ServiceCall& c) {
  const int matrices = matrices_of(c);
  if (matrices == 0) return c.warp.not_implemented(std::string("stmatrix ") + kOtherMatrices);
  const LaneArray<SmemAddr, 1> rows = rows_of(c, c.operand(0));
  const std::span<const Operand> from = registers_of(c.operand(1));
  uint32_t values[ptx::kLanes * 4];
  for (int lane = 0; lane < ptx::kLanes; ++lane)
    for (size_t m = 0; m < from.size() && m < 4; ++m)
      values[size_t(lane) * size_t(matrices) + m] = uint32_t(c.value(from[m], lane));
  if (c.has(".b8")) byte_matrices::transpose_to_store(values, matrices);
  c.execute(Stmatrix{&rows, values, matrices, c.has(".trans") && !c.has(".b8")});
  models::SharedMemory& memory = c.context().own.smem;
  const bool unknown = c.warp.follows_from_data(c.operand(1));
  for (int row = 0; row < 8 * matrices && !c.warp.over(); ++row)
    unknown ? memory.forget(rows[row][0].offset(), 16) : memory.learn(rows[row][0].offset(), 16);
  return kDone;
}

PtxOutcome ldmatrix(ServiceCall& c) {
  const int matrices = matrices_of(c);
  if (matrices == 0) return c.warp.not_implemented(std::string("ldmatrix ") + kOtherMatrices);
  const LaneArray<SmemAddr, 1> rows = rows_of(c, c.operand(1));
  const std::span<const Operand> to = registers_of(c.operand(0));
  uint32_t values[ptx::kLanes * 4] = {};
  models::Cycles arrives = 0;
  bool unknown = false;
  c.execute(Ldmatrix{&rows, values, matrices, c.has(".trans") && !c.has(".b8"), &arrives, &unknown});
  if (c.has(".b8")) byte_matrices::transpose_loaded(values, matrices);
  for (size_t m = 0; m < to.size() && m < 4; ++m) {
    for (int lane = 0; lane < ptx::kLanes; ++lane) c.set(to[m], lane, values[size_t(lane) * size_t(matrices) + m]);
    if (to[m].kind == Operand::Kind::reg) c.warp.arrives(to[m].row, to[m].width, arrives);
    if (unknown) c.warp.unknown(to[m]);
  }
  return kDone;
}

/// [address], value, [mbarrier]
PtxOutcome st_async(ServiceCall& c) {
  const std::span<const Operand> from = registers_of(c.operand(1));
  const bool wide = c.has(".b64") || c.has(".u64") || c.has(".s64") || c.has(".f64");
  const size_t words = from.size() * (wide ? 2 : 1);
  if (words > 4 || (!wide && !c.has(".b32") && !c.has(".u32") && !c.has(".s32") && !c.has(".f32")))
    return c.warp.not_implemented("st.async of this type");
  LaneArray<ClusterSmemAddr, 1> to{}, barriers{};
  uint32_t values[ptx::kLanes * 4] = {};
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    to(lane) = {c.shared(c.operand(0), lane)}, barriers(lane) = {c.shared(c.operand(2), lane)};
    for (size_t i = 0; i < from.size(); ++i) {
      const uint64_t value = c.value(from[i], lane);
      uint32_t* const at = values + size_t(lane) * words + i * (wide ? 2 : 1);
      at[0] = uint32_t(value);
      if (wide) at[1] = uint32_t(value >> 32);
    }
  }
  c.execute(StAsync{uint32_t(4 * words), &to, values, barriers});
  return kDone;
}

/// [address], size, 0
PtxOutcome st_bulk(ServiceCall& c) {
  LaneArray<SmemAddr, 1> to{};
  LaneArray<uint32_t, 1> sizes{};
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t size = c.value(c.operand(1), lane), at = c.address(c.operand(0), lane);
    if (!c.has(".shared::cta") && !c.file().windows.shared.has(at))
      return c.warp.fail("SM1",
                         fmt::format("st.bulk at the generic address {:#x}, which is not in shared memory", at));
    to(lane) = {c.shared(c.operand(0), lane)}, sizes(lane) = uint32_t(std::min<uint64_t>(size, 1u << 31));
  }
  c.execute(StBulkLanes{&to, &sizes});
  return kDone;
}

/// [address], value, [mbarrier]
PtxOutcome red_async(ServiceCall& c) {
  const AtomicForm form = atomic_form(c.service);
  if (!form.missing.empty() || form.cas || form.op == ReduceOp::exch || (form.bytes != 4 && form.bytes != 8))
    return c.warp.not_implemented("red.async of this operation or type");
  LaneArray<ClusterSmemAddr, 1> to{}, barriers{};
  uint32_t words[ptx::kLanes] = {};
  uint64_t wide[ptx::kLanes] = {};
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    to(lane) = {c.shared(c.operand(0), lane)}, barriers(lane) = {c.shared(c.operand(2), lane)};
    wide[lane] = c.value(c.operand(1), lane), words[lane] = uint32_t(wide[lane]);
  }
  const void* const values = form.bytes == 8 ? static_cast<const void*>(wide) : words;
  c.execute(RedAsync{form.op, form.type_in(true), &to, values, barriers});
  return kDone;
}

/// A hint: any number.
PtxOutcome createpolicy(ServiceCall& c) {
  c.context().at(c.loc, c.lanes);
  c.context().charge_private(c.context().issue.alu);
  c.set_all(c.operand(0), kEvictNormal.bits);
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> matrix_services() {
  return {{"stmatrix", stmatrix, Together::all, false, kRefusedMatrix, TraceEvent::smem_write},
          {"ldmatrix", ldmatrix, Together::all, true, kRefusedMatrix, TraceEvent::smem_read},
          {"st.async", st_async},
          {"st.bulk", st_bulk},
          {"red.async", red_async},
          {"createpolicy", createpolicy}};
}

}  // namespace sm100::sim
