// SPDX-License-Identifier: Apache-2.0
// Draws the rows of the picture into a raster, and notes which texts fit where.

import {lastAtMost} from '../data/barriers';
import {kFilling, kFull, kReading} from '../data/rings';
import type {Cta} from '../data/structure';
import {placeText, tileKey, tileText} from '../data/tiles';
import type {Trace, Track} from '../data/trace';
import type {Model} from '../model';
import type {Row} from './layout';
import type {Paints} from './paints';
import type {Raster} from './raster';
import {type Rgb, mix, roleActor} from './theme';

export interface Label {
  x: number;
  width: number;
  y: number;
  text: string;
  small: boolean;
  /** On a bright bar, where text is dark in either theme. */
  onBright: boolean;
}

export interface Frame {
  model: Model;
  raster: Raster;
  paints: Paints;
  labels: Label[];
  /** Device pixels per CSS pixel. */
  density: number;
  /** Spans that a search found, by side; null when nothing is searched. */
  found: (Uint8Array | null)[];
}

/** Container strip of a role lane, from the top of the row. */
export const kStrip = {top: 2, bottom: 11};
/** And what is below it: the lane's body. */
export function bodyBox(row: Row): {top: number; bottom: number} {
  return {top: kStrip.bottom, bottom: row.height - 2};
}

/** Lanes are pale where a search or the critical path lets others stand out. */
function isPale(frame: Frame, side: number): boolean {
  return frame.found[side] !== null;
}

/** What the flag of a wait that nobody ended takes at its right end. */
const kFlagWidth = 80;
const kLabelWidth = 26;
const kTmemColumns = 512;

export const kFont = '11px system-ui, sans-serif', kSmallFont = '9px system-ui, sans-serif';

const widths = new Map<string, number>();
let ruler: CanvasRenderingContext2D | null = null;
function textWidth(text: string, small: boolean): number {
  const key = small ? ` ${text}` : text;
  let width = widths.get(key);
  if (width === undefined) {
    ruler ??= document.createElement('canvas').getContext('2d')!;
    ruler.font = small ? kSmallFont : kFont;
    widths.set(key, width = ruler.measureText(text).width);
  }
  return width;
}

function spanText(trace: Trace, i: number, width: number): string {
  const kind = trace.kind(i), place = placeText(trace, i), stage = trace.spans.stage[i], k = trace.spans.k[i];
  const number = ['load_issue', 'mma_issue', 'tma_load', 'umma'].includes(kind) && stage >= 0 ? `${stage}` : '';
  const short: Record<string, string> = {
    load_issue: 'load', mma_issue: 'mma', mma_commit: 'commit', tmem_load: 'tmem', smem_write: 'smem', smem_read: 'smem',
    store_issue: 'store', store_wait: 'wait store', clc_request: 'ask', clc_fetch: 'read', tma_load: 'copy', tma_store: 'copy',
    clc_cancel: 'request', umma: 'mma',
  };
  const choices = trace.track(i).cta < 0 ? [place]  // of the host: a launch, or a call
    : kind === 'wait'
    ? [`wait ${place}`, place, place.replace(/^(input|accum)_/, '').replace(/^(clc|throttle)_\w+/, '$1'), stage >= 0 ? `[${stage}]` : '']
    : [`${kind} ${place}${k >= 0 ? ` k ${k}` : ''}`, `${kind} ${place}`, kind, short[kind] ?? '', number];
  return choices.map((text) => text.trim()).find((text) => text && textWidth(text, false) + 7 <= width) ?? '';
}

function forVisible(trace: Trace, track: Track, from: number, to: number, f: (i: number) => void): void {
  const {spans, spanStart} = trace;
  const first = spanStart[track.id], last = spanStart[track.id + 1];
  // Spans stand by begin; a long one may begin far to the left, so the search goes back to the longest.
  let i = Math.max(first, lastAtMost(spans.begin, from - longest(trace, track), first, last));
  for (; i < last && spans.begin[i] <= to; ++i) if (spans.end[i] >= from) f(i);
}

const longestOf = new WeakMap<Trace, Float64Array>();
/** Ticks of the longest span on the track that contains no others. */
function longest(trace: Trace, track: Track): number {
  let all = longestOf.get(trace);
  if (!all) {
    longestOf.set(trace, all = new Float64Array(trace.tracks.length));
    const {spans} = trace;
    for (let i = 0; i < spans.count; ++i)
      all[spans.track[i]] = Math.max(all[spans.track[i]], spans.end[i] - spans.begin[i]);
  }
  return all[track.id];
}

/** Spans of a track that fit the test, as one line of the row. */
function spanLine(frame: Frame, row: Row, track: Track, top: number, bottom: number, y: number,
                  fits: (i: number) => boolean, strip: boolean): void {
  const {model, raster, paints, labels, density} = frame;
  const {trace} = model.drawn[row.side];
  const {view, theme} = model;
  const from = model.tick(row.side, view.from), to = model.tick(row.side, view.to);
  const found = frame.found[row.side];
  raster.beginRow(row.side === 1 ? theme.secondBackground : theme.background);
  forVisible(trace, track, from, to, (i) => {
    if (!fits(i)) return;
    const x0 = view.x(model.axis(row.side, trace.spans.begin[i])), x1 = view.x(model.axis(row.side, trace.spans.end[i]));
    let paint;
    if (strip && trace.kind(i) === 'tile') {
      const key = tileKey(trace, i);
      paint = key ? paints.tile(model.tileNumber(row.side, row.cta, key)) : paints.work('other', 0.25);
    } else paint = paints.span(trace, i);
    if (found && !found[i]) paint = paints.faded(paint);
    raster.span(x0 * density, x1 * density, paint);
    const left = Math.max(0, x0);
    const width = Math.min(view.width, x1) - left - (model.openWaits[row.side].has(i) ? kFlagWidth : 0);
    if (width >= kLabelWidth && bottom - top >= 8 && !(found && !found[i])) {
      const text = strip ? tileText(trace, i) || trace.kind(i) : spanText(trace, i, width), small = bottom - top < 13;
      if (text && textWidth(text, small) + 7 <= width)
        labels.push({x: left + 4, width, y: y + (top + bottom) / 2, text, small, onBright: !strip && !paint.hatch && trace.kind(i) !== 'setup'});
    }
  });
  raster.endRow((y + top) * density, (y + bottom) * density);
}

function drawRole(frame: Frame, row: Row & {kind: 'role'}, y: number): void {
  const {trace} = frame.model.drawn[row.side];
  spanLine(frame, row, row.track, kStrip.top, kStrip.bottom - 1, y, (i) => trace.contains[i] === 1, true);
  spanLine(frame, row, row.track, bodyBox(row).top, bodyBox(row).bottom, y, (i) => trace.contains[i] === 0, false);
}

/** Top and height of a lane of a unit's row. */
export function laneBox(row: Row & {kind: 'unit'}, lane: number): [number, number] {
  if (row.lanes === 1) return [2, row.height - 4];
  const pitch = (row.height - 4) / row.lanes;
  return [2 + lane * pitch, Math.max(1, pitch - (pitch > 3 ? 1 : 0))];
}

function drawUnit(frame: Frame, row: Row & {kind: 'unit'}, y: number): void {
  const {trace} = frame.model.drawn[row.side];
  for (let lane = 0; lane < row.lanes; ++lane) {
    const [top, height] = laneBox(row, lane);
    spanLine(frame, row, row.track, Math.round(top), Math.round(top + height), y, (i) => trace.spans.lane[i] === lane, false);
  }
}

function drawStage(frame: Frame, row: Row & {kind: 'stage'}, y: number): void {
  const {model, raster, paints, density, labels} = frame;
  const {view, theme} = model;
  const intervals = model.ring(row.side, row.cta, row.ring)[row.stage];
  raster.beginRow(row.side === 1 ? theme.secondBackground : theme.background);
  const from = model.tick(row.side, view.from), to = model.tick(row.side, view.to);
  const pale = isPale(frame, row.side);
  for (let i = Math.max(0, lastAtMost(intervals.begin, from)); i < intervals.begin.length && intervals.begin[i] <= to; ++i) {
    const x0 = view.x(model.axis(row.side, intervals.begin[i])), x1 = view.x(model.axis(row.side, intervals.end[i]));
    const paint = paints.stage(row.ring.name, intervals.state[i]);
    raster.span(x0 * density, x1 * density, pale ? paints.faded(paint) : paint);
    if (pale) continue;
    const left = Math.max(0, x0), width = Math.min(view.width, x1) - left;
    const text = ['', 'filling', 'full', 'being read'][intervals.state[i]];
    if (text && textWidth(text, true) + 7 <= width) labels.push({x: left + 4, width, y: y + row.height / 2, text, small: true, onBright: intervals.state[i] !== kFilling});
  }
  raster.endRow((y + 1) * density, (y + row.height - 1) * density);
}

/** How many stages are filling, full and being read, stacked. */
function drawRing(frame: Frame, row: Row & {kind: 'ring'}, y: number): void {
  const {model, raster, paints, density} = frame;
  const {view, theme} = model;
  const width = raster.width;
  const counts = [new Float32Array(width), new Float32Array(width), new Float32Array(width), new Float32Array(width)];
  const from = model.tick(row.side, view.from), to = model.tick(row.side, view.to);
  for (const intervals of model.ring(row.side, row.cta, row.ring))
    for (let i = Math.max(0, lastAtMost(intervals.begin, from)); i < intervals.begin.length && intervals.begin[i] <= to; ++i) {
      const x0 = Math.max(0, view.x(model.axis(row.side, intervals.begin[i])) * density);
      const x1 = Math.min(width, view.x(model.axis(row.side, intervals.end[i])) * density);
      const sum = counts[intervals.state[i]];
      for (let x = Math.floor(x0); x < x1; ++x) sum[x] += Math.min(x + 1, x1) - Math.max(x, x0);
    }
  const top = (y + 2) * density, height = (row.height - 4) * density, unit = height / row.ring.stages;
  raster.rect(0, top, width, top + height, mix(row.side === 1 ? theme.secondBackground : theme.background, [128, 128, 128], 0.1));
  for (let x = 0; x < width; ++x) {
    let bottom = top + height;
    for (const state of [kReading, kFull, kFilling]) {
      if (counts[state][x] === 0) continue;
      const next = bottom - counts[state][x] * unit;
      const paint = paints.stage(row.ring.name, state), color = state === kFilling ? paint.average : paint.fill;
      raster.rect(x, next, x + 1, bottom, isPale(frame, row.side) ? paints.pale(color) : color);
      bottom = next;
    }
  }
}

function drawBarrier(frame: Frame, row: Row & {kind: 'barrier'}, y: number): void {
  const {model, raster, paints, density, labels} = frame;
  const {view, theme} = model;
  const toned = (color: Rgb) => isPale(frame, row.side) ? paints.pale(color) : color;
  const lane = model.barrier(row.side, row.cta, row.track);
  const background = row.side === 1 ? theme.secondBackground : theme.background;
  const at = (tick: number) => view.x(model.axis(row.side, tick)) * density;
  const from = model.tick(row.side, view.from), to = model.tick(row.side, view.to);
  const end = row.cta.end;
  raster.beginRow(background);
  const shades = [theme.even, theme.odd].map(toned).map((fill) => ({fill, edge: theme.dark ? mix(fill, [255, 255, 255], 0.3) : mix(fill, [0, 0, 0], 0.3), average: fill}));
  for (let n = Math.max(0, lastAtMost(lane.phaseBegin, from)); n < lane.phaseBegin.length && lane.phaseBegin[n] <= to; ++n) {
    const x0 = at(lane.phaseBegin[n]), x1 = at(lane.phaseBegin[n + 1] ?? end);
    raster.span(x0, x1, shades[n & 1]);
    const left = Math.max(0, x0 / density), width = Math.min(view.width, x1 / density) - left;
    if (width > 16) labels.push({x: left + 3, width, y: y + 7, text: width > 52 ? `phase ${n}` : `${n}`, small: true, onBright: false});
  }
  raster.endRow((y + 1) * density, (y + row.height - 1) * density);
  // What is missing: bytes hang from the middle up, arrivals stand on the bottom.
  const bytes = lane.mostTx > 0;
  const box = {top: y + 11, middle: bytes ? y + 17 : y + 11, bottom: y + row.height - 1};
  const bytePaint = toned(theme.actor.load), arrivalPaint = toned(mix(background, theme.dark ? [255, 255, 255] : [0, 0, 0], 0.45));
  const first = Math.max(0, lastAtMost(lane.time, from));
  const bar = (value: number, most: number, low: number, high: number, x0: number, x1: number, color: typeof bytePaint) => {
    if (value <= 0 || most <= 0) return;
    const height = Math.max(1, (low - high) * value / most);
    raster.rect(x0, (low - height) * density, Math.max(x1, Math.floor(x0) + 1), low * density, color);
  };
  let drawn = -1;
  for (let i = first; i < lane.time.length && lane.time[i] <= to; ++i) {
    const x0 = at(lane.time[i]), x1 = at(lane.time[i + 1] ?? end);
    if (x1 < 0 || (Math.floor(x1) === drawn && x1 - x0 < 1)) continue; // one bar per pixel is enough
    drawn = Math.floor(x1);
    // What nobody has begun to count down is the rest state, not worth ink.
    if (lane.pending[i] < lane.mostPending) bar(lane.pending[i], lane.mostPending, box.bottom, box.middle, x0, x1, arrivalPaint);
    bar(lane.tx[i], lane.mostTx, box.middle, box.top, x0, x1, bytePaint);
  }
  for (const wait of lane.waits) {
    if (wait.end < from || wait.begin > to) continue;
    raster.rect(at(wait.begin), (y + 1) * density, Math.max(at(wait.end), at(wait.begin) + 1), (y + 3) * density,
      wait.open && model.hung[row.side] ? theme.alarm : toned(theme.actor.other));
  }
}

/** Top and height of some columns of tensor memory in their row. */
export function columnBox(row: Row & {kind: 'tmem'}, trace: Trace, span: number): [number, number] {
  const inner = row.height - 4, {column, columns} = trace.spans;
  return [2 + inner * Math.max(0, column[span]) / kTmemColumns, Math.max(1, inner * Math.max(0, columns[span]) / kTmemColumns)];
}

function drawTmem(frame: Frame, row: Row & {kind: 'tmem'}, y: number): void {
  const {model, raster, paints, density, labels} = frame;
  const {trace} = model.drawn[row.side];
  const {view, theme} = model;
  const background = row.side === 1 ? theme.secondBackground : theme.background;
  const from = model.tick(row.side, view.from), to = model.tick(row.side, view.to);
  raster.rect(0, (y + 2) * density, raster.width, (y + row.height - 2) * density, mix(background, [128, 128, 128], 0.05));
  const found = frame.found[row.side];
  const draw = (track: Track, kind: string, fill: Rgb, text: string) => {
    const number = trace.kindNumber(kind);
    let written = -1; // texts of groups that overlap would, too
    forVisible(trace, track, from, to, (i) => {
      if (trace.spans.kind[i] !== number || trace.spans.columns[i] <= 0) return;
      const x0 = view.x(model.axis(row.side, trace.spans.begin[i])), x1 = view.x(model.axis(row.side, trace.spans.end[i]));
      const [top, height] = columnBox(row, trace, i);
      raster.rect(x0 * density, (y + top) * density, Math.max(x0 * density + 1, x1 * density), (y + top + height) * density,
        found && !found[i] && kind !== 'tmem_alloc' ? paints.pale(fill) : fill);
      const left = Math.max(0, x0), width = Math.min(view.width, x1) - left;
      if (text && !(found && !found[i]) && height >= 9 && textWidth(text, true) + 7 <= width && left > written) {
        labels.push({x: left + 4, width, y: y + top + height / 2, text, small: true, onBright: kind !== 'tmem_alloc'});
        written = left + 4 + textWidth(text, true);
      }
    });
  };
  draw(row.track, 'tmem_alloc', mix(background, [128, 128, 128], 0.17), '');
  for (const writer of row.writers) draw(writer, 'umma', paints.work('mma').fill, 'written');
  draw(row.track, 'tmem_write', paints.work('other').fill, 'stored');
  draw(row.track, 'tmem_read', paints.work('epilogue').fill, 'read');
}

/** At work in a CTA: its loads, tensor core and epilogue, a line each. */
function drawSummary(frame: Frame, side: number, cta: Cta, top: number, height: number): void {
  const {model, raster, paints, density} = frame;
  const {trace} = model.drawn[side];
  const {view, theme} = model;
  const from = model.tick(side, view.from), to = model.tick(side, view.to);
  const wait = trace.kindNumber('wait'), storeWait = trace.kindNumber('store_wait');
  const lines: [Track[], 'load' | 'mma' | 'epilogue'][] = [
    [cta.units.filter((t) => t.name === 'tma load'), 'load'],
    [cta.units.filter((t) => t.name === 'umma'), 'mma'],
    [cta.roles.filter((t) => roleActor(t.name) === 'epilogue'), 'epilogue'],
  ];
  if (lines[0][0].length === 0) lines[0][0] = cta.roles.filter((t) => roleActor(t.name) === 'load');
  if (lines[1][0].length === 0) lines[1][0] = cta.roles.filter((t) => roleActor(t.name) === 'mma');
  const background = mix(side === 1 ? theme.secondBackground : theme.background, [128, 128, 128], 0.13);
  const found = frame.found[side];
  lines.forEach(([tracks, actor], n) => {
    raster.beginRow(background);
    const paint = paints.work(actor), flat = {...paint, edge: paint.fill}, pale = paints.faded(paint);
    for (const track of tracks)
      forVisible(trace, track, from, to, (i) => {
        if (trace.contains[i] || trace.spans.kind[i] === wait || trace.spans.kind[i] === storeWait) return;
        raster.span(view.x(model.axis(side, trace.spans.begin[i])) * density, view.x(model.axis(side, trace.spans.end[i])) * density, found && !found[i] ? pale : flat);
      });
    raster.endRow(Math.round((top + n * height / 3) * density), Math.round((top + (n + 1) * height / 3 - 1) * density));
  });
}

export function drawRow(frame: Frame, row: Row, y: number): void {
  switch (row.kind) {
    case 'cta': {
      const height = (row.height - 8) / (row.other ? 2 : 1);
      drawSummary(frame, row.side, row.cta, y + 4, height - (row.other ? 1 : 0));
      if (row.other) drawSummary(frame, 1, row.other, y + 4 + height, height);
      return;
    }
    case 'role': return drawRole(frame, row, y);
    case 'unit': return drawUnit(frame, row, y);
    case 'stage': return drawStage(frame, row, y);
    case 'ring': return drawRing(frame, row, y);
    case 'barrier': return drawBarrier(frame, row, y);
    case 'tmem': return drawTmem(frame, row, y);
    case 'barriers': return;
  }
}
