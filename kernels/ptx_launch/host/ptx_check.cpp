// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/host/product.h"
#include "kernels/host/toml_reader.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/ptx_launch/host/ptx_problem.h"

namespace sm100::host {
namespace {

/// Reads [problem.check]; a function for each kind.
class CheckReader {
 public:
  CheckReader(const TomlTable& table, PtxProblem& problem) : table_(table), problem_(problem) {}

  void read() {
    const int kinds = int(table_.has("product")) + int(table_.has("copy")) + int(table_.has("reference"));
    if (kinds != 1)
      throw table_.wrong("product",
                         "states one of product = [\"A\", \"B\", \"C\"], copy = [\"FROM\", \"TO\"] and "
                         "reference = [\"EXPECTED\", \"C\"]");
    if (table_.has("product")) return read_product();
    if (table_.has("scales")) throw table_.wrong("scales", "belong to a product");
    if (table_.has("copy")) {
      problem_.copy = two("copy", "from, to");
      return make_last(problem_.copy->second);
    }
    problem_.reference = two("reference", "what is expected, the output");
    const PtxTensor &expected = problem_.tensors[problem_.reference->first],
                    &output = problem_.tensors[problem_.reference->second];
    if (!expected.element.format || !output.element.format || output.element.bits < 8 ||
        expected.elements() != output.elements())
      throw table_.wrong("reference", "two tensors of as many elements, of floating-point types");
    make_last(problem_.reference->second);
  }

 private:
  std::pair<size_t, size_t> two(std::string_view key, std::string_view what) const {
    const auto names = table_.strings(key);
    if (names.size() != 2) throw table_.wrong(key, fmt::format("the names of two tensors: {}", what));
    return {tensor_named(table_, key, names[0]), tensor_named(table_, key, names[1])};
  }

  size_t tensor_named(const TomlTable& t, std::string_view key, const std::string& name) const {
    for (size_t i = 0; i < problem_.tensors.size(); ++i)
      if (problem_.tensors[i].name == name) return i;
    throw t.wrong(key, fmt::format("no tensor is called '{}'", name));
  }

  void read_product() {
    const auto names = table_.strings("product");
    if (names.size() != 3) throw table_.wrong("product", "the names of three tensors: A, B, C");
    PtxProduct product;
    product.a = tensor_named(table_, "product", names[0]);
    product.b = tensor_named(table_, "product", names[1]);
    product.c = tensor_named(table_, "product", names[2]);
    product.a_is_k_m = table_.has("a") && table_.word("a", {"m_k", "k_m"}) == "k_m";
    product.b_is_k_n = table_.has("b") && table_.word("b", {"n_k", "k_n"}) == "k_n";
    const PtxTensor &a = problem_.tensors[product.a], &b = problem_.tensors[product.b],
                    &c = problem_.tensors[product.c];
    for (const PtxTensor* tensor : {&a, &b, &c})
      if (tensor->shape.size() != 2 || !tensor->element.format)
        throw table_.wrong("product", fmt::format("{} must be a matrix of a floating-point type", tensor->name));
    if (c.element.bits < 8) throw table_.wrong("product", "C must have elements of whole bytes");
    const int64_t k = product.k_of(a.shape), n = c.shape[1];
    const std::vector<int64_t> expected = product.b_is_k_n ? std::vector{k, n} : std::vector{n, k};
    if (a.shape[product.a_is_k_m ? 1 : 0] != c.shape[0] || b.shape != expected)
      throw table_.wrong(
          "product",
          fmt::format("C is {} x {} and A is {} x {}: B must be {} x {}, A have as many {} as C rows", c.shape[0],
                      n, a.shape[0], a.shape[1], expected[0], expected[1], product.a_is_k_m ? "columns" : "rows"));
    for (const PtxTensor* tensor : {&a, &b})
      if ((tensor == &a ? product.a_is_k_m : product.b_is_k_n) && tensor->element.bits < 8)
        throw table_.wrong(tensor == &a ? "a" : "b",
                           fmt::format("{} has elements below a byte: must lie along K", tensor->name));
    if (table_.has("scales"))
      for (const TomlTable& t : table_.tables("scales", {"of", "tensor", "k", "rows", "row_steps", "k_steps"}))
        product.scales.push_back(read_scales(t, product, names));
    problem_.product = product;
    make_last(product.c);
  }

  PtxScales read_scales(const TomlTable& t, const PtxProduct& product,
                        const std::vector<std::string>& names) const {
    PtxScales scales;
    scales.operand = t.word("of", {names[0], names[1]}) == names[0] ? 0 : 1;
    scales.tensor = tensor_named(t, "tensor", t.string("tensor"));
    const int64_t all_k = product.k_of(problem_.tensors[product.a].shape);
    const int64_t all_rows =
        scales.operand == 0 ? problem_.tensors[product.c].shape[0] : problem_.tensors[product.c].shape[1];
    scales.k = t.has("k") ? t.integer("k", 1, all_k) : all_k;
    scales.rows = t.has("rows") ? t.integer("rows", 1, all_rows) : 1;
    const int64_t of_rows = ceil_div(all_rows, scales.rows), of_k = ceil_div(all_k, scales.k);
    scales.row_steps = steps(t, "row_steps", of_rows, of_k);
    scales.k_steps = steps(t, "k_steps", of_k, 1);
    const PtxTensor& tensor = problem_.tensors[scales.tensor];
    if (!tensor.element.has_values())
      throw t.wrong("tensor", fmt::format("{} has no numbers: its type is {}", tensor.name, tensor.element.name));
    int64_t last = 0;
    for (int64_t row = 0; row < of_rows; ++row) last = std::max(last, scales.row_steps.at(row));
    int64_t last_k = 0;
    for (int64_t block = 0; block < of_k; ++block) last_k = std::max(last_k, scales.k_steps.at(block));
    if (last + last_k >= tensor.elements())
      throw t.wrong("tensor", fmt::format("{} has {} elements, and the steps of {} x {} scales go to element {}",
                                          tensor.name, tensor.elements(), of_rows, of_k, last + last_k));
    return scales;
  }

  static PtxSteps steps(const TomlTable& t, std::string_view key, int64_t count, int64_t step) {
    if (!t.has(key)) return {{{count, step}}};
    PtxSteps read;
    for (const std::vector<int64_t>& row : t.integer_rows(key, 2, 0, int64_t{1} << 40)) {
      if (row[0] < 1)
        throw t.wrong(key, "lists of an extent, at least 1, and a step in elements, the fastest first");
      read.digits.emplace_back(row[0], row[1]);
    }
    return read;
  }

  /// The output is the last tensor.
  void make_last(size_t output) {
    const size_t last = problem_.tensors.size() - 1;
    std::swap(problem_.tensors[output], problem_.tensors[last]);
    const auto moved = [&](size_t& i) { i = i == output ? last : i == last ? output : i; };
    for (PtxArgument& argument : problem_.arguments) moved(argument.tensor);
    if (problem_.product) {
      moved(problem_.product->a), moved(problem_.product->b), moved(problem_.product->c);
      for (PtxScales& scales : problem_.product->scales) moved(scales.tensor);
    }
    for (auto* pair : {&problem_.copy, &problem_.reference})
      if (*pair) moved((*pair)->first), moved((*pair)->second);
  }

  const TomlTable& table_;
  PtxProblem& problem_;
};

/// Operands as their tensors' types and scales make them.
class PtxProductCheck : public Product {
 public:
  PtxProductCheck(const ProductShape& shape, const PtxProblem& problem) : Product(shape), problem_(problem) {}
  LaunchShape launch() const override { return {}; }
  std::vector<BarrierArray> barriers() const override { return {}; }
  std::vector<std::string_view> roles() const override { return {}; }
  std::string_view role(int) const override { return ""; }
  std::string configuration_json() const override { return "{}"; }

 protected:
  /// @param tensors  of the launch; the last one is C
  void read_row(int operand, const std::vector<const uint8_t*>& tensors, int row, double* out) const override {
    const PtxProduct& product = *problem_.product;
    const size_t index = operand == 0 ? product.a : product.b;
    const PtxElement& element = problem_.tensors[index].element;
    const bool by_column = operand == 0 ? product.a_is_k_m : product.b_is_k_n;
    const auto k = size_t(shape().k), first = by_column ? size_t(row) : size_t(row) * k;
    const size_t step = by_column ? size_t(operand == 0 ? shape().m : shape().n) : 1;
    for (size_t l = 0; l < k; ++l) out[l] = element_value(element, tensors[index], first + l * step);
    for (const PtxScales& scales : product.scales)
      if (scales.operand == operand) scale(scales, tensors[scales.tensor], row, out);
  }

 private:
  void scale(const PtxScales& scales, const uint8_t* factors, int row, double* out) const {
    const PtxElement& element = problem_.tensors[scales.tensor].element;
    const int64_t of_row = scales.row_steps.at(row / scales.rows);
    for (int64_t first = 0; first < shape().k; first += scales.k) {
      const double factor = element_value(element, factors, size_t(of_row + scales.k_steps.at(first / scales.k)));
      for (int64_t l = first; l < std::min<int64_t>(first + scales.k, shape().k); ++l) out[l] *= factor;
    }
  }

  const PtxProblem& problem_;
};

}  // namespace

int64_t PtxSteps::at(int64_t number) const {
  int64_t at = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    const auto& [extent, step] = digits[i];
    const bool last = i + 1 == digits.size();
    at += (last ? number : number % extent) * step;
    number /= extent;
  }
  return at;
}

void read_check(const TomlTable& problem_table, PtxProblem& problem) {
  if (!problem_table.has("check")) return;
  const TomlTable table = problem_table.table("check", {"product", "copy", "reference", "a", "b", "scales"});
  CheckReader(table, problem).read();
}

std::unique_ptr<Product> product_of(const PtxProblem& problem, const Scenario& scenario) {
  if (!problem.product) return nullptr;
  constexpr int kMmaBits = 32 * 8;  // of each row
  // An H200 keeps 13 bits of each of 33 terms (models/numerics/fused_dot.h).  A launch file's contents may all have
  // one sign, and then all of them are cut off the same way.
  constexpr int kBitsOfWgmma8 = 10;
  const PtxTensor &a = problem.tensors[problem.product->a], &c = problem.tensors[problem.product->c];
  const ProductShape shape{.m = int(c.shape[0]),
                           .n = int(c.shape[1]),
                           .k = int(problem.product->k_of(a.shape)),
                           .operands = *a.element.format,
                           .output = *c.element.format,
                           .seed = scenario.seed,
                           .truncated_mma_k = scenario.numerics == Numerics::b200 ? kMmaBits / a.element.bits : 0,
                           .truncated_bits = scenario.device.has_wgmma && a.element.bits == 8 ? kBitsOfWgmma8 : 24};
  return std::make_unique<PtxProductCheck>(shape, problem);
}

}  // namespace sm100::host
