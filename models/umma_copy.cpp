// SPDX-License-Identifier: Apache-2.0
// Copies from shared to tensor memory in the queue of the tensor pipe.

#include <algorithm>
#include <cmath>

#include "models/provenance.h"
#include "models/umma.h"

namespace sm100::models {

void Umma::copy(const TensorMemoryCopyCommand& command, Cycles at) {
  std::optional<CopyParticipant> peer;
  if (peer_) peer.emplace(peer_->participant());
  const CopyParticipant own = participant();
  const auto operation = check_copy(command, slot_, own, peer ? &*peer : nullptr, observer_);
  if (!operation) return;
  const uint32_t column = command.to.column(), columns = copy_columns(command.shape);
  const double start =
      std::max({double(at), sm_.tensor_pipe.free, command.cta_group == 2 ? peer_->sm_.tensor_pipe.free : 0});
  const double interval = copy_interval(command.shape);
  // Assumed: the way of an MMA through the pipe, and the bytes instead of its columns.
  const double done = start + execution_latency(128 * command.cta_group, 0, true, command.cta_group) + interval;
  take_pipe(start, interval, done, command.cta_group);
  join_group(start, done, command.source);
  for (Umma* cta : {this, command.cta_group == 2 ? peer_ : nullptr}) {
    if (!cta) continue;
    cta->tmem_.wrote(column, columns, groups_written(command.shape));
    if (!cta->tmem_.knows_writer(column, columns, command.source.warp))
      cta->tmem_.written_by(column, columns, "a tcgen05.cp", command.source);
    Source by = command.source;
    by.kind = ActorKind::umma;
    observer_.unit_span({.kind = UnitSpanKind::tmem_write,
                         .begin = Cycles(start),
                         .end = Cycles(std::llround(done)),
                         .slot = cta->slot_,
                         .bytes = int64_t(copy_bytes(command.shape)),
                         .flow_in = command.source.flow,
                         .source = by,
                         .column = int(column),
                         .columns = int(columns)});
  }
  if (sm_.with_data) copies_.push_back({*operation, sequence_});
  if (sm_.provenance)
    sm_.provenance->copied_to_tensor_memory(command.cta_group == 1
                                                ? participants(slot_, sm_.id)
                                                : participants(slot_, sm_.id, peer_->slot_, peer_->sm_.id),
                                            *operation, command.source);
}

double Umma::copy_interval(TmemCopyShape shape) const {
  return double(copy_bytes(shape)) / profile_.umma.cp_bytes_per_cycle;
}

void Umma::retire_copies(uint64_t sequence) {
  for (; !copies_.empty() && copies_.front().sequence <= sequence; copies_.pop_front()) {
    const TensorMemoryCopy& copy = copies_.front().operation;
    for (Umma* cta : {this, copy.cta_group == 2 ? peer_ : nullptr})
      if (cta) execute(copy, cta->participant());
  }
}

}  // namespace sm100::models
