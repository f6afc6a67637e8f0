// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/device.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "exec/shim/fatbin.h"

namespace sm100::exec {
namespace {

constexpr uint64_t kPage = 4096;
uint64_t pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

uint64_t device_end = kDeviceBase;
struct sigaction before_us;
/// The managed allocations while they are the device's, for the handler of signals: {first, end} pairs, {0, 0} ends
/// them.
constexpr size_t kMostWatched = 64;
struct Watched {
  uint64_t first = 0, end = 0;
} watched[kMostWatched + 1];

bool is_watched(uint64_t address) {
  for (const Watched* w = watched; w->end != 0; ++w)
    if (address >= w->first && address < w->end) return true;
  return false;
}

/// A host that reads a device pointer gets its signal, as on hardware, and a sentence that says why.
void on_segmentation_fault(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (address >= kDeviceBase && address < device_end) {
    static const char text[] =
        "exec: the host program has read or written device memory through its pointer; it needs cudaMemcpy\n";
    static const char managed[] =
        "exec: the host program has read or written managed memory while a launch may still use it; it needs "
        "cudaDeviceSynchronize\n";
    const bool early = is_watched(address);
    [[maybe_unused]] const ssize_t n = write(2, early ? managed : text, (early ? sizeof managed : sizeof text) - 1);
  }
  sigaction(signal, &before_us, nullptr);  // the access is made again, and this time ends as it would without us
}

}  // namespace

namespace {

std::atomic<Device*> created = nullptr;

/// What is called behind the last launch.
__attribute__((destructor)) void at_end() {
  Device* const device = created;
  if (!device || !device->connected()) return;
  const std::unique_lock lock(device->mutex, std::try_to_lock);  // a thread may be in a launch for ever
  if (lock.owns_lock()) device->send_calls();
}

}  // namespace

thread_local abi::Error Device::last = abi::success;
thread_local std::vector<void*> Device::contexts;

Device& Device::get() {
  static Device* const device = new Device;  // lives as long as the process: other libraries' destructors may call
  created = device;
  return *device;
}

Device::Device() { connect(); }

void Device::connect() {
  const char* const given = std::getenv(kVariable);
  int socket = -1, memory = -1;
  unsigned long long bytes = 0;
  if (!given || std::sscanf(given, "%d,%d,%llu", &socket, &memory, &bytes) != 3) {
    std::fputs("sm100sim's CUDA runtime library is no driver: run the program with sm100sim exec\n", stderr);
    return;
  }
  void* const device = mmap(reinterpret_cast<void*>(kDeviceBase), bytes, PROT_NONE,
                            MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, memory, 0);
  void* const copies = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
  if (device != reinterpret_cast<void*>(kDeviceBase) || copies == MAP_FAILED) {
    std::fputs("exec: device memory cannot be mapped into the program\n", stderr);
    return;
  }
  memory_ = static_cast<uint8_t*>(copies);
  device_end = kDeviceBase + bytes;
  // The program's own children are no programs of this device.
  fcntl(socket, F_SETFD, FD_CLOEXEC), fcntl(memory, F_SETFD, FD_CLOEXEC);
  socket_ = socket;
  if (auto answer = ask(Request::hello, Writer().put(kProtocolVersion))) {
    facts_ = answer->get<DeviceFacts>();
    set_device_architecture(facts_.compute_capability);
  }
  struct sigaction action = {};
  action.sa_sigaction = on_segmentation_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &before_us);
}

std::optional<Reader> Device::ask(Request request, const Writer& body) {
  Header header;
  std::string answer;
  if (socket_ >= 0 && send_message(socket_, request, body) && receive_message(socket_, header, answer))
    return Reader(std::move(answer));
  socket_ = -1;
  sticky = abi::launch_failure;
  return std::nullopt;
}

void Device::called(const char* name) {
  constexpr size_t kAtOnce = 4096;
  if (!facts_.records_calls) return;
  calls_.push_back(name);
  if (calls_.size() >= kAtOnce) send_calls();
}

void Device::send_calls() {
  if (calls_.empty()) return;
  Writer names;
  names.put(uint32_t(calls_.size()));
  for (const char* const name : calls_) names.text(name);
  calls_.clear();
  ask(Request::calls, names);
}

void Device::measured(double between) { ask(Request::measured, Writer().put(between)); }

void Device::note(const std::string& sentence) { ask(Request::note, Writer().text(sentence)); }
void Device::refuse(const std::string& sentence) { ask(Request::refusal, Writer().text(sentence)); }

// ---- memory

std::optional<uint64_t> Device::allocate(uint64_t bytes, bool managed) {
  const uint64_t room =
      pages(std::max<uint64_t>(bytes, 1)) + kPage;  // a gap, so that a run past the end is noticed
  uint64_t at = kDeviceBase + kPage;
  for (const auto& [address, size] : allocations_) {
    if (at + room <= address) break;
    at = address + pages(std::max<uint64_t>(size, 1)) + kPage;
  }
  if (bytes > facts_.memory_bytes || at + room > kDeviceBase + facts_.memory_bytes) return std::nullopt;
  allocations_[at] = bytes;
  used_ += room;
  // What nobody writes shows: a pattern that is NaN in every type, unless the user wants another.
  std::memset(memory_ + (at - kDeviceBase), facts_.fresh_byte, bytes);
  if (managed) {
    managed_.insert(at);
    mprotect(reinterpret_cast<void*>(at), pages(bytes), lent_ ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
  return at;
}

bool Device::free(uint64_t address) {
  const auto block = allocations_.find(address);
  if (block == allocations_.end()) return false;
  const uint64_t room = pages(std::max<uint64_t>(block->second, 1));
  madvise(memory_ + (address - kDeviceBase), room, MADV_REMOVE);
  if (managed_.erase(address) > 0) mprotect(reinterpret_cast<void*>(address), room, PROT_NONE);
  used_ -= room + kPage;
  if (facts_.names_streams || streams.several())
    ask(Request::freed, Writer().put(Block{block->first, block->second}));
  allocations_.erase(block);
  return true;
}

bool Device::in_device_range(const void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  return address >= kDeviceBase && address < device_end;
}

uint8_t* Device::bytes_at(const void* pointer, uint64_t bytes) {
  if (!in_device_range(pointer)) return static_cast<uint8_t*>(const_cast<void*>(pointer));
  const auto address = reinterpret_cast<uint64_t>(pointer);
  auto block = allocations_.upper_bound(address);
  if (block == allocations_.begin()) return nullptr;
  --block;
  const uint64_t offset = address - block->first;
  return offset <= block->second && bytes <= block->second - offset ? memory_ + (address - kDeviceBase) : nullptr;
}

std::optional<Block> Device::block_at(uint64_t address) const {
  auto block = allocations_.upper_bound(address);
  if (block == allocations_.begin()) return std::nullopt;
  --block;
  if (address - block->first >= std::max<uint64_t>(block->second, 1)) return std::nullopt;
  return Block{block->first, block->second};
}

bool Device::is_managed(const void* pointer) const {
  const auto block = block_at(reinterpret_cast<uint64_t>(pointer));
  return block && managed_.count(block->address) > 0;
}

void Device::lend_managed() {
  const bool lent = streams.idle();
  if (lent == lent_) return;
  lent_ = lent;
  size_t at = 0;
  for (const uint64_t address : managed_) {
    const uint64_t room = pages(std::max<uint64_t>(allocations_[address], 1));
    mprotect(reinterpret_cast<void*>(address), room, lent ? PROT_READ | PROT_WRITE : PROT_NONE);
    if (!lent && at < kMostWatched) watched[at++] = {address, address + room};
  }
  watched[at] = {};
}

// ---- streams

abi::Error Device::enqueue(void* handle, const Work& work, bool allocation) {
  Stream* const stream = streams.find(handle);
  if (!stream) return abi::invalid_resource_handle;
  if (Streams::is_legacy(handle))
    if (const abi::Error error = streams.legacy_call()) return error;
  streams.issued(*stream, allocation);
  if (stream->capture) {
    stream->capture->graph->nodes.push_back(work);
    return abi::success;
  }
  present_ = stream;
  const abi::Error error = work(*this);
  present_ = nullptr;
  lend_managed();
  return error;
}

WorkOrder Device::present_order() {
  if (!present_ || !(facts_.names_streams || streams.several())) return {};
  WorkOrder order = streams.order_of(*present_);
  order.watched = 1;
  return order;
}

void Device::moved(const char* what, const std::vector<Block>& reads, const std::vector<Block>& writes) {
  const WorkOrder order = present_order();
  if (!order.watched) return;
  std::vector<Block> memory;  // the allocations, for the text
  for (const auto* blocks : {&reads, &writes})
    if (!blocks->empty())
      if (const auto block = block_at(blocks->front().address)) memory.push_back(*block);
  ask(Request::moved, Writer().text(what).order(order).list(reads).list(writes).list(memory));
}

abi::Error Device::wait_for_stream(void* handle) {
  Stream* const stream = streams.find(handle);
  if (!stream) return abi::invalid_resource_handle;
  if (stream->capture) {
    stream->capture->invalid = true;
    return abi::capture_unsupported;
  }
  streams.meet(*stream);
  streams.waited(stream->after);
  lend_managed();
  return abi::success;
}

void Device::host_has_seen_present() {
  if (!present_) return;
  WorkCounts seen = present_->after;
  seen[present_->number] = present_->issued - 1;  // of a graph, not what comes behind its function
  streams.waited(seen);
}

abi::Error Device::wait_for_event(void* handle) {
  Event* const event = streams.find_event(handle);
  if (!event) return abi::invalid_resource_handle;
  if (event->capture) return abi::captured_event;
  streams.waited(event->after);
  lend_managed();
  return abi::success;
}

abi::Error Device::wait_for_all() {
  if (const abi::Error error = streams.unsafe_call()) return error;
  streams.waited_for_all();
  lend_managed();
  return abi::success;
}

// ---- code

Function* Device::function(const void* host_pointer) {
  const auto stub = stubs.find(host_pointer);
  if (stub != stubs.end()) return stub->second;
  const auto found = functions_.find(host_pointer);
  return found == functions_.end() ? nullptr : found->second.get();
}

Function& Device::add_function(Module& module, const std::string& name) {
  auto function = std::make_unique<Function>();
  function->module = &module, function->name = name;
  Function& added = *function;
  functions_[&added] = std::move(function);
  return added;
}

Function* Device::function(Module& module, const std::string& name) {
  const auto known = module.functions.find(name);
  if (known != module.functions.end()) return known->second;
  Function& added = add_function(module, name);
  if (describe(added) != abi::success) {
    functions_.erase(&added);
    return nullptr;
  }
  return module.functions[name] = &added;
}

Module* Device::module(const void* handle) const {
  const auto found = modules.find(handle);
  return found == modules.end() ? nullptr : found->second.get();
}

abi::Error Device::load_text(const std::string& text, Module*& module) {
  auto added = std::make_unique<Module>();
  added->text = text;
  if (const abi::Error error = load(*added)) return error;
  module = added.get();
  modules[module] = std::move(added);
  return abi::success;
}

bool Device::unload(const void* handle) {
  Module* const gone = module(handle);
  if (!gone) return false;
  for (auto at = functions_.begin(); at != functions_.end();)
    at = at->second->module == gone ? functions_.erase(at) : std::next(at);
  if (!gone->variables.empty()) free(block_at(gone->variables.front().address)->address);
  modules.erase(handle);
  return true;
}

abi::Error Device::entries(Module& module, std::vector<std::string>& names) {
  if (const abi::Error error = load(module)) return error;
  auto answer = ask(Request::entries, Writer().put(*module.number));
  if (!answer) return sticky;
  for (uint32_t left = answer->get<uint32_t>(); left > 0; --left) names.push_back(answer->text());
  return abi::success;
}

Symbol* Device::symbol(const void* host_pointer) {
  const auto found = symbols.find(host_pointer);
  return found == symbols.end() ? nullptr : &found->second;
}

namespace {
Writer with_registers(Writer request, const std::vector<EntryRegisters>& registers) {
  request.put(uint32_t(registers.size()));
  for (const EntryRegisters& entry : registers) request.text(entry.name).put(entry.registers);
  return request;
}
}  // namespace

abi::Error Device::load(Module& module) {
  if (module.number || module.error != abi::success) return module.error;
  if (!module.container) return send_text(module, module.text);
  std::string text;
  std::vector<EntryRegisters> registers;
  try {
    const std::vector<FatbinEntry> entries = read_fatbin(fatbin_at(module.container));
    registers = registers_for_device(entries);
    text = ptx_for_device(entries);
    if (text.empty()) return module.error = abi::no_kernel_image_for_device;
  } catch (const std::exception& error) {
    if (!facts_.has_ptx) {
      refuse(error.what());
      return module.error = abi::no_kernel_image_for_device;
    }
  }
  return send_text(module, text, registers);
}

abi::Error Device::send_text(Module& module, const std::string& text,
                             const std::vector<EntryRegisters>& registers) {
  auto answer = ask(Request::module, with_registers(Writer().text(text), registers));
  if (!answer) return sticky;
  if (!answer->get<uint8_t>()) return module.error = abi::invalid_ptx;
  module.number = answer->get<uint32_t>();
  const uint64_t bytes = answer->get<uint64_t>();
  if (bytes == 0) return abi::success;
  const auto base = allocate(bytes);
  if (!base) return module.error = abi::memory_allocation;
  answer = ask(Request::variables, Writer().put(*module.number).put(*base));
  if (!answer) return sticky;
  for (uint32_t left = answer->get<uint32_t>(); left > 0; --left) {
    Module::Variable& variable = module.variables.emplace_back();
    variable.name = answer->text();
    variable.address = answer->get<uint64_t>();
    variable.bytes = answer->get<uint64_t>();
  }
  return abi::success;
}

Writer Device::of_entry(const Function& function) const {
  return Writer().put(*function.module->number).text(function.name);
}

abi::Error Device::describe(Function& function) {
  if (function.facts) return abi::success;
  if (const abi::Error error = load(*function.module)) return error;
  auto answer = ask(Request::entry, of_entry(function));
  if (!answer) return sticky;
  if (!answer->get<uint8_t>()) return abi::invalid_device_function;
  function.facts = answer->get<EntryFacts>();
  function.parameters = answer->list<Parameter>();
  return abi::success;
}

abi::Error Device::occupancy(Function& function, const Shape& shape, int& ctas, int& clusters) {
  if (const abi::Error error = describe(function)) return error;
  auto answer = ask(Request::occupancy, of_entry(function).put(shape));
  if (!answer) return sticky;
  ctas = answer->get<int>(), clusters = answer->get<int>();
  return abi::success;
}

// ---- launches

namespace {

constexpr uint32_t kSmemWithoutAsking = 48 * 1024, kPortableCluster = 8;

uint64_t product(const uint32_t (&d)[3]) { return uint64_t{d[0]} * d[1] * d[2]; }
std::string text_of(const uint32_t (&d)[3]) {
  return std::to_string(d[0]) + " x " + std::to_string(d[1]) + " x " + std::to_string(d[2]);
}

constexpr uint64_t kLargestCluster = 16;  // cudaFuncAttributeNonPortableClusterSizeAllowed, on SM90 and SM100

/// What of the launch is more than a device takes (cudaDeviceProp); nullptr: nothing is.
const char* beyond_limits(const Shape& shape) {
  if (shape.grid[0] > INT32_MAX) return "at most 2,147,483,647 along x";
  if (shape.grid[1] > 65535) return "at most 65,535 CTAs along y";
  if (shape.grid[2] > 65535) return "at most 65,535 CTAs along z";
  if (shape.block[2] > 64) return "at most 64 threads along z";
  if (product(shape.block) > 1024) return "at most 1,024 threads";
  return nullptr;
}

}  // namespace

abi::Error Device::check_cooperative(Function& function, const Shape& shape) {
  int ctas = 0, clusters = 0;
  if (const abi::Error error = occupancy(function, shape, ctas, clusters)) return error;
  const uint64_t fit =
      shape.cluster_stated ? uint64_t(clusters) * product(shape.cluster) : uint64_t(ctas) * facts_.sms;
  if (product(shape.grid) <= fit) return abi::success;
  note(function.name + ": a cooperative launch of " + std::to_string(product(shape.grid)) + " CTAs, and " +
       std::to_string(fit) + " fit on " + std::to_string(facts_.sms) + " SMs at once");
  return abi::cooperative_launch_too_large;
}

abi::Error Device::check(Function& function, Shape& shape) {
  if (const abi::Error error = describe(function)) return error;
  const EntryFacts& facts = *function.facts;
  if (const char* const beyond = beyond_limits(shape)) {
    note(function.name + ": a grid of " + text_of(shape.grid) + " CTAs of " + text_of(shape.block) +
         " threads: " + beyond);
    return abi::invalid_configuration;
  }
  if (shape.cluster_stated && facts.cluster_stated &&
      !std::equal(shape.cluster, shape.cluster + 3, facts.cluster)) {
    note(function.name + ": launched with clusters of " + text_of(shape.cluster) + ", and compiled for " +
         text_of(facts.cluster) + " (__cluster_dims__)");
    return abi::invalid_cluster_size;
  }
  if (!shape.cluster_stated && facts.cluster_stated) std::copy_n(facts.cluster, 3, shape.cluster);
  const int64_t allowed = function.most_dynamic_smem >= 0
                              ? function.most_dynamic_smem
                              : int64_t{kSmemWithoutAsking} - int64_t{facts.static_smem_bytes};
  if (shape.dynamic_smem_bytes > std::max<int64_t>(allowed, 0)) {
    note(function.name + ": " + std::to_string(shape.dynamic_smem_bytes) +
         " bytes of dynamic shared memory, and cudaFuncSetAttribute has allowed " +
         std::to_string(std::max<int64_t>(allowed, 0)));
    return abi::invalid_value;
  }
  if (product(shape.block) > facts.threads) {
    note(function.name + ": a CTA of " + std::to_string(product(shape.block)) +
         " threads, and it was compiled for " + std::to_string(facts.threads) + " at most (__launch_bounds__)");
    return abi::invalid_value;  // as an H200 answers
  }
  const uint64_t ctas = product(shape.cluster);
  if (ctas > kLargestCluster) {
    note(function.name + ": a cluster of " + std::to_string(ctas) + " CTAs, at most " +
         std::to_string(kLargestCluster));
    return abi::invalid_cluster_size;
  }
  if (ctas > kPortableCluster && !function.non_portable_cluster) {
    note(function.name + ": a cluster of " + std::to_string(ctas) +
         " CTAs needs cudaFuncAttributeNonPortableClusterSizeAllowed");
    return abi::invalid_cluster_size;
  }
  if (!shape.cooperative) return abi::success;
  const abi::Error error = check_cooperative(function, shape);
  return error ? error : give_grid_workspace(shape);
}

abi::Error Device::give_grid_workspace(Shape& shape) {
  constexpr uint64_t kBytes = 8;  // how many there are, and the barrier
  if (!grid_workspace_) {
    grid_workspace_ = allocate(kBytes);
    if (!grid_workspace_) return abi::memory_allocation;
    const uint32_t words[] = {kBytes, 0};
    std::memcpy(memory_ + (*grid_workspace_ - kDeviceBase), words, kBytes);
  }
  shape.grid_workspace = *grid_workspace_;
  return abi::success;
}

std::vector<uint8_t> Device::parameter_window(const Function& function, void** arguments) const {
  std::vector<uint8_t> window(function.facts->parameter_bytes);
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    std::memcpy(window.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return window;
}

namespace {
abi::Error error_of(LaunchFault fault) {
  switch (fault) {
    case LaunchFault::assertion: return abi::assertion_failed;
    case LaunchFault::illegal_address: return abi::illegal_address;
    case LaunchFault::misaligned_address: return abi::misaligned_address;
    default: return abi::launch_failure;
  }
}
}  // namespace

abi::Error Device::launch(Function& function, Shape shape, const std::vector<uint8_t>& window) {
  send_calls();
  if (Stream* const stream = streams.find(reinterpret_cast<void*>(shape.stream))) {
    if (!streams.behind_running_launch(*stream)) shape.programmatic = 0;
    stream->launch = stream->issued;
  }
  std::vector<Block> blocks, variables;
  for (const auto& [address, bytes] : allocations_) blocks.push_back({address, bytes});
  for (const Module::Variable& variable : function.module->variables)
    variables.push_back({variable.address, variable.bytes});
  auto answer = ask(Request::launch,
                    of_entry(function).put(shape).list(window).list(blocks).list(variables).order(present_order()));
  if (!answer) return sticky;
  const LaunchReply reply = answer->get<LaunchReply>();
  if (reply.refused) return abi::invalid_configuration;
  if (!reply.carried_out) return sticky = error_of(LaunchFault(reply.fault));
  nanoseconds += reply.nanoseconds;
  return abi::success;
}

}  // namespace sm100::exec
