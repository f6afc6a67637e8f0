// SPDX-License-Identifier: Apache-2.0
#include "models/poisoned_bytes.h"

#include <algorithm>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace sm100::models {

namespace {

constexpr uint8_t kPoison = 0xff;

#if defined(__linux__)
/// A file without a name, of `size` bytes of poison; -1: there is none.  It stays open: processes that are forked
/// map it, too.
int poison_file(size_t size) {
  static std::mutex making;
  static int file = -1;
  static size_t file_size = 0;
  const std::lock_guard lock(making);
  if (file >= 0 && file_size == size) return file;
  if (file >= 0) return -1;  // one size is enough
  const int made = memfd_create("poison", MFD_CLOEXEC);
  if (made < 0) return -1;
  uint8_t page[4096];
  std::fill_n(page, sizeof page, kPoison);
  for (size_t at = 0; at < size;) {
    const ssize_t written = write(made, page, std::min(sizeof page, size - at));
    if (written <= 0) return close(made), -1;
    at += size_t(written);
  }
  file_size = size;
  return file = made;
}
#endif

}  // namespace

PoisonedBytes::PoisonedBytes(size_t size, bool dense) : size_(size) {
#if defined(__linux__)
  if (const int file = dense ? -1 : poison_file(size); file >= 0) {
    void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (at != MAP_FAILED) {
      bytes_ = static_cast<uint8_t*>(at);
      mapped_ = true;
      return;
    }
  }
#endif
  bytes_ = new uint8_t[size];
  std::fill_n(bytes_, size, kPoison);
}

PoisonedBytes::~PoisonedBytes() {
#if defined(__linux__)
  if (mapped_) {
    munmap(bytes_, size_);
    return;
  }
#endif
  delete[] bytes_;
}

}  // namespace sm100::models
