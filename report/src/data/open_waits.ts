// SPDX-License-Identifier: Apache-2.0
// Waits that nobody ended: the run stopped while a warp slept at a barrier.

import type {Trace} from './trace';

export function findOpenWaits(trace: Trace): Set<number> {
  const {events, spans} = trace;
  const begins = trace.eventKinds.indexOf('wait_begin'), ends = trace.eventKinds.indexOf('wait_end');
  const found = new Set<number>();
  for (const barrier of trace.tracks) {
    if (barrier.kind !== 'barrier') continue;
    const open = new Map<number, number>(); // by the track that waits: since when
    for (let e = trace.eventStart[barrier.id]; e < trace.eventStart[barrier.id + 1]; ++e) {
      if (events.kind[e] === begins) open.set(events.by[e], events.time[e]);
      else if (events.kind[e] === ends) open.delete(events.by[e]);
    }
    for (const [role, time] of open)
      for (let i = (trace.spanStart[role + 1] ?? 0) - 1; i >= trace.spanStart[role]; --i)
        if (trace.kind(i) === 'wait' && spans.begin[i] <= time && spans.end[i] >= time) {
          found.add(i);
          break;
        }
  }
  return found;
}
