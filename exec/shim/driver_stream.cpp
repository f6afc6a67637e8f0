// SPDX-License-Identifier: Apache-2.0
// The driver library: streams, events, captures and graphs.
#include "exec/shim/driver.h"
#include "exec/shim/graphs.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

// ---- streams

SM100_EXEC_API int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return driver_call([&](Device& d) {
    if (!stream || flags > 1) return invalid_value;
    *stream = d.streams.create(flags, priority);
    return success;
  });
}
SM100_EXEC_API int cuStreamCreate(void** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
SM100_EXEC_API int cuStreamDestroy_v2(void* stream) {
  return driver_call([&](Device& d) { return d.streams.destroy(stream) ? success : invalid_resource_handle; });
}
SM100_EXEC_API int cuStreamSynchronize(void* stream) {
  return driver_call([&](Device& d) { return d.wait_for_stream(stream); });
}
SM100_EXEC_API int cuStreamQuery(void* stream) { return cuStreamSynchronize(stream); }
SM100_EXEC_API int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return driver_call([&](Device& d) { return wait_for_event(d, stream, event); });
}
SM100_EXEC_API int cuStreamGetFlags(void* handle, unsigned* flags) {
  return driver_call([&](Device& d) {
    const Stream* const stream = d.streams.find(handle);
    return stream && flags ? (*flags = stream->flags, success) : invalid_resource_handle;
  });
}
SM100_EXEC_API int cuStreamGetPriority(void* handle, int* priority) {
  return driver_call([&](Device& d) {
    const Stream* const stream = d.streams.find(handle);
    return stream && priority ? (*priority = stream->priority, success) : invalid_resource_handle;
  });
}
SM100_EXEC_API int cuStreamGetId(void* handle, unsigned long long* id) {
  return driver_call([&](Device& d) {
    const Stream* const stream = d.streams.find(handle);
    return stream && id ? (*id = stream->number, success) : invalid_resource_handle;
  });
}
SM100_EXEC_API int cuStreamGetCtx(void* handle, void** context) {
  return driver_call([&](Device& d) {
    return d.streams.find(handle) && context ? (*context = Device::contexts.back(), success)
                                             : invalid_resource_handle;
  });
}
SM100_EXEC_API int cuStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data, unsigned) {
  return driver_call([&](Device& d) { return call_host(d, stream, [=] { function(stream, success, data); }); });
}

// ---- events

SM100_EXEC_API int cuEventCreate(void** event, unsigned flags) {
  return driver_call([&](Device& d) {
    if (!event) return invalid_value;
    *event = d.streams.create_event(flags);
    return success;
  });
}
SM100_EXEC_API int cuEventDestroy_v2(void* event) {
  return driver_call([&](Device& d) { return d.streams.destroy_event(event) ? success : invalid_resource_handle; });
}
SM100_EXEC_API int cuEventRecord(void* event, void* stream) {
  return driver_call([&](Device& d) { return record_event(d, event, stream); });
}
SM100_EXEC_API int cuEventRecordWithFlags(void* event, void* stream, unsigned) {
  return cuEventRecord(event, stream);
}
SM100_EXEC_API int cuEventSynchronize(void* event) {
  return driver_call([&](Device& d) { return d.wait_for_event(event); });
}
SM100_EXEC_API int cuEventQuery(void* event) { return cuEventSynchronize(event); }
SM100_EXEC_API int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  return driver_call([&](Device& d) { return time_between(d, milliseconds, from, to); });
}

// ---- captures and graphs

SM100_EXEC_API int cuStreamBeginCapture_v2(void* stream, int mode) {
  return driver_call([&](Device& d) { return begin_capture(d, stream, mode); });
}
SM100_EXEC_API int cuStreamEndCapture(void* stream, void** graph) {
  return driver_call([&](Device& d) { return end_capture(d, stream, graph); });
}
SM100_EXEC_API int cuStreamIsCapturing(void* stream, int* status) {
  return driver_call([&](Device& d) { return capture_status(d, stream, status, nullptr); });
}
SM100_EXEC_API int cuThreadExchangeStreamCaptureMode(int* mode) {
  return driver_call([&](Device&) { return exchange_capture_mode(mode); });
}
SM100_EXEC_API int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return driver_call([&](Device&) { return instantiate(executable, graph); });
}
SM100_EXEC_API int cuGraphLaunch(void* executable, void* stream) {
  return driver_call([&](Device& d) { return launch_graph(d, executable, stream); });
}
SM100_EXEC_API int cuGraphUpload(void* executable, void*) {
  return driver_call([&](Device&) { return is_executable(executable) ? success : invalid_value; });
}
SM100_EXEC_API int cuGraphDestroy(void* graph) {
  return driver_call([&](Device&) { return destroy_graph(graph); });
}
SM100_EXEC_API int cuGraphExecDestroy(void* executable) {
  return driver_call([&](Device&) { return destroy_executable(executable); });
}
SM100_EXEC_API int cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  return driver_call([&](Device& d) { return count_nodes(d, graph, nodes, count); });
}
