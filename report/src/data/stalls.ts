// SPDX-License-Identifier: Apache-2.0
// Where the roles' time goes: the same figures as `sm100sim stats` (traces/analysis/statistics.h), of the whole run or a part of it.

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

/** Part of [from, to] in which at least one span of the unit tracks with this name is open, over all such tracks. */
export function unitBusy(trace: Trace, unit: string, from: number, to: number): number {
  const {spans} = trace;
  let busy = 0, tracks = 0;
  for (const track of trace.tracks) {
    if (track.kind !== 'unit' || track.name !== unit) continue;
    if (trace.spanStart[track.id] === trace.spanStart[track.id + 1]) continue;
    ++tracks;
    let until = from;
    for (let i = trace.spanStart[track.id]; i < trace.spanStart[track.id + 1]; ++i) {
      const end = Math.min(spans.end[i], to);
      if (end > until) {
        busy += end - Math.max(until, spans.begin[i]);
        until = end;
      }
    }
  }
  return tracks > 0 && to > from ? busy / (tracks * (to - from)) : 0;
}
