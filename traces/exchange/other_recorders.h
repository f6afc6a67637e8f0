// SPDX-License-Identifier: Apache-2.0
/// Timelines that are no Chrome JSON, as Chrome events, so that an import map says what they mean
/// (docs/compare.md).
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::traces {

/// Barriers that lie one behind the other in shared memory: a log has addresses and no names.
struct LoggedBarrier {
  std::string name;       ///< "input_full"
  int64_t smem_addr = 0;  ///< of the first
  int64_t stages = 1;     ///< 8 bytes each
};

/// What CUTLASS's synclog prints (CUTLASS_ENABLE_SYNCLOG), among other lines of the program or alone.  Each record
/// is an X event with the record's own fields as arguments; pid is the block's x, tid the warp.  A record is made
/// before its instruction: a blocking wait lasts until the warp's next record, which is too long rather than too
/// short; all others take no time.  Beside the record's fields a barrier's records have `barrier` and `stage`, and
/// waits have `index`: how many phases of this barrier the warp has waited for, -1 for a wait that a fresh barrier
/// passes.
/// @param file  for messages
/// Throws std::runtime_error, one line with file and line, unless it is one whole log.
nlohmann::json synclog_events(std::string_view text, const std::vector<LoggedBarrier>& barriers,
                              std::string_view file);

/// The JSON of CuTe DSL's IKET (run-iket --postprocess json): ranges, one event for each warp, and markers, which
/// take no time.  Processes are named "CTA 3 on SM 7", threads "warp 4".  A CTA's number counts x first; the grid
/// is taken to be as large as the CTAs that are in the launch.
/// @param launch  index into launches; absent: there must be one
/// Throws std::runtime_error, one line with file and place in it.
nlohmann::json iket_events(const nlohmann::json& root, std::optional<int64_t> launch, std::string_view file);

}  // namespace sm100::traces
