// SPDX-License-Identifier: Apache-2.0
// The whole run in a strip, with a window that says which part the picture shows: how busy loads, tensor core and epilogue
// are over all CTAs, and where findings, hits and differences lie.

import type {Model} from '../model';
import {type Picture, namesWidth} from './picture';
import {type Actor, css, mix, roleActor} from './theme';

const kHeight = 46, kBand = 14;

interface Band {
  actor: Actor;
  label: string;
  part: Float32Array;
}

export class Minimap {
  private readonly canvas = document.createElement('canvas');
  private readonly g: CanvasRenderingContext2D;
  private bands: Band[] = [];
  /** What stands out of them under a search or the critical path; null: all. */
  private foundBands: Band[] | null = null;
  private foundOf: Uint8Array | null = null;
  private names = namesWidth();
  private width = 0;
  private asked = false;
  private from = 0;
  private to = 1;
  /** Of which the bands are. */
  private sides: unknown = null;

  /** @param picture  says which spans stand out */
  constructor(private readonly model: Model, private readonly picture: Picture, private readonly host: HTMLElement) {
    this.g = this.canvas.getContext('2d', {alpha: false})!;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', 'Overview of the whole run');
    host.append(this.canvas);
    new ResizeObserver(() => this.resize()).observe(host);
    model.onChange(() => {
      if (this.sides !== model.sides) this.takeSides();
    });
    model.onMove(() => this.ask());
    this.listen();
    this.resize();
  }

  private x(time: number): number {
    return this.names + (time - this.from) / (this.to - this.from) * (this.width - this.names);
  }
  private time(x: number): number {
    return this.from + (x - this.names) / (this.width - this.names) * (this.to - this.from);
  }

  private resize(): void {
    const density = window.devicePixelRatio || 1;
    this.width = Math.max(200, Math.floor(this.host.getBoundingClientRect().width));
    this.canvas.width = this.width * density;
    this.canvas.height = kHeight * density;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${kHeight}px`;
    this.names = namesWidth();
    this.takeSides();
    this.draw();
  }

  private takeSides(): void {
    const [from, to] = this.model.extent;
    [this.from, this.to] = [from - (to - from) * 0.01, to + (to - from) * 0.01];
    this.sides = this.model.sides;
    this.bands = this.measure(null);
    this.foundOf = this.hitsOf = null;
  }

  /** Part of each pixel's time that a lane of the actor is at work, over all its lanes of the first trace. */
  private measure(found: Uint8Array | null): Band[] {
    const {trace} = this.model.sides[0];
    const {spans} = trace;
    const columns = this.width - this.names, scale = columns / (this.to - this.from);
    const hasUnits = trace.tracks.some((t) => t.kind === 'unit');
    const wait = trace.kindNumber('wait'), storeWait = trace.kindNumber('store_wait');
    const second = this.model.sides.length > 1 ? ' (A)' : '';
    const band = (actor: Actor, label: string, picks: (name: string, kind: string) => boolean): Band[] => {
      const part = new Float32Array(columns);
      let tracks = 0;
      for (const track of trace.tracks) {
        const first = trace.spanStart[track.id], last = trace.spanStart[track.id + 1];
        if (first === last || !picks(track.name, track.kind)) continue;
        ++tracks;
        let until = -Infinity;
        for (let i = first; i < last; ++i) {
          if (trace.contains[i] || spans.kind[i] === wait || spans.kind[i] === storeWait || (found && !found[i])) continue;
          const begin = Math.max(spans.begin[i], until), end = spans.end[i];
          if (end <= begin) continue;
          until = end;
          const x0 = (this.model.axis(0, begin) - this.from) * scale, x1 = (this.model.axis(0, end) - this.from) * scale;
          for (let x = Math.max(0, Math.floor(x0)); x < Math.min(columns, x1); ++x) part[x] += Math.min(x + 1, x1) - Math.max(x, x0);
        }
      }
      for (let x = 0; x < columns; ++x) part[x] /= Math.max(1, tracks);
      return tracks > 0 ? [{actor, label: label + second, part}] : [];
    };
    return [
      ...band('load', 'loads in flight', (name, kind) => hasUnits ? name === 'tma load' : kind === 'role' && roleActor(name) === 'load'),
      ...band('mma', 'tensor core', (name, kind) => hasUnits ? name === 'umma' : kind === 'role' && roleActor(name) === 'mma'),
      ...band('epilogue', trace.tracks.some((t) => t.name === 'epilogue') ? 'epilogue' : 'warps', (name, kind) => kind === 'role' && roleActor(name) === 'epilogue'),
    ];
  }

  private ask(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  private draw(): void {
    const {g, model, width} = this;
    const {theme} = model;
    const density = window.devicePixelRatio || 1;
    g.setTransform(density, 0, 0, density, 0, 0);
    g.fillStyle = theme.panel;
    g.fillRect(0, 0, width, kHeight);
    g.fillStyle = css(theme.background);
    g.fillRect(this.names, 1, width - this.names, kHeight - 2);
    g.font = '10px system-ui, sans-serif';
    g.textBaseline = 'middle';
    const found = this.picture.found()[0];
    if (found !== this.foundOf || (found && !this.foundBands)) this.foundBands = found ? this.measure(found) : null;
    this.foundOf = found;
    this.bands.forEach((band, n) => {
      const bottom = 2 + (n + 1) * kBand;
      g.fillStyle = theme.quietText;
      g.fillText(this.names < 160 ? band.label.replace(' in flight', '') : band.label, 22, bottom - kBand / 2);
      g.fillStyle = css(theme.actor[band.actor]);
      g.fillRect(8, bottom - kBand / 2 - 4, 8, 8);
      const bars = (part: Float32Array, color: string) => {
        g.fillStyle = color;
        for (let x = 0; x < part.length; ++x) {
          const h = Math.min(1, part[x]) * (kBand - 2);
          if (h > 0) g.fillRect(this.names + x, bottom - h, 1, h);
        }
      };
      const hue = theme.actor[band.actor];
      bars(band.part, css(found ? mix(theme.background, hue, theme.dark ? 0.3 : 0.22) : hue));
      const standing = found && this.foundBands?.find((b) => b.actor === band.actor);
      if (standing) bars(standing.part, css(hue));
    });
    this.drawMarks();
    const x0 = Math.max(this.names, this.x(model.view.from)), x1 = Math.min(width, this.x(model.view.to));
    g.fillStyle = css(theme.background, 0.62);
    g.fillRect(this.names, 0, x0 - this.names, kHeight);
    g.fillRect(x1, 0, width - x1, kHeight);
    g.strokeStyle = theme.accent;
    g.lineWidth = 2;
    g.strokeRect(x0 + 1, 1, Math.max(3, x1 - x0 - 2), kHeight - 2);
    g.fillStyle = theme.line;
    g.fillRect(0, kHeight - 1, width, 1);
  }

  private hitsOf: unknown = null;
  private hitsAt: number[] = [];
  /** Pixels at which hits begin, once each. */
  private hitMarks(): number[] {
    const {model} = this;
    if (this.hitsOf !== model.hits) {
      this.hitsOf = model.hits;
      const at = new Set<number>();
      for (const {side, span} of model.hits) at.add(Math.round(this.x(model.axis(side, model.sides[side].trace.spans.begin[span]))));
      this.hitsAt = [...at];
    }
    return this.hitsAt;
  }

  private drawMarks(): void {
    const {g, model} = this;
    const {theme} = model;
    const tick = (time: number, color: string, height: number) => {
      g.fillStyle = color;
      g.fillRect(Math.round(this.x(time)) - 1, 0, 2, height);
    };
    g.fillStyle = theme.accent;
    for (const x of this.hitMarks()) g.fillRect(x - 1, 0, 2, 8);
    for (const d of model.diff?.differences ?? [])
      if (d.spanA >= 0) tick(model.axis(0, model.sides[0].trace.spans.begin[d.spanA]), d.kind === 'structure' ? css(theme.alarm) : theme.accent, d.kind === 'structure' ? kHeight : 6);
    model.sides.forEach(({trace}, side) => {
      for (const finding of trace.findings) tick(model.axis(side, finding.time), css(theme.alarm), kHeight);
    });
  }

  private listen(): void {
    let grabbed: number | null = null;
    const move = (x: number) => {
      const {view} = this.model;
      const half = (view.to - view.from) / 2, at = this.time(x) - (grabbed ?? 0);
      view.show(at - half, at + half, 0);
      this.model.moved();
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      const {view} = this.model, at = this.time(event.offsetX);
      grabbed = at > view.from && at < view.to ? at - (view.from + view.to) / 2 : 0;
      this.canvas.setPointerCapture(event.pointerId);
      move(event.offsetX);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (grabbed !== null) move(event.offsetX);
    });
    this.canvas.addEventListener('pointerup', () => grabbed = null);
    this.canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      this.model.view.zoom(1.0015 ** event.deltaY, this.model.view.width / 2);
      this.model.moved();
    }, {passive: false});
  }
}
