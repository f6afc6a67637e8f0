// SPDX-License-Identifier: Apache-2.0
// The time axis: round numbers, in ticks or in time.

import type {Model} from '../model';
import {grouped, tickName} from '../text/format';

export interface Tick {
  x: number;
  text: string;
}

function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least) ?? 10 * power;
}

export function axisTicks(model: Model): {ticks: Tick[]; unit: string} {
  const {view} = model;
  const trace = model.sides[0].trace;
  const nsPerTick = 1e9 / trace.metadata.ticks_per_second;
  const inTime = model.unit === 'time';
  const length = (view.to - view.from) * (inTime ? nsPerTick : 1);
  const step = Math.max(inTime ? 0 : 1, roundStep(length / (view.width / 90)));
  const micro = inTime && length >= 4000;
  const digits = Math.max(0, -Math.floor(Math.log10(step / (micro ? 1000 : 1)) + 1e-9));
  const unit = inTime ? (micro ? '\u00b5s' : 'ns') : tickName(trace);
  const ticks: Tick[] = [];
  const scale = inTime ? nsPerTick : 1;
  for (let n = Math.ceil(view.from * scale / step); n * step <= view.to * scale; ++n) {
    const value = n * step + 0; // not -0
    const shown = micro ? value / 1000 : value;
    ticks.push({x: view.x(value / scale), text: digits > 0 ? shown.toFixed(digits) : grouped(shown)});
  }
  return {ticks, unit};
}
