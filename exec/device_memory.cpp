// SPDX-License-Identifier: Apache-2.0
#include "exec/device_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "exec/protocol.h"
#include "kernels/host/scenario.h"

namespace sm100::exec {
namespace {

uint64_t half_of_this_machine() {
  return uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)) / 2 / 4096 * 4096;
}

void* map(int file, uint64_t bytes, int how) {
  return mmap(reinterpret_cast<void*>(kDeviceBase), bytes, PROT_READ | PROT_WRITE, how | MAP_NORESERVE, file, 0);
}

}  // namespace

DeviceMemory::DeviceMemory(uint64_t bytes) : bytes_(std::min(bytes, half_of_this_machine())) {
  file_ = memfd_create("sm100sim device memory", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, off_t(bytes_)) != 0 ||
      map(file_, bytes_, MAP_SHARED | MAP_FIXED_NOREPLACE) != reinterpret_cast<void*>(kDeviceBase))
    throw host::InputError(
        fmt::format("exec: device memory of {} bytes cannot be made: {}", bytes_, std::strerror(errno)));
}

DeviceMemory::~DeviceMemory() {
  munmap(reinterpret_cast<void*>(kDeviceBase), bytes_);
  close(file_);
}

void DeviceMemory::make_private() const { map(file_, bytes_, MAP_PRIVATE | MAP_FIXED); }

}  // namespace sm100::exec
