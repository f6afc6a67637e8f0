// SPDX-License-Identifier: Apache-2.0
#include "sim/huge_pages.h"

#include <cstdint>
#include <cstdlib>  // defines __GLIBC__

#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace sm100::sim {

#if defined(__linux__) && defined(__GLIBC__)
namespace {

constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
constexpr int kRoom = 512 << 20;  ///< address space; memory is taken when it is touched
constexpr int kLargestInHeap =
    32 << 20;  ///< the most that glibc takes: shared memories and tables lie in the heap too

void extend_heap() {
  const auto end_of_heap = [] { return reinterpret_cast<uintptr_t>(sbrk(0)); };
  const uintptr_t begin = (end_of_heap() + kHugePage - 1) & ~(kHugePage - 1);
  mallopt(M_MMAP_THRESHOLD, kLargestInHeap);
  mallopt(M_TRIM_THRESHOLD, kRoom);
  mallopt(M_TOP_PAD, kRoom);
  // Larger than what is left of the heap, so that it grows now, by kRoom.
  void* volatile probe = std::malloc(size_t(kLargestInHeap) / 2);
  std::free(probe);
  mallopt(M_TOP_PAD, 128 << 10);
  const uintptr_t end = end_of_heap() & ~(kHugePage - 1);
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

void use_huge_pages() {
  static const bool extended = (extend_heap(), true);
  (void)extended;
}
#else
void use_huge_pages() {}
#endif

}  // namespace sm100::sim
