// SPDX-License-Identifier: Apache-2.0
/// The device as a program's CUDA libraries have it, both the runtime and the driver: the connection to the process
/// that simulates it, device memory and its allocations, the modules and functions of the program, errors and
/// simulated time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exec/protocol.h"
#include "exec/shim/abi.h"
#include "exec/shim/fatbin.h"
#include "exec/shim/streams.h"

namespace sm100::exec {

struct Function;

/// Code that the program has registered or loaded.
struct Module {
  const void* container = nullptr;  ///< of nvcc, read when it is needed
  std::string text;                 ///< else PTX
  std::optional<uint32_t> number;   ///< of the module at the device, once it is there
  abi::Error error = abi::success;  ///< why it cannot be
  struct Variable {
    std::string name;
    uint64_t address = 0, bytes = 0;
  };
  std::vector<Variable> variables;             ///< of the module's scope, in device memory
  std::map<std::string, Function*> functions;  ///< those that the program has asked for by name
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

  /// The contexts of a thread, the current one last.  They are handles: all have this one device.
  static thread_local std::vector<void*> contexts;
  void* primary_context() { return this; }
  bool initialized = false;  ///< by cuInit, or by a call of the runtime

  /// Remembers a call for the record of the program, where there is one.
  void called(const char* name);
  void send_calls();
  /// The program has asked for the time between two events.
  void measured(double nanoseconds);

  // ---- errors
  abi::Error sticky = abi::success;  ///< every later call returns it
  static thread_local abi::Error last;
  void note(const std::string& sentence);
  void refuse(const std::string& sentence);

  // ---- memory
  /// An address; nullopt: there is no room.
  /// @param managed  the program reads and writes it, too
  std::optional<uint64_t> allocate(uint64_t bytes, bool managed = false);
  bool free(uint64_t address);
  const std::map<uint64_t, uint64_t>& allocations() const { return allocations_; }  ///< address -> bytes
  uint64_t free_bytes() const { return facts_.memory_bytes - used_; }
  static bool in_device_range(const void* pointer);
  /// The bytes of device memory at `pointer`, or `pointer` itself where it is the host's.  nullptr: [pointer,
  /// pointer + bytes) is device memory and in no one allocation.
  uint8_t* bytes_at(const void* pointer, uint64_t bytes);
  /// The allocation that an address lies in: address and bytes; nullopt: there is none.
  std::optional<Block> block_at(uint64_t address) const;
  bool is_managed(const void* pointer) const;
  /// Managed memory is the program's while no work is left that it has not waited for.
  void lend_managed();

  // ---- streams
  Streams streams;
  /// Carries work of a stream out, or keeps it where the stream is captured.
  /// @param allocation  or a free
  abi::Error enqueue(void* stream, const Work& work, bool allocation = false);
  /// What work of the present stream reads and writes in device memory, where the order of work is watched.
  /// @param what  "a copy to the host"
  void moved(const char* what, const std::vector<Block>& reads, const std::vector<Block>& writes);
  /// The host hears of the present piece of work: what the stream has done until then may be waited for.
  void host_has_seen_present();
  /// The host waits for a stream, for an event, or for all.
  abi::Error wait_for_stream(void* stream);
  abi::Error wait_for_event(void* event);
  abi::Error wait_for_all();

  // ---- code
  /// The function of a stub that nvcc's start-up code has registered, or of a handle.
  Function* function(const void* host_pointer);
  /// Of a module that the program has loaded; nullptr: the module has none of that name.
  Function* function(Module& module, const std::string& name);
  /// A module of PTX.
  abi::Error load_text(const std::string& text, Module*& module);
  bool unload(const void* module);
  Module* module(const void* handle) const;
  /// Names of its entries.
  abi::Error entries(Module& module, std::vector<std::string>& names);
  Symbol* symbol(const void* host_pointer);
  abi::Error load(Module& module);
  abi::Error describe(Function& function);
  Function& add_function(Module& module, const std::string& name);
  std::map<const void*, Function*> stubs;
  std::map<const void*, Symbol> symbols;
  std::map<const void*, std::unique_ptr<Module>> modules;

  /// Whether CUDA takes the launch, and the device has room for it.
  abi::Error check(Function& function, Shape& shape);
  /// The bytes of the parameters, of which `arguments` has the addresses.
  std::vector<uint8_t> parameter_window(const Function& function, void** arguments) const;
  abi::Error launch(Function& function, Shape shape, const std::vector<uint8_t>& window);
  /// CTAs of an SM, clusters of the device.
  abi::Error occupancy(Function& function, const Shape& shape, int& ctas, int& clusters);
  double nanoseconds = 0;  ///< simulated, since the program began

 private:
  Device();
  void connect();
  /// The answer; nullopt: the device is gone.
  std::optional<Reader> ask(Request request, const Writer& body);
  Writer of_entry(const Function& function) const;
  abi::Error send_text(Module& module, const std::string& text, const std::vector<EntryRegisters>& registers = {});
  abi::Error check_cooperative(Function& function, const Shape& shape);
  abi::Error give_grid_workspace(Shape& shape);
  WorkOrder present_order();

  int socket_ = -1;
  uint8_t* memory_ = nullptr;  ///< second mapping of device memory, which can be read and written
  DeviceFacts facts_;
  std::map<uint64_t, uint64_t> allocations_;                    ///< address -> bytes
  std::set<uint64_t> managed_;                                  ///< of them, those that are the program's, too
  bool lent_ = true;                                            ///< managed memory is the program's
  std::map<const void*, std::unique_ptr<Function>> functions_;  ///< by their handles
  uint64_t used_ = 0;
  Stream* present_ = nullptr;               ///< whose work is carried out
  std::optional<uint64_t> grid_workspace_;  ///< of cooperative launches
  std::vector<const char*> calls_;          ///< that the device has not heard of
};

/// Runs a call of the program: one at a time, not after a launch that failed.
/// @param name  of the library's function: by default whoever calls this
template <class F>
abi::Error guarded(const F& f, const char* name) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.called(name);
  return !device.connected()             ? abi::initialization_error
         : device.sticky != abi::success ? device.sticky
                                         : f(device);
}

/// Of the runtime: its error is the last one.
template <class F>
abi::Error call(const F& f, const char* name = __builtin_FUNCTION()) {
  const abi::Error error = guarded(
      [&](Device& device) {
        device.initialized = true;
        if (Device::contexts.empty()) Device::contexts.push_back(device.primary_context());
        return f(device);
      },
      name);
  if (error != abi::success && error != abi::not_ready) Device::last = error;
  return error;
}

}  // namespace sm100::exec
