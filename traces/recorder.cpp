#include "traces/recorder.h"

#include <limits>
#include <stdexcept>

namespace sm100::traces {

TrackId Recorder::add_track(TrackKind kind, std::string_view name, TrackId parent, int sm, int cta, int warp) {
  const TrackId id = static_cast<TrackId>(trace_.tracks.size());
  if (parent != kNoTrack && parent >= id) throw std::invalid_argument("add_track: the parent is not a track yet");
  trace_.tracks.push_back({id, kind, std::string(name), parent, sm, cta, warp});
  next_sequence_.push_back(0);
  return id;
}

int16_t Recorder::intern(std::string_view name) {
  if (auto found = name_index_.find(name); found != name_index_.end()) return found->second;
  if (trace_.names.size() > static_cast<size_t>(std::numeric_limits<int16_t>::max())) {
    throw std::length_error("intern: a trace holds at most 32768 names");
  }
  const int16_t index = static_cast<int16_t>(trace_.names.size());
  trace_.names.emplace_back(name);
  name_index_.emplace(name, index);
  return index;
}

}  // namespace sm100::traces
