// SPDX-License-Identifier: Apache-2.0
#include "models/tensor_map_proxy.h"

#include <algorithm>
#include <cstring>

namespace sm100::models {

void TensorMapProxy::start_cta(int slot) {
  if (views_.size() <= size_t(slot)) views_.resize(size_t(slot) + 1);
  views_[size_t(slot)].clear();
}

bool TensorMapProxy::read(GlobalAddr map, TensorMap& to) {
  const uint8_t* bytes = memory_.data(map, sizeof to.bytes);
  if (bytes) std::memcpy(to.bytes, bytes, sizeof to.bytes);
  return bytes != nullptr;
}

void TensorMapProxy::before_edit(int slot, GlobalAddr map) {
  const auto [at, first] = edited_.try_emplace(map.value);
  if (first) read(map, at->second.released);
  if (at->second.by < 0) unreleased_.push_back(map.value);
  at->second.by = slot;
}

void TensorMapProxy::release(GlobalAddr map) {
  Edited& edited = edited_[map.value];
  read(map, edited.released);
  edited.by = -1;
  std::erase(unreleased_, map.value);
}

void TensorMapProxy::release_edits_of(int slot) {
  const std::vector<uint64_t> all = unreleased_;
  for (const uint64_t map : all)
    if (edited_[map].by == slot) release({map});
}

void TensorMapProxy::acquire(int slot, GlobalAddr map) {
  std::erase_if(views_[size_t(slot)], [=](const auto& known) { return known.first == map.value; });
}

const TensorMapProxy::View* TensorMapProxy::fetch(int slot, GlobalAddr map, Cycles at) {
  auto& views = views_[size_t(slot)];
  const auto known =
      std::find_if(views.begin(), views.end(), [=](const auto& view) { return view.first == map.value; });
  if (known != views.end()) return &known->second;
  View view;
  if (!read(map, view.map)) return nullptr;
  if (const auto edited = edited_.find(map.value); edited != edited_.end()) view.map = edited->second.released;
  view.ready = at + profile_.cycles_of_ns(profile_.memory.l2_hit_ns);
  return &views.emplace_back(map.value, view).second;
}

}  // namespace sm100::models
