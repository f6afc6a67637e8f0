// SPDX-License-Identifier: Apache-2.0
// Numbers for people.

import type {Trace} from '../data/trace';
import type {Model} from '../model';

export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** "cycles", "ns" or "ticks": what a trace counts in. */
export function tickName(trace: Trace): string {
  if (trace.metadata.source !== 'hardware') return 'cycles';
  return trace.metadata.ticks_per_second === 1e9 ? 'ns' : 'ticks';
}

/** "1.66 \u00b5s", "35 ns" */
export function seconds(trace: Trace, ticks: number): string {
  return nanoseconds(ticks * 1e9 / trace.metadata.ticks_per_second);
}
export function nanoseconds(ns: number): string {
  if (Math.abs(ns) >= 1e6) return `${(ns / 1e6).toPrecision(4)} ms`;
  if (Math.abs(ns) >= 1000) return `${(ns / 1000).toPrecision(4)} \u00b5s`;
  return `${ns.toFixed(ns < 10 ? 1 : 0)} ns`;
}

/** A length of time in the unit that the user chose. */
export function duration(model: Model, ticks: number, trace: Trace = model.sides[0].trace): string {
  if (model.unit === 'time') return seconds(trace, ticks);
  const name = tickName(trace);
  return `${grouped(ticks)} ${ticks === 1 && name === 'cycles' ? 'cycle' : name}`;
}

export function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

/** "32 KiB", "16,384 B" */
export function bytes(value: number): string {
  return value >= 1024 && value % 1024 === 0 ? `${grouped(value / 1024)} KiB` : `${grouped(value)} B`;
}
