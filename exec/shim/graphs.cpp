// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/graphs.h"

#include <map>
#include <memory>
#include <utility>

namespace sm100::exec {

using namespace abi;

namespace {

using Handles = std::map<const void*, std::shared_ptr<Graph>>;
// They live as long as the process.
Handles& graphs() {
  static auto* const all = new Handles;
  return *all;
}
Handles& executables() {
  static auto* const all = new Handles;
  return *all;
}

Graph* find(const Handles& handles, const void* handle) {
  const auto found = handles.find(handle);
  return found == handles.end() ? nullptr : found->second.get();
}

}  // namespace

// ---- events

Error record_event(Device& device, void* handle, void* stream_handle) {
  Event* const event = device.streams.find_event(handle);
  Stream* const stream = device.streams.find(stream_handle);
  if (event && Streams::is_legacy(stream_handle))
    if (const Error error = device.streams.legacy_call()) return error;
  return event && stream ? device.streams.record(*event, *stream, device.nanoseconds) : invalid_resource_handle;
}

Error wait_for_event(Device& device, void* stream_handle, void* handle) {
  Event* const event = device.streams.find_event(handle);
  Stream* const stream = device.streams.find(stream_handle);
  return event && stream ? device.streams.wait(*stream, *event) : invalid_resource_handle;
}

Error time_between(Device& device, float* milliseconds, void* from, void* to) {
  constexpr unsigned kWithoutTime = 2;
  const Event *const begin = device.streams.find_event(from), *const end = device.streams.find_event(to);
  if (!milliseconds || !begin || !end || ((begin->flags | end->flags) & kWithoutTime))
    return invalid_resource_handle;
  if (begin->nanoseconds < 0 || end->nanoseconds < 0) return invalid_resource_handle;
  *milliseconds = float((end->nanoseconds - begin->nanoseconds) * 1e-6);
  device.measured(end->nanoseconds - begin->nanoseconds);
  return success;
}

Error call_host(Device& device, void* stream, const std::function<void()>& function) {
  return device.enqueue(stream, [function](Device& d) {
    function();
    d.host_has_seen_present();
    return success;
  });
}

// ---- captures

Error begin_capture(Device& device, void* handle, int mode) {
  Stream* const stream = device.streams.find(handle);
  return stream ? device.streams.begin_capture(*stream, mode) : invalid_resource_handle;
}

Error end_capture(Device& device, void* handle, void** graph) {
  Stream* const stream = device.streams.find(handle);
  if (!stream) return invalid_resource_handle;
  if (!graph) return invalid_value;
  *graph = nullptr;
  std::shared_ptr<Graph> captured;
  if (const Error error = device.streams.end_capture(*stream, captured)) return error;
  Graph* const key = captured.get();
  graphs()[key] = std::move(captured);
  *graph = key;
  return success;
}

Error capture_status(Device& device, void* handle, int* status, unsigned long long* id) {
  const Stream* const stream = device.streams.find(handle);
  if (!stream || !status) return invalid_resource_handle;
  *status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
  if (id && stream->capture) *id = stream->capture->number;
  return success;
}

Error exchange_capture_mode(int* mode) {
  static thread_local int own = 0;
  if (!mode || *mode < 0 || *mode > 2) return invalid_value;
  std::swap(own, *mode);
  return success;
}

// ---- graphs

Error instantiate(void** executable, void* graph) {
  const Graph* const from = find(graphs(), graph);
  if (!executable || !from) return invalid_value;
  auto copy = std::make_shared<Graph>(*from);
  Graph* const key = copy.get();
  executables()[key] = std::move(copy);
  *executable = key;
  return success;
}

bool is_executable(void* executable) { return find(executables(), executable) != nullptr; }

Error launch_graph(Device& device, void* executable, void* stream) {
  const auto found = executables().find(executable);
  if (found == executables().end()) return invalid_value;
  Stream* const launched_in = device.streams.find(stream);
  if (launched_in) device.streams.follow(*launched_in, found->second->last);
  const Error launched = device.enqueue(stream, [graph = found->second](Device& d) {
    for (const Work& node : graph->nodes)
      if (const Error error = node(d)) return error;
    return success;
  });
  if (launched_in && !launched_in->capture) found->second->last = launched_in->after;
  return launched;
}

Error destroy_graph(void* graph) { return graphs().erase(graph) == 1 ? success : invalid_value; }
Error destroy_executable(void* executable) {
  return executables().erase(executable) == 1 ? success : invalid_value;
}

Error count_nodes(Device& device, void* graph, void** nodes, size_t* count) {
  const Graph* const from = find(graphs(), graph);
  if (!from || !count) return invalid_value;
  if (nodes) {
    device.note("not implemented: the nodes of a graph (cudaGraphGetNodes, cuGraphGetNodes)");
    return not_supported;
  }
  *count = from->nodes.size();
  return success;
}

}  // namespace sm100::exec
