// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "kernels/host/comparison.h"
#include "kernels/isa/lane_array.h"

namespace sm100::host {
namespace {

/// Text that lives as long as the process: rows of a table point to it.
const char* kept(const std::string& text) {
  static std::set<std::string> all;
  return all.insert(text).first->c_str();
}

/// B lies as [n][k] or as [k][n].
class PtxProductCheck : public Product {
 public:
  PtxProductCheck(const ProductShape& shape, bool b_is_k_n) : Product(shape), b_is_k_n_(b_is_k_n) {}
  LaunchShape launch() const override { return {}; }
  std::vector<BarrierArray> barriers() const override { return {}; }
  std::vector<std::string_view> roles() const override { return {}; }
  std::string_view role(int) const override { return ""; }
  std::string configuration_json() const override { return "{}"; }

 protected:
  void read_row(int operand, const std::vector<const uint8_t*>& tensors, int row, double* out) const override {
    if (operand == 0 || !b_is_k_n_) return Product::read_row(operand, tensors, row, out);
    const size_t bytes = size_t(element_bits(shape().operands)) / 8;
    for (int k = 0; k < shape().k; ++k) {
      uint32_t bits = 0;
      std::memcpy(&bits, tensors[1] + bytes * (size_t(k) * size_t(shape().n) + size_t(row)), bytes);
      out[k] = double(decode(shape().operands, bits));
    }
  }

 private:
  bool b_is_k_n_;
};

std::unique_ptr<PtxProductCheck> product_of(const PtxProblem& problem, uint64_t seed) {
  if (!problem.product) return nullptr;
  const PtxTensor &a = problem.tensors[problem.product->a], &c = problem.tensors[problem.product->c];
  const ProductShape shape{.m = int(c.shape[c.shape.size() - 2]),
                           .n = int(c.shape.back()),
                           .k = int(a.shape.back()),
                           .operands = *a.element.format,
                           .output = *c.element.format,
                           .seed = seed};
  return std::make_unique<PtxProductCheck>(shape, problem.product->b_is_k_n);
}

/// A number in the element's format.
uint64_t encoded(const PtxElement& element, float value) {
  if (!element.format) return uint64_t(int64_t(value));
  switch (*element.format) {
    case DataType::f16: return cvt_rn_f16_f32(value);
    case DataType::bf16: return cvt_rn_bf16_f32(value);
    case DataType::tf32: return cvt_rn_tf32_f32(value);
    case DataType::f32: return as_bits(value);
    case DataType::e4m3: return cvt_rn_satfinite_e4m3_f32(value);
    case DataType::e5m2: return cvt_rn_satfinite_e5m2_f32(value);
    default: return uint64_t(int64_t(value));
  }
}

bool is_integer(const PtxElement& element) {
  return !element.format || *element.format == DataType::s8 || *element.format == DataType::u8;
}

void fill_random(const PtxTensor& tensor, uint64_t seed, uint8_t* to) {
  std::mt19937_64 random(seed);
  for (int64_t e = 0; e < tensor.elements(); ++e) {
    const uint64_t drawn = random();
    const float value = float(int64_t(drawn >> 40) - (1 << 23)) / float(1 << 23);
    const uint64_t bits = is_integer(tensor.element) ? drawn : encoded(tensor.element, value);
    std::memcpy(to + tensor.element_bytes() * size_t(e), &bits, tensor.element_bytes());
  }
}

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
    : problem_(scenario.problem_as<PtxProblem>()),
      seed_(scenario.seed),
      product_(product_of(problem_, scenario.seed)) {
  for (int warp = 0; warp < problem_.warps(); ++warp) {
    const bool named = size_t(warp) < problem_.roles.size() && !problem_.roles[size_t(warp)].empty();
    roles_.push_back(named ? problem_.roles[size_t(warp)] : fmt::format("warp {}", warp));
  }
}

std::vector<BarrierArray> PtxRun::barriers() const {
  std::vector<BarrierArray> rows;
  for (const PtxBarriers& b : problem_.barriers)
    rows.push_back({kept(b.name), SmemAddr{b.offset}, b.stages, 0, kept(b.arrives), "", kept(b.waits)});
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
    case PtxContents::random: return fill_random(tensor, seed_ + i * 0x9e3779b97f4a7c15u, bytes);
    case PtxContents::zeros: std::memset(bytes, 0, tensor.bytes()); return;
    case PtxContents::unwritten: std::memset(bytes, 0xff, tensor.bytes()); return;
    case PtxContents::file: return fill_from(tensor.file, bytes, tensor.bytes());
    case PtxContents::ones: break;
  }
  const uint64_t one = encoded(tensor.element, 1);
  const size_t size = tensor.element_bytes();
  for (int64_t e = 0; e < tensor.elements(); ++e) std::memcpy(bytes + size * size_t(e), &one, size);
}

Check PtxRun::check(const std::vector<const uint8_t*>& tensors) const {
  if (problem_.product)
    return product_->check(
        {tensors[problem_.product->a], tensors[problem_.product->b], tensors[problem_.product->c]});
  if (!problem_.copy) return {.ok = true, .reference = "nothing"};
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
  if (!check.ok) check.unwritten = unwritten_elements(to_bytes, rows, columns, int(to.element_bytes()));
  return check;
}

double PtxRun::bytes() const {
  double sum = 0;
  for (const PtxTensor& tensor : problem_.tensors) sum += double(tensor.bytes());
  return sum;
}

std::string PtxRun::title() const {
  const std::string file = problem_.file.path.filename().string();
  return product_ ? fmt::format("{} of {}", product_->title(), file) : fmt::format("{} of {}", entry().name, file);
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
