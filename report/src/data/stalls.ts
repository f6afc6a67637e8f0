// SPDX-License-Identifier: Apache-2.0
// Where the roles' time goes: the same figures as `sm100sim stats` (traces/analysis/statistics.h), of the whole run or a part of it.

import {type Cta, pairOf} from './structure';
import type {Trace} from './trace';

export interface RoleShare {
  role: string;
  /** Ticks, summed over the tracks of the role. */
  total: number;
  working: number;
  /** By what is waited for, the longest first. */
  waiting: [string, number][];
  tracks: number;
}

/** Only what lies in [from, to] and, if given, on the CTAs that `includes` accepts. */
export function roleShares(trace: Trace, from = -Infinity, to = Infinity,
                           includes: (cta: number) => boolean = () => true): RoleShare[] {
  const {spans} = trace;
  const wait = trace.kindNumber('wait');
  const roles = new Map<string, RoleShare & {sums: Map<string, number>}>();
  for (const track of trace.tracks) {
    if (track.kind !== 'role' || !includes(track.cta)) continue;
    let role = roles.get(track.name);
    if (!role) roles.set(track.name, role = {role: track.name, total: 0, working: 0, waiting: [], tracks: 0, sums: new Map()});
    ++role.tracks;
    let first = Infinity, last = -Infinity;
    for (let i = trace.spanStart[track.id]; i < trace.spanStart[track.id + 1]; ++i) {
      const begin = Math.max(spans.begin[i], from), end = Math.min(spans.end[i], to);
      if (begin > end) continue;
      first = Math.min(first, begin);
      last = Math.max(last, end);
      if (spans.kind[i] !== wait) continue;
      const what = trace.pipeline(i) || '(unnamed)';
      role.sums.set(what, (role.sums.get(what) ?? 0) + end - begin);
    }
    if (last > first) role.total += last - first;
  }
  const result: RoleShare[] = [];
  for (const {sums, ...role} of roles.values()) {
    if (role.total === 0) continue;
    role.waiting = [...sums].sort((a, b) => b[1] - a[1]);
    role.working = role.total - Math.min(role.total, role.waiting.reduce((sum, [, ticks]) => sum + ticks, 0));
    result.push(role);
  }
  return result;
}

/** Part of the run in which MMAs are in flight, over the SMs that ran a CTA; 0 where no MMA is recorded. */
export function tensorCoreShare(trace: Trace, ctas: Cta[]): number {
  const {spans} = trace;
  const umma = trace.kindNumber('umma');
  const cores = new Map<string, [number, number][]>();  // CTAs of an SM share one
  for (const cta of ctas) {
    const unit = cta.units.find(({name}) => name === 'umma');
    if (!unit || trace.spanStart[unit.id] === trace.spanStart[unit.id + 1]) continue;
    for (const at of [cta, pairOf(trace, ctas, cta)]) {  // a pair's MMAs run on both SMs
      if (!at) continue;
      const core = at.sm >= 0 ? `SM ${at.sm}` : `CTA ${at.id}`;
      if (!cores.has(core)) cores.set(core, []);
      for (let i = trace.spanStart[unit.id]; i < trace.spanStart[unit.id + 1]; ++i)
        if (spans.kind[i] === umma) cores.get(core)!.push([spans.begin[i], spans.end[i]]);
    }
  }
  let busy = 0;
  for (const open of cores.values()) {
    let until = -Infinity;
    for (const [begin, end] of open.sort((a, b) => a[0] - b[0])) {
      busy += Math.max(0, end - Math.max(begin, until));
      until = Math.max(until, end);
    }
  }
  const sms = new Set(trace.tracks.filter((t) => t.kind === 'cta').map((t) => t.sm)).size;
  return busy > 0 && sms > 0 ? busy / (sms * trace.length) : 0;
}
