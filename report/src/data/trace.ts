// SPDX-License-Identifier: Apache-2.0
// A trace in memory: tracks, spans and barrier events as columns, with the indices that drawing and searching need.
// What the fields mean is in docs/trace-format.md.

import {type Container, readContainer, unpack} from './container';

export type TrackKind = 'gpu' | 'cta' | 'role' | 'unit' | 'barrier';

export interface Track {
  id: number;
  kind: TrackKind;
  name: string;
  parent: number;
  sm: number;
  cta: number;
  warp: number;
  /** Of a CTA in a cluster: the cluster's first CTA, and its rank; -1 else. */
  cluster: number;
  rank: number;
}

/** A place that has to do with a finding (FindingMark of traces/format/schema.h). */
export interface Mark {
  what: 'first' | 'second' | 'fault' | 'root' | 'victim';
  track: number;
  time: number;
  barrier: number;
  line: string;
  text: string;
}

export interface Finding {
  time: number;
  track: number;
  id: string;
  warning: boolean;
  message: string;
  report: string;
  marks: Mark[];
}

export interface Metadata {
  source: string;
  device: string;
  scenario: string;
  tool_version: string;
  /** As sm100sim run --json has them; empty where no finished simulation wrote the trace. */
  outcome: string;
  verdict: string;
  /** The length of the run, 0 or absent: not known. */
  run_ticks?: number;
  /** What of the run was recorded; empty: all. */
  part?: string;
  ticks_per_second: number;
  seed: number;
  dropped_events: number;
  configuration: Record<string, unknown>;
}

/** All segments of the critical path of one kind, role or unit, and barrier array. */
export interface PathShare {
  kind: string;
  track: string;
  pipeline: string;
  ticks: number;
  segments: number;
}

interface Header {
  name: string;
  /** The columns count times from here. */
  origin: number;
  metadata: Metadata;
  names: string[];
  track_kinds: TrackKind[];
  span_kinds: string[];
  barrier_event_kinds: string[];
  tracks: [number, string, number, number, number, number, number, number][];
  findings?: Finding[];
  path?: {verdict: string; kinds: string[]; shares: [number, string, string, number, number][]; ticks: number};
}

/** The items of group g are items[start[g]] to items[start[g + 1]] - 1. */
export class Groups {
  readonly start: Uint32Array;
  readonly items: Uint32Array;
  constructor(groupOf: Int32Array, groups: number) {
    this.start = new Uint32Array(groups + 2);
    for (const g of groupOf) if (g > 0) ++this.start[g + 1];
    for (let g = 1; g < this.start.length; ++g) this.start[g] += this.start[g - 1];
    this.items = new Uint32Array(this.start[groups + 1]);
    const next = this.start.slice();
    for (let i = 0; i < groupOf.length; ++i) if (groupOf[i] > 0) this.items[next[groupOf[i]]++] = i;
  }
  of(group: number): Uint32Array {
    return group > 0 ? this.items.subarray(this.start[group], this.start[group + 1]) : this.items.subarray(0, 0);
  }
}

export class Spans {
  readonly count: number;
  readonly track: Int32Array;
  readonly kind: Int32Array;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly pipeline: Int32Array;
  readonly stage: Int32Array;
  readonly phase: Int32Array;
  readonly tileM: Int32Array;
  readonly tileN: Int32Array;
  readonly tileK: Int32Array;
  readonly k: Int32Array;
  readonly bytes: Float64Array;
  readonly flowIn: Int32Array;
  readonly flowOut: Int32Array;
  readonly lane: Int32Array;
  readonly column: Int32Array;
  readonly columns: Int32Array;
  /** Index of "load_warp.h:36" in the names. */
  readonly line: Int32Array;
  /** Of a tensor copy: index of the tensor's name, and where its box begins. */
  readonly operand: Int32Array;
  readonly dimensions: Int32Array;
  readonly coordinates: Int32Array[];
  /** Ranks of the cluster that the instruction names, a bit each. */
  readonly multicast: Int32Array;
  constructor(data: Container<unknown>, origin: number) {
    this.track = data.column('span.track');
    this.count = this.track.length;
    this.kind = data.column('span.kind');
    this.begin = data.wideColumn('span.begin');
    this.end = data.wideColumn('span.duration');
    for (let i = 0; i < this.count; ++i) this.end[i] += this.begin[i] += origin;
    this.pipeline = data.column('span.pipeline');
    this.stage = data.column('span.stage');
    this.phase = data.column('span.phase');
    this.tileM = data.column('span.tile_m');
    this.tileN = data.column('span.tile_n');
    this.tileK = data.column('span.tile_k');
    this.k = data.column('span.k');
    this.bytes = data.wideColumn('span.bytes');
    this.flowIn = data.column('span.flow_in');
    this.flowOut = data.column('span.flow_out');
    this.lane = data.column('span.lane');
    this.column = data.column('span.column');
    this.columns = data.column('span.columns');
    this.line = data.column('span.line');
    this.operand = data.column('span.operand');
    this.dimensions = data.column('span.dimensions');
    this.coordinates = [0, 1, 2, 3, 4].map((d) => data.column(`span.coordinate_${d}`));
    this.multicast = data.column('span.multicast');
  }
}

export class BarrierEvents {
  readonly count: number;
  readonly track: Int32Array;
  readonly kind: Int32Array;
  readonly time: Float64Array;
  readonly actor: Int32Array;
  readonly phase: Int32Array;
  readonly pending: Int32Array;
  readonly tx: Int32Array;
  readonly amount: Int32Array;
  /** Track of who did it, -1 if unknown. */
  readonly by: Int32Array;
  readonly flow: Int32Array;
  constructor(data: Container<unknown>, origin: number) {
    this.track = data.column('event.track');
    this.count = this.track.length;
    this.kind = data.column('event.kind');
    this.time = data.wideColumn('event.time');
    for (let i = 0; i < this.count; ++i) this.time[i] += origin;
    this.actor = data.column('event.actor');
    this.phase = data.column('event.phase');
    this.pending = data.column('event.pending');
    this.tx = data.column('event.tx');
    this.amount = data.column('event.amount');
    this.by = data.column('event.by');
    this.flow = data.column('event.flow');
  }
}

/** Waits that are not for an mbarrier: a named barrier, a bulk group. */
export class Wakeups {
  readonly count: number;
  readonly track: Int32Array;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly reason: Int32Array;
  readonly by: Int32Array;
  constructor(data: Container<unknown>, origin: number) {
    this.track = data.column('wakeup.track');
    this.count = this.track.length;
    this.begin = data.wideColumn('wakeup.begin');
    this.end = data.wideColumn('wakeup.duration');
    for (let i = 0; i < this.count; ++i) this.end[i] += this.begin[i] += origin;
    this.reason = data.column('wakeup.reason');
    this.by = data.column('wakeup.by');
  }
}

/** The chain of work and waits that decides when the run ends (traces/analysis/critical_path.h), in order of time. */
export class CriticalPath {
  readonly verdict: string;
  readonly shares: PathShare[];
  readonly ticks: number;
  readonly count: number;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  readonly track: Int32Array;
  readonly pipeline: Int32Array;
  readonly stage: Int32Array;
  readonly span: Int32Array;
  private readonly kinds: string[];
  private readonly kindOf: Int32Array;
  constructor(data: Container<unknown>, header: NonNullable<Header['path']>, origin: number) {
    this.verdict = header.verdict;
    this.ticks = header.ticks;
    this.kinds = header.kinds;
    this.shares = header.shares.map(([kind, track, pipeline, ticks, segments]) => ({kind: this.kinds[kind], track, pipeline, ticks, segments}));
    this.begin = data.wideColumn('path.begin');
    this.count = this.begin.length;
    this.end = data.wideColumn('path.duration');
    for (let i = 0; i < this.count; ++i) this.end[i] += this.begin[i] += origin;
    this.track = data.column('path.track');
    this.kindOf = data.column('path.kind');
    this.pipeline = data.column('path.pipeline');
    this.stage = data.column('path.stage');
    this.span = data.column('path.span');
  }
  kind(segment: number): string {
    return this.kinds[this.kindOf[segment]];
  }
}

/** First row of each track in a column that is sorted by track, and one past the last. */
function starts(trackOf: Int32Array, tracks: number): Uint32Array {
  const start = new Uint32Array(tracks + 1);
  for (const t of trackOf) ++start[t + 1];
  for (let t = 0; t < tracks; ++t) start[t + 1] += start[t];
  return start;
}

export class Trace {
  readonly name: string;
  readonly metadata: Metadata;
  readonly names: string[];
  readonly tracks: Track[];
  readonly spanKinds: string[];
  readonly eventKinds: string[];
  readonly spans: Spans;
  readonly events: BarrierEvents;
  readonly wakeups: Wakeups;
  readonly findings: Finding[];
  /** null: the trace does not hold what it takes. */
  readonly path: CriticalPath | null;
  readonly begin: number;
  readonly end: number;
  /** Rows of track t: spanStart[t] to spanStart[t + 1] - 1. */
  readonly spanStart: Uint32Array;
  readonly eventStart: Uint32Array;
  readonly wakeupStart: Uint32Array;
  /** 1 where a span holds others on its track, as `tile` does. */
  readonly contains: Uint8Array;
  /** The `tile` span around a span, itself if it is one, -1 if none. */
  readonly tileAround: Int32Array;
  private readonly sources: Int32Array;
  private readonly sinks: Groups;
  private readonly passing: Groups;
  private readonly kindIndex = new Map<string, number>();

  constructor(data: Container<Header>) {
    const h = data.header;
    this.name = h.name;
    this.metadata = h.metadata;
    this.names = h.names;
    this.spanKinds = h.span_kinds;
    this.eventKinds = h.barrier_event_kinds;
    this.spanKinds.forEach((kind, i) => this.kindIndex.set(kind, i));
    this.tracks = h.tracks.map(([kind, name, parent, sm, cta, warp, cluster, rank], id) => ({
      id, kind: h.track_kinds[kind], name, parent, sm, cta, warp, cluster, rank,
    }));
    this.findings = h.findings ?? [];
    // A simulation's cycles are those of its reports; a GPU's timer counts from some day long ago.
    const origin = h.metadata.source === 'sim' ? h.origin : 0;
    this.spans = new Spans(data, origin);
    this.events = new BarrierEvents(data, origin);
    this.wakeups = new Wakeups(data, origin);
    this.path = h.path ? new CriticalPath(data, h.path, origin) : null;
    for (const finding of this.findings) {
      finding.time += origin;
      for (const mark of finding.marks) mark.time += origin;
    }
    this.spanStart = starts(this.spans.track, this.tracks.length);
    this.eventStart = starts(this.events.track, this.tracks.length);
    this.wakeupStart = starts(this.wakeups.track, this.tracks.length);
    const {spans, events} = this;
    let begin = Infinity, end = -Infinity;
    let flows = 0;
    for (let i = 0; i < spans.count; ++i) {
      begin = Math.min(begin, spans.begin[i]);
      end = Math.max(end, spans.end[i]);
      flows = Math.max(flows, spans.flowIn[i], spans.flowOut[i]);
    }
    for (let i = 0; i < events.count; ++i) {
      begin = Math.min(begin, events.time[i]);
      end = Math.max(end, events.time[i]);
      flows = Math.max(flows, events.flow[i]);
    }
    // The last stores become visible after the last warp has exited.
    if (h.metadata.source === 'sim' && !h.metadata.part) end = Math.max(end, h.metadata.run_ticks ?? 0);
    this.begin = begin < end ? begin : 0;
    this.end = begin < end ? end : 1;
    this.sources = new Int32Array(flows + 1).fill(-1);
    for (let i = 0; i < spans.count; ++i) if (spans.flowOut[i] > 0) this.sources[spans.flowOut[i]] = i;
    this.sinks = new Groups(spans.flowIn, flows);
    this.passing = new Groups(events.flow, flows);
    this.contains = this.findContainers();
    this.tileAround = this.findTiles();
  }

  kind(span: number): string {
    return this.spanKinds[this.spans.kind[span]];
  }
  kindNumber(name: string): number {
    return this.kindIndex.get(name) ?? -1;
  }
  /** What the run printed as its length; where that is not known, from the first event to the last. */
  get length(): number {
    return this.metadata.run_ticks || this.end - this.begin;
  }
  /** "load_warp.h:36", or "" where it is not known. */
  line(span: number): string {
    return this.names[this.spans.line[span]] ?? '';
  }
  /** The innermost span of the track at that time; of several that touch it rather one that fits; -1: none. */
  spanAt(track: number, time: number, fits: (span: number) => boolean = () => true): number {
    const {spans} = this;
    let best = -1, bestLength = Infinity, bestFits = false;
    for (let i = this.spanStart[track]; i < this.spanStart[track + 1] && spans.begin[i] <= time; ++i) {
      if (spans.end[i] < time) continue;
      const length = spans.end[i] - spans.begin[i], fit = fits(i);
      if (bestFits && !fit || bestFits === fit && length > bestLength) continue;
      [best, bestLength, bestFits] = [i, length, fit];
    }
    return best;
  }
  track(span: number): Track {
    return this.tracks[this.spans.track[span]];
  }
  /** "input_full", or "" where the span names none. */
  pipeline(span: number): string {
    return this.names[this.spans.pipeline[span]] ?? '';
  }
  /** The span in which the flow begins, -1 if none. */
  source(flow: number): number {
    return flow > 0 ? this.sources[flow] : -1;
  }
  /** The spans that the flow ends. */
  sinksOf(flow: number): Uint32Array {
    return this.sinks.of(flow);
  }
  /** The barrier events that the flow passes. */
  eventsOf(flow: number): Uint32Array {
    return this.passing.of(flow);
  }

  private findTiles(): Int32Array {
    const {spans} = this;
    const around = new Int32Array(spans.count).fill(-1);
    const tile = this.kindNumber('tile');
    for (let i = 0, last = -1; i < spans.count; ++i) {
      if (spans.kind[i] === tile) last = i;
      if (last >= 0 && spans.track[last] === spans.track[i] && spans.begin[i] < spans.end[last]) around[i] = last;
    }
    return around;
  }

  private findContainers(): Uint8Array {
    const {spans} = this;
    const contains = new Uint8Array(spans.count);
    const tile = this.kindNumber('tile'), drain = this.kindNumber('drain');
    for (let i = 0; i + 1 < spans.count; ++i) {
      if (spans.kind[i] !== tile && spans.kind[i] !== drain) continue;
      // What it holds stands directly behind it.
      contains[i] = spans.track[i + 1] === spans.track[i] && spans.begin[i + 1] < spans.end[i] ? 1 : 0;
    }
    return contains;
  }
}

export async function readTrace(id: string): Promise<Trace | null> {
  const data = await readContainer<Header>(id);
  return data ? new Trace(data) : null;
}

/** Of a block that is not in the page. */
export async function unpackTrace(base64: string): Promise<Trace> {
  return new Trace(await unpack<Header>(base64));
}
