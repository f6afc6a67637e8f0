// SPDX-License-Identifier: Apache-2.0
/// sm100sim explain-config M N K | SCENARIO: which configuration config = "auto" means, and why.

#include <fmt/format.h>

#include <memory>

#include "kernels/block_scaled/host/block_scaled_run.h"
#include "kernels/block_scaled/host/choose_block_scaled.h"
#include "kernels/block_scaled/host/operand_words.h"
#include "kernels/blockwise/host/blockwise_run.h"
#include "kernels/blockwise/host/choose_blockwise.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_rules.h"
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.h"
#include "kernels/grouped_1d1d/host/choose_grouped_1d1d.h"
#include "kernels/grouped_1d1d/host/grouped_1d1d_run.h"
#include "kernels/grouped_1d2d/host/choose_grouped_1d2d.h"
#include "kernels/grouped_1d2d/host/grouped_1d2d_run.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_rules.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_run.h"
#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"
#include "kernels/matmul/host/choose_config.h"
#include "kernels/matmul/host/matmul_run.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/json_output.h"
#include "sim/cli/scenario_name.h"
#include "traces/format/compressed_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

constexpr size_t kMostAlternatives = 3;

struct ExplainOptions {
  std::vector<std::string> what;  ///< M N K or a scenario
  std::vector<std::string> sets;
  std::string kernel, dtype, profile, json;  ///< empty: not given
};

/// What is asked, and on what.
struct Question {
  ConfigRequest request;
  std::optional<BlockScaledConfig> scaled;          ///< operands of block_scaled
  std::optional<CutlassBlockScaledConfig> cutlass;  ///< of cutlass_block_scaled
  std::optional<BlockwiseConfig> blockwise;         ///< those of blockwise
  std::optional<GroupedBlockScaledProblem> groups;  ///< of grouped_block_scaled, whose operands they name
  std::optional<Grouped1d1dProblem> tokens;         ///< of grouped_1d1d
  std::optional<Grouped1d2dProblem> fp8_tokens;     ///< of grouped_1d2d; none of them: matmul is asked about
  std::string title;                                ///< what is multiplied, if `request` does not say it
  std::string scenario;                             ///< empty: a shape from the command line
  std::string profile, device;
  bool own_config = false;  ///< the scenario does not say config = "auto"

  std::string_view kernel() const {
    return scaled      ? block_scaled_definition().name
           : cutlass   ? cutlass_block_scaled_definition().name
           : blockwise ? blockwise_definition().name
                       : matmul_definition().name;
  }
};

/// "matmul, block_scaled, cutlass_block_scaled, blockwise": those that a shape describes.
std::string kernels_of_a_shape() {
  return fmt::format("{}, {}, {}, {}", matmul_definition().name, block_scaled_definition().name,
                     cutlass_block_scaled_definition().name, blockwise_definition().name);
}

int extent(const char* name, const std::string& text) {
  constexpr int64_t kLargest = int64_t{1} << 30;  // as in scenarios
  const std::optional<int64_t> value = integer_of(text);
  if (!value || *value < 1 || *value > kLargest)
    throw InputError(
        fmt::format("explain-config: {} = {}: allowed are integers 1 to {}", name, one_line(text), kLargest));
  return int(*value);
}

void check_matmul_type(const std::string& dtype) {
  if (dtype.empty() || dtype == "bf16") return;
  for (const char* later : {"f16", "tf32", "e4m3", "e5m2"})
    if (dtype == later) throw InputError(fmt::format("not implemented: --dtype {}; this version has bf16", dtype));
  throw InputError(fmt::format("--dtype {}: allowed is bf16", dtype));
}

BlockScaledConfig scaled_operands(std::string_view kernel, const std::string& dtype) {
  std::string words;
  for (const OperandWord& o : kOperandWords) {
    if (o.word == dtype) return config_of_operands(o);
    words += fmt::format("{}{}", words.empty() ? "" : ", ", o.word);
  }
  if (dtype.empty()) throw InputError(fmt::format("--kernel {} needs --dtype: {}", kernel, words));
  throw InputError(fmt::format("--dtype {}: allowed are {}", one_line(dtype), words));
}

BlockwiseConfig blockwise_operands(const std::string& dtype) {
  BlockwiseConfig c;
  if (dtype == "e5m2")
    c.dtype = DataType::e5m2;
  else if (!dtype.empty() && dtype != "e4m3")
    throw InputError(fmt::format("--dtype {}: allowed are e4m3, e5m2", one_line(dtype)));
  return c;
}

Question question_of_shape(const ExplainOptions& o) {
  if (!o.sets.empty())
    throw InputError(fmt::format("--set {}: for a scenario only; this is a shape, M N K", o.sets.front()));
  Question q;
  if (o.kernel == block_scaled_definition().name)
    q.scaled = scaled_operands(o.kernel, o.dtype);
  else if (o.kernel == cutlass_block_scaled_definition().name)
    q.cutlass = CutlassBlockScaledConfig(scaled_operands(o.kernel, o.dtype));
  else if (o.kernel == blockwise_definition().name)
    q.blockwise = blockwise_operands(o.dtype);
  else if (o.kernel.empty() || o.kernel == matmul_definition().name)
    check_matmul_type(o.dtype);
  else
    throw InputError(fmt::format("--kernel {}: allowed are {}", one_line(o.kernel), kernels_of_a_shape()));
  q.request.m = extent("M", o.what[0]);
  q.request.n = extent("N", o.what[1]);
  q.request.k = extent("K", o.what[2]);
  q.profile = o.profile.empty() ? "b200" : o.profile;
  const models::DeviceProfile device = load_profile(q.profile);
  if (!device.has_tensor_core)
    throw InputError(
        fmt::format("--profile {}: a device without tcgen05; kernel {} needs it", q.profile, q.kernel()));
  q.device = device.name;
  q.request.sms = device.device.sms;
  return q;
}

Question question_of_scenario(const ExplainOptions& o) {
  for (const auto& [option, value] :
       {std::pair("--kernel", &o.kernel), {"--dtype", &o.dtype}, {"--profile", &o.profile}})
    if (!value->empty())
      throw InputError(fmt::format("{}: for a shape, M N K, only; {} says it itself", option, o.what[0]));
  const Scenario s = load_scenario(scenario_file(o.what[0]), o.sets);
  if (!s.launch_list.empty())
    throw InputError(
        fmt::format("{}: [[launch]]: a configuration is explained for a scenario of one kernel", o.what[0]));
  Question q;
  if (s.kernel == &block_scaled_definition()) {
    const BlockScaledProblem& p = s.problem_as<BlockScaledProblem>();
    q.request = {.m = p.m, .n = p.n, .k = p.k, .sms = s.sms_in_run()};
    for (const OperandWord& operands : kOperandWords)
      if (operands.word == word_of_operands(p.config)) q.scaled = config_of_operands(operands);
    q.scaled->scale_type = p.config.scale_type, q.scaled->output = q.request.output = p.config.output;
    q.own_config = !p.auto_config;
  } else if (s.kernel == &cutlass_block_scaled_definition()) {
    const CutlassBlockScaledProblem& p = s.problem_as<CutlassBlockScaledProblem>();
    q.request = {.m = p.m, .n = p.n, .k = p.k, .output = p.config.output, .sms = s.sms_in_run()};
    for (const OperandWord& operands : kOperandWords)
      if (operands.word == word_of_operands(p.config))
        q.cutlass = CutlassBlockScaledConfig(config_of_operands(operands));
    q.cutlass->scale_type = p.config.scale_type, q.cutlass->output = p.config.output;
    q.own_config = !p.auto_config;
  } else if (s.kernel == &grouped_block_scaled_definition()) {
    q.groups = s.problem_as<GroupedBlockScaledProblem>();
    q.request.sms = s.sms_in_run(), q.request.output = q.groups->config.output;
    q.own_config = !q.groups->auto_config;
  } else if (s.kernel == &grouped_1d1d_definition()) {
    const Grouped1d1dProblem& p = s.problem_as<Grouped1d1dProblem>();
    q.request = {.m = int(token_rows(p).rows),
                 .n = p.n,
                 .k = p.k,
                 .dtype = p.config.dtype,
                 .output = p.config.output,
                 .sms = s.sms_in_run()};
    q.tokens = p;
    q.title = make_run(s)->title();
    q.own_config = !p.auto_config;
  } else if (s.kernel == &grouped_1d2d_definition()) {
    const Grouped1d2dProblem& p = s.problem_as<Grouped1d2dProblem>();
    q.request = {.m = int(token_rows(p, p.config.layout, 1).rows),
                 .n = p.n,
                 .k = p.k,
                 .dtype = p.config.dtype,
                 .output = p.config.output,
                 .sms = s.sms_in_run()};
    q.fp8_tokens = p;
    q.title = make_run(s)->title();
    q.own_config = !p.auto_config;
  } else if (s.kernel == &blockwise_definition()) {
    const BlockwiseProblem& p = s.problem_as<BlockwiseProblem>();
    q.request = {.m = p.m, .n = p.n, .k = p.k, .sms = s.sms_in_run()};
    q.blockwise.emplace();
    q.blockwise->dtype = p.config.dtype, q.blockwise->output = q.request.output = p.config.output;
    q.blockwise->scale_dtype = p.config.scale_dtype;
    q.own_config = !p.auto_config;
  } else if (s.kernel == &matmul_definition()) {
    const MatmulProblem& p = s.problem_as<MatmulProblem>();
    q.request = {.m = p.m, .n = p.n, .k = p.k, .sms = s.sms_in_run()};
    if (!p.auto_config) q.request.dtype = p.config.dtype, q.request.output = p.config.output;
    q.own_config = !p.auto_config;
  } else {
    throw InputError(fmt::format("{}: kernel {}: a configuration is chosen for {}, {}, {} and {} only", o.what[0],
                                 s.kernel->name, kernels_of_a_shape(), grouped_block_scaled_definition().name,
                                 grouped_1d1d_definition().name, grouped_1d2d_definition().name));
  }
  q.scenario = s.path.string();
  q.profile = s.profile;
  q.device = s.device.name;
  return q;
}

ConfigChoice choice_for(const Question& q) {
  if (q.groups) {
    GroupedBlockScaledConfig operands;  // whatever else the scenario says of its configuration
    const GroupedBlockScaledConfig& c = q.groups->config;
    operands.format = c.format, operands.dtype = c.dtype, operands.scale_type = c.scale_type;
    operands.mma_k = c.mma_k, operands.output = c.output;
    return choose_grouped(q.groups->groups, operands, q.request.sms);
  }
  if (q.tokens) return choose_grouped_1d1d(*q.tokens, q.request.sms);
  if (q.fp8_tokens) return choose_grouped_1d2d(*q.fp8_tokens, q.request.sms);
  if (q.scaled) return choose_block_scaled(q.request, *q.scaled);
  if (q.cutlass) return choose_cutlass(q.request, *q.cutlass);
  if (q.blockwise) return choose_blockwise(q.request, *q.blockwise);
  return choose_config(q.request);
}

ConfigChoice answer(const Question& q) {
  ConfigChoice choice = choice_for(q);
  if (choice.broken.empty()) return choice;
  std::vector<std::string> lines;
  for (const RuleViolation& b : choice.broken)
    lines.push_back(fmt::format("{}: {} = {}: allowed are {} ({})",
                                q.scenario.empty() ? "explain-config" : q.scenario, b.key, b.value, b.allowed,
                                b.why));
  throw InputError(lines);
}

std::string_view dtype_of(const Question& q) {
  if (q.groups) return word_of_operands(q.groups->config);
  if (q.tokens) return word_of_operands(q.tokens->config);
  if (q.fp8_tokens) return name(q.fp8_tokens->config.dtype);
  if (q.scaled) return word_of_operands(*q.scaled);
  if (q.cutlass) return word_of_operands(*q.cutlass);
  return name(q.blockwise ? q.blockwise->dtype : q.request.dtype);
}

/// "512 x 512 x 1024", "64 groups".
std::string problem_text(const Question& q) {
  if (!q.groups) return fmt::format("{} x {} x {}", q.request.m, q.request.n, q.request.k);
  const size_t groups = q.groups->groups.size();
  return fmt::format("{} group{}", groups, groups == 1 ? "" : "s");
}

std::string mma_text(const ConfigCandidate& c) {
  return fmt::format("{} x {}{}, cta_group {}", c.mma_m, c.mma_n, c.ab_swapped ? " swapped" : "", c.cta_group);
}

std::string counts_text(const ConfigCandidate& c) {
  return fmt::format("{} tile{} in {} wave{}", c.tiles, c.tiles == 1 ? "" : "s", c.waves, c.waves == 1 ? "" : "s");
}

std::string reason_line(std::string_view label, std::string_view value, std::string_view text) {
  return fmt::format("  {:<15}{:<15} {}\n", label, value, text);
}

std::string format_answer(const Question& q, const ConfigChoice& choice) {
  const ConfigRequest& r = q.request;
  const std::string what = q.tokens || q.fp8_tokens ? q.title : fmt::format("{} {}", problem_text(q), dtype_of(q));
  std::string text = fmt::format("{} on {} SM{} of {}\n", what, r.sms, r.sms == 1 ? "" : "s", q.device);
  for (size_t i = 0; i < choice.chosen; ++i)
    text += reason_line("passed over", mma_text(choice.candidates[i]),
                 counts_text(choice.candidates[i]) + ", but " + choice.candidates[i].broken);
  for (const ConfigDecision& d : choice.decisions) text += reason_line(d.key, d.value, d.reason);
  for (size_t i = choice.chosen + 1; i < choice.candidates.size() && i <= choice.chosen + kMostAlternatives; ++i)
    text += fmt::format("  {:<15}mma {}: {}\n", "next best", mma_text(choice.candidates[i]),
                        counts_text(choice.candidates[i]));
  if (q.own_config)
    text += fmt::format(
        "  {:<15}{} runs its own [config], or the defaults where it has none; this is what config = \"auto\" would "
        "be\n",
        "note", q.scenario);
  return text + config_toml(choice) + "\n";
}

Json answer_json(const Question& q, const ConfigChoice& choice) {
  Json decisions = Json::array(), candidates = Json::array(), config = Json::object();
  for (const ConfigDecision& d : choice.decisions) {
    const Json value = Json::parse(d.value);  // TOML integers, strings, booleans and lists of these are JSON
    config[d.key] = value;
    decisions.push_back({{"key", d.key}, {"value", value}, {"reason", d.reason}});
  }
  for (const ConfigCandidate& c : choice.candidates)
    candidates.push_back({{"ab_swapped", c.ab_swapped},
                          {"cta_group", c.cta_group},
                          {"mma_m", c.mma_m},
                          {"mma_n", c.mma_n},
                          {"tiles", c.tiles},
                          {"waves", c.waves},
                          {"block_size", c.block_size},
                          {"broken", c.broken}});
  const ConfigRequest& r = q.request;
  Json json = json_document("explain-config");
  json.update(Json{
      {"m", r.m},
      {"n", r.n},
      {"k", r.k},
      {"dtype", dtype_of(q)},
      {"output", name(r.output)},
      {"profile", q.profile},
      {"device", q.device},
      {"sms", r.sms},
      {"scenario", q.scenario.empty() ? Json() : Json(q.scenario)},
      {"scenario_is_auto", q.scenario.empty() ? Json() : Json(!q.own_config)},
      {"config", config},
      {"toml", config_toml(choice)},
      {"decisions", decisions},
      {"chosen", choice.chosen},
      {"candidates", candidates},
  });
  if (q.groups) {  // instead of one size
    for (const char* key : {"m", "n", "k"}) json.erase(key);
    json["groups"] = Json::array();
    for (const GroupProblem& p : q.groups->groups) json["groups"].push_back({p.m, p.n, p.k});
  }
  return json;
}

void explain_config(const ExplainOptions& o) {
  if (o.what.size() != 1 && o.what.size() != 3)
    throw InputError("explain-config: expected M N K or a scenario file");
  const bool is_scenario = o.what.size() == 1;
  const Question q = is_scenario ? question_of_scenario(o) : question_of_shape(o);
  const ConfigChoice choice = answer(q);
  check_json_path(o.json, q.scenario);
  if (!o.json.empty()) write_json(o.json, answer_json(q, choice));
  if (!traces::is_standard_stream(o.json)) fmt::print("{}", format_answer(q, choice));
}

}  // namespace

void add_explain_config_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain-config", "Which configuration config = \"auto\" picks for a shape, and why");
  command->add_option("SHAPE", options->what, "M N K, or a scenario file")
      ->required()
      ->type_name("")
      ->expected(1, 3);
  command
      ->add_option("--kernel", options->kernel, "matmul (default), block_scaled, cutlass_block_scaled or blockwise")
      ->type_name("KERNEL");
  command->add_option("--dtype", options->dtype, "Of A and B (default bf16; block_scaled: nvfp4, ...)")
      ->type_name("TYPE");
  command->add_option("--profile", options->profile, "Device (default b200)")->type_name("NAME");
  command->add_option("--set", options->sets, "Replace a value of the scenario: table.key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--json", options->json, "Write the answer as JSON; - prints it instead of the text")
      ->type_name("FILE")
      ->check(file_name());
  command->callback([options, &exit_code] {
    explain_config(*options);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
