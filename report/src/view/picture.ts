// SPDX-License-Identifier: Apache-2.0
// The picture: one canvas with the names of the lanes on the left, the time axis on top and the lanes.  Draws when something
// has changed, at most once a frame.

import {withoutLaunch} from '../data/structure';
import type {Model, Selection} from '../model';
import {axisTicks} from './axis';
import {type Frame, type Label, bodyBox, columnBox, drawRow, kStrip, laneBox} from './draw_rows';
import {type Row, firstRowAt, heightOf, keyOf} from './layout';
import {type Marks, type Overlay, type Pin, drawDifferences, drawFindings, drawHazards, drawLabels, drawMarkedSpans, drawPath, drawSelection, kPinHeight, pinsOf} from './overlay';
import {Paints} from './paints';
import {Places} from './places';
import {Raster} from './raster';
import {type Actor, css, mix, roleActor, unitActor, ringActors} from './theme';

export const kAxis = 26, kScrollBar = 10;
/** Width of the lanes' names: less where the window is narrow. */
export function namesWidth(): number {
  return innerWidth < 820 ? 132 : 168;
}

/** A lane's name, less of it where the column is too narrow: never half a number.  The lane's explanation has it all. */
function fittingName(g: CanvasRenderingContext2D, name: string, width: number): string {
  const fits = (text: string) => g.measureText(text).width <= width;
  const shorter = [name, name.replace(' on SM', ', SM'), name.replace(/ \([^)]*\) on SM/, ', SM'), withoutLaunch(name)];
  for (let cut = 1; cut < name.length; ++cut) shorter.push(`\u2026${name.slice(cut)}`);
  return shorter.find(fits) ?? name;
}

export class Picture {
  private readonly canvas: HTMLCanvasElement;
  private readonly g: CanvasRenderingContext2D;
  private raster = new Raster(1, 1);
  private paints: Paints;
  private asked = false;
  private hits: (Uint8Array | null)[] = [];
  private hitsOf: unknown = null;
  width = 0;
  height = 0;
  /** Of the lanes' names, in CSS pixels. */
  names = namesWidth();
  /** Of the last frame, for tests: how many flow arrows were drawn, what was drawn of findings, and how long it took. */
  arrows = 0;
  marks: Marks = {frames: [], joined: []};
  frameMilliseconds = 0;
  cursor: number | null = null;
  /** Ends of a distance that is being measured, on the axis. */
  measured: [number, number] | null = null;

  constructor(private readonly model: Model, private readonly host: HTMLElement) {
    this.canvas = document.createElement('canvas');
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'application');
    this.canvas.setAttribute('aria-label', 'Timeline of the trace: up and down choose a lane, left and right a step in it, Enter opens and closes');
    host.append(this.canvas);
    this.g = this.canvas.getContext('2d', {alpha: false})!;
    this.paints = new Paints(model.theme);
    new ResizeObserver(() => this.resize()).observe(host);
    model.onMove(() => this.ask());
    this.resize();
  }

  get element(): HTMLCanvasElement {
    return this.canvas;
  }

  private resize(): void {
    const {width, height} = this.host.getBoundingClientRect();
    const density = window.devicePixelRatio || 1;
    this.width = Math.max(200, Math.floor(width));
    this.height = Math.max(100, Math.floor(height));
    this.canvas.width = this.width * density;
    this.canvas.height = this.height * density;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.names = namesWidth();
    this.model.view.width = this.width - this.names;
    this.model.resized(this.height - kAxis);
    this.raster = new Raster(Math.round((this.width - this.names) * density), Math.round((this.height - kAxis) * density), density);
    this.model.scrollTo(this.model.scroll);
    this.draw();
  }

  ask(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  private onPath: Uint8Array | null = null;
  private onPathOf: unknown = null;

  /** By side, spans that stand out, as flags: those that a search found, else those on the critical path while it is shown; null:
   *  all alike. */
  found(): (Uint8Array | null)[] {
    const {model} = this;
    const {trace} = model.sides[0];
    if (model.showPath && trace.path && model.hits.length === 0) {
      if (this.onPathOf !== trace) {
        this.onPathOf = trace;
        this.onPath = new Uint8Array(trace.spans.count);
        for (const span of trace.path.span) if (span >= 0) this.onPath[span] = 1;
      }
      return [this.onPath, null];
    }
    if (this.hitsOf !== model.hits) {
      this.hitsOf = model.hits;
      this.hits = model.sides.map(({trace}) => model.hits.length > 0 ? new Uint8Array(trace.spans.count) : null);
      for (const {side, span} of model.hits) this.hits[side]![span] = 1;
    }
    return this.hits;
  }

  private draw(): void {
    const started = performance.now();
    const {model, g, raster} = this;
    const {theme} = model;
    if (this.paints.theme !== theme) this.paints = new Paints(theme);
    const density = window.devicePixelRatio || 1;
    const labels: Label[] = [];
    raster.clear(theme.background);
    raster.hatchOffset = Math.round(model.view.from * model.view.scale * density) & 15;
    const frame: Frame = {model, raster, paints: this.paints, labels, density, found: this.found()};
    const visible: Row[] = [];
    for (let r = firstRowAt(model.rows, model.scroll); r < model.rows.length; ++r) {
      const row = model.rows[r], y = row.y - model.scroll;
      if (y > this.height - kAxis) break;
      visible.push(row);
      if (row.side === 1) raster.rect(0, y * density, raster.width, (y + row.height) * density, theme.secondBackground);
      drawRow(frame, row, y);
    }
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.putImageData(raster.image, Math.round(this.names * density), Math.round(kAxis * density));
    g.setTransform(density, 0, 0, density, 0, 0);
    this.drawPlot(visible, labels);
    this.drawNames(visible);
    this.drawAxis();
    this.drawScrollBar();
    this.frameMilliseconds = performance.now() - started;
  }

  private drawPlot(visible: Row[], labels: Label[]): void {
    const {model, g} = this;
    const overlay: Overlay = {model, g, places: new Places(model), height: this.height - kAxis};
    g.save();
    g.translate(this.names, kAxis);
    g.beginPath();
    g.rect(0, 0, this.width - this.names, this.height - kAxis);
    g.clip();
    g.fillStyle = model.theme.grid;
    for (const row of visible) if (row.kind === 'cta') g.fillRect(0, row.y - model.scroll, this.width, 1);
    drawLabels(overlay, labels);
    this.marks = {frames: [], joined: []};
    drawMarkedSpans(overlay, this.marks);
    drawDifferences(overlay);
    drawPath(overlay);
    this.arrows = drawSelection(overlay);
    drawHazards(overlay, this.marks);
    drawFindings(overlay);
    this.drawCursor();
    g.restore();
  }

  private drawCursor(): void {
    const {model, g} = this;
    if (this.measured) {
      const [a, b] = this.measured.map((t) => model.view.x(t));
      g.fillStyle = css(mix(model.theme.background, model.theme.actor.load, 0.6), 0.3);
      g.fillRect(Math.min(a, b), 0, Math.abs(b - a), this.height);
    }
    if (this.cursor === null) return;
    g.fillStyle = css(model.theme.actor.other, 0.7);
    g.fillRect(Math.round(model.view.x(this.cursor)), 0, 1, this.height);
  }

  private drawAxis(): void {
    const {model, g} = this;
    const {theme, view} = model;
    g.fillStyle = theme.panel;
    g.fillRect(0, 0, this.width, kAxis);
    const {ticks, unit} = axisTicks(model);
    g.font = '11px system-ui, sans-serif';
    g.textBaseline = 'middle';
    g.fillStyle = theme.quietText;
    g.fillText(model.sides.length === 1 ? unit : model.shift !== 0 ? `${unit}, B moved` : `${unit} since the start`, 10, kAxis / 2);
    g.save();
    g.beginPath();
    g.rect(this.names, 0, this.width - this.names, this.height);
    g.clip();
    for (const tick of ticks) {
      g.fillStyle = theme.line;
      g.fillRect(Math.round(this.names + tick.x), kAxis - 7, 1, 7);
      g.fillStyle = theme.text;
      g.fillText(tick.text, this.names + tick.x + 4, kAxis / 2);
    }
    const mark = (time: number, text: string) => {
      const x = this.names + view.x(time);
      const width = g.measureText(text).width + 10, left = Math.max(this.names, Math.min(x - width / 2, this.width - width));
      g.fillStyle = theme.text;
      g.fillRect(left, 3, width, kAxis - 8);
      g.fillStyle = css(theme.background);
      g.fillText(text, left + 5, kAxis / 2 - 0.5);
    };
    if (this.measured) mark((this.measured[0] + this.measured[1]) / 2, this.lengthText(Math.abs(this.measured[1] - this.measured[0])));
    else if (this.cursor !== null) mark(this.cursor, this.lengthText(this.cursor));
    g.restore();
    g.fillStyle = theme.line;
    g.fillRect(0, kAxis - 1, this.width, 1);
  }

  /** Where the rows in sight lie among all, [top, height] of the bar's handle; null if all are in sight. */
  scrollHandle(): [number, number] | null {
    const {model} = this;
    const all = heightOf(model.rows) + 16, shown = this.height - kAxis;
    if (all <= shown) return null;
    const height = Math.max(24, shown * shown / all);
    return [kAxis + (shown - height) * model.scroll / Math.max(1, all - shown), height];
  }

  private drawScrollBar(): void {
    const handle = this.scrollHandle();
    if (!handle) return;
    const {g, model} = this;
    g.fillStyle = css(mix(model.theme.background, model.theme.actor.other, 0.25), 0.6);
    g.fillRect(this.width - kScrollBar, kAxis, kScrollBar, this.height - kAxis);
    g.fillStyle = css(model.theme.actor.other, 0.9);
    g.fillRect(this.width - kScrollBar + 2, handle[0], kScrollBar - 4, handle[1]);
  }

  private lengthText(ticks: number): string {
    const {model} = this;
    const trace = model.sides[0].trace;
    if (model.unit === 'time') {
      const ns = ticks * 1e9 / trace.metadata.ticks_per_second;
      return ns >= 1000 ? `${(ns / 1000).toFixed(3)} \u00b5s` : `${ns.toFixed(0)} ns`;
    }
    return Math.round(ticks).toLocaleString('en-US');
  }

  private drawNames(visible: Row[]): void {
    const {model, g} = this;
    const {theme} = model;
    g.save();
    g.fillStyle = theme.panel;
    g.fillRect(0, kAxis, this.names, this.height - kAxis);
    g.beginPath();
    g.rect(0, kAxis, this.names - 1, this.height - kAxis);
    g.clip();
    g.textBaseline = 'middle';
    for (const row of visible) {
      const y = kAxis + row.y - model.scroll, middle = y + row.height / 2;
      const x = 10 + 12 * row.indent;
      if (row.side === 1) {
        g.fillStyle = css(theme.secondBackground);
        g.fillRect(0, y, this.names, row.height);
      }
      if (row.kind === 'cta') {
        g.fillStyle = theme.grid;
        g.fillRect(0, y, this.names, row.height);
      }
      const hue = actorOf(row);
      if (hue) {
        g.fillStyle = css(theme.actor[hue]);
        g.fillRect(4, y + 3, 4, row.height - 6);
      }
      if (row.toggle) triangle(g, x + 3, row.kind === 'cta' && row.cluster ? y + 12 : middle, row.open === true, theme.quietText);
      if (keyOf(row) === model.lane) {
        g.strokeStyle = theme.accent;
        g.lineWidth = 2;
        g.strokeRect(1, y + 1, this.names - 3, row.height - 2);
      }
      const bold = row.kind === 'cta' || row.kind === 'role';
      const small = row.kind === 'stage' || row.kind === 'barrier';
      g.font = `${bold ? '600 ' : ''}${small ? 10 : 12}px system-ui, sans-serif`;
      g.fillStyle = small ? theme.quietText : theme.text;
      const cluster = row.kind === 'cta' ? row.cluster : '';
      const left = x + (row.toggle ? 12 : 0), right = this.names - (model.sides.length > 1 && row.kind !== 'cta' ? 20 : 2);
      g.fillText(fittingName(g, row.label, right - left), left, (cluster ? y + 12 : middle) + 0.5);
      if (cluster) {
        // What the column is too narrow for goes: the lane's explanation has it all.
        g.font = '10px system-ui, sans-serif';
        g.fillStyle = theme.quietText;
        const texts = [cluster, cluster.replace('cluster of CTA', 'cluster'), cluster.replace(/cluster of CTA (\d+), /, ''), cluster.replace(/.*(rank \d+).*/, '$1')];
        g.fillText(texts.find((text) => g.measureText(text).width <= this.names - x - 4) ?? texts[3], x, y + row.height - 9);
      }
      if (row.kind === 'tmem') {
        g.font = '9px system-ui, sans-serif';
        g.fillStyle = theme.quietText;
        g.textAlign = 'right';
        g.fillText('column 0', this.names - 6, y + 8);
        g.fillText('511', this.names - 6, y + row.height - 8);
        g.textAlign = 'left';
      }
      if (model.sides.length > 1 && row.kind !== 'cta') {
        g.font = '600 10px system-ui, sans-serif';
        g.fillStyle = theme.quietText;
        g.fillText(row.side === 0 ? 'A' : 'B', this.names - 16, middle + 0.5);
      }
    }
    g.restore();
    g.fillStyle = theme.line;
    g.fillRect(this.names - 1, kAxis, 1, this.height);
  }

  // ---- what is where

  rowAt(y: number): Row | null {
    const at = y - kAxis + this.model.scroll;
    const row = this.model.rows[firstRowAt(this.model.rows, at)];
    return row && row.y <= at ? row : null;
  }

  /** What the point shows, null for nothing. */
  thingAt(x: number, y: number): Selection | null {
    const {model} = this;
    if (x < this.names || y < kAxis) return null;
    const pinned = this.findingAt(x - this.names, y - kAxis);
    if (pinned) return pinned;
    const row = this.rowAt(y);
    if (!row) return null;
    const time = model.tick(row.side, model.view.time(x - this.names));
    const inRow = y - kAxis + model.scroll - row.y;
    if (row.kind === 'stage') return {kind: 'stage', side: row.side, cta: row.cta, ring: row.ring, stage: row.stage, time};
    if (row.kind === 'barrier') return {kind: 'barrier', side: row.side, cta: row.cta, track: row.track, time};
    if (row.kind === 'role' || row.kind === 'unit' || row.kind === 'tmem') {
      const span = this.spanAt(row, time, inRow);
      return span >= 0 ? {kind: 'span', side: row.side, span} : null;
    }
    return null;
  }

  /** Flags of findings, where they are drawn: from the corner of the lanes. */
  pins(): Pin[] {
    return pinsOf(this.model, new Places(this.model));
  }

  private findingAt(x: number, y: number): Selection | null {
    const pin = this.pins().find((p) => x >= p.x && x < p.x + p.width && y >= p.y && y < p.y + kPinHeight);
    return pin ? {kind: 'finding', side: pin.side, finding: pin.finding} : null;
  }

  private spanAt(row: Row & {kind: 'role' | 'unit' | 'tmem'}, time: number, inRow: number): number {
    const {model} = this;
    const {trace} = model.sides[row.side];
    const {spans} = trace;
    const slack = 2 / model.view.scale; // a hair can be hit
    let best = -1, bestLength = Infinity;
    const tracks = row.kind === 'tmem' ? [row.track, ...row.writers] : [row.track];
    for (const track of tracks) for (let i = trace.spanStart[track.id]; i < trace.spanStart[track.id + 1]; ++i) {
      if (spans.begin[i] > time + slack) break;
      if (spans.end[i] < time - slack) continue;
      if (row.kind === 'role') {
        const strip = inRow >= kStrip.top && inRow < kStrip.bottom;
        const body = bodyBox(row);
        if (strip ? !trace.contains[i] : trace.contains[i] || inRow < body.top || inRow > body.bottom) continue;
      } else if (row.kind === 'unit') {
        const [top, height] = laneBox(row, spans.lane[i]);
        if (inRow < top - 0.5 || inRow > top + height + 0.5) continue;
      } else {
        const [top, height] = columnBox(row, trace, i);
        if (spans.columns[i] <= 0 || inRow < top || inRow > top + height) continue;
      }
      const length = spans.end[i] - spans.begin[i];
      if (length <= bestLength) [best, bestLength] = [i, length];
    }
    return best;
  }
}

function triangle(g: CanvasRenderingContext2D, x: number, y: number, open: boolean, color: string): void {
  g.fillStyle = color;
  g.beginPath();
  if (open) {
    g.moveTo(x - 4, y - 2);
    g.lineTo(x + 4, y - 2);
    g.lineTo(x, y + 3);
  } else {
    g.moveTo(x - 2, y - 4);
    g.lineTo(x + 3, y);
    g.lineTo(x - 2, y + 4);
  }
  g.fill();
}

/** The hue of a row's name. */
function actorOf(row: Row): Actor | null {
  switch (row.kind) {
    case 'role': return roleActor(row.track.name);
    case 'unit':
    case 'tmem': return unitActor(row.track.name);
    case 'ring':
    case 'stage': return ringActors(row.ring.name)[0];
    default: return null;
  }
}
