// SPDX-License-Identifier: Apache-2.0
// Finds spans by words.  All words must fit:
//
//   mma, wait, input_full, input_full[2], epilogue ...   part of the lane's name, the kind, the barrier, the tensor or the line
//   stage:2 phase:3 k:5 cta:4 warp:6 sm:7                that field has that value
//   tile:1,0                                             tile_m, tile_n
//   >500                                                 longer than so many ticks

import {tileText} from './tiles';
import type {Trace} from './trace';

export interface Hit {
  side: number;
  span: number;
}

type Test = (span: number) => boolean;

function numberTest(trace: Trace, field: string, value: number): Test | null {
  const {spans} = trace;
  switch (field) {
    case 'stage': return (i) => spans.stage[i] === value;
    case 'phase': return (i) => spans.phase[i] === value;
    case 'k': return (i) => spans.k[i] === value;
    case 'cta': return (i) => trace.track(i).cta === value;
    case 'sm': return (i) => trace.track(i).sm === value;
    case 'warp': return (i) => trace.track(i).warp === value;
    case 'bytes': return (i) => spans.bytes[i] === value;
    default: return null;
  }
}

function wordTest(trace: Trace, word: string): Test {
  const {spans} = trace;
  const field = /^([a-z]+)[:=](-?\d+)$/.exec(word);
  const test = field && numberTest(trace, field[1], parseInt(field[2], 10));
  if (test) return test;
  const tile = /^tile[:=]?\(?(\d+),(\d+)\)?$/.exec(word);
  if (tile) return (i) => tileText(trace, i).startsWith(`tile (${tile[1]}, ${tile[2]})`);
  const longer = /^>(\d+)$/.exec(word);
  if (longer) return (i) => spans.end[i] - spans.begin[i] > +longer[1];
  const barrier = /^(\w+)\[(\d+)\]$/.exec(word);
  if (barrier) return (i) => spans.stage[i] === +barrier[2] && trace.pipeline(i).includes(barrier[1]);
  // A word fits or does not fit a name as a whole, so each name is looked at once.
  const tracks = trace.tracks.map((t) => t.name.toLowerCase().includes(word));
  const kinds = trace.spanKinds.map((kind) => kind.includes(word) || kind.replace('_', ' ').includes(word));
  const names = trace.names.map((name) => name.toLowerCase().includes(word));
  return (i) => tracks[spans.track[i]] || kinds[spans.kind[i]] || names[spans.pipeline[i]] === true || names[spans.line[i]] === true || names[spans.operand[i]] === true && word.length === trace.names[spans.operand[i]].length;
}

export function search(traces: Trace[], query: string): Hit[] {
  const words = query.toLowerCase().replace(/\btile \((\d+), ?(\d+)\)/, 'tile:$1,$2').split(/\s+/).filter((word) => word);
  if (words.length === 0) return [];
  const hits: Hit[] = [];
  traces.forEach((trace, side) => {
    const tests = words.map((word) => wordTest(trace, word));
    for (let span = 0; span < trace.spans.count; ++span)
      if (tests.every((test) => test(span))) hits.push({side, span});
  });
  const begin = ({side, span}: Hit) => traces[side].spans.begin[span] - traces[side].begin;
  return hits.sort((a, b) => begin(a) - begin(b));
}
