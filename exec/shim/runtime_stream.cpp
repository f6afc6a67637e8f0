// SPDX-License-Identifier: Apache-2.0
// Streams, events and graphs of the runtime library.  Work is carried out in the order of the calls, so everything
// is over when a call returns; a captured stream keeps its work for the graph.
#include <memory>

#include "exec/shim/device.h"
#include "exec/shim/graphs.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

// ---- streams

SM100_EXEC_API int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return call([&](Device& d) {
    if (!stream || flags > 1) return invalid_value;
    *stream = d.streams.create(flags, priority);
    return success;
  });
}
SM100_EXEC_API int cudaStreamCreate(void** stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
SM100_EXEC_API int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
SM100_EXEC_API int cudaStreamDestroy(void* stream) {
  return call([&](Device& d) { return d.streams.destroy(stream) ? success : invalid_resource_handle; });
}
SM100_EXEC_API int cudaStreamSynchronize(void* stream) {
  return call([&](Device& d) { return d.wait_for_stream(stream); });
}
SM100_EXEC_API int cudaStreamQuery(void* stream) { return cudaStreamSynchronize(stream); }
SM100_EXEC_API int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  return call([&](Device& d) { return wait_for_event(d, stream, event); });
}
SM100_EXEC_API int cudaStreamGetFlags(void* handle, unsigned* flags) {
  return call([&](Device& d) {
    const Stream* const stream = d.streams.find(handle);
    return stream && flags ? (*flags = stream->flags, success) : invalid_resource_handle;
  });
}
SM100_EXEC_API int cudaStreamGetPriority(void* handle, int* priority) {
  return call([&](Device& d) {
    const Stream* const stream = d.streams.find(handle);
    return stream && priority ? (*priority = stream->priority, success) : invalid_resource_handle;
  });
}
SM100_EXEC_API int cudaStreamGetId(void* handle, unsigned long long* id) {
  return call([&](Device& d) {
    const Stream* const stream = d.streams.find(handle);
    return stream && id ? (*id = stream->number, success) : invalid_resource_handle;
  });
}
SM100_EXEC_API int cudaStreamGetDevice(void* handle, int* device) {
  return call([&](Device& d) {
    return d.streams.find(handle) && device ? (*device = 0, success) : invalid_resource_handle;
  });
}
SM100_EXEC_API int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return call([&](Device& d) { return call_host(d, stream, [=] { function(data); }); });
}
SM100_EXEC_API int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data, unsigned) {
  return call([&](Device& d) { return call_host(d, stream, [=] { function(stream, success, data); }); });
}

// ---- events

SM100_EXEC_API int cudaEventCreateWithFlags(void** event, unsigned flags) {
  return call([&](Device& d) {
    if (!event) return invalid_value;
    *event = d.streams.create_event(flags);
    return success;
  });
}
SM100_EXEC_API int cudaEventCreate(void** event) { return cudaEventCreateWithFlags(event, 0); }
SM100_EXEC_API int cudaEventDestroy(void* event) {
  return call([&](Device& d) { return d.streams.destroy_event(event) ? success : invalid_resource_handle; });
}
SM100_EXEC_API int cudaEventRecord(void* event, void* stream) {
  return call([&](Device& d) { return record_event(d, event, stream); });
}
SM100_EXEC_API int cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  return cudaEventRecord(event, stream);
}
SM100_EXEC_API int cudaEventSynchronize(void* event) {
  return call([&](Device& d) { return d.wait_for_event(event); });
}
SM100_EXEC_API int cudaEventQuery(void* event) { return cudaEventSynchronize(event); }
SM100_EXEC_API int cudaEventElapsedTime(float* milliseconds, void* from, void* to) {
  return call([&](Device& d) { return time_between(d, milliseconds, from, to); });
}

// ---- captures and graphs

SM100_EXEC_API int cudaStreamBeginCapture(void* stream, int mode) {
  return call([&](Device& d) { return begin_capture(d, stream, mode); });
}
SM100_EXEC_API int cudaStreamEndCapture(void* stream, void** graph) {
  return call([&](Device& d) { return end_capture(d, stream, graph); });
}
SM100_EXEC_API int cudaStreamIsCapturing(void* stream, int* status) {
  return call([&](Device& d) { return capture_status(d, stream, status, nullptr); });
}
SM100_EXEC_API int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph,
                                            const void** dependencies, const void** edges, size_t* count) {
  return call([&](Device& d) {
    if (graph || dependencies || edges || count) {
      d.note("not implemented: the graph of cudaStreamGetCaptureInfo");
      return not_supported;
    }
    return capture_status(d, stream, status, id);
  });
}
SM100_EXEC_API int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call([&](Device&) { return exchange_capture_mode(mode); });
}
SM100_EXEC_API int cudaGraphInstantiate(void** executable, void* graph, unsigned long long) {
  return call([&](Device&) { return instantiate(executable, graph); });
}
SM100_EXEC_API int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
SM100_EXEC_API int cudaGraphLaunch(void* executable, void* stream) {
  return call([&](Device& d) { return launch_graph(d, executable, stream); });
}
SM100_EXEC_API int cudaGraphUpload(void* executable, void*) {
  return call([&](Device&) { return is_executable(executable) ? success : invalid_value; });
}
SM100_EXEC_API int cudaGraphDestroy(void* graph) {
  return call([&](Device&) { return destroy_graph(graph); });
}
SM100_EXEC_API int cudaGraphExecDestroy(void* executable) {
  return call([&](Device&) { return destroy_executable(executable); });
}
SM100_EXEC_API int cudaGraphGetNodes(void* graph, void** nodes, size_t* count) {
  return call([&](Device& d) { return count_nodes(d, graph, nodes, count); });
}
