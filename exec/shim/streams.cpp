// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/streams.h"

#include <algorithm>
#include <tuple>

namespace sm100::exec {

using abi::Error;

namespace {

constexpr unsigned kNonBlocking = 1;
constexpr int kGlobalMode = 0;

uint64_t count_of(const WorkCounts& counts, uint64_t stream) {
  const auto found = counts.find(stream);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace

Stream* Streams::create(unsigned flags, int priority) {
  auto stream = std::make_unique<Stream>();
  stream->number = ++last_number_, stream->flags = flags, stream->priority = priority;
  Stream* const handle = stream.get();
  streams_[handle] = std::move(stream);
  return handle;
}

bool Streams::destroy(void* handle) {
  const auto found = streams_.find(handle);
  if (found == streams_.end()) return false;
  Stream& stream = *found->second;
  if (stream.capture) stream.capture->invalid = true;
  if (count_of(waited_, stream.number) >= stream.issued) over_.insert(stream.number);
  after(destroyed_, stream.after);
  if (!(stream.flags & kNonBlocking)) after(destroyed_blocking_, stream.after);
  streams_.erase(found);
  return true;
}

Stream* Streams::find(void* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return &default_;  // also cudaStreamLegacy and cudaStreamPerThread
  const auto found = streams_.find(handle);
  return found == streams_.end() ? nullptr : found->second.get();
}

Event* Streams::create_event(unsigned flags) {
  auto event = std::make_unique<Event>();
  event->flags = flags;
  Event* const handle = event.get();
  events_[handle] = std::move(event);
  return handle;
}

bool Streams::destroy_event(void* handle) { return events_.erase(handle) == 1; }

Event* Streams::find_event(void* handle) {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

// ---- order

void Streams::after(WorkCounts& all, const WorkCounts& more) {
  for (const auto& [stream, count] : more) all[stream] = std::max(all[stream], count);
}

void Streams::meet(Stream& stream) {
  if (&stream == &default_) {  // comes after all streams that wait for it, and ahead of what they do next
    after(stream.after, destroyed_blocking_);
    for (const auto& [handle, other] : streams_)
      if (!(other->flags & kNonBlocking) && !other->capture) after(stream.after, other->after);
  } else if (!(stream.flags & kNonBlocking) && !stream.capture) {
    after(stream.after, default_.after);
  }
}

void Streams::issued(Stream& stream, bool allocation) {
  meet(stream);
  stream.after[stream.number] = ++stream.issued;
  if (!allocation) stream.busy = stream.issued;
}

/// Nothing comes after work of these but what comes after it anyway.  Who compares work has heard that it was
/// waited for.
void Streams::forget_over() {
  const auto forget = [&](WorkCounts& counts) {
    std::erase_if(counts, [&](const auto& one) { return over_.count(one.first) > 0; });
  };
  for (WorkCounts* counts : {&waited_, &destroyed_, &destroyed_blocking_, &default_.after}) forget(*counts);
  for (const auto& [handle, stream] : streams_) forget(stream->after);
  for (const auto& [handle, event] : events_) forget(event->after);
  over_.clear();
}

WorkOrder Streams::order_of(const Stream& stream) {
  WorkOrder order;
  order.stream_flags = uint8_t(stream.flags), order.stream = stream.number, order.count = stream.issued;
  for (const auto& [number, count] : stream.after)
    if (number != stream.number) order.after.push_back({number, count});
  for (const auto& [number, count] : waited_) order.waited.push_back({number, count});
  if (!over_.empty()) forget_over();
  return order;
}

bool Streams::behind_running_launch(const Stream& stream) const {
  return stream.launch > 0 && stream.launch + 1 == stream.issued &&
         count_of(waited_, stream.number) < stream.launch;
}

Error Streams::record(Event& event, Stream& stream, double nanoseconds) {
  meet(stream);
  event.nanoseconds = stream.capture ? -1 : nanoseconds;
  event.after = stream.after, event.capture = stream.capture;
  return abi::success;
}

Error Streams::wait(Stream& stream, Event& event) {
  if (event.capture && event.capture != stream.capture) {
    // An event of a capture that is over has nothing to wait for; one that goes on takes the stream along.
    if (stream.capture || event.capture->number == 0) return abi::captured_event;
    if (&stream == &default_) return abi::capture_unsupported;
    stream.capture = event.capture;
    stream.capture->joined.insert(stream.number);
    stream.capture->before[stream.number] = {stream.issued, stream.after};
  }
  meet(stream);
  after(stream.after, event.after);
  return abi::success;
}

void Streams::waited(const WorkCounts& counts) { after(waited_, counts); }

void Streams::waited_for_all() {
  waited(default_.after), waited(destroyed_);
  for (const auto& [handle, stream] : streams_) waited(stream->after);
}

bool Streams::idle() const {
  const auto over = [&](const Stream& stream) { return count_of(waited_, stream.number) >= stream.busy; };
  return over(default_) &&
         std::all_of(streams_.begin(), streams_.end(), [&](const auto& one) { return over(*one.second); });
}

// ---- captures

Error Streams::begin_capture(Stream& stream, int mode) {
  if (&stream == &default_) return abi::capture_unsupported;
  if (stream.capture) return abi::illegal_state;
  if (mode < 0 || mode > 2) return abi::invalid_value;
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = stream.number, stream.capture->mode = mode;
  stream.capture->before[stream.number] = {stream.issued, stream.after};
  stream.capture->number = ++last_capture_;
  ++captures_;
  return abi::success;
}

Error Streams::end_capture(Stream& stream, std::shared_ptr<Graph>& graph) {
  if (!stream.capture) return abi::illegal_state;
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture->origin != stream.number) return abi::capture_unmatched;
  bool joined_again = true;
  for (const auto& [handle, other] : streams_)
    if (other->capture == capture && other.get() != &stream &&
        count_of(stream.after, other->number) < other->issued)
      joined_again = false;
  for (const auto& [handle, other] : streams_) {
    if (other->capture != capture) continue;
    other->capture = nullptr;
    std::tie(other->issued, other->after) = capture->before[other->number];  // nothing of it has been begun
  }
  --captures_;
  capture->number = 0;
  if (capture->invalid) return abi::capture_invalidated;
  if (!joined_again) return abi::capture_unjoined;
  graph = capture->graph;
  return abi::success;
}

Error Streams::legacy_call() {
  if (captures_ == 0) return abi::success;
  bool hit = false;
  for (const auto& [handle, stream] : streams_)
    if (stream->capture && !(stream->flags & kNonBlocking)) hit = stream->capture->invalid = true;
  return hit ? abi::capture_implicit : abi::success;
}

Error Streams::unsafe_call() {
  if (captures_ == 0) return abi::success;
  bool hit = false;
  for (const auto& [handle, stream] : streams_)
    if (stream->capture && stream->capture->mode == kGlobalMode) hit = stream->capture->invalid = true;
  return hit ? abi::capture_unsupported : abi::success;
}

}  // namespace sm100::exec
