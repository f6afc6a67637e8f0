// SPDX-License-Identifier: Apache-2.0
/// The device as a program's runtime library has it: the connection to the process that simulates it, device memory
/// and its allocations, the modules and functions of the program, errors and simulated time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/protocol.h"
#include "exec/shim/abi.h"

namespace sm100::exec {

/// Code that the program has registered: a container of nvcc.
struct Module {
  const void* container = nullptr;
  std::optional<uint32_t> number;   ///< of the module at the device, once it is there
  abi::Error error = abi::success;  ///< why it cannot be
  struct Variable {
    std::string name;
    uint64_t address = 0, bytes = 0;
  };
  std::vector<Variable> variables;  ///< of the module's scope, in device memory
};

/// An entry, as the program names it.
struct Function {
  Module* module = nullptr;
  std::string name;
  std::optional<EntryFacts> facts;
  std::vector<Parameter> parameters;
  int most_dynamic_smem = -1;  ///< as cudaFuncSetAttribute allows; -1: what a CTA has without asking
  bool non_portable_cluster = false;
  uint32_t required_cluster[3] = {0, 0, 0};
};

struct Symbol {
  Module* module = nullptr;
  std::string name;
  uint64_t bytes = 0;
};

class Device {
 public:
  static Device& get();

  std::recursive_mutex mutex;
  const DeviceFacts& facts() const { return facts_; }
  bool connected() const { return socket_ >= 0; }

  // ---- errors
  abi::Error sticky = abi::success;  ///< every later call returns it
  static thread_local abi::Error last;
  void note(const std::string& sentence);
  void refuse(const std::string& sentence);

  // ---- memory
  /// An address; nullopt: there is no room.
  std::optional<uint64_t> allocate(uint64_t bytes);
  bool free(uint64_t address);
  const std::map<uint64_t, uint64_t>& allocations() const { return allocations_; }  ///< address -> bytes
  uint64_t free_bytes() const { return facts_.memory_bytes - used_; }
  static bool in_device_range(const void* pointer);
  /// The bytes of device memory at `pointer`, or `pointer` itself where it is the host's.  nullptr: [pointer,
  /// pointer + bytes) is device memory and in no one allocation.
  uint8_t* bytes_at(const void* pointer, uint64_t bytes);

  // ---- code
  Function* function(const void* host_pointer);
  Symbol* symbol(const void* host_pointer);
  abi::Error load(Module& module);
  abi::Error describe(Function& function);
  std::map<const void*, std::unique_ptr<Function>> functions;
  std::map<const void*, Symbol> symbols;
  std::vector<std::unique_ptr<Module>> modules;

  abi::Error launch(Function& function, const Shape& shape, void** arguments);
  /// CTAs of an SM, clusters of the device.
  abi::Error occupancy(Function& function, const Shape& shape, int& ctas, int& clusters);
  double nanoseconds = 0;  ///< simulated, since the program began

 private:
  Device();
  void connect();
  /// The answer; nullopt: the device is gone.
  std::optional<Reader> ask(Request request, const Writer& body);
  Writer of_entry(const Function& function) const;

  int socket_ = -1;
  uint8_t* memory_ = nullptr;  ///< second mapping of device memory, which can be read and written
  DeviceFacts facts_;
  std::map<uint64_t, uint64_t> allocations_;  ///< address -> bytes
  uint64_t used_ = 0;
};

/// Runs a call of the program: one at a time, not after a launch that failed; its error is the last one.
template <class F>
abi::Error call(const F& f) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  const abi::Error error = !device.connected()             ? abi::initialization_error
                           : device.sticky != abi::success ? device.sticky
                                                           : f(device);
  if (error != abi::success && error != abi::not_ready) Device::last = error;
  return error;
}

}  // namespace sm100::exec
