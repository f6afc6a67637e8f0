// SPDX-License-Identifier: Apache-2.0
#include "ptx/register_file.h"

#include <vector>

namespace sm100::ptx {

namespace {

constexpr std::align_val_t kAlignment{64};

/// Freed rows of one size.
class FreeRows {
 public:
  ~FreeRows() { drop(); }

  std::byte* take(size_t bytes) {
    if (bytes != bytes_ || blocks_.empty()) return static_cast<std::byte*>(::operator new(bytes, kAlignment));
    std::byte* const block = blocks_.back();
    blocks_.pop_back();
    return block;
  }
  void put(std::byte* block, size_t bytes) {
    if (bytes != bytes_) drop(), bytes_ = bytes;
    if (blocks_.size() < kMost) return blocks_.push_back(block);
    ::operator delete(block, kAlignment);
  }

 private:
  static constexpr size_t kMost = 32;  // of a CTA's warps

  void drop() {
    for (std::byte* block : blocks_) ::operator delete(block, kAlignment);
    blocks_.clear();
  }

  size_t bytes_ = 0;
  std::vector<std::byte*> blocks_;
};

thread_local FreeRows free_rows;

}  // namespace

std::byte* RegisterFile::allocate(size_t n) { return free_rows.take(n ? n : 64); }

void RegisterFile::Free::operator()(std::byte* p) const { free_rows.put(p, bytes ? bytes : 64); }

}  // namespace sm100::ptx
