// SPDX-License-Identifier: Apache-2.0
// What `sm100sim diff` found between two traces (traces/html/diff_data.h), as a list to step through.

import {nanoseconds} from '../text/format';
import {type Container, readContainer, unpack} from './container';
import {placeText, tileText} from './tiles';
import type {Trace} from './trace';

interface Divergence {
  role: string;
  cta: number;
  warp: number;
  what: 'missing' | 'extra' | 'differs';
  detail: string;
  event_a: string;
  event_b: string;
  time_ns: number;
  span_a: number;
  span_b: number;
  barrier_a: number;
  barrier_b: number;
}
interface Timing {
  matched: number;
  scale: number;
  offset_median_ns: number;
  span_a_ns: number;
  span_b_ns: number;
  explained_by: {role: string; kind: string; pipeline: string; count: number; a_minus_b_ns: number; share: number}[];
  waiting: {role: string; pipeline: string; share_a: number; share_b: number}[];
  periods: {role: string; kind: string; median_a_ns: number; median_b_ns: number}[];
}
export interface DiffHeader {
  configuration: string[];
  notes: string[];
  identical: boolean;
  events_compared: number;
  only_in_a: string[];
  only_in_b: string[];
  not_compared: string[];
  tiles: number;
  tiles_on_other_ctas: number;
  events_lost: boolean;
  divergences: Divergence[];
  timing: Timing;
}

/** Rows of spans and barrier events are -1 where there is none. */
export interface Difference {
  kind: 'structure' | 'timing';
  title: string;
  detail: string;
  spanA: number;
  spanB: number;
  eventA: number;
  eventB: number;
  /** Of timing: how much longer A is, in nanoseconds. */
  ns: number;
}

export interface Diff {
  header: DiffHeader;
  differences: Difference[];
  /** By span of A the span of B that means the same, and the other way round; -1 if none. */
  partnerOfA: Int32Array;
  partnerOfB: Int32Array;
}

const kTimingDifferences = 100, kOfOneSort = 8;

function timingDifferences(a: Trace, b: Trace, spansA: Int32Array, spansB: Int32Array): Difference[] {
  const nsA = 1e9 / a.metadata.ticks_per_second, nsB = 1e9 / b.metadata.ticks_per_second;
  const length = (t: Trace, i: number, ns: number) => (t.spans.end[i] - t.spans.begin[i]) * ns;
  const order = Array.from(spansA, (_, i) => ({i, ns: length(a, spansA[i], nsA) - length(b, spansB[i], nsB)}));
  order.sort((x, y) => Math.abs(y.ns) - Math.abs(x.ns));
  const largest = Math.abs(order[0]?.ns ?? 0);
  // The few sorts of span that differ most would fill the list.
  const listed = new Map<string, number>();
  const kept = order.filter(({i, ns}) => {
    const span = spansA[i], sort = `${a.track(span).name} ${a.kind(span)} ${a.pipeline(span)}`;
    const count = (listed.get(sort) ?? 0) + 1;
    listed.set(sort, count);
    return Math.abs(ns) >= Math.max(1, 0.02 * largest) && count <= kOfOneSort;
  });
  return kept.slice(0, kTimingDifferences).map(({i, ns}) => {
    const span = spansA[i], track = a.track(span);
    const text = [a.kind(span), placeText(a, span)].filter((part) => part).join(' ');
    const tile = tileText(a, span);
    return {
      kind: 'timing', spanA: span, spanB: spansB[i], eventA: -1, eventB: -1, ns,
      title: `${text}, ${nanoseconds(Math.abs(ns))} ${ns > 0 ? 'longer' : 'shorter'} in A`,
      detail: `${track.name} (warp ${track.warp}) of CTA ${track.cta}${tile ? `, ${tile}` : ''}: ` +
        `${nanoseconds(length(a, span, nsA))} against ${nanoseconds(length(b, spansB[i], nsB))}`,
    };
  });
}

export async function readDiff(a: Trace, b: Trace): Promise<Diff | null> {
  const data = await readContainer<DiffHeader>('diff');
  return data ? diffOf(data, a, b) : null;
}

/** Of a block that is not in the page. */
export async function unpackDiff(base64: string, a: Trace, b: Trace): Promise<Diff> {
  return diffOf(await unpack<DiffHeader>(base64), a, b);
}

function diffOf(data: Container<DiffHeader>, a: Trace, b: Trace): Diff {
  const {header} = data;
  const spansA = data.column('matched.a'), spansB = data.column('matched.b');
  const partnerOfA = new Int32Array(a.spans.count).fill(-1), partnerOfB = new Int32Array(b.spans.count).fill(-1);
  spansA.forEach((span, i) => {
    partnerOfA[span] = spansB[i];
    partnerOfB[spansB[i]] = span;
  });
  const structure = header.divergences.map((d): Difference => ({
    kind: 'structure', ns: 0, spanA: d.span_a, spanB: d.span_b, eventA: d.barrier_a, eventB: d.barrier_b,
    title: d.detail,
    detail: `${d.role} of CTA ${d.cta}${d.warp >= 0 ? ` (warp ${d.warp})` : ''} at ${nanoseconds(d.time_ns)}. ` +
      `A: ${d.event_a || 'nothing'}. B: ${d.event_b || 'nothing'}`,
  }));
  return {header, partnerOfA, partnerOfB, differences: [...structure, ...timingDifferences(a, b, spansA, spansB)]};
}
