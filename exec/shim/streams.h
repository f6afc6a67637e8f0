// SPDX-License-Identifier: Apache-2.0
/// Streams, events and captured graphs of a program.
///
/// Work is carried out in the order of the calls, so a stream has nothing to queue.  What it keeps is what the
/// program may rely on: which work of which stream is over for a host that has waited (managed memory is the host's
/// only then), and, while a stream is captured, the work itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "exec/protocol.h"
#include "exec/shim/abi.h"

namespace sm100::exec {

class Device;

using Work = std::function<abi::Error(Device&)>;

/// Of each stream, by its number: how much of its work comes before.
using WorkCounts = std::map<uint64_t, uint64_t>;

/// Captured work, in the order of the calls.
struct Graph {
  std::vector<Work> nodes;
  WorkCounts last;  ///< of an executable: its last launch, which the next one comes after
};

struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  /// Of each stream that it has taken along: what had been issued, and what its next piece of work came after.
  std::map<uint64_t, std::pair<uint64_t, WorkCounts>> before;
  uint64_t origin = 0;            ///< number of the stream that began it
  std::set<uint64_t> joined;      ///< the others
  int mode = 0;                   ///< cudaStreamCaptureMode
  unsigned long long number = 0;  ///< what programs tell captures apart by
  bool invalid = false;           ///< a call that must not be captured has come
};

struct Stream {
  uint64_t number = 0;
  unsigned flags = 0;  ///< 1: does not wait for the default stream
  int priority = 0;
  uint64_t issued = 0;  ///< pieces of work
  uint64_t busy = 0;    ///< which of them was the last that is no allocation or free
  uint64_t launch = 0;  ///< which of them was the last launch of a kernel
  WorkCounts after;     ///< what its next piece of work comes after
  std::shared_ptr<Capture> capture;
};

struct Event {
  double nanoseconds = -1;  ///< -1: not recorded
  unsigned flags = 0;       ///< 2: without time
  WorkCounts after;
  std::shared_ptr<Capture> capture;  ///< recorded in
};

class Streams {
 public:
  Stream* create(unsigned flags, int priority);
  bool destroy(void* handle);
  /// nullptr: there is no such stream.  The default stream has the handles 0, 1 and 2.
  Stream* find(void* handle);

  Event* create_event(unsigned flags);
  bool destroy_event(void* handle);
  Event* find_event(void* handle);

  /// A piece of work is now the last of the stream.
  /// @param allocation  or a free: it keeps nobody from managed memory
  void issued(Stream& stream, bool allocation = false);
  /// The piece of work ahead of the stream's last one is a launch, and nobody has waited for it.
  bool behind_running_launch(const Stream& stream) const;
  /// The stream's next piece of work comes after that much, too.
  void follow(Stream& stream, const WorkCounts& counts) { after(stream.after, counts); }
  /// An action of the stream begins: what the legacy stream and blocking streams wait of each other (CUDA
  /// programming guide, implicit synchronization; runtime API, stream synchronization behavior).
  void meet(Stream& stream);
  abi::Error record(Event& event, Stream& stream, double nanoseconds);
  abi::Error wait(Stream& stream, Event& event);

  /// The program has created a stream.
  bool several() const { return last_number_ > 0; }
  /// Of the stream's last piece of work.
  WorkOrder order_of(const Stream& stream);

  /// The host has waited for that much, or for everything.
  void waited(const WorkCounts& counts);
  void waited_for_all();
  /// The host has waited for all work.
  bool idle() const;

  abi::Error begin_capture(Stream& stream, int mode);
  abi::Error end_capture(Stream& stream, std::shared_ptr<Graph>& graph);
  /// The stream that waits for all blocking ones: not cudaStreamPerThread, nor one that was created.
  static bool is_legacy(const void* handle) { return reinterpret_cast<uintptr_t>(handle) <= 1; }
  /// Work of the legacy stream, which would wait for the streams that are captured: it invalidates the captures of
  /// those that are blocking.
  abi::Error legacy_call();
  /// A call of the host that must not come while a stream is captured: it invalidates every capture of the global
  /// mode.
  abi::Error unsafe_call();

 private:
  void after(WorkCounts& all, const WorkCounts& more);
  void forget_over();

  Stream default_;
  std::map<const void*, std::unique_ptr<Stream>> streams_;
  std::map<const void*, std::unique_ptr<Event>> events_;
  WorkCounts waited_;
  std::set<uint64_t> over_;        ///< numbers of destroyed streams that the host had waited for
  WorkCounts destroyed_;           ///< work of streams that are no more, which goes on
  WorkCounts destroyed_blocking_;  ///< of those that the legacy stream waits for
  uint64_t last_number_ = 0;
  unsigned long long last_capture_ = 0;
  int captures_ = 0;
};

}  // namespace sm100::exec
