// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kernels/host/comparison.h"
#include "ptx/cpp_names.h"

namespace sm100::host {
namespace {

void fill_from(const std::filesystem::path& path, uint8_t* to, uint64_t bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(to), std::streamsize(bytes)))
    throw InputError(fmt::format("{}: cannot be read", path.string()));
}

}  // namespace

int64_t PtxTensor::elements() const {
  int64_t all = 1;
  for (const int64_t extent : shape) all *= extent;
  return all;
}

PtxRun::PtxRun(const Scenario& scenario)
    : problem_(scenario.problem_as<PtxProblem>()), seed_(scenario.seed), product_(product_of(problem_, scenario)) {
  for (int warp = 0; warp < problem_.warps(); ++warp) {
    const bool named = size_t(warp) < problem_.roles.size() && !problem_.roles[size_t(warp)].empty();
    roles_.push_back(named ? problem_.roles[size_t(warp)] : fmt::format("warp {}", warp));
  }
}

std::vector<BarrierArray> PtxRun::barriers() const {
  std::vector<BarrierArray> rows;
  for (const PtxBarriers& b : problem_.barriers)
    rows.push_back({b.name.c_str(), SmemAddr{b.offset}, b.stages, 0, b.arrives.c_str(), "", b.waits.c_str()});
  return rows;
}

void PtxRun::before_trial() const {
  if (problem_.before_trial) problem_.before_trial();
}

LaunchShape PtxRun::launch() const {
  return {.grid = problem_.grid,
          .cluster = problem_.cluster,
          .warps = problem_.warps(),
          .smem_bytes = problem_.smem_bytes,
          .pdl = problem_.pdl};
}

std::vector<std::string_view> PtxRun::roles() const {
  std::vector<std::string_view> names;
  for (const std::string& role : roles_)
    if (std::find(names.begin(), names.end(), role) == names.end()) names.push_back(role);
  return names;
}

std::vector<Tensor> PtxRun::tensors() const {
  std::vector<Tensor> all;
  for (const PtxTensor& tensor : problem_.tensors) {
    // Loads of warps always move bytes: addresses, bounds and answers pass through them.
    Tensor described{.name = tensor.name,
                     .bytes = tensor.bytes(),
                     .metadata = tensor.metadata,
                     .type = tensor.element.name,
                     .address = tensor.address,
                     .bytes_there = tensor.bytes_there};
    if (tensor.shape.size() >= 2)
      described.rows = tensor.elements() / tensor.shape.back(), described.columns = tensor.shape.back();
    all.push_back(described);
  }
  return all;
}

void PtxRun::fill(size_t i, uint8_t* bytes) const {
  const PtxTensor& tensor = problem_.tensors[i];
  switch (tensor.contents) {
    case PtxContents::random:
      return fill_random(tensor.element, seed_ + i * 0x9e3779b97f4a7c15u, bytes, uint64_t(tensor.elements()));
    case PtxContents::zeros: std::memset(bytes, 0, tensor.bytes()); return;
    case PtxContents::unwritten: std::memset(bytes, 0xff, tensor.bytes()); return;
    case PtxContents::file: return fill_from(tensor.file, bytes, tensor.bytes());
    case PtxContents::ones: return fill_with(tensor.element, 1, bytes, uint64_t(tensor.elements()));
  }
}

Check PtxRun::check(const std::vector<const uint8_t*>& tensors) const {
  if (problem_.product) return product_->check(tensors);
  if (problem_.reference) return check_reference(tensors);
  if (problem_.copy) return check_copy(tensors);
  return Check::of_nothing();
}

namespace {

/// Bytes from the scales of 128 rows to those of the next, if they lie in the atoms in which tcgen05.cp takes them
/// to tensor memory: 128 rows x 4 blocks of K, the rows as 32 x 4 (docs/block-scaled.md).
std::optional<uint64_t> pitch_of_atoms(const PtxScales& scales, const PtxTensor& tensor, int64_t rows, int64_t k) {
  if (tensor.element.bits != 8 || scales.rows != 1) return std::nullopt;
  const int64_t pitch = rows > 128 ? scales.row_steps.at(128) : tensor.elements();
  for (int64_t row = 0; row < rows; ++row)
    if (scales.row_steps.at(row) != row / 128 * pitch + row % 32 * 16 + row % 128 / 32 * 4) return std::nullopt;
  for (int64_t block = 0; block * scales.k < k; ++block)
    if (scales.k_steps.at(block) != block / 4 * 512 + block % 4) return std::nullopt;
  return uint64_t(pitch);
}

}  // namespace

/// The product or the copy that the launch names.
ExpectedResult PtxRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  ExpectedResult result;
  const auto matrix_of = [&](size_t i, bool along_k = true) -> ExpectedMatrix {
    const PtxTensor& t = problem_.tensors[i];
    const auto pitch = uint64_t(t.shape[1] * t.element.bits / 8);
    if (along_k) return {t.name, addresses[i].value, t.shape[0], pitch, t.element.bits};
    if (t.shape[1] == 1)  // a single row or column lies along K, however it is named
      return {t.name, addresses[i].value, 1, uint64_t(t.shape[0]) * pitch, t.element.bits};
    return {t.name, addresses[i].value, t.shape[1], uint64_t(t.element.bits / 8), t.element.bits, pitch};
  };
  if (const auto& product = problem_.product) {
    ExpectedProduct& expected =
        result.products.emplace_back(ExpectedProduct{.a = matrix_of(product->a, !product->a_is_k_m),
                                                     .b = matrix_of(product->b, !product->b_is_k_n),
                                                     .c = matrix_of(product->c),
                                                     .k = product->k_of(problem_.tensors[product->a].shape)});
    expected.a.type = problem_.tensors[product->a].element.format;
    expected.b.type = problem_.tensors[product->b].element.format;
    for (const PtxScales& scales : product->scales) {
      const PtxTensor& tensor = problem_.tensors[scales.tensor];
      const int64_t rows = scales.operand == 0 ? expected.a.rows : expected.b.rows;
      const std::optional<uint64_t> pitch = pitch_of_atoms(scales, tensor, rows, expected.k);
      if (!pitch || (expected.scale_block != 0 && expected.scale_block != scales.k)) {
        expected.other_scales = true;
        continue;
      }
      expected.scale_block = int(scales.k);
      expected.scale_type = tensor.element.scale;
      (scales.operand == 0 ? expected.sfa : expected.sfb) =
          ExpectedMatrix{tensor.name, addresses[scales.tensor].value, rows, *pitch, 8};
    }
    // What the tensor core scales is in its sums.
    if (!expected.other_scales) expected.plain = problem_.tensors[product->c].element.format;
  }
  if (problem_.copy) {
    const PtxTensor& to = problem_.tensors[problem_.copy->second];
    result.copies.push_back({.from = addresses[problem_.copy->first].value,
                             .to = addresses[problem_.copy->second].value,
                             .bytes = to.bytes(),
                             .row_bytes = uint64_t(to.shape.back() * to.element.bits / 8),
                             .bits = to.element.bits});
  }
  return result;
}

Check PtxRun::check_copy(const std::vector<const uint8_t*>& tensors) const {
  const PtxTensor& to = problem_.tensors[problem_.copy->second];
  const uint8_t *from_bytes = tensors[problem_.copy->first], *to_bytes = tensors[problem_.copy->second];
  int64_t different = 0;
  for (uint64_t i = 0; i < to.bytes(); ++i) different += from_bytes[i] != to_bytes[i];
  const int columns = int(to.shape.back()), rows = int(to.elements() / columns);
  Check check{.ok = different == 0,
              .relative_error = double(different) / double(to.bytes()),
              .reference = problem_.tensors[problem_.copy->first].name,
              .rows = rows,
              .of_rows = rows};
  if (!check.ok && to.element.bits >= 8)
    check.unwritten = unwritten_elements(to_bytes, rows, columns, to.element.bits / 8);
  return check;
}

Check PtxRun::check_reference(const std::vector<const uint8_t*>& tensors) const {
  const auto [from, to] = *problem_.reference;
  const PtxTensor &expected = problem_.tensors[from], &output = problem_.tensors[to];
  const int columns = int(output.shape.back()), rows = int(output.elements() / columns);
  Comparison comparison(error_limit(*output.element.format));
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const size_t i = size_t(row) * size_t(columns) + size_t(column);
      comparison.add(element_value(output.element, tensors[to], i),
                     element_value(expected.element, tensors[from], i), row, column);
    }
  Check check = comparison.result(rows);
  check.of_rows = rows, check.reference = expected.name;
  check.unwritten = unwritten_elements(tensors[to], rows, columns, output.element.bits / 8);
  if (check.unwritten) check.ok = false;
  return check;
}

double PtxRun::bytes() const {
  double sum = 0;
  for (const PtxTensor& tensor : problem_.tensors) sum += double(tensor.bytes());
  return sum;
}

std::string PtxRun::title() const {
  const std::string file = problem_.file.path.filename().string();
  return fmt::format("{} of {}", product_ ? product_->title() : ptx::function_name(std::string(entry().name)),
                     file);
}

std::string PtxRun::configuration_json() const {
  const auto triple = [](const Dim3& d) { return nlohmann::ordered_json::array({d.x, d.y, d.z}); };
  const nlohmann::ordered_json json = {{"kernel", ptx_definition().name},
                                       {"ptx", problem_.file.path.filename().string()},
                                       {"entry", entry().name},
                                       {"grid", triple(problem_.grid)},
                                       {"block", triple(problem_.block)},
                                       {"cluster", triple(problem_.cluster)},
                                       {"dynamic_smem_bytes", problem_.dynamic_smem_bytes}};
  return json.dump();
}

std::vector<uint8_t> PtxRun::parameters(const std::vector<GlobalAddr>& addresses,
                                        const TensorMapEncoder& encode) const {
  std::vector<uint8_t> window(problem_.parameter_bytes);
  for (const PtxArgument& argument : problem_.arguments) {
    uint8_t* const to = window.data() + argument.offset;
    if (argument.kind == PtxArgument::Kind::image) {
      std::memcpy(to, argument.image.data(), argument.image.size());
      continue;
    }
    if (argument.kind == PtxArgument::Kind::value) {
      std::memcpy(to, &argument.value, argument.size);
      continue;
    }
    const uint64_t address = addresses[argument.tensor].value + argument.bytes;
    if (argument.kind == PtxArgument::Kind::address) {
      std::memcpy(to, &address, sizeof address);
      continue;
    }
    TensorMapFields fields = argument.map;
    fields.global_address = address;
    const TensorMap map = encode(fields);
    std::memcpy(to, map.bytes, sizeof map.bytes);
  }
  return window;
}

}  // namespace sm100::host
