// SPDX-License-Identifier: Apache-2.0
// The way from one run to the next: each span of the new one begins where the old one had the span that means the same, and
// what the old one had not grows from nothing.  Only the picture sees it; panels show the new run at once.

import type {Model} from '../model';
import type {Trace} from '../data/trace';
import type {Side} from './layout';

const kMilliseconds = 380;
/** Larger runs are not worth the computing. */
const kMostSpans = 20_000;

/** Numbers of the same text, in order of appearance: "mma 1", "mma 2". */
class Names {
  private readonly seen = new Map<string, number>();
  next(text: string): string {
    const n = (this.seen.get(text) ?? 0) + 1;
    this.seen.set(text, n);
    return `${text} ${n}`;
  }
}

function lane(trace: Trace, track: number): string {
  const t = trace.tracks[track];
  return `${t.cta} ${t.kind} ${t.name} ${t.warp}`;
}

function spanNames(trace: Trace): string[] {
  const {spans} = trace, names = new Names();
  return Array.from({length: spans.count}, (_, i) => names.next(
    `${lane(trace, spans.track[i])}|${trace.kind(i)}|${trace.pipeline(i)}|${spans.tileM[i]} ${spans.tileN[i]} ${spans.tileK[i]} ${spans.k[i]}`));
}
function eventNames(trace: Trace): string[] {
  const {events} = trace, names = new Names();
  return Array.from({length: events.count}, (_, i) => names.next(`${lane(trace, events.track[i])}|${trace.eventKinds[events.kind[i]]}`));
}

function byName(names: string[]): Map<string, number> {
  return new Map(names.map((name, i) => [name, i]));
}

/** No element before its neighbour on the same track: drawing searches in them. */
function putInOrder(values: Float64Array, track: Int32Array): void {
  for (let i = 1; i < values.length; ++i)
    if (track[i] === track[i - 1] && values[i] < values[i - 1]) values[i] = values[i - 1];
}

/** A trace whose spans and barrier events are on their way. */
class MovingTrace {
  readonly trace: Trace;
  private readonly first: {begin: Float64Array; end: Float64Array; time: Float64Array};
  private readonly now: {begin: Float64Array; end: Float64Array; time: Float64Array};

  constructor(old: Trace, private readonly last: Trace) {
    const {spans, events} = last;
    const scale = (old.end - old.begin) / (last.end - last.begin);
    const [begin, end, time] = [new Float64Array(spans.count), new Float64Array(spans.count), new Float64Array(events.count)];
    const oldSpans = byName(spanNames(old));
    spanNames(last).forEach((name, i) => {
      const partner = oldSpans.get(name);
      if (partner === undefined) begin[i] = end[i] = old.begin + (spans.begin[i] - last.begin) * scale;
      else [begin[i], end[i]] = [old.spans.begin[partner], old.spans.end[partner]];
    });
    putInOrder(begin, spans.track);
    for (let i = 0; i < end.length; ++i) end[i] = Math.max(begin[i], end[i]);
    const oldEvents = byName(eventNames(old));
    eventNames(last).forEach((name, i) => {
      const partner = oldEvents.get(name);
      time[i] = partner === undefined ? old.begin + (events.time[i] - last.begin) * scale : old.events.time[partner];
    });
    putInOrder(time, events.track);
    this.first = {begin, end, time};
    this.now = {begin: begin.slice(), end: end.slice(), time: time.slice()};
    this.trace = Object.create(last, {
      spans: {value: Object.create(spans, {begin: {value: this.now.begin}, end: {value: this.now.end}})},
      events: {value: Object.create(events, {time: {value: this.now.time}})},
    }) as Trace;
  }

  at(part: number): void {
    const mix = (to: Float64Array, a: Float64Array, b: Float64Array) => {
      for (let i = 0; i < to.length; ++i) to[i] = a[i] + (b[i] - a[i]) * part;
    };
    mix(this.now.begin, this.first.begin, this.last.spans.begin);
    mix(this.now.end, this.first.end, this.last.spans.end);
    mix(this.now.time, this.first.time, this.last.events.time);
  }
}

export class Morph {
  private frame = 0;
  constructor(private readonly model: Model) {}

  /** Shows the new traces; moves there if the user has nothing against movement. */
  show(traces: Trace[], replace: () => void): void {
    cancelAnimationFrame(this.frame);
    const {model} = this;
    const old = model.sides.map((side) => side.trace), seen: [number, number] = [model.view.from, model.view.to];
    replace();
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches || document.hidden;
    const fits = traces.length === old.length && [...traces, ...old].every((trace) => trace.spans.count <= kMostSpans);
    if (still || !fits) return model.changed();
    const ways = traces.map((trace, side) => new MovingTrace(old[side], trace));
    const sides = model.sides.map((side, n): Side => ({...side, trace: ways[n].trace}));
    const goal: [number, number] = [model.view.from, model.view.to];
    const started = performance.now();
    const step = () => {
      const time = Math.min(1, (performance.now() - started) / kMilliseconds), part = time * time * (3 - 2 * time);
      model.forget();
      model.moving = time < 1 ? sides : null;
      for (const way of ways) way.at(part);
      // Whoever moves the picture meanwhile has it.
      if (model.view.from === at[0] && model.view.to === at[1]) {
        at = [seen[0] + (goal[0] - seen[0]) * part, seen[1] + (goal[1] - seen[1]) * part];
        if (time === 1) at = goal;
        [model.view.from, model.view.to] = at;
      }
      model.moved();
      if (time < 1) this.frame = requestAnimationFrame(step);
    };
    let at: [number, number] = goal;
    model.changed();
    step();
  }
}
