// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/device.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "exec/shim/fatbin.h"

namespace sm100::exec {
namespace {

constexpr uint64_t kPage = 4096;
uint64_t pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

uint64_t device_end = kDeviceBase;
struct sigaction before_us;

/// A host that reads a device pointer gets its signal, as on hardware, and a sentence that says why.
void on_segmentation_fault(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (address >= kDeviceBase && address < device_end) {
    static const char text[] =
        "exec: the host program has read or written device memory through its pointer; it needs cudaMemcpy\n";
    [[maybe_unused]] const ssize_t n = write(2, text, sizeof text - 1);
  }
  sigaction(signal, &before_us, nullptr);  // the access is made again, and this time ends as it would without us
}

}  // namespace

thread_local abi::Error Device::last = abi::success;

Device& Device::get() {
  static Device* const device = new Device;  // lives as long as the process: other libraries' destructors may call
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
  if (auto answer = ask(Request::hello, Writer().put(kProtocolVersion))) facts_ = answer->get<DeviceFacts>();
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

void Device::note(const std::string& sentence) { ask(Request::note, Writer().text(sentence)); }
void Device::refuse(const std::string& sentence) { ask(Request::refusal, Writer().text(sentence)); }

// ---- memory

std::optional<uint64_t> Device::allocate(uint64_t bytes) {
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
  // What nobody writes shows: a pattern that is NaN in every type.
  std::memset(memory_ + (at - kDeviceBase), 0xff, bytes);
  return at;
}

bool Device::free(uint64_t address) {
  const auto block = allocations_.find(address);
  if (block == allocations_.end()) return false;
  const uint64_t room = pages(std::max<uint64_t>(block->second, 1));
  madvise(memory_ + (address - kDeviceBase), room, MADV_REMOVE);
  used_ -= room + kPage;
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

// ---- code

Function* Device::function(const void* host_pointer) {
  const auto found = functions.find(host_pointer);
  if (found != functions.end()) return found->second.get();
  for (const auto& [host, function] : functions)
    if (function.get() == host_pointer) return function.get();
  return nullptr;
}

Symbol* Device::symbol(const void* host_pointer) {
  const auto found = symbols.find(host_pointer);
  return found == symbols.end() ? nullptr : &found->second;
}

abi::Error Device::load(Module& module) {
  if (module.number || module.error != abi::success) return module.error;
  std::string text;
  try {
    text = ptx_for_device(read_fatbin(fatbin_at(module.container)));
  } catch (const std::exception& error) {
    refuse(error.what());
    return module.error = abi::no_kernel_image_for_device;
  }
  if (text.empty()) return module.error = abi::no_kernel_image_for_device;
  auto answer = ask(Request::module, Writer().text(text));
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

abi::Error Device::launch(Function& function, const Shape& shape, void** arguments) {
  if (const abi::Error error = describe(function)) return error;
  std::vector<uint8_t> window(function.facts->parameter_bytes);
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    std::memcpy(window.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  std::vector<Block> blocks, variables;
  for (const auto& [address, bytes] : allocations_) blocks.push_back({address, bytes});
  for (const Module::Variable& variable : function.module->variables)
    variables.push_back({variable.address, variable.bytes});
  auto answer = ask(Request::launch, of_entry(function).put(shape).list(window).list(blocks).list(variables));
  if (!answer) return sticky;
  const LaunchReply reply = answer->get<LaunchReply>();
  if (reply.refused) return abi::invalid_configuration;
  if (!reply.carried_out) return sticky = abi::launch_failure;
  nanoseconds += reply.nanoseconds;
  return abi::success;
}

}  // namespace sm100::exec
