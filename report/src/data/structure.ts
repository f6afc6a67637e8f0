// SPDX-License-Identifier: Apache-2.0
// What belongs together: the CTAs of a trace, with their roles, units, barrier arrays and rings.

import type {Trace, Track} from './trace';

/** A pair of barrier arrays that hand the stages of a buffer to and fro: input_full and input_empty. */
export interface Ring {
  name: string;
  stages: number;
}

export interface BarrierArray {
  name: string;
  /** By stage. */
  tracks: Track[];
}

export interface Cta {
  /** Key of the CTA in both of two traces. */
  key: string;
  id: number;
  sm: number;
  title: string;
  /** Linear id of the cluster's first CTA, and the rank in it; -1: the CTA is alone, or the trace does not say. */
  cluster: number;
  rank: number;
  roles: Track[];
  units: Track[];
  arrays: BarrierArray[];
  rings: Ring[];
  /** First and last tick of anything in it. */
  begin: number;
  end: number;
}

/** "input_full[2]" -> ["input_full", 2] */
export function splitBarrierName(name: string): [string, number] {
  const bracket = name.lastIndexOf('[');
  return bracket < 0 ? [name, 0] : [name.slice(0, bracket), parseInt(name.slice(bracket + 1), 10) || 0];
}

/**
 * "input_full" of "gemm.input_full": a run of several kernels puts the name of the launch before those of its roles and
 * barriers.
 */
export function withoutLaunch(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}

function addRings(trace: Trace, cta: Cta): void {
  const stages = new Map<string, number>();
  for (const array of cta.arrays) stages.set(array.name, array.tracks.length);
  if (stages.size === 0) {
    // A GPU records no barriers, but its roles say what they wait for.
    for (const role of cta.roles)
      for (let i = trace.spanStart[role.id]; i < trace.spanStart[role.id + 1]; ++i) {
        const name = trace.pipeline(i);
        if (name) stages.set(name, Math.max(stages.get(name) ?? 0, trace.spans.stage[i] + 1));
      }
  }
  for (const [name, count] of stages) {
    if (!name.endsWith('_full')) continue;
    const base = name.slice(0, -'_full'.length);
    if (stages.has(`${base}_empty`) && count > 0) cta.rings.push({name: base, stages: count});
  }
}

export function findCtas(trace: Trace): Cta[] {
  const byParent = new Map<number, Cta>();
  const ctaOf = (track: Track): Cta => {
    const parent = trace.tracks[track.parent]?.kind === 'cta' ? track.parent : -2 - track.cta;
    let cta = byParent.get(parent);
    if (!cta) {
      const title = parent >= 0 ? trace.tracks[parent].name : track.cta < 0 ? 'Host' : `CTA ${track.cta} on SM ${track.sm}`;
      const {cluster, rank} = parent >= 0 ? trace.tracks[parent] : {cluster: -1, rank: -1};
      cta = {key: '', id: track.cta, sm: track.sm, title, cluster, rank, roles: [], units: [], arrays: [], rings: [],
        begin: Infinity, end: -Infinity};
      byParent.set(parent, cta);
    }
    return cta;
  };
  for (const track of trace.tracks) {
    if (track.kind === 'gpu' || track.kind === 'cta') continue;
    const cta = ctaOf(track);
    if (track.kind === 'role') cta.roles.push(track);
    else if (track.kind === 'unit') cta.units.push(track);
    else {
      const [name, stage] = splitBarrierName(track.name);
      let array = cta.arrays.find((a) => a.name === name);
      if (!array) cta.arrays.push(array = {name, tracks: []});
      array.tracks[stage] = track;
    }
    const {spans, events, spanStart, eventStart} = trace;
    for (let i = spanStart[track.id]; i < spanStart[track.id + 1]; ++i) {
      cta.begin = Math.min(cta.begin, spans.begin[i]);
      cta.end = Math.max(cta.end, spans.end[i]);
    }
    const lastEvent = eventStart[track.id + 1] - 1;
    if (lastEvent >= eventStart[track.id]) {
      cta.begin = Math.min(cta.begin, events.time[eventStart[track.id]]);
      cta.end = Math.max(cta.end, events.time[lastEvent]);
    }
  }
  const ctas = [...byParent.values()].filter((cta) => cta.begin <= cta.end);
  ctas.sort((a, b) => a.id - b.id || a.begin - b.begin);
  const seen = new Map<number, number>();
  for (const cta of ctas) {
    const times = seen.get(cta.id) ?? 0;
    seen.set(cta.id, times + 1);
    cta.key = times === 0 ? `${cta.id}` : `${cta.id}.${times}`;
    cta.arrays = cta.arrays.filter((a) => (a.tracks = a.tracks.filter((t) => t)).length > 0);
    addRings(trace, cta);
  }
  return ctas;
}

/** Whether the CTA's kernel works in pairs; of several kernels, each has its launch's name before its keys. */
function isPaired(trace: Trace, cta: Cta): boolean {
  const role = cta.roles[0]?.name ?? '';
  const launch = role.slice(0, role.length - withoutLaunch(role).length);
  return trace.metadata.configuration[`${launch}cta_group`] === 2;
}

/** Of a pair, the CTA of the odd rank; CTAs are numbered over all launches of a run. */
function isOdd(cta: Cta): boolean {
  return (cta.rank >= 0 ? cta.rank : cta.id) % 2 === 1;
}

/** The other CTA of a pair (cta_group 2), null if it has none. */
export function pairOf(trace: Trace, ctas: Cta[], cta: Cta): Cta | null {
  if (!isPaired(trace, cta)) return null;
  const id = isOdd(cta) ? cta.id - 1 : cta.id + 1;
  return ctas.find((c) => c.id === id && c.cluster === cta.cluster) ?? null;
}

/** "cluster of CTA 4, rank 1, pair with CTA 4"; "" for a CTA that is alone. */
export function clusterText(trace: Trace, ctas: Cta[], cta: Cta): string {
  if (cta.cluster < 0) return '';
  const pair = pairOf(trace, ctas, cta);
  return `cluster of CTA ${cta.cluster}, rank ${cta.rank}${pair ? `, pair with ${pair.id}` : ''}`;
}

/** The CTA whose barriers count for both of a pair (cta_group 2): the even one. */
export function leaderOf(trace: Trace, ctas: Cta[], cta: Cta): Cta {
  if (!isPaired(trace, cta) || !isOdd(cta)) return cta;
  return ctas.find((c) => c.id === cta.id - 1) ?? cta;
}
