// SPDX-License-Identifier: Apache-2.0
/// [problem.check] of a launch file: what the result of a kernel given as PTX is compared with.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace sm100::host {

struct PtxProblem;
class Product;
struct Scenario;
class TomlTable;

/// Where something lies by its number: the digit of each extent, the fastest first, times its step in elements.
/// The last digit has no bound.
struct PtxSteps {
  std::vector<std::pair<int64_t, int64_t>> digits;  ///< extent, step
  int64_t at(int64_t number) const;
};

/// Factors of an operand's elements: one for so many of a row's elements along K, and for so many rows.
struct PtxScales {
  int operand = 0;    ///< 0: A, 1: B
  size_t tensor = 0;  ///< that has them
  int64_t k = 1, rows = 1;
  PtxSteps row_steps, k_steps;
};

/// The product that the kernel must have computed: C[m][n] = sum over k of A[m][k] * B[n][k], elements with their
/// scales.
struct PtxProduct {
  size_t a = 0, b = 0, c = 0;               ///< tensors
  bool a_is_k_m = false, b_is_k_n = false;  ///< A lies as [k][m], B as [k][n]
  std::vector<PtxScales> scales;

  int64_t k_of(const std::vector<int64_t>& shape_a) const { return shape_a[a_is_k_m ? 0 : 1]; }
};

/// Reads [problem.check], if there is one, and moves the output to the end of the tensors.
void read_check(const TomlTable& problem_table, PtxProblem& problem);

/// The reference of problem.product; nullptr: there is none.
std::unique_ptr<Product> product_of(const PtxProblem& problem, const Scenario& scenario);

}  // namespace sm100::host
