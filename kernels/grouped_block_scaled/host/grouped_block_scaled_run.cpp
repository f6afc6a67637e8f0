// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "kernels/grouped_block_scaled/grouped_block_scaled_kernel.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_rules.h"
#include "kernels/matmul/host/matmul_launch.h"

namespace sm100::host {
namespace {

enum Operand : size_t { kA, kB, kSfa, kSfb, kC, kOperands };
enum TensorIndex : size_t { kProblems = 4, kPointers, kMaps, kOutput };
constexpr uint64_t kBetweenGroups = 256;  ///< bytes that are nobody's, so that who leaves its tensor is seen
constexpr uint8_t kNobodys = 0xff;

uint64_t align(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/// The same place in BlockScaledRun::tensors().
size_t tensor_of(Operand operand) { return size_t(operand); }

bool has_tiles(const GroupProblem& p) { return p.m > 0 && p.n > 0; }

}  // namespace

GroupedBlockScaledRun::GroupedBlockScaledRun(const Scenario& s)
    : problem_(s.problem_as<GroupedBlockScaledProblem>()),
      offsets_(kOperands),
      sms_(s.sms_in_run()),
      gpc_sms_(s.device.device.gpc_sms) {
  constexpr uint64_t kSeedsApart = 1000003;
  for (size_t g = 0; g < problem_.groups.size(); ++g) {
    const GroupProblem& p = problem_.groups[g];
    const BlockScaledProblem product{.m = p.m,
                                     .n = p.n,
                                     .k = p.k,
                                     .config = config_,
                                     .alpha = problem_.alpha,
                                     .scale_padding = problem_.scale_padding};
    products_.push_back(std::make_unique<BlockScaledRun>(s, product, s.seed + kSeedsApart * g));
  }
  GroupProblem p = problem_.groups[template_group()];
  constexpr int kSomeK = 256;  // maps have no dimension of 0; a template whose group has no K is edited by nobody
  if (p.k == 0) p.k = kSomeK;
  template_ = std::make_unique<BlockScaledRun>(
      s, BlockScaledProblem{.m = p.m, .n = p.n, .k = p.k, .config = config_, .alpha = problem_.alpha}, s.seed);
  for (size_t operand = 0; operand < kOperands; ++operand) {
    uint64_t at = 0;
    for (const auto& product : products_) {
      offsets_[operand].push_back(at);
      at += align(product->tensors()[tensor_of(Operand(operand))].bytes) + kBetweenGroups;
    }
    offsets_[operand].push_back(at);
  }
}

LaunchShape GroupedBlockScaledRun::launch() const {
  const auto tiles = uint32_t(all_tiles(config_, problem_.groups)) * uint32_t(config_.cta_group);
  LaunchShape shape = matmul_launch(config_, {tiles, 1, 1}, storage_bytes<GroupedStorage>(config_), sms_, gpc_sms_);
  shape.warps = warps(config_);
  return shape;
}

std::vector<BarrierArray> GroupedBlockScaledRun::barriers() const { return barriers_of<GroupedStorage>(config_); }
std::vector<NamedBarrier> GroupedBlockScaledRun::named_barriers() const { return template_->named_barriers(); }

std::vector<Tensor> GroupedBlockScaledRun::tensors() const {
  const uint64_t groups = problem_.groups.size();
  const auto all = [&](const char* name, Operand operand) {
    return Tensor{.name = name, .bytes = offsets_[operand].back()};
  };
  return {all("A", kA),
          all("B", kB),
          all("SFA", kSfa),
          all("SFB", kSfb),
          {.name = "problems", .bytes = groups * kProblemRowBytes, .locks = true},
          {.name = "pointers", .bytes = groups * kPointerRowBytes, .locks = true},
          {.name = "maps", .bytes = launch().grid.x * cta_map_bytes(config_.map_slots), .locks = true},
          all("C", kC)};
}

void GroupedBlockScaledRun::fill(size_t i, uint8_t* bytes) const {
  const size_t operand = i == kOutput ? size_t(kC) : i;
  if (i == kProblems) {
    for (size_t g = 0; g < problem_.groups.size(); ++g) {
      const GroupProblem& p = problem_.groups[g];
      const uint32_t row[4] = {uint32_t(p.m), uint32_t(p.n), uint32_t(p.k), 0};
      std::memcpy(bytes + g * kProblemRowBytes, row, sizeof row);
    }
  } else if (i == kPointers || i == kMaps) {
    std::memset(bytes, 0, tensors()[i].bytes);
  } else {
    std::memset(bytes, kNobodys, offsets_[operand].back());
    for (size_t g = 0; g < products_.size(); ++g)
      products_[g]->fill(tensor_of(Operand(operand)), bytes + offset(operand, g));
  }
}

void GroupedBlockScaledRun::fill_addresses(size_t i, const std::vector<GlobalAddr>& addresses,
                                           const TensorMapEncoder& encode, uint8_t* bytes) const {
  const auto base = [&](size_t operand) { return addresses[operand == kC ? size_t(kOutput) : operand]; };
  if (i == kPointers)
    for (size_t g = 0; g < problem_.groups.size(); ++g)
      for (size_t operand = 0; operand < kOperands; ++operand) {
        const uint64_t pointer = base(operand).value + offset(operand, g);
        std::memcpy(bytes + g * kPointerRowBytes + 8 * operand, &pointer, sizeof pointer);
      }
  if (i != kMaps) return;
  // Every map starts as its template: those that are edited in global memory keep what edits do not replace.
  const GroupedBlockScaledParams p = params(addresses, encode);
  const TensorMap* const templates[kInputMaps] = {&p.a, &p.b, &p.sfa, &p.sfb};
  for (uint32_t cta = 0; cta < launch().grid.x; ++cta) {
    uint8_t* of_cta = bytes + cta * cta_map_bytes(config_.map_slots);
    const CtaMaps maps{{0}, config_.map_slots};
    for (int slot = 0; slot < config_.map_slots; ++slot)
      for (int which = 0; which < kInputMaps; ++which)
        std::memcpy(of_cta + maps.input(slot, which).value, templates[which]->bytes, kTensorMapBytes);
    std::memcpy(of_cta + maps.output().value, p.c.bytes, kTensorMapBytes);
  }
}

size_t GroupedBlockScaledRun::template_group() const {
  size_t with_rows = 0;
  for (size_t g = problem_.groups.size(); g-- > 0;) {
    const GroupProblem& p = problem_.groups[g];
    if (has_tiles(p) && p.k > 0) return g;
    if (has_tiles(p)) with_rows = g;
  }
  return with_rows;
}

GroupedBlockScaledParams GroupedBlockScaledRun::params(const std::vector<GlobalAddr>& addresses,
                                                       const TensorMapEncoder& encode) const {
  const size_t g = template_group();
  GroupedBlockScaledParams params;
  const std::vector<GlobalAddr> of_group = {addresses[kA] + offset(kA, g), addresses[kB] + offset(kB, g),
                                            addresses[kSfa] + offset(kSfa, g), addresses[kSfb] + offset(kSfb, g),
                                            addresses[kOutput] + offset(kC, g)};
  static_cast<BlockScaledParams&>(params) = template_->params(of_group, encode);
  params.problems = addresses[kProblems], params.pointers = addresses[kPointers], params.maps = addresses[kMaps];
  params.groups = int(problem_.groups.size());
  return params;
}

Check GroupedBlockScaledRun::check(const std::vector<const uint8_t*>& tensors) const {
  Check worst;
  worst.ok = true;
  int rows = 0, of_rows = 0;
  for (size_t g = 0; g < products_.size(); ++g) {
    const GroupProblem& p = problem_.groups[g];
    if (!has_tiles(p)) continue;
    const std::vector<const uint8_t*> of_group = {tensors[kA] + offset(kA, g), tensors[kB] + offset(kB, g),
                                                  tensors[kSfa] + offset(kSfa, g), tensors[kSfb] + offset(kSfb, g),
                                                  tensors[kOutput] + offset(kC, g)};
    Check check = products_[g]->check(of_group);
    rows += check.rows, of_rows += check.of_rows;
    const bool worse = check.ok == worst.ok ? !(check.relative_error <= worst.relative_error) : !check.ok;
    if (!worse && worst.of_rows > 0) continue;
    check.reference = check.ok ? "float64" : fmt::format("float64 of group {}", g);
    worst = check;
  }
  worst.rows = rows, worst.of_rows = of_rows;
  return worst;
}

ExpectedResult GroupedBlockScaledRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  ExpectedResult result;
  for (size_t g = 0; g < products_.size(); ++g) {
    if (!has_tiles(problem_.groups[g]) || problem_.groups[g].k == 0) continue;
    const std::vector<GlobalAddr> of_group = {addresses[kA] + offset(kA, g), addresses[kB] + offset(kB, g),
                                              addresses[kSfa] + offset(kSfa, g), addresses[kSfb] + offset(kSfb, g),
                                              addresses[kOutput] + offset(kC, g)};
    for (ExpectedProduct product : products_[g]->expected_result(of_group).products) {
      product.name = fmt::format("group {}", g);
      result.products.push_back(std::move(product));
    }
  }
  return result;
}

double GroupedBlockScaledRun::check_bytes() const {
  double most = 0;
  for (const auto& product : products_) most = std::max(most, product->check_bytes());
  return most;
}

double GroupedBlockScaledRun::flops() const {
  double sum = 0;
  for (const auto& product : products_) sum += product->flops();
  return sum;
}

double GroupedBlockScaledRun::bytes() const {
  double sum = 0;
  for (const auto& product : products_) sum += product->bytes();
  return sum;
}

std::string GroupedBlockScaledRun::title() const {
  GroupProblem most;
  for (const GroupProblem& p : problem_.groups)
    most = {std::max(most.m, p.m), std::max(most.n, p.n), std::max(most.k, p.k)};
  const size_t groups = problem_.groups.size();
  return fmt::format("{} group{} of up to {} x {} x {} {}", groups, groups == 1 ? "" : "s", most.m, most.n, most.k,
                     operand_name(config_));
}

std::string GroupedBlockScaledRun::chosen_configuration() const {
  if (!problem_.auto_config) return {};
  return fmt::format("mma [{}, {}, {}], cta_group {}", config_.mma_m, config_.mma_n, config_.mma_k,
                     config_.cta_group);
}

}  // namespace sm100::host
