// SPDX-License-Identifier: Apache-2.0
// Tiles of a CTA in the order in which it worked on them, so that each gets the same tint in every lane.

import type {Cta} from './structure';
import type {Trace} from './trace';

export type TileNumbers = Map<string, number>;

export function tileKey(trace: Trace, span: number): string | null {
  const {tileM, tileN, tileK} = trace.spans;
  return tileM[span] < 0 && tileN[span] < 0 ? null : `${tileM[span]},${tileN[span]},${tileK[span]}`;
}

export function tileNumbers(trace: Trace, cta: Cta): TileNumbers {
  const tile = trace.kindNumber('tile');
  const tiles: [number, string][] = [];
  for (const role of cta.roles)
    for (let i = trace.spanStart[role.id]; i < trace.spanStart[role.id + 1]; ++i) {
      const key = trace.spans.kind[i] === tile ? tileKey(trace, i) : null;
      if (key) tiles.push([trace.spans.begin[i], key]);
    }
  tiles.sort((a, b) => a[0] - b[0]);
  const numbers: TileNumbers = new Map();
  for (const [, key] of tiles) if (!numbers.has(key)) numbers.set(key, numbers.size);
  return numbers;
}

/** The tile that a span is part of, "" if none. */
export function tileText(trace: Trace, span: number): string {
  const {tileM, tileN, tileK} = trace.spans;
  const i = tileM[span] < 0 && trace.tileAround[span] >= 0 ? trace.tileAround[span] : span;
  if (tileM[i] < 0 && tileN[i] < 0) return '';
  return `tile (${tileM[i]}, ${tileN[i]})${tileK[i] > 0 ? ` split ${tileK[i]}` : ''}`;
}

/** "input_full[2]", "stage 2" or "". */
export function placeText(trace: Trace, span: number): string {
  const pipeline = trace.pipeline(span), stage = trace.spans.stage[span];
  if (pipeline) return stage >= 0 ? `${pipeline}[${stage}]` : pipeline;
  return stage >= 0 ? `stage ${stage}` : '';
}
