// SPDX-License-Identifier: Apache-2.0
/// What a scenario launches, kernel by kernel and launch by launch: N launches of one kernel (run.launches), or the
/// [[launch]] tables.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"

namespace sm100::host {

struct PlannedKernel {
  std::string name{};  ///< of its launch; empty: the scenario has one kernel
  const KernelDefinition* definition = nullptr;
  std::unique_ptr<const Scenario> own{};  ///< the scenario with this kernel's problem; nullptr: the scenario itself
  std::unique_ptr<KernelRun> run{};
  int registers = 0;  ///< of a thread; 0: not known

  /// "gemm.A", or "A" where there is one kernel.
  std::string qualified(const std::string& what) const { return name.empty() ? what : name + "." + what; }
};

struct PlannedLaunch {
  /// A tensor of the kernel that is the output of an earlier launch.
  struct Input {
    size_t tensor = 0;
    int launch = 0;
  };
  size_t kernel = 0;
  int stream = 0;
  std::vector<int> after{};
  bool programmatic = false;
  std::vector<Input> inputs{};
};

struct RunPlan {
  std::vector<PlannedKernel> kernels;
  std::vector<PlannedLaunch> launches;

  const PlannedKernel& kernel_of(int launch) const { return kernels[launches[size_t(launch)].kernel]; }
  const KernelRun& run_of(int launch) const { return *kernel_of(launch).run; }
  /// The launches are named, each has a kernel of its own.
  bool named() const { return !kernels.front().name.empty(); }
  /// CTAs are numbered one launch after the other.
  int64_t first_cta(int launch) const;
  int of_cta(int64_t cta) const;
  /// Over all launches.
  double flops() const;
  double bytes() const;
  /// "512 x 512 x 1,024 bf16", or of several kernels "gemm: ...; sum: ...".
  std::string title() const;
};

/// The kernels keep what the plan has of the scenario, which must outlive the plan.
RunPlan plan_of(const Scenario& scenario);

/// The key `launch` of a table: a position, or the name of a [[launch]], which must be there.
std::optional<int> read_launch(const TomlTable& table, const Scenario& scenario);

}  // namespace sm100::host
