// SPDX-License-Identifier: Apache-2.0
#include "kernels/copy/host/copy_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <random>

#include "kernels/copy/shared_storage.h"
#include "kernels/epilogue/strip_store.h"
#include "kernels/host/tensor_maps.h"

namespace sm100::host {

namespace {
constexpr uint64_t kUntouched = 0xdeaddeaddeaddeadu;  ///< in the destination, before the kernel
}

CopyRun::CopyRun(const Scenario& s)
    : problem_(s.problem_as<CopyProblem>()), persistent_ctas_(s.persistent_ctas()), seed_(s.seed) {}

StaticGrid CopyRun::grid() const {
  return {.tiles_m = ceil_div(problem_.m, config_.tile_m),
          .tiles_n = ceil_div(problem_.n, config_.tile_n),
          .k_tiles = config_.tile_n / copy_block_k(config_)};
}

/// Persistent: as many CTAs as run at once, but no more than there is work for.
LaunchShape CopyRun::launch() const {
  const StaticGrid tiles = grid();
  const int64_t work = int64_t(tiles.tiles_m) * tiles.tiles_n * copy_sharers(config_);
  const int64_t wanted =
      (std::min<int64_t>(work, persistent_ctas_) + config_.cluster - 1) / config_.cluster * config_.cluster;
  const int64_t most = std::max(1, persistent_ctas_ / config_.cluster) * config_.cluster;
  return {.grid = {uint32_t(std::min(wanted, most)), 1, 1},
          .cluster = {uint32_t(config_.cluster), 1, 1},
          .warps = kCopyWarps,
          .smem_bytes = storage_bytes<CopyStorage>(config_),
          .pdl = config_.pdl};
}

std::vector<BarrierArray> CopyRun::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, storage_at<CopyStorage>(config_),
                         [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::vector<NamedBarrier> CopyRun::named_barriers() const {
  return {{copy_consumers().barrier, "strip", "consumer"}};
}

std::vector<Tensor> CopyRun::tensors() const {
  return {{"source", source_bytes()}, {"destination", source_bytes() * uint64_t(copy_sharers(config_))}};
}

void CopyRun::fill(size_t i, uint8_t* bytes) const {
  const uint64_t count = tensors()[i].bytes;
  std::mt19937_64 random(seed_ + i);
  for (uint64_t at = 0; at < count; at += 8) {
    const uint64_t value = i == 0 ? random() : kUntouched;
    std::memcpy(bytes + at, &value, std::min<uint64_t>(8, count - at));
  }
}

/// Words of the destination that still hold the pattern where the source has something else; rows of all copies.
std::optional<Unwritten> CopyRun::unwritten(const uint8_t* source, const uint8_t* destination) const {
  constexpr int kElementBytes = 2, kElementsPerWord = 8 / kElementBytes;
  Unwritten all{.of = int64_t{problem_.m} * problem_.n * copy_sharers(config_),
                .first_row = INT_MAX,
                .first_column = problem_.n};
  const uint64_t count = source_bytes();
  for (int copy = 0; copy < copy_sharers(config_); ++copy)
    for (uint64_t i = 0; i + 8 <= count; i += 8) {
      uint64_t from, to;
      std::memcpy(&from, source + i, 8);
      std::memcpy(&to, destination + uint64_t(copy) * count + i, 8);
      if (to != kUntouched || from == kUntouched) continue;
      const int row = copy * problem_.m + int(i / kElementBytes / uint64_t(problem_.n)),
                column = int(i / kElementBytes % uint64_t(problem_.n));
      all.elements += kElementsPerWord;
      all.first_row = std::min(all.first_row, row), all.last_row = std::max(all.last_row, row);
      all.first_column = std::min(all.first_column, column);
      all.last_column = std::max(all.last_column, column + kElementsPerWord - 1);
    }
  if (all.elements == 0) return std::nullopt;
  return all;
}

Check CopyRun::check(const std::vector<const uint8_t*>& tensors) const {
  uint64_t different = 0;
  const uint64_t count = source_bytes();
  for (int copy = 0; copy < copy_sharers(config_); ++copy)
    for (uint64_t i = 0; i < count; ++i) different += tensors[0][i] != tensors[1][uint64_t(copy) * count + i];
  Check check{.ok = different == 0,
              .relative_error = double(different) / double(count * uint64_t(copy_sharers(config_))),
              .limit = 0,
              .reference = "the source",
              .rows = problem_.m,
              .of_rows = problem_.m};
  if (!check.ok) check.unwritten = unwritten(tensors[0], tensors[1]);
  return check;
}

ExpectedResult CopyRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  ExpectedResult result;
  for (int copy = 0; copy < copy_sharers(config_); ++copy)
    result.copies.push_back({.name = copy_sharers(config_) > 1 ? fmt::format("copy {}", copy) : "",
                             .from = addresses[0].value,
                             .to = addresses[1].value + uint64_t(copy) * source_bytes(),
                             .bytes = source_bytes(),
                             .row_bytes = uint64_t(problem_.n) * kCopyElementBytes,
                             .bits = 8 * kCopyElementBytes});
  return result;
}

double CopyRun::bytes() const { return double(source_bytes()) * (1 + copy_sharers(config_)); }

std::string CopyRun::title() const {
  const std::string copies = config_.multicast ? fmt::format(", {} copies", config_.cluster) : "";
  return fmt::format("{} x {} bf16{}", problem_.m, problem_.n, copies);
}

CopyParams CopyRun::params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const {
  const CopyConfig& c = config_;
  CopyParams params;
  params.source = encode(matrix_fields({.address = addresses[0],
                                        .rows = problem_.m,
                                        .columns = problem_.n,
                                        .box_rows = copy_load_rows(c),
                                        .box_columns = copy_block_k(c),
                                        .swizzle = c.swizzle}));
  params.destination = encode(matrix_fields({.address = addresses[1],
                                             .rows = problem_.m,
                                             .columns = problem_.n,
                                             .copies = copy_sharers(c),
                                             .box_rows = c.tile_m,
                                             .box_columns = copy_block_k(c),
                                             .swizzle = c.swizzle}));
  params.grid = grid();
  return params;
}

}  // namespace sm100::host
