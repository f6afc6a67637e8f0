// SPDX-License-Identifier: Apache-2.0
/// Events, captures and graphs of captured work, as the runtime and the driver have them.
///
/// A graph has the calls of its capture in their order, which is one of the orders that its edges allow.  Graphs
/// that a program builds node by node are not implemented.
#pragma once

#include <cstddef>

#include "exec/shim/device.h"

namespace sm100::exec {

abi::Error record_event(Device& device, void* event, void* stream);
abi::Error wait_for_event(Device& device, void* stream, void* event);
abi::Error time_between(Device& device, float* milliseconds, void* from, void* to);
/// Calls the host's function as work of the stream.
abi::Error call_host(Device& device, void* stream, const std::function<void()>& function);

abi::Error begin_capture(Device& device, void* stream, int mode);
abi::Error end_capture(Device& device, void* stream, void** graph);
/// cudaStreamCaptureStatus: 0 none, 1 active, 2 invalidated.
abi::Error capture_status(Device& device, void* stream, int* status, unsigned long long* id);
abi::Error exchange_capture_mode(int* mode);

abi::Error instantiate(void** executable, void* graph);
bool is_executable(void* executable);
abi::Error launch_graph(Device& device, void* executable, void* stream);
abi::Error destroy_graph(void* graph);
abi::Error destroy_executable(void* executable);
/// How many nodes there are; the nodes themselves are not implemented.
abi::Error count_nodes(Device& device, void* graph, void** nodes, size_t* count);

}  // namespace sm100::exec
