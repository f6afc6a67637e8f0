// SPDX-License-Identifier: Apache-2.0
/// What bulk and tensor stores write to global memory, by place: a read of it must come behind the store's
/// completion.
///
/// Approximated: of a box that is read, the first, a middle and the last row are looked at; of a long range, every
/// 64th byte and the last.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "kernels/isa/tensor_map.h"
#include "models/tma.h"

namespace sm100::sim {

class BulkWrites {
 public:
  /// Number `number` is any that the caller knows the store by.
  void add(const models::TensorCopy& copy, uint32_t number);

  /// Calls f(number, an address that both have) for each store that writes some of [begin, end), until f returns
  /// true.
  template <class F>
  void for_each(uint64_t begin, uint64_t end, F&& f) {
    for (Tensor& tensor : tensors_) {
      if (end <= tensor.begin || begin >= tensor.end) continue;
      index(tensor);
      for (uint64_t at = begin;; at = std::min(at + kStep, end - 1)) {
        if (const auto page = tensor.by_page.find(at / kPage); page != tensor.by_page.end())
          for (const uint32_t w : page->second)
            if (writes(tensor, w, at) && f(tensor.writes[w].number, at)) return;
        if (at == end - 1) break;
      }
    }
  }
  /// Some store writes where the tensor lies that a load reads.
  bool may_meet(const models::TensorCopy& load) const {
    const Range all = load.linear ? range_of(load, 0) : whole_of(load.map);
    return std::any_of(tensors_.begin(), tensors_.end(),
                       [&](const Tensor& t) { return all.begin < t.end && all.end > t.begin; });
  }
  /// The same for what a load reads.
  template <class F>
  void for_each(const models::TensorCopy& load, F&& f) {
    if (!may_meet(load)) return;
    bool stop = false;
    const auto one = [&](uint32_t number, uint64_t at) { return stop = f(number, at); };
    const auto rows = uint32_t(box_lines(load.map));
    for (const uint32_t row : {0u, rows / 2, rows - 1}) {
      const Range r = range_of(load, row);
      if (r.begin < r.end && !stop) for_each(r.begin, r.end, one);
    }
  }

 private:
  static constexpr uint64_t kPage = 64 << 10, kStep = 64;
  struct Range {
    uint64_t begin = 0, end = 0;
  };
  struct Write {
    std::array<int32_t, 5> coords;
    uint32_t number;
  };
  /// Stores through equal maps; copies without one whose addresses begin alike.
  struct Tensor {
    TensorMapFields map;
    bool linear;
    uint64_t begin = ~uint64_t{0}, end = 0;
    std::deque<Write> writes{};
    std::deque<Range> ranges{};  ///< of copies without a tensor: of each
    size_t indexed = 0;          ///< of the writes
    std::unordered_map<uint64_t, std::vector<uint32_t>> by_page{};
  };

  static Range range_of(const models::TensorCopy& copy, uint32_t row);
  static Range whole_of(const TensorMapFields& map);
  Tensor& tensor_of(const models::TensorCopy& copy);
  void index(Tensor& tensor);
  static bool writes(const Tensor& tensor, uint32_t write, uint64_t at);

  std::vector<Tensor> tensors_;
  size_t last_ = 0;  ///< that was found
};

}  // namespace sm100::sim
