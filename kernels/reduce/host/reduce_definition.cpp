// SPDX-License-Identifier: Apache-2.0
/// The reduction kernel: how its [problem] and [config] are read.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/host/read_config.h"
#include "kernels/reduce/host/reduce_run.h"

namespace sm100::host {
namespace {

const TomlTable::Words<DataType> kReduceOutputs = {{"bf16", DataType::bf16}, {"f32", DataType::f32}};
constexpr int kLargestExtent = 1 << 20;

void check_problem(const TomlDocument& document, const ReduceProblem& s) {
  for (const auto& [key, extent] : {std::pair{"problem.m", s.m}, std::pair{"problem.n", s.n}})
    if (extent < 1 || extent > kLargestExtent)
      throw document.error(key, fmt::format("allowed are 1 to {}", kLargestExtent));
  if (int64_t{s.m} * s.n % kReduceStripElements != 0)
    throw document.error("problem.n",
                         fmt::format("m x n must be a multiple of {} (the elements that a warp takes at once)",
                                     kReduceStripElements));
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario&) {
  ReduceProblem s;
  const TomlTable problem = root.table("problem", {"m", "n"});
  s.m = read_unjudged(problem, "m");
  s.n = read_unjudged(problem, "n");
  if (root.has("config")) {
    const TomlTable table = root.table("config", {"slices", "output", "pdl"});
    if (table.has("slices")) s.config.slices = read_int(table, "slices", 2, kReduceMostSlices);
    if (table.has("output")) s.config.output = table.choice("output", kReduceOutputs);
    if (table.has("pdl")) s.config.pdl = table.boolean("pdl");
  }
  check_problem(document, s);
  return s;
}

/// Isa functions of this kernel that a [[fault]] may name.
constexpr std::string_view kCalls[] = {"griddepcontrol_wait", "griddepcontrol_launch_dependents"};

}  // namespace

const KernelDefinition& reduce_definition() {
  static const KernelDefinition definition = {
      .name = "reduce",
      .description = "adds partial sums: D = P0 + P1 + ... in f32, by plain loads and stores (SM90 and SM100)",
      .tensor_core = false,
      .arithmetic = false,
      .fault_instructions = kCalls,
      .read = read,
      .run = run_of<ReduceRun>};
  return definition;
}

std::string ReduceRun::configuration_json() const {
  const ReduceConfig& c = problem_.config;
  const nlohmann::ordered_json json = {
      {"kernel", reduce_definition().name},          {"m", problem_.m}, {"n", problem_.n}, {"slices", c.slices},
      {"output", word_of(kReduceOutputs, c.output)}, {"pdl", c.pdl}};
  return json.dump();
}

}  // namespace sm100::host
