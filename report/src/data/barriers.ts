// SPDX-License-Identifier: Apache-2.0
// A barrier over time: its phases, what it still misses, and who is waiting on it.

import type {Trace, Track} from './trace';

export interface BarrierLane {
  /** Phase n lasts from phaseBegin[n] to phaseBegin[n + 1], or to the end. */
  phaseBegin: number[];
  /** After time[i] the barrier misses pending[i] arrivals and tx[i] bytes. */
  time: number[];
  pending: number[];
  tx: number[];
  mostPending: number;
  mostTx: number;
  waits: {begin: number; end: number; actor: string; open: boolean}[];
}

export function barrierLane(trace: Trace, track: Track, end: number): BarrierLane {
  const {events} = trace;
  const lane: BarrierLane = {phaseBegin: [], time: [], pending: [], tx: [], mostPending: 0, mostTx: 0, waits: []};
  const open = new Map<number, number>();
  for (let e = trace.eventStart[track.id]; e < trace.eventStart[track.id + 1]; ++e) {
    const kind = trace.eventKinds[events.kind[e]], time = events.time[e];
    if (kind === 'wait_begin') open.set(events.actor[e], time);
    else if (kind === 'wait_end') {
      const begin = open.get(events.actor[e]);
      if (begin !== undefined) lane.waits.push({begin, end: time, actor: trace.names[events.actor[e]] ?? '', open: false});
      open.delete(events.actor[e]);
    } else {
      if (kind === 'init' || kind === 'phase_complete') lane.phaseBegin.push(time);
      lane.time.push(time);
      lane.pending.push(events.pending[e]);
      lane.tx.push(events.tx[e]);
      lane.mostPending = Math.max(lane.mostPending, events.pending[e]);
      lane.mostTx = Math.max(lane.mostTx, events.tx[e]);
    }
  }
  for (const [actor, begin] of open) lane.waits.push({begin, end, actor: trace.names[actor] ?? '', open: true});
  lane.waits.sort((a, b) => a.begin - b.begin);
  return lane;
}

/** Index of the last element that is at most `value`, -1 if none. */
export function lastAtMost(sorted: ArrayLike<number>, value: number, from = 0, to = sorted.length): number {
  let low = from, high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1 < from ? -1 : low - 1;
}
