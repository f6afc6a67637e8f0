// SPDX-License-Identifier: Apache-2.0
#include "models/global_words.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sm100::models {

uint32_t GlobalWords::load(GlobalAddr address) const {
  uint32_t value = 0;
  if (const uint8_t* bytes = memory_.data(address, 4)) std::memcpy(&value, bytes, 4);
  return value;
}

void GlobalWords::store(GlobalAddr address, uint32_t value, Cycles visible, const Source& by) {
  const uint64_t number = ++numbered_;
  pending_[address.value].push_back({number, value, by});
  stores_.post(visible, [this, address, number, visible] {
    const auto at = pending_.find(address.value);
    if (at == pending_.end()) return;
    const auto store =
        std::find_if(at->second.begin(), at->second.end(), [&](const Pending& p) { return p.number == number; });
    if (store == at->second.end()) return;  // its CTA has asked for the word since
    const Pending landed = *store;
    at->second.erase(store);
    if (at->second.empty()) pending_.erase(at);
    apply(address, landed, visible);
  });
}

void GlobalWords::finish(GlobalAddr address, int cta) {
  const auto at = pending_.find(address.value);
  if (at == pending_.end()) return;
  std::vector<Pending> own;
  std::erase_if(at->second, [&](const Pending& p) { return p.by.cta == cta && (own.push_back(p), true); });
  if (at->second.empty()) pending_.erase(at);
  for (const Pending& store : own) apply(address, store, now());
}

void GlobalWords::apply(GlobalAddr address, const Pending& store, Cycles visible) {
  if (uint8_t* bytes = memory_.data(address, 4)) std::memcpy(bytes, &store.value, 4);
  note_store(address, store.value, visible, store.by);
}

void GlobalWords::store_now(GlobalAddr address, uint32_t value, Cycles visible, const Source& by) {
  finish_own(address, by);
  if (uint8_t* bytes = memory_.data(address, 4)) std::memcpy(bytes, &value, 4);
  note_value(address, value, visible, by);
  stores_.post(visible, [this, address, by] { wake(address, by); });
}

void GlobalWords::note_store(GlobalAddr address, uint32_t value, Cycles visible, const Source& by) {
  note_value(address, value, visible, by);
  wake(address, by);
}

void GlobalWords::note_value(GlobalAddr address, uint32_t value, Cycles visible, const Source& by) {
  LastStore& last = last_stores_[address.value];
  last.before = std::exchange(last.value, value), last.visible = visible, last.by = by;
  last.ctas.push_back(by.cta);
}

void GlobalWords::wake(GlobalAddr address, const Source& by) {
  const auto it = watchers_.find(address.value);
  if (it == watchers_.end()) return;
  for (Waiter* waiter : it->second) {
    waiter->cause = by.flow, waiter->by = by;
    waiter->wake.notify(0);
  }
  watchers_.erase(it);
}

}  // namespace sm100::models
