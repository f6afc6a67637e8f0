// SPDX-License-Identifier: Apache-2.0
/// Bytes on their way: the copies and responses that have been issued and have not landed everywhere, by the number
/// of their operation.  Numbers grow and few operations are in flight at a time, so they share a small ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sm100::sim {

template <class Flight>
class Flights {
 public:
  /// Where operation `op` lands, CTA by CTA; empty when it is new.
  std::vector<Flight>& of(uint32_t op) {
    while (!place(op).flights.empty() && place(op).op != op) grow();
    place(op).op = op;
    return place(op).flights;
  }
  /// nullptr: it has landed, or was never sent.
  std::vector<Flight>* find(uint32_t op) {
    Place& at = place(op);
    return at.op == op && !at.flights.empty() ? &at.flights : nullptr;
  }

 private:
  struct Place {
    uint32_t op = 0;
    std::vector<Flight> flights;  ///< keeps its room
  };
  Place& place(uint32_t op) { return places_[op % places_.size()]; }
  void grow() {
    std::vector<Place> larger(2 * places_.size());
    for (Place& p : places_)
      if (!p.flights.empty()) larger[p.op % larger.size()] = std::move(p);
    places_ = std::move(larger);
  }

  std::vector<Place> places_ = std::vector<Place>(64);
};

}  // namespace sm100::sim
