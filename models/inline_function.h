// SPDX-License-Identifier: Apache-2.0
/// A callable kept in place: what std::function is, without the heap.  Units post several effects per copy and MMA;
/// a capture that does not fit does not compile.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace sm100::models {

template <class Signature, size_t kBytes>
class InlineFunction;

template <class Result, class... Arguments, size_t kBytes>
class InlineFunction<Result(Arguments...), kBytes> {
 public:
  InlineFunction() {}  // not defaulted: `= {}` would clear the room
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, InlineFunction>>>
  InlineFunction(F&& f) {  // NOLINT(google-explicit-constructor): a lambda is one
    emplace(std::forward<F>(f));
  }
  InlineFunction(InlineFunction&& other) noexcept { take(other); }
  InlineFunction& operator=(InlineFunction&& other) noexcept {
    if (this != &other) reset(), take(other);
    return *this;
  }
  ~InlineFunction() { reset(); }

  template <class F>
  void emplace(F&& f) {
    using Held = std::decay_t<F>;
    static_assert(sizeof(Held) <= kBytes,
                  "the capture does not fit: make the callable's room larger, or the capture smaller");
    static_assert(alignof(Held) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<Held>);
    reset();
    new (bytes_) Held(std::forward<F>(f));
    operations_ = &kOperations<Held>;
  }
  void reset() {
    if (operations_) std::exchange(operations_, nullptr)->destroy(bytes_);
  }
  explicit operator bool() const { return operations_ != nullptr; }
  Result operator()(Arguments... arguments) {
    return operations_->call(bytes_, std::forward<Arguments>(arguments)...);
  }

 private:
  struct Operations {
    Result (*call)(void*, Arguments&&...);
    void (*move)(void* to, void* from);  ///< and destroys what it has moved
    void (*destroy)(void*);
  };
  template <class Held>
  static constexpr Operations kOperations{
      [](void* held, Arguments&&... arguments) -> Result {
        return (*static_cast<Held*>(held))(std::forward<Arguments>(arguments)...);
      },
      [](void* to, void* from) {
        new (to) Held(std::move(*static_cast<Held*>(from)));
        static_cast<Held*>(from)->~Held();
      },
      [](void* held) { static_cast<Held*>(held)->~Held(); }};

  void take(InlineFunction& other) {
    if (!other.operations_) return;
    other.operations_->move(bytes_, other.bytes_);
    operations_ = std::exchange(other.operations_, nullptr);
  }

  const Operations* operations_ = nullptr;
  alignas(std::max_align_t) std::byte bytes_[kBytes];
};

}  // namespace sm100::models
