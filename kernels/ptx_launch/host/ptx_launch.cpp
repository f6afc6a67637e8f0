// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/host/ptx_layout.h"
#include "kernels/host/scenario.h"
#include "kernels/ptx_launch/host/ptx_names.h"

namespace sm100::host {
namespace {

/// A launch that CUDA refuses.
void check_launch(const PtxProblem& problem, const std::string& name) {
  const auto refuse = [&](const std::string& why) { return InputError(fmt::format("{}: {}", name, why)); };
  const Dim3 &grid = problem.grid, &block = problem.block, &cluster = problem.cluster;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
    throw refuse("a grid and a block have at least one CTA and one thread in each dimension");
  if (uint64_t(block.x) * block.y * block.z > 1024) throw refuse("a CTA has at most 1,024 threads");
  if (block.z > 64) throw refuse(fmt::format("block.z = {}: at most 64", block.z));
  if (grid.x > INT32_MAX || grid.y > 65535 || grid.z > 65535)
    throw refuse(fmt::format("a grid of {} x {} x {} CTAs: at most 2,147,483,647 x 65,535 x 65,535", grid.x, grid.y,
                             grid.z));
  if (uint64_t(cluster.x) * cluster.y * cluster.z > 16)
    throw refuse(fmt::format("a cluster of {} CTAs: at most 16", uint64_t(cluster.x) * cluster.y * cluster.z));
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    throw refuse(fmt::format("a grid of {} x {} x {} CTAs is no multiple of clusters of {} x {} x {}", grid.x,
                             grid.y, grid.z, cluster.x, cluster.y, cluster.z));
  const ptx::Directives& directives = problem.file.entry().directives;
  if (const auto most = directives.maxntid;
      most && uint32_t(problem.threads()) > (*most)[0] * (*most)[1] * (*most)[2])
    throw refuse(fmt::format("{} threads; the entry's .maxntid allows {}", problem.threads(),
                             (*most)[0] * (*most)[1] * (*most)[2]));
}

}  // namespace

int stated_registers(const ptx::Module& module, const ptx::Entry& entry) {
  const ptx::Directives& d = entry.directives;
  if (d.maxnreg) return int(*d.maxnreg);
  const std::optional<ptx::Dim3>& block = d.reqntid ? d.reqntid : d.maxntid;
  if (!block || !d.minnctapersm || *d.minnctapersm == 0) return 0;
  const ptx::Program program = ptx::decode(module, entry);
  if (std::none_of(program.services.begin(), program.services.end(),
                   [](const ptx::Service& s) { return s.base.starts_with("setmaxnreg"); }))
    return 0;  // as many as its code needs
  // A quarter of an SM has a quarter of the warps and of the registers, which are given to warps eight of each
  // thread at a time.
  constexpr uint32_t kRegistersOfQuarter = 16384, kGranule = 8, kMost = 255;
  const uint32_t threads = (*block)[0] * (*block)[1] * (*block)[2];
  const uint32_t warps = (threads + kWarpLanes - 1) / kWarpLanes * *d.minnctapersm, of_quarter = (warps + 3) / 4;
  return int(std::min(kMost, kRegistersOfQuarter / (of_quarter * kWarpLanes) / kGranule * kGranule));
}

void describe_shared_memory(PtxProblem& problem) {
  const ptx::Program program = ptx::decode(*problem.file.module, problem.file.entry());
  const SharedLayout layout = shared_layout(program);
  problem.smem_bytes = uint32_t(layout.first_dynamic - kSmemUserBase) + problem.dynamic_smem_bytes;
  const std::vector<ptx::WarpView> views = ptx_views(program, layout, problem.block);
  problem.barriers = barrier_symbols(problem, program, layout, views);
  problem.roles = ptx::roles_of(views);
}

PtxProblem problem_of(const PtxLaunchValues& launch, const std::string& name) {
  PtxProblem problem;
  problem.file = {.path = launch.module->name, .module = launch.module, .entry_index = launch.entry};
  problem.parameter_bytes = uint32_t(problem.file.entry().param_bytes);
  problem.grid = launch.grid, problem.block = launch.block, problem.cluster = launch.cluster;
  problem.dynamic_smem_bytes = launch.dynamic_smem_bytes;
  check_launch(problem, name);
  if (launch.parameters.size() != problem.parameter_bytes)
    throw InputError(fmt::format("{}: {} bytes of parameters, the entry takes {}", name, launch.parameters.size(),
                                 problem.parameter_bytes));
  describe_shared_memory(problem);
  for (const PtxMemory& memory : launch.memory)
    problem.tensors.push_back({.name = fmt::format("memory {:#x}", memory.address),
                               .element = {"u8", 8, DataType::u8},
                               .shape = {int64_t(memory.bytes)},
                               .contents = PtxContents::unwritten,
                               .metadata = true,
                               .address = memory.address,
                               .bytes_there = memory.there});
  if (problem.tensors.empty())  // a run has an output
    problem.tensors.push_back(
        {.name = "nothing", .element = {"u8", 8, DataType::u8}, .shape = {1}, .contents = PtxContents::zeros});
  if (!launch.parameters.empty())
    problem.arguments.push_back({.kind = PtxArgument::Kind::image, .image = launch.parameters});
  problem.variables = launch.variables, problem.grid_workspace = launch.grid_workspace;
  problem.before_trial = launch.before_trial;
  return problem;
}

}  // namespace sm100::host
