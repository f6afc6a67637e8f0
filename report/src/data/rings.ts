// SPDX-License-Identifier: Apache-2.0
// Occupancy of a ring's stages over time, from the events of its two barrier arrays and the waits on them.
//
//   empty     nobody needs it; the producer may take it
//   filling   the producer has taken it (its wait on `empty` is over, or it has armed or signalled `full`)
//   full      the phase of `full` has completed; no consumer has seen it yet
//   reading   a consumer's wait on `full` is over, the phase of `empty` has not completed
//
// A GPU records no barrier events: then a stage counts as filling until its consumer goes on.

import {type Cta, leaderOf, splitBarrierName} from './structure';
import type {Trace, Track} from './trace';

export const kEmpty = 0, kFilling = 1, kFull = 2, kReading = 3;
export const stageStates = ['empty', 'filling', 'full', 'being read'] as const;

export interface Intervals {
  begin: number[];
  end: number[];
  state: number[];
  /** Which fill of the stage, from 0. */
  fill: number[];
}

interface Fill {
  start: number;
  complete: number;
  read: number;
  release: number;
}

class Fills {
  private readonly fills: Fill[] = [];
  at(n: number): Fill {
    while (this.fills.length <= n) this.fills.push({start: Infinity, complete: Infinity, read: Infinity, release: Infinity});
    return this.fills[n];
  }
  get all(): Fill[] {
    return this.fills;
  }
}

function arrayTrack(cta: Cta, name: string, stage: number): Track | undefined {
  return cta.arrays.find((a) => a.name === name)?.tracks[stage];
}

function completes(trace: Trace, track: Track | undefined): boolean {
  if (!track) return false;
  const done = trace.eventKinds.indexOf('phase_complete');
  for (let e = trace.eventStart[track.id]; e < trace.eventStart[track.id + 1]; ++e)
    if (trace.events.kind[e] === done) return true;
  return false;
}

/** Calls f(span) for the waits of a CTA's roles on one array, without those that only drain it. */
function forWaits(trace: Trace, cta: Cta, array: string, f: (span: number) => void): void {
  const {spans} = trace;
  const wait = trace.kindNumber('wait'), drain = trace.kindNumber('drain'), name = trace.names.indexOf(array);
  for (const role of cta.roles) {
    let drained = -Infinity;
    for (let i = trace.spanStart[role.id]; i < trace.spanStart[role.id + 1]; ++i) {
      if (spans.kind[i] === drain) drained = spans.end[i];
      if (spans.kind[i] === wait && spans.pipeline[i] === name && spans.begin[i] >= drained) f(i);
    }
  }
}

/** By stage. */
export function ringOccupancy(trace: Trace, ctas: Cta[], cta: Cta, ring: string, stages: number): Intervals[] {
  const {spans, events} = trace;
  const fullName = `${ring}_full`, emptyName = `${ring}_empty`;
  const leader = leaderOf(trace, ctas, cta);
  // Of a pair, one CTA's barrier may count for both.
  const owner = (name: string, stage: number) => completes(trace, arrayTrack(cta, name, stage)) ? cta : leader;
  const fills = Array.from({length: stages}, () => new Fills());
  const recorded = cta.arrays.length > 0;
  const done = trace.eventKinds.indexOf('phase_complete');
  const begins = ['arrive', 'expect_tx', 'complete_tx'].map((kind) => trace.eventKinds.indexOf(kind));

  for (let s = 0; s < stages; ++s) {
    const full = arrayTrack(owner(fullName, s), fullName, s), empty = arrayTrack(owner(emptyName, s), emptyName, s);
    for (let e = full ? trace.eventStart[full.id] : 0; full && e < trace.eventStart[full.id + 1]; ++e) {
      const fill = fills[s].at(Math.max(0, events.phase[e]));
      if (begins.includes(events.kind[e])) fill.start = Math.min(fill.start, events.time[e]);
      else if (events.kind[e] === done) fill.complete = events.time[e];
    }
    for (let e = empty ? trace.eventStart[empty.id] : 0; empty && e < trace.eventStart[empty.id + 1]; ++e)
      if (events.kind[e] === done) fills[s].at(events.phase[e]).release = events.time[e];
  }
  for (const from of leader === cta ? [cta] : [cta, leader]) {
    forWaits(trace, from, fullName, (i) => {
      const s = spans.stage[i];
      if (s < 0 || s >= stages || owner(fullName, s) !== from) return;
      const fill = fills[s].at(Math.max(0, spans.phase[i]));
      // A wait that the end of a hang cut off read nothing.
      if (!recorded || spans.end[i] >= fill.complete) fill.read = Math.min(fill.read, spans.end[i]);
    });
    forWaits(trace, from, emptyName, (i) => {
      const s = spans.stage[i];
      if (s < 0 || s >= stages || owner(emptyName, s) !== from) return;
      const n = spans.phase[i] + 1; // of the first lap, the wait names no phase: -1
      const released = n === 0 || !recorded || spans.end[i] >= fills[s].at(n - 1).release;
      if (released) fills[s].at(n).start = Math.min(fills[s].at(n).start, spans.end[i]);
    });
  }
  return fills.map((f) => intervalsOf(f.all, cta.end));
}

function intervalsOf(fills: Fill[], end: number): Intervals {
  const result: Intervals = {begin: [], end: [], state: [], fill: []};
  const add = (begin: number, stop: number, state: number, fill: number) => {
    if (!(begin < stop) || begin === Infinity) return;
    result.begin.push(begin);
    result.end.push(stop);
    result.state.push(state);
    result.fill.push(fill);
  };
  fills.forEach((fill, n) => {
    const next = n + 1 < fills.length ? fills[n + 1].start : Infinity;
    const last = Math.min(next, end);
    const release = Math.min(fill.release, last);
    const read = Math.min(fill.read, release);
    const complete = Math.min(fill.complete, read);
    const start = Math.min(fill.start, complete);
    add(start, complete, kFilling, n);
    add(complete, read, kFull, n);
    add(read, release, kReading, n);
  });
  return result;
}

/** "input_full" -> "input"; of other barriers, null. */
export function ringOfBarrier(name: string): string | null {
  const [array] = splitBarrierName(name);
  return /_(full|empty)$/.test(array) ? array.replace(/_(full|empty)$/, '') : null;
}
