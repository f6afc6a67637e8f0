// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/grouped_1d1d_run.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/grouped_1d1d/grouped_1d1d_kernel.h"
#include "kernels/host/comparison.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/matmul/host/matmul_launch.h"
#include "models/vector/kernels.h"

namespace sm100::host {
namespace {

using MatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr size_t kSfa = 2, kSfb = 3, kFirstWords = 4;  // of tensors()
/// Above this many multiply-adds only some rows are compared.
constexpr double kFullCheckLimit = 2.2e9;

/// Element `i` of a row; nibbles lie with the lower one first.
float element(const BlockScaledConfig& c, const uint8_t* row, int i) {
  if (operand_bits(c) == 8) return decode(c.dtype, row[i]);
  return decode(c.dtype, row[i / 2] >> 4 * (i % 2) & 0xf);
}

double output_value(DataType type, const uint8_t* c, size_t i) {
  const size_t bytes = size_t(element_bits(type)) / 8;
  uint32_t bits = 0;
  std::memcpy(&bits, c + bytes * i, bytes);
  return double(decode(type, bits));
}

ProductShape shape_of(const Scenario& s) {
  const Grouped1d1dProblem& p = s.problem_as<Grouped1d1dProblem>();
  return {.m = int(token_rows(p).rows),
          .n = p.n,
          .k = p.k,
          .operands = p.config.dtype,
          .output = p.config.output,
          .seed = s.seed};
}

std::string grouped_digits(int64_t value) {
  std::string digits = std::to_string(value);
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(size_t(at), ",");
  return digits;
}

}  // namespace

Grouped1d1dRun::Grouped1d1dRun(const Scenario& s)
    : Product(shape_of(s)),
      problem_(s.problem_as<Grouped1d1dProblem>()),
      rows_(token_rows(problem_)),
      seed_(s.seed),
      truncated_mma_k_(s.numerics == Numerics::b200 ? config_.mma_k : 0),
      sms_(s.sms_in_run()),
      gpc_sms_(s.device.device.gpc_sms) {}

ScaleTensor Grouped1d1dRun::scales_of(int operand) const {
  return {.rows = operand == 0 ? int(rows_.scale_rows) : problem_.num_experts * expert_scale_rows(),
          .scales = ceil_div(problem_.k, scale_block(config_)),
          .type = config_.scale_type};
}

/// A pair or a CTA for every place on the device, at most one for each tile.
LaunchShape Grouped1d1dRun::launch() const {
  Grouped1d1dConfig persistent = config_;
  persistent.static_scheduler = true;
  const auto tiles = uint32_t(std::clamp<int64_t>(group_tiles(problem_, config_), 1, 1 << 20));
  return matmul_launch(persistent, {tiles * uint32_t(config_.cta_group), 1, 1},
                       storage_bytes<Grouped1d1dStorage>(config_), sms_, gpc_sms_);
}

std::vector<BarrierArray> Grouped1d1dRun::barriers() const { return barriers_of<Grouped1d1dStorage>(config_); }
std::vector<NamedBarrier> Grouped1d1dRun::named_barriers() const { return matmul_named_barriers(config_); }

std::vector<Grouped1d1dRun::Words> Grouped1d1dRun::words() const {
  Words offsets{"offsets", {}}, scale_offsets{"scale_offsets", {}}, experts{"experts", {}}, counts{"counts", {}};
  Words row_experts{"experts", std::vector<int>(size_t(rows_.rows), -1)};
  for (const TokenGroup& group : rows_.groups) {
    const int without_padding = group.first_row / kScaleAtomRows;
    offsets.values.push_back(group.first_row);
    scale_offsets.values.push_back(group.first_scale_row / kScaleAtomRows - without_padding);
    experts.values.push_back(group.expert);
    counts.values.push_back(group.rows);
    std::fill_n(row_experts.values.begin() + group.first_row, group.rows, group.expert);
  }
  offsets.values.push_back(int(rows_.rows));
  switch (config_.layout) {
    case TokenLayout::contiguous: return {row_experts};
    case TokenLayout::masked: return {counts};
    default: return {offsets, scale_offsets, experts};
  }
}

std::vector<float> Grouped1d1dRun::expert_scales() const {
  std::mt19937_64 random(seed_ + 0x65787065u);
  std::vector<float> scales;
  for (int e = 0; e < problem_.num_experts; ++e) scales.push_back(0.25f + float(random() >> 40) / float(1 << 24));
  return scales;
}

std::vector<Tensor> Grouped1d1dRun::tensors() const {
  const auto operand = [&](const char* name, int rows) {
    return Tensor{.name = name,
                  .bytes = uint64_t(rows) * uint64_t(row_bytes()),
                  .type = operand_bits(config_) == 8 ? sm100::name(config_.dtype) : "e2m1x2",
                  .rows = rows,
                  .columns = problem_.k};
  };
  std::vector<Tensor> all = {operand("A", int(rows_.rows)),
                             operand("B", problem_.num_experts * problem_.n),
                             {.name = "SFA", .bytes = scales_of(0).bytes()},
                             {.name = "SFB", .bytes = scales_of(1).bytes()}};
  for (const Words& w : words())
    all.push_back({.name = w.name, .bytes = w.values.size() * sizeof(int), .metadata = true});
  if (config_.scaled)
    all.push_back(
        {.name = "expert_scales", .bytes = uint64_t(problem_.num_experts) * sizeof(float), .metadata = true});
  all.push_back(c());
  return all;
}

void Grouped1d1dRun::fill(size_t i, uint8_t* bytes) const {
  const std::vector<Words> about_groups = words();
  const size_t scales = kFirstWords + about_groups.size();
  if (i == kSfa || i == kSfb) {
    scales_of(int(i - kSfa)).fill(seed_ + i, 0, bytes);
    fill_scale_padding(int(i - kSfa), bytes);
  } else if (i < kSfa && operand_bits(config_) == 4) {  // every code is a number
    std::mt19937_64 random(seed_ + i);
    const uint64_t count = tensors()[i].bytes;
    for (uint64_t byte = 0; byte < count; ++byte) bytes[byte] = uint8_t(random() >> 32);
  } else if (i >= kFirstWords && i < scales) {
    const std::vector<int>& values = about_groups[i - kFirstWords].values;
    std::memcpy(bytes, values.data(), values.size() * sizeof(int));
  } else if (i == scales && config_.scaled) {
    const std::vector<float> values = expert_scales();
    std::memcpy(bytes, values.data(), values.size() * sizeof(float));
  } else {
    Product::fill(i, bytes);
  }
}

/// Rows of whole atoms that no token, or no row of an expert, has.
void Grouped1d1dRun::fill_scale_padding(int operand, uint8_t* bytes) const {
  const ScaleTensor scales = scales_of(operand);
  const uint8_t padding = problem_.scale_padding == ScalePadding::nan ? nan_scale(config_.scale_type) : 0;
  const auto pad = [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row)
      for (int j = 0; j < scales.k_atoms() * kScaleAtomScales; ++j)
        bytes[scale_offset(int(row), j, scales.k_atoms())] = padding;
  };
  if (operand == 1) {
    for (int e = 0; e < problem_.num_experts; ++e)
      pad(int64_t{e} * expert_scale_rows() + problem_.n, int64_t{e + 1} * expert_scale_rows());
  } else {
    for (size_t g = 0; g < rows_.groups.size(); ++g) {
      const bool last = g + 1 == rows_.groups.size();
      pad(rows_.groups[g].first_scale_row + rows_.groups[g].rows,
          last ? rows_.scale_rows : rows_.groups[g + 1].first_scale_row);
    }
  }
  for (int row = 0; row < scales.rows; ++row)  // along K
    for (int j = scales.scales; j < scales.k_atoms() * kScaleAtomScales; ++j)
      bytes[scale_offset(row, j, scales.k_atoms())] = padding;
}

void Grouped1d1dRun::read_values(int operand, const std::vector<const uint8_t*>& tensors, int row, int scale_row,
                                 double* values) const {
  const uint8_t* elements = tensors[size_t(operand)] + size_t(row) * size_t(row_bytes());
  const ScaleTensor scales = scales_of(operand);
  const int block = scale_block(config_);
  for (int first = 0; first < problem_.k; first += block) {
    const double scale = scales.value(tensors[kSfa + size_t(operand)], scale_row, first / block);
    for (int i = first; i < std::min(first + block, problem_.k); ++i)
      values[i] = scale * double(element(config_, elements, i));
  }
}

/// Every `step`-th row of the group.
void Grouped1d1dRun::compare_group(const TokenGroup& group, const std::vector<const uint8_t*>& tensors,
                                   int64_t step, Comparison& comparison, int& compared) const {
  const int n = problem_.n, k = problem_.k;
  const int count = int((group.rows + step - 1) / step);
  MatrixXd a(count, k), b(n, k), reference(count, n);
  for (int i = 0; i < count; ++i) {
    const int row = int(i * step);
    read_values(0, tensors, group.first_row + row, group.first_scale_row + row, &a(i, 0));
  }
  for (int j = 0; j < n; ++j)
    read_values(1, tensors, group.expert * n + j, group.expert * expert_scale_rows() + j, &b(j, 0));
  vector::kernels().product_f64({.m = count,
                                 .n = n,
                                 .k = k,
                                 .a = a.data(),
                                 .a_stride = k,
                                 .b = b.data(),
                                 .b_stride = k,
                                 .d = reference.data(),
                                 .d_stride = n,
                                 .accumulate = false});
  const double factor = config_.scaled ? double(expert_scales()[size_t(group.expert)]) : 1;
  for (int i = 0; i < count; ++i) {
    const int row = group.first_row + int(i * step);
    for (int j = 0; j < n; ++j)
      comparison.add_converted(config_.output,
                               output_value(config_.output, tensors.back(), size_t(row) * size_t(n) + size_t(j)),
                               factor * reference(i, j), row, j);
  }
  compared += count;
}

void Grouped1d1dRun::look_for_marks(const uint8_t* c, Check& check) const {
  const int n = problem_.n, element_bytes = element_bits(config_.output) / 8;
  // Whether a row is a result, must stay as it was, or may be either.
  enum class Row : uint8_t { untouched, result, any };
  std::vector<Row> rows(size_t(rows_.rows), Row::untouched);
  for (const TokenGroup& group : rows_.groups) {
    if (!group.has_work()) continue;
    std::fill_n(rows.begin() + group.first_row, group.rows, Row::result);
    if (config_.whole_tiles && config_.layout == TokenLayout::contiguous)
      std::fill_n(rows.begin() + group.first_row + group.rows,
                  std::min(align_up(group.rows, token_rows(config_)), group.reserved_rows) - group.rows, Row::any);
  }
  const std::vector<uint8_t> mark(size_t(element_bytes), 0xff);
  const auto count = [&](Row kind, bool marked) {
    Unwritten all{.first_row = int(rows_.rows), .first_column = n};
    for (int row = 0; row < int(rows_.rows); ++row) {
      if (rows[size_t(row)] != kind) continue;
      all.of += n;
      const uint8_t* at = c + size_t(row) * size_t(n) * size_t(element_bytes);
      for (int column = 0; column < n; ++column, at += element_bytes) {
        if ((std::memcmp(at, mark.data(), size_t(element_bytes)) == 0) != marked) continue;
        ++all.elements;
        all.first_row = std::min(all.first_row, row), all.last_row = row;
        all.first_column = std::min(all.first_column, column), all.last_column = std::max(all.last_column, column);
      }
    }
    return all.elements > 0 ? std::optional(all) : std::nullopt;
  };
  check.unwritten = count(Row::result, true);
  check.foreign = count(Row::untouched, false);
  if (check.unwritten || check.foreign) check.ok = false;
}

Check Grouped1d1dRun::check(const std::vector<const uint8_t*>& tensors) const {
  const double work = flops() / 2;
  const int64_t step = std::max<int64_t>(1, int64_t(std::ceil(work / kFullCheckLimit)));
  // The bit model truncates at every MMA: its error grows with their number.
  const double truncation = truncated_mma_k_ > 0 ? std::ldexp(double(problem_.k) / truncated_mma_k_, -24) : 0;
  Comparison comparison(error_limit(config_.output) + truncation);
  int compared = 0;
  for (const TokenGroup& group : rows_.groups)
    if (group.has_work()) compare_group(group, tensors, step, comparison, compared);
  Check check = comparison.result(compared);
  for (const TokenGroup& group : rows_.groups) check.of_rows += group.has_work() ? group.rows : 0;
  look_for_marks(tensors.back(), check);
  return check;
}

double Grouped1d1dRun::flops() const {
  int64_t rows = 0;
  for (const TokenGroup& group : rows_.groups) rows += group.has_work() ? group.rows : 0;
  return 2.0 * double(rows) * problem_.n * problem_.k;
}

std::string Grouped1d1dRun::title() const {
  int64_t tokens = 0;
  for (int t : problem_.tokens) tokens += t;
  return fmt::format("{} tokens in {} group{} x {} x {} {}", grouped_digits(tokens), problem_.tokens.size(),
                     problem_.tokens.size() == 1 ? "" : "s", problem_.n, problem_.k, operand_name(config_));
}

std::string Grouped1d1dRun::chosen_configuration() const {
  if (!problem_.auto_config) return {};
  return fmt::format("mma [{}, {}, {}], cta_group {}{}", config_.mma_m, config_.mma_n, config_.mma_k,
                     config_.cta_group, config_.ab_swapped ? ", swapped" : "");
}

Grouped1d1dParams Grouped1d1dRun::params(const std::vector<GlobalAddr>& addresses,
                                         const TensorMapEncoder& encode) const {
  const Grouped1d1dConfig& c = config_;
  const Grouped1d1dProblem& s = problem_;
  // Swapped, the kernel's A is the experts' B and its output the transpose of C.
  const bool swapped = c.ab_swapped;
  const int a = swapped ? 1 : 0, b = 1 - a;
  const auto operand_map = [&](int operand, int box_rows) {
    return encode(matrix_fields({.address = addresses[size_t(operand)],
                                 .type = TensorMapDataType::uint8,
                                 .rows = operand == 0 ? int(rows_.rows) : s.num_experts * s.n,
                                 .columns = row_bytes(),
                                 .box_rows = box_rows,
                                 .box_columns = kTileRowBytes,
                                 .swizzle = c.swizzle}));
  };
  const auto scale_map = [&](int operand, const ScaleShape& box) {
    return encode(scales_of(operand).map_fields(addresses[kSfa + size_t(operand)], box));
  };
  Grouped1d1dParams params;
  params.a = operand_map(a, a_slice_rows(c)), params.b = operand_map(b, b_slice_rows(c));
  params.sfa = scale_map(a, sfa_tile(c)), params.sfb = scale_map(b, sfb_tile(c));
  params.c = encode(matrix_fields({.address = addresses.back(),
                                   .type = tensor_map_type(c.output),
                                   .rows = int(rows_.rows),
                                   .columns = s.n,
                                   .box_rows = swapped ? strip_columns(c) : store_rows(c),
                                   .box_columns = swapped ? block_columns(c) : strip_columns(c),
                                   .swizzle = strip_swizzle(c)}));
  params.functor.rows = int(rows_.rows), params.functor.columns = s.n;
  params.m = int(rows_.rows), params.n = s.n, params.k = s.k;

  GroupParams& groups = params.groups;
  size_t next = kFirstWords;
  switch (c.layout) {
    case TokenLayout::contiguous: groups.experts = addresses[next++]; break;
    case TokenLayout::masked: groups.counts = addresses[next++]; break;
    default:
      groups.offsets = addresses[next++];
      groups.scale_offsets = addresses[next++];
      groups.experts = addresses[next++];
  }
  if (c.scaled) groups.expert_scales = addresses[next++];
  groups.c = addresses.back();
  groups.groups = c.layout == TokenLayout::contiguous ? 1 : int(s.tokens.size());
  groups.slot_rows = s.slot_rows;
  return params;
}

}  // namespace sm100::host
