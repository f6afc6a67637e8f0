// SPDX-License-Identifier: Apache-2.0
/// What a process that ran a scenario (sim/process_pool.h) sends back: the result, or why there is none.
#pragma once

#include <functional>
#include <string>

#include "sim/process_pool.h"
#include "sim/run_json.h"
#include "sim/run_result.h"

namespace sm100::sim {

struct RunReply {
  RunResult result;
  Json beside;  ///< what the process found beside it, for example in the trace; null: nothing
  // Why there is no result; at most one is not empty.
  std::string input_error;     ///< the scenario cannot run
  std::string internal_error;  ///< the simulator failed
  std::string died;            ///< "ended with signal 6 (Aborted)", "sent no result"

  /// One of them.  `died` has no subject: it is put behind `process`.
  std::string error(const std::string& process) const;
};

/// In the process: the bytes of a reply.  What `run` throws becomes an error of the reply.
/// @param run  may set what stands beside the result
std::string bytes_of_run(const std::function<RunResult(Json& beside)>& run);

/// In its parent.
RunReply reply_of(const ProcessPool::Finished& finished);

}  // namespace sm100::sim
