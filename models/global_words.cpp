// SPDX-License-Identifier: Apache-2.0
#include "models/global_words.h"

#include <cstring>
#include <utility>

namespace sm100::models {

uint32_t GlobalWords::load(GlobalAddr address) const {
  uint32_t value = 0;
  if (const uint8_t* bytes = memory_.data(address, 4)) std::memcpy(&value, bytes, 4);
  return value;
}

void GlobalWords::store(GlobalAddr address, uint32_t value, Cycles visible, const Source& by) {
  stores_.post(visible, [this, address, value, visible, by] {
    if (uint8_t* bytes = memory_.data(address, 4)) std::memcpy(bytes, &value, 4);
    note_store(address, value, visible, by);
  });
}

void GlobalWords::note_store(GlobalAddr address, uint32_t value, Cycles visible, const Source& by) {
  LastStore& last = last_stores_[address.value];
  last.before = std::exchange(last.value, value), last.visible = visible, last.by = by;
  last.ctas.push_back(by.cta);
  const auto it = watchers_.find(address.value);
  if (it == watchers_.end()) return;
  for (Waiter* waiter : it->second) {
    waiter->cause = by.flow, waiter->by = by;
    waiter->wake.notify(0);
  }
  watchers_.erase(it);
}

}  // namespace sm100::models
