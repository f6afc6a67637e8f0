// SPDX-License-Identifier: Apache-2.0
/// The trace of a program: its launches one after the other, and the calls of its host.
///
///   Timeline timeline;
///   timeline.call("cudaMalloc");
///   timeline.launch(launch, outcome);
///   write_pftrace(timeline.finish(), path);
///
/// The host has a role track of its own, without an SM: each launch is a `wait` on it, and each call one of length
/// zero, both with the name as `pipeline`.  Time is simulated: calls take none.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "exec/launch.h"
#include "traces/format/schema.h"

namespace sm100::exec {

class Timeline {
 public:
  /// What is beyond that many events is left out, and counted as dropped.
  explicit Timeline(size_t most_events = 20'000'000) : most_events_(most_events) {}

  void call(std::string_view name);
  void launch(const Launch& launch, const LaunchOutcome& outcome);

  /// The trace; nothing may follow.
  traces::Trace& finish();

 private:
  int16_t intern(std::string_view name);
  void host_span(uint64_t ticks, std::string_view name);
  void begin(const traces::Metadata& metadata);
  void append(const traces::Trace& launch, int number);
  size_t events() const;

  traces::Trace trace_;
  std::unordered_map<std::string, int16_t> names_;
  const size_t most_events_;
  uint64_t now_ = 0, last_flow_ = 0;
  uint32_t host_spans_ = 0;
  int ctas_ = 0;
};

}  // namespace sm100::exec
