// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/executable.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "kernels/cuda/run/ptx_library.h"
#include "kernels/host/toml_reader.h"
#include "kernels/isa/tensor_map.h"
#include "kernels/ptx_launch/host/ptx_faults.h"
#include "kernels/ptx_launch/host/ptx_run.h"

namespace sm100::cuda {
namespace {

using host::InputError;
using host::PtxProblem;
using host::Scenario;

DeviceLaunch ptx_launch(const PtxProblem& problem) {
  return {.grid = problem.grid,
          .cluster = problem.cluster,
          .block = problem.block,
          .dynamic_smem_bytes = problem.dynamic_smem_bytes,
          .pdl = problem.pdl};
}

/// What exec writes into launch files and a GPU decides itself.  Variables of the module lie where the driver puts
/// them, with their initialisers.
void refuse_simulated(const Scenario& scenario, const PtxProblem& problem) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("not implemented: {}: {}", scenario.path.string(), what));
  };
  if (problem.grid_workspace != 0) refuse("problem.grid_workspace: cooperative launches on a GPU");
}

/// The text that a scenario runs, its faults in it.
struct Text {
  std::string text, name, entry;
  Text(const Scenario& scenario, const host::PtxFile& source)
      : text(host::faulty_ptx(scenario)), name(source.module->name), entry(source.entry().name) {}
};

/// A launch that a program's runtime was given holds tensor maps in the project's own encoding: the driver encodes
/// them again.
void encode_maps(std::vector<uint8_t>& window, const host::TensorMapEncoder& encode) {
  TensorMap map;
  for (size_t at = 0; at + sizeof map.bytes <= window.size(); at += 64) {
    std::memcpy(map.bytes, window.data() + at, sizeof map.bytes);
    TensorMapFields fields;
    if (!decode(map, fields)) continue;
    map = encode(fields);
    std::memcpy(window.data() + at, map.bytes, sizeof map.bytes);
  }
}

/// The parameters of an entry as they stand in its window.
struct Window {
  std::shared_ptr<PtxLibrary> library;
  std::vector<uint8_t> bytes;
};

Executable load_launch(const Scenario& scenario, const host::PtxRun& run, const std::vector<GlobalAddr>& addresses,
                       const host::TensorMapEncoder& encode) {
  refuse_simulated(scenario, run.problem());
  const host::PtxFile& source = run.problem().file;
  const Text text(scenario, source);
  auto window = std::make_shared<Window>(
      Window{std::make_shared<PtxLibrary>(text.text, text.name), run.parameters(addresses, encode)});
  encode_maps(window->bytes, encode);
  Launch plain{window->library->kernel(text.entry), ptx_launch(run.problem()), {}};
  for (const ptx::Param& parameter : source.entry().params)
    plain.arguments.push_back(window->bytes.data() + parameter.offset);
  return {plain, [=](uint32_t capacity) { return record_ptx(text.text, text.name, text.entry, plain, capacity); },
          window};
}

struct Compiled {
  std::shared_ptr<void> params;
  DeviceTrace trace{};  ///< the plain kernel's second parameter is empty; this is large enough
  std::shared_ptr<PtxLibrary> library;
};

Executable load_compiled(const Scenario& scenario, const host::PtxFile* ptx, const DeviceKernel& kernel,
                         const host::KernelRun& run, const std::vector<GlobalAddr>& addresses,
                         const host::TensorMapEncoder& encode) {
  auto compiled = std::make_shared<Compiled>();
  compiled->params = kernel.params(run, addresses, encode);
  const DeviceLaunch how = device_launch(run.launch());
  if (ptx) {
    const Text text(scenario, *ptx);
    compiled->library = std::make_shared<PtxLibrary>(text.text, text.name);
    const Launch plain{compiled->library->kernel(text.entry), how, {compiled->params.get(), &compiled->trace}};
    return {plain, [=](uint32_t capacity) { return record_ptx(text.text, text.name, text.entry, plain, capacity); },
            compiled};
  }
  const CompiledKernel found = kernel.find(scenario);
  const auto traced = [=](const DeviceTrace& trace) {
    compiled->trace = trace;
    return Launch{found.traced, how, {compiled->params.get(), &compiled->trace}};
  };
  return {{found.plain, how, {compiled->params.get(), &compiled->trace}},
          [=, shape = run.launch()](uint32_t capacity) { return record_compiled(shape, capacity, traced); },
          compiled};
}

}  // namespace

bool ptx_runs_on(const ptx::Module& module, int architecture) {
  std::string_view target = module.target;
  target.remove_prefix(std::min<size_t>(target.size(), 3));  // "sm_"
  int wanted = 0;
  const auto [end, error] = std::from_chars(target.data(), target.data() + target.size(), wanted);
  if (error != std::errc{}) return true;  // the driver says what it thinks of it
  const std::string_view suffix(end, size_t(target.data() + target.size() - end));
  if (suffix == "a") return architecture == wanted;
  if (suffix == "f") return architecture >= wanted && architecture / 10 == wanted / 10;
  return architecture >= wanted;
}

Executable load(const Scenario& scenario, const DeviceKernel* kernel, const host::KernelRun& run,
                const std::vector<GlobalAddr>& addresses, const host::TensorMapEncoder& encode) {
  if (!kernel) return load_launch(scenario, dynamic_cast<const host::PtxRun&>(run), addresses, encode);
  return load_compiled(scenario, host::ptx_of(scenario), *kernel, run, addresses, encode);
}

}  // namespace sm100::cuda
