// SPDX-License-Identifier: Apache-2.0
// The rows of the picture, top to bottom.  A CTA's lanes stand in the order in which data flows through the kernel: load
// warp, TMA, input ring, MMA warp, tensor core, accumulators, epilogue, stores; then what hands out the tiles; then the
// barriers.  With two traces, each row of the first is followed by the same row of the second.

import {type Cta, type Ring, clusterText, leaderOf} from '../data/structure';
import type {Trace, Track} from '../data/trace';
import {explainBarrier, explainBarrierLane, explainCta, explainRing, explainRole, explainUnit} from '../text/glossary';
import {type Actor, ringActors, roleActor} from './theme';

interface RowBase {
  y: number;
  height: number;
  /** 0 or 1: of which trace. */
  side: number;
  cta: Cta;
  label: string;
  /** One plain sentence. */
  explanation: string;
  indent: number;
  /** Rows that open and close others. */
  toggle?: string;
  open?: boolean;
}
export type Row = RowBase & (
  | {kind: 'cta'; other: Cta | null; cluster: string}
  | {kind: 'role'; track: Track}
  | {kind: 'unit'; track: Track; lanes: number}
  | {kind: 'tmem'; track: Track; writers: Track[]}
  | {kind: 'ring'; ring: Ring}
  | {kind: 'stage'; ring: Ring; stage: number}
  | {kind: 'barriers'}
  | {kind: 'barrier'; track: Track}
);
type NewRow = Row extends infer R ? R extends Row ? Omit<R, 'y' | 'side' | 'cta' | 'indent'> & {indent?: number} : never : never;

export interface Side {
  trace: Trace;
  ctas: Cta[];
}

const lastRank = 20;
const rankOfRole: Partial<Record<Actor, number>> = {load: 0, mma: 3, epilogue: 7, clc: 9};
const rankOfUnit: Record<string, number> = {'tma load': 1, umma: 4, tmem: 6, 'tma store': 8, clc: 10};
/** By who fills it; what the scheduler is told comes last. */
function rankOfRing(ring: string): number {
  const [producer, consumer] = ringActors(ring);
  const rank: Partial<Record<Actor, number>> = {load: 2, mma: 5, clc: 11};
  return consumer === 'clc' ? 12 : rank[producer] ?? lastRank;
}

export function lanesOf(trace: Trace, track: Track): number {
  let lanes = 1;
  for (let i = trace.spanStart[track.id]; i < trace.spanStart[track.id + 1]; ++i)
    lanes = Math.max(lanes, trace.spans.lane[i] + 1);
  return lanes;
}

/** Everything of one kind in a CTA of one trace, by what puts it beside its like in the other trace. */
interface Block {
  key: string;
  rank: number;
  rows: NewRow[];
}

function roleBlocks({trace, ctas}: Side, cta: Cta): Block[] {
  const leader = leaderOf(trace, ctas, cta);
  const note = (name: string) => roleActor(name) === 'mma' && leader !== cta ? ` CTA ${leader.id} issues the multiplications of this pair.` : '';
  const several = new Map<string, number>();
  for (const role of cta.roles) several.set(role.name, (several.get(role.name) ?? 0) + 1);
  return cta.roles.filter((track) => trace.spanStart[track.id] < trace.spanStart[track.id + 1]).map((track) => ({
    key: `role ${track.name} ${track.warp}`,
    rank: rankOfRole[roleActor(track.name)] ?? lastRank,
    rows: [{
      kind: 'role', track, height: 28,
      label: (several.get(track.name) ?? 0) > 1 ? `${track.name === 'warp' ? '' : `${track.name} `}warp ${track.warp}` : track.name,
      explanation: `${explainRole(track.name)}${note(track.name)} Warp ${track.warp}.`,
    }],
  }));
}

function unitBlocks({trace, ctas}: Side, cta: Cta): Block[] {
  const some = (t: Track) => trace.spanStart[t.id] < trace.spanStart[t.id + 1];
  return cta.units.filter(some).map((track): Block => {
    const lanes = lanesOf(trace, track);
    const common = {track, explanation: explainUnit(track.name)};
    // The tensor core that writes this CTA's tensor memory; of a pair, the leader's writes both.
    const writers = [cta, leaderOf(trace, ctas, cta)].flatMap((c) => c.units.filter((t) => t.name === 'umma' && some(t))).slice(0, 1);
    return {
      key: `unit ${track.name}`,
      rank: rankOfUnit[track.name] ?? lastRank,
      rows: [track.name === 'tmem'
        ? {kind: 'tmem', ...common, writers, label: 'tensor memory', height: 60}
        : {kind: 'unit', ...common, lanes, label: track.name, height: lanes === 1 ? 17 : Math.min(5 + 6 * lanes, 90)}],
    };
  });
}

function ringBlocks(cta: Cta, isOpen: (key: string, byDefault: boolean) => boolean): Block[] {
  return cta.rings.map((ring): Block => {
    const toggle = `ring ${cta.key} ${ring.name}`;
    const main = ring.name === 'input' || ring.name === 'accum' || !(ring.name in {clc: 0, throttle: 0});
    const open = isOpen(toggle, main);
    const rows: NewRow[] = [{
      kind: 'ring', ring, toggle, open, height: 19, explanation: explainRing(ring.name),
      label: `${ring.name} ring`,
    }];
    if (open)
      for (let stage = 0; stage < ring.stages; ++stage)
        rows.push({kind: 'stage', ring, stage, height: 11, indent: 2, label: `stage ${stage}`,
          explanation: `Stage ${stage} of the ${ring.name} ring over time: empty, filling, full, being read.`});
    return {key: `ring ${ring.name}`, rank: rankOfRing(ring.name), rows};
  });
}

function barrierBlock(cta: Cta, isOpen: (key: string, byDefault: boolean) => boolean): Block[] {
  if (cta.arrays.length === 0) return [];
  const toggle = `barriers ${cta.key}`;
  const open = isOpen(toggle, false);
  const rows: NewRow[] = [{
    kind: 'barriers', toggle, open, height: 19, label: 'barriers',
    explanation: 'The mbarriers of this CTA: 64-bit counters in shared memory through which warps and units wake each other.',
  }];
  for (const array of open ? cta.arrays : [])
    for (const track of array.tracks)
      rows.push({kind: 'barrier', track, height: 25, indent: 2, label: track.name,
        explanation: `${explainBarrier(track.name)}\n${explainBarrierLane}`});
  return [{key: 'barriers', rank: lastRank + 1, rows}];
}

function blocksOf(side: Side, cta: Cta, isOpen: (key: string, byDefault: boolean) => boolean): Block[] {
  const blocks = [...roleBlocks(side, cta), ...unitBlocks(side, cta), ...ringBlocks(cta, isOpen), ...barrierBlock(cta, isOpen)];
  return blocks.map((block, i) => ({block, i})).sort((a, b) => a.block.rank - b.block.rank || a.i - b.i).map(({block}) => block);
}

/** What a row is, whatever is open above it. */
export function keyOf(row: Row): string {
  const what = 'track' in row ? row.track.id : 'ring' in row ? row.ring.name : '';
  return `${row.side} ${row.cta.key} ${row.kind} ${what} ${row.kind === 'stage' ? row.stage : ''}`;
}

/** How much higher a lane may become where the window has room for it. */
const growth: Partial<Record<Row['kind'], number>> = {role: 0.6, unit: 0.8, tmem: 1.5, ring: 0.5, stage: 1, barrier: 0.3};

/** A single CTA uses the window: its lanes share the height that is left. */
function stretch(rows: Row[], height: number): void {
  const spare = height - heightOf(rows) - 8;
  const most = rows.reduce((sum, row) => sum + row.height * (growth[row.kind] ?? 0), 0);
  if (spare <= 0 || most === 0) return;
  const part = Math.min(1, spare / most);
  let y = 0;
  for (const row of rows) {
    row.y = y;
    row.height += Math.floor(row.height * (growth[row.kind] ?? 0) * part);
    y += row.height;
  }
}

/**
 * @param toggled  keys that are not as they are by default
 * @param height   of the window, in which a single CTA spreads
 */
export function layOut(sides: Side[], toggled: ReadonlySet<string>, firstOpen: number, height: number): Row[] {
  const rows: Row[] = [];
  let y = 0;
  const isOpen = (key: string, byDefault: boolean) => toggled.has(key) !== byDefault;
  const add = (side: number, cta: Cta, row: NewRow) => {
    rows.push({indent: 1, ...row, side, cta, y} as Row);
    y += row.height;
  };
  const keys: string[] = [];
  const byKey = sides.map((side) => new Map(side.ctas.map((cta) => [cta.key, cta])));
  for (const side of sides) for (const cta of side.ctas) if (!keys.includes(cta.key)) keys.push(cta.key);
  keys.forEach((key, number) => {
    const ctas = byKey.map((map) => map.get(key) ?? null);
    const first = ctas[0] ? 0 : 1, cta = ctas[first]!;
    const toggle = `cta ${key}`, open = isOpen(toggle, number < firstOpen);
    const cluster = clusterText(sides[first].trace, sides[first].ctas, cta);
    add(first, cta, {kind: 'cta', other: first === 0 ? ctas[1] ?? null : null, label: cta.title, cluster,
      explanation: `${explainCta}${cluster && `\nCTA ${cta.id}: ${cluster}.`}`,
      toggle, open, height: cluster ? 36 : ctas[1] && first === 0 ? 34 : 26, indent: 0});
    if (!open) return;
    const blocks = ctas.map((c, side) => c ? blocksOf(sides[side], c, isOpen) : []);
    const done = new Set<string>();
    for (const side of [0, 1])
      for (const block of blocks[side] ?? []) {
        if (done.has(block.key)) continue;
        done.add(block.key);
        const twin = side === 0 ? blocks[1]?.find((b) => b.key === block.key) : undefined;
        const most = Math.max(block.rows.length, twin?.rows.length ?? 0);
        for (let i = 0; i < most; ++i) {
          if (block.rows[i]) add(side, ctas[side]!, block.rows[i]);
          if (twin?.rows[i]) add(1, ctas[1]!, twin.rows[i]);
        }
      }
    y += 6;
  });
  if (keys.length === 1) stretch(rows, height);
  return rows;
}

export function heightOf(rows: Row[]): number {
  const last = rows[rows.length - 1];
  return last ? last.y + last.height + 8 : 0;
}

/** Index of the first row that ends below y. */
export function firstRowAt(rows: Row[], y: number): number {
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].y + rows[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}
