// SPDX-License-Identifier: Apache-2.0
/// What a run launches: the launches in the order of the host's calls, and the kernels behind them.  Their CTAs are
/// numbered one launch after the other.
#pragma once

#include <string>
#include <vector>

#include "models/launch_order.h"
#include "models/memory_system.h"
#include "sim/kernel.h"

namespace sm100::sim {

struct Launch {
  std::string name{};  ///< "gemm"; empty: launches of one kernel have only numbers
  const Kernel* kernel = nullptr;
  int stream = 0;
  std::vector<int> after{};  ///< launches whose events its stream waits for before it
  bool programmatic = false;
  models::GlobalRange writes{};  ///< its output; empty: unknown
  int first_cta = 0;
};

class LaunchList {
 public:
  LaunchList() = default;
  /// One launch of a kernel, which must outlive the list.
  LaunchList(const Kernel& kernel) {
    add({.kernel = &kernel});
  }  // NOLINT: a kernel is launched once unless told otherwise

  /// Appends a launch; its first_cta is set here.  The kernel must outlive the list.
  void add(Launch launch) {
    launch.first_cta = launches_.empty() ? 0 : int(end_of(launches_.size() - 1));
    order_.add(launch.stream, launch.after);
    const Kernel* kernel = launch.kernel;
    if (kernel->index >= kernels_.size()) kernels_.resize(kernel->index + 1);
    kernels_[kernel->index] = kernel;
    launches_.push_back(std::move(launch));
  }
  void set_output(size_t launch, models::GlobalRange range) { launches_[launch].writes = range; }

  const std::vector<Launch>& all() const { return launches_; }
  const Launch& operator[](int launch) const { return launches_[size_t(launch)]; }
  int size() const { return int(launches_.size()); }
  const models::LaunchOrder& order() const { return order_; }
  /// By Kernel::index.
  const std::vector<const Kernel*>& kernels() const { return kernels_; }
  bool one_kernel() const { return kernels_.size() == 1; }
  uint64_t ctas() const { return end_of(launches_.size() - 1); }

  /// Launch of a CTA by its number in the run.
  int of_cta(int cta) const {
    size_t launch = launches_.size() - 1;
    while (launch > 0 && cta < launches_[launch].first_cta) --launch;
    return int(launch);
  }
  const Kernel& kernel_of_cta(int cta) const {
    return one_kernel() ? *kernels_.front() : *launches_[size_t(of_cta(cta))].kernel;
  }
  /// "gemm", or "launch 1" where launches have no names.
  std::string name(int launch) const {
    const std::string& name = launches_[size_t(launch)].name;
    return name.empty() ? "launch " + std::to_string(launch) : name;
  }
  /// "CTA 3", or of several launches "CTA 19 (launch 1)".
  std::string cta_name(int cta) const {
    const std::string text = "CTA " + std::to_string(cta);
    return size() > 1 ? text + " (" + name(of_cta(cta)) + ")" : text;
  }

 private:
  uint64_t end_of(size_t launch) const {
    return uint64_t(launches_[launch].first_cta) + launches_[launch].kernel->ctas();
  }
  std::vector<Launch> launches_;
  std::vector<const Kernel*> kernels_;
  models::LaunchOrder order_;
};

}  // namespace sm100::sim
