// SPDX-License-Identifier: Apache-2.0
/// Calls that are made later, many in a row: those of one cluster, whose state then stays in the processor's
/// caches. A call is a function object that can be copied byte by byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "models/profiles/profile.h"

namespace sm100::sim {

template <class Receiver>
class PostponedCalls {
 public:
  /// @param time  at which `call(receiver)` would have been made
  template <class Call>
  void add(models::Cycles time, const Call& call) {
    static_assert(std::is_trivially_copyable_v<Call> && alignof(Call) <= kAlignment);
    const size_t bytes = (sizeof(Head) + sizeof(Call) + kAlignment - 1) / kAlignment * kAlignment;
    while (used_ + bytes > room_.size() * sizeof(Word)) room_.resize(std::max<size_t>(2 * room_.size(), 512));
    std::byte* const at = reinterpret_cast<std::byte*>(room_.data()) + used_;
    new (at) Head{[](const std::byte* c, Receiver& receiver) { (*reinterpret_cast<const Call*>(c))(receiver); },
                  time, uint32_t(bytes)};
    new (at + sizeof(Head)) Call(call);
    used_ += bytes;
  }
  bool empty() const { return used_ == 0; }
  /// Of all calls that wait.
  size_t bytes() const { return used_; }

  /// Makes them in their order, each after `before(its time)`.  None may be added meanwhile.
  template <class Before>
  void make(Receiver& receiver, Before&& before) {
    const std::byte* const begin = reinterpret_cast<const std::byte*>(room_.data());
    for (size_t at = 0; at < used_;) {
      const Head& head = *reinterpret_cast<const Head*>(begin + at);
      before(head.time);
      head.make(begin + at + sizeof(Head), receiver);
      at += head.bytes;
    }
    used_ = 0;
  }

 private:
  static constexpr size_t kAlignment = 8;
  using Word = uint64_t;
  struct Head {
    void (*make)(const std::byte*, Receiver&);
    models::Cycles time;
    uint32_t bytes;
  };
  static_assert(sizeof(Head) % kAlignment == 0);

  std::vector<Word> room_;
  size_t used_ = 0;
};

}  // namespace sm100::sim
