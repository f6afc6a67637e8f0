// SPDX-License-Identifier: Apache-2.0
#include "sim/crash_report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <systemc>

#include "models/time.h"
#include "sim/cta.h"
#include "sim/text.h"
#include "sim/verdict.h"  // kInternalError
#include "sim/warp.h"

namespace sm100::sim {

namespace {

const char* what_happened(int signal) {
  switch (signal) {
    case SIGFPE: return "divides an integer by zero";
    case SIGBUS: return "reads or writes beyond a mapped file (SIGBUS)";
    default: return "reads or writes where no memory is (SIGSEGV); a role's stack holds 256 KiB";
  }
}

/// The process is lost: formatting here may at worst crash again, which the second entry ends at once.
void report(int signal) {
  static volatile std::sig_atomic_t reporting = 0;
  if (reporting) std::_Exit(kInternalError);
  reporting = 1;
  std::string line = fmt::format("sm100sim: internal error: the simulator {}\n", what_happened(signal));
  if (const auto* warp = dynamic_cast<const Warp*>(models::Scheduler::get().running()); warp && warp->running)
    line = fmt::format("sm100sim: role code crashed: {} (warp {}) of {} {} at cycle {}\n",
                       warp->cta.kernel().role(warp->index), warp->index, warp->cta.name(), what_happened(signal),
                       grouped(int64_t(models::now())));
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  std::_Exit(kInternalError);
}

}  // namespace

void report_crashes() {
  static char stack[64 * 1024];  // a role may have used up its own
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = report;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGFPE, SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
}

}  // namespace sm100::sim
