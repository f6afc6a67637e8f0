// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/bulk_writes.h"

#include <algorithm>

namespace sm100::sim {

namespace {

constexpr uint64_t kLinearPart = 1 << 20;  ///< of addresses that copies without a tensor are kept by

bool same_tensor(const TensorMapFields& a, const TensorMapFields& b) {
  if (a.global_address != b.global_address || a.rank != b.rank || a.data_type != b.data_type) return false;
  for (uint32_t i = 0; i < a.rank; ++i)
    if (a.global_dim[i] != b.global_dim[i] || a.box_dim[i] != b.box_dim[i] ||
        a.element_stride[i] != b.element_stride[i] || (i + 1 < a.rank && a.global_stride[i] != b.global_stride[i]))
      return false;
  return true;
}

}  // namespace

BulkWrites::Range BulkWrites::range_of(const models::TensorCopy& copy, uint32_t row) {
  const BoxLine line = box_line(copy.map, copy.coords.data(), row);
  if (!line.in_bounds || line.count <= 0) return {};
  const auto bytes = [&](int64_t n) { return global_bytes(copy.map.data_type, uint64_t(n)); };
  const uint64_t begin = line.global_address + bytes(line.first);
  return {begin, begin + bytes(line.count)};
}

BulkWrites::Tensor& BulkWrites::tensor_of(const models::TensorCopy& copy) {
  const auto fits = [&](const Tensor& t) {
    return copy.linear ? t.linear && t.map.global_address / kLinearPart == copy.map.global_address / kLinearPart
                       : !t.linear && same_tensor(t.map, copy.map);
  };
  if (last_ < tensors_.size() && fits(tensors_[last_])) return tensors_[last_];
  const auto found = std::find_if(tensors_.begin(), tensors_.end(), fits);
  last_ = size_t(found - tensors_.begin());
  return found != tensors_.end() ? *found : tensors_.emplace_back(Tensor{copy.map, copy.linear});
}

void BulkWrites::add(const models::TensorCopy& copy, uint32_t number) {
  Tensor& tensor = tensor_of(copy);
  tensor.writes.push_back({copy.coords, number});
  if (copy.linear) {
    const Range r = range_of(copy, 0);
    tensor.ranges.push_back(r);
    tensor.begin = std::min(tensor.begin, r.begin), tensor.end = std::max(tensor.end, r.end);
  } else if (tensor.end == 0) {
    const Range all = whole_of(copy.map);
    tensor.begin = all.begin, tensor.end = all.end;
  }
}

BulkWrites::Range BulkWrites::whole_of(const TensorMapFields& map) {
  Range all{map.global_address, map.global_address + global_bytes(map.data_type, map.global_dim[0])};
  for (uint32_t i = 1; i < map.rank; ++i) all.end += (map.global_dim[i] - 1) * map.global_stride[i - 1];
  return all;
}

void BulkWrites::index(Tensor& tensor) {
  for (; tensor.indexed < tensor.writes.size(); ++tensor.indexed) {
    const Write& w = tensor.writes[tensor.indexed];
    const auto put = [&](const Range& r) {
      for (uint64_t page = r.begin / kPage; r.begin < r.end && page <= (r.end - 1) / kPage; ++page) {
        std::vector<uint32_t>& there = tensor.by_page[page];
        if (there.empty() || there.back() != tensor.indexed) there.push_back(uint32_t(tensor.indexed));
      }
    };
    if (tensor.linear) {
      put(tensor.ranges[tensor.indexed]);
      continue;
    }
    models::TensorCopy copy;
    copy.map = tensor.map, copy.coords = w.coords;
    for (uint32_t row = 0; row < uint32_t(box_lines(copy.map)); ++row) put(range_of(copy, row));
  }
}

bool BulkWrites::writes(const Tensor& tensor, uint32_t number, uint64_t at) {
  if (tensor.linear) return at >= tensor.ranges[number].begin && at < tensor.ranges[number].end;
  const Write& write = tensor.writes[number];
  const TensorMapFields& map = tensor.map;
  if (map.im2col || map.four_rows) {
    models::TensorCopy copy;
    copy.map = map, copy.coords = write.coords;
    for (uint32_t row = 0; row < uint32_t(box_lines(map)); ++row)
      if (const Range r = range_of(copy, row); at >= r.begin && at < r.end) return true;
    return false;
  }
  if (at < map.global_address) return false;
  uint64_t rest = at - map.global_address;
  for (uint32_t i = map.rank; i-- > 1;) {
    const uint64_t pitch = map.global_stride[i - 1];
    const auto x = int64_t(rest / pitch) - write.coords[i];
    rest %= pitch;
    if (x < 0 || x >= int64_t(box_extent(map, i)) * map.element_stride[i] || x % map.element_stride[i] != 0)
      return false;
  }
  const auto column = int64_t(rest * 8 / uint64_t(element_bits(map.data_type))), x = column - write.coords[0];
  return column < int64_t(map.global_dim[0]) && x >= 0 && x < int64_t(box_extent(map, 0));
}

}  // namespace sm100::sim
