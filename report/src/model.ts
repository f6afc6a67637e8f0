// SPDX-License-Identifier: Apache-2.0
// The state of the page: the traces, what is open, shown, selected and found.  Views read it and call its methods; they are
// told when it changes.

import type {Diff, Difference} from './data/diff';
import {type BarrierLane, barrierLane} from './data/barriers';
import {findOpenWaits} from './data/open_waits';
import {type Intervals, ringOccupancy} from './data/rings';
import type {Hit} from './data/search';
import {type FindingGroup, groupFindings, markedSpans} from './data/findings';
import {type Cta, type Ring, findCtas} from './data/structure';
import {type TileNumbers, tileNumbers} from './data/tiles';
import type {Finding, Mark, Trace, Track} from './data/trace';
import {type Row, type Side, heightOf, keyOf, layOut} from './view/layout';
import {type Theme, dark, light} from './view/theme';
import {Viewport} from './view/viewport';

export type Selection =
  | {kind: 'span'; side: number; span: number}
  | {kind: 'stage'; side: number; cta: Cta; ring: Ring; stage: number; time: number}
  | {kind: 'barrier'; side: number; cta: Cta; track: Track; time: number}
  | {kind: 'finding'; side: number; finding: Finding};

export type Tab = 'lesson' | 'overview' | 'report' | 'selection' | 'search' | 'findings' | 'path' | 'differences' | 'legend';
export type Unit = 'cycles' | 'time';

const kOpenAtFirst = 2;
/** Above and below lanes that are to be in sight. */
const kAround = 50;

/** The marks of a finding that lead from its cause to its effect. */
export function causes(finding: Finding): Mark[] {
  return finding.marks.filter((mark) => mark.what !== 'victim');
}

export class Model {
  sides: Side[] = [];
  /** While the picture moves from one run to the next: the sides with spans that are on their way. */
  moving: Side[] | null = null;
  diff: Diff | null = null;
  view: Viewport;
  rows: Row[] = [];
  scroll = 0;
  selection: Selection | null = null;
  hover: Selection | null = null;
  tab: Tab = 'overview';
  panelOpen = true;
  /** CSS pixels; beside the picture its width, below it its height. */
  panelWidth = 350;
  panelHeight = 300;
  helpOpen = false;
  theme: Theme;
  unit: Unit = 'cycles';
  showFlows = true;
  showPath = false;
  query = '';
  hits: Hit[] = [];
  hit = -1;
  difference = -1;
  differenceKind: 'all' | 'structure' | 'timing' = 'all';
  /** Ticks of the first trace by which the second is moved. */
  shift = 0;
  /** By side: waits that nobody ended. */
  openWaits: Set<number>[] = [];
  /** By side: what a finding says of a span. */
  marked: Map<number, Mark['what']>[] = [];
  findings: FindingGroup[] = [];
  /** By side: the run ended because nobody could go on. */
  hung: boolean[] = [];
  private ctaOfTrack: (Cta | undefined)[][] = [];
  private readonly toggled = new Set<string>();
  private readonly listeners: (() => void)[] = [];
  private readonly viewListeners: (() => void)[] = [];
  private readonly rings = new Map<string, Intervals[]>();
  private readonly barriers = new Map<string, BarrierLane>();
  private readonly tiles = new Map<Cta, TileNumbers>();

  constructor(traces: Trace[], diff: Diff | null) {
    this.take(traces, diff);
    this.view = this.wholeRun();
    this.theme = matchMedia('(prefers-color-scheme: dark)').matches ? dark : light;
    this.layOut();
  }

  private take(traces: Trace[], diff: Diff | null): void {
    this.diff = diff;
    this.sides = traces.map((trace) => ({trace, ctas: findCtas(trace)}));
    this.ctaOfTrack = this.sides.map(({trace, ctas}) => {
      const byTrack: (Cta | undefined)[] = trace.tracks.map((t) => ctas.find((cta) => cta.id === t.cta));
      for (const cta of ctas)
        for (const track of [...cta.roles, ...cta.units, ...cta.arrays.flatMap((a) => a.tracks)]) byTrack[track.id] = cta;
      return byTrack;
    });
    this.openWaits = traces.map(findOpenWaits);
    this.marked = traces.map(markedSpans);
    this.findings = groupFindings(traces);
    this.hung = traces.map((trace) => trace.findings.some((finding) => finding.id === 'hang'));
  }

  /** What the picture draws. */
  get drawn(): Side[] {
    return this.moving ?? this.sides;
  }
  /** From the first event to the last, on the common axis. */
  get extent(): [number, number] {
    let first = Infinity, last = -Infinity;
    this.sides.forEach(({trace}, side) => {
      first = Math.min(first, this.axis(side, trace.begin));
      last = Math.max(last, this.axis(side, trace.end));
    });
    return [first, last];
  }
  private wholeRun(): Viewport {
    const [first, last] = this.extent;
    const view = new Viewport(first, last, first, last);
    view.showAll();
    return view;
  }

  /** Other traces in place of these: what is open, which part is shown and the theme stay, what is selected does not. */
  replace(traces: Trace[], diff: Diff | null): void {
    const {width, from, to, showsAll} = this.view;
    this.take(traces, diff);
    this.moving = null;
    this.shift = 0;
    this.view = this.wholeRun();
    this.view.width = width;
    if (!showsAll) this.view.show(from, to, 0);
    this.selection = this.hover = null;
    [this.hits, this.hit, this.difference] = [[], -1, -1];
    this.tiles.clear();
    this.forget();
    if (this.tab === 'selection' || (this.tab === 'differences' && !diff)) this.tab = 'overview';
    this.layOut();
    this.scrollTo(this.scroll);
  }
  /** The times of spans and events have changed: what was derived from them has not. */
  forget(): void {
    this.rings.clear();
    this.barriers.clear();
  }

  // ---- time

  /** A trace's tick on the common axis, which counts ticks of the first trace. */
  axis(side: number, tick: number): number {
    if (this.sides.length === 1) return tick;
    const {trace} = this.sides[side];
    return side === 0 ? tick - trace.begin : (tick - trace.begin) * this.ratio + this.shift;
  }
  tick(side: number, axis: number): number {
    if (this.sides.length === 1) return axis;
    const {trace} = this.sides[side];
    return side === 0 ? axis + trace.begin : (axis - this.shift) / this.ratio + trace.begin;
  }
  /** Ticks of the first trace per tick of the second. */
  get ratio(): number {
    const [a, b] = this.sides;
    return b ? a.trace.metadata.ticks_per_second / b.trace.metadata.ticks_per_second : 1;
  }

  // ---- derived data, computed when first drawn

  ring(side: number, cta: Cta, ring: Ring): Intervals[] {
    const key = `${side} ${cta.key} ${ring.name}`;
    let found = this.rings.get(key);
    if (!found) {
      const {trace, ctas} = this.drawn[side];
      this.rings.set(key, found = ringOccupancy(trace, ctas, cta, ring.name, ring.stages));
    }
    return found;
  }
  barrier(side: number, cta: Cta, track: Track): BarrierLane {
    const key = `${side} ${track.id}`;
    let found = this.barriers.get(key);
    if (!found) this.barriers.set(key, found = barrierLane(this.drawn[side].trace, track, cta.end));
    return found;
  }
  tileNumber(side: number, cta: Cta, key: string): number {
    let found = this.tiles.get(cta);
    if (!found) this.tiles.set(cta, found = tileNumbers(this.sides[side].trace, cta));
    return found.get(key) ?? 0;
  }
  ctaOf(side: number, track: number): Cta | undefined {
    return this.ctaOfTrack[side][track];
  }

  // ---- rows

  layOut(): void {
    this.rows = layOut(this.sides, this.toggled, kOpenAtFirst, this.height);
  }
  toggle(key: string): void {
    if (!this.toggled.delete(key)) this.toggled.add(key);
    this.layOut();
    this.changed();
  }
  setCtasOpen(open: boolean): void {
    for (const row of this.rows)
      if (row.kind === 'cta' && row.toggle && row.open !== open)
        if (!this.toggled.delete(row.toggle)) this.toggled.add(row.toggle);
    this.layOut();
    this.changed();
  }
  rowOf(side: number, track: number): Row | undefined {
    return this.rows.find((row) => row.side === side && 'track' in row && row.track.id === track);
  }
  /** Opens whatever hides the track and returns its row. */
  openRow(side: number, track: number): Row | undefined {
    const cta = this.ctaOf(side, track);
    if (!cta) return undefined;
    for (let tries = 0; tries < 3 && !this.rowOf(side, track); ++tries) {
      const closed = this.rows.find((row) => row.open === false && (
        row.kind === 'cta' ? row.toggle === `cta ${cta.key}` :
        row.kind === 'barriers' && this.sides[side].trace.tracks[track].kind === 'barrier' && row.toggle === `barriers ${cta.key}`));
      if (!closed?.toggle) break;
      if (!this.toggled.delete(closed.toggle)) this.toggled.add(closed.toggle);
      this.layOut();
    }
    return this.rowOf(side, track);
  }

  // ---- what the user does

  select(selection: Selection | null, tab = true): void {
    this.selection = selection;
    if (selection?.kind === 'span') {
      const row = this.rowOf(selection.side, this.sides[selection.side].trace.spans.track[selection.span]);
      if (row) this.lane = keyOf(row);
    }
    if (selection && tab) this.tab = 'selection';
    this.changed();
  }
  /** Selects the span, opens its lanes and moves it into sight. */
  goTo(side: number, span: number, tab = true): void {
    const {trace} = this.sides[side];
    this.bringIntoView(this.openRow(side, trace.spans.track[span]));
    this.view.reveal(this.axis(side, trace.spans.begin[span]), this.axis(side, trace.spans.end[span]));
    this.select({kind: 'span', side, span}, tab);
  }
  goToTrack(side: number, track: number, time: number, tab = true): void {
    const row = this.openRow(side, track);
    this.bringIntoView(row);
    this.view.reveal(this.axis(side, time), this.axis(side, time));
    if (row?.kind === 'barrier') this.select({kind: 'barrier', side, cta: row.cta, track: row.track, time}, tab);
    this.changed();
  }
  /** A lane and a moment that a text names: selects what the lane does then. */
  goToPlace(side: number, track: number, time: number): void {
    const {trace} = this.sides[side];
    const span = trace.tracks[track].kind === 'barrier' ? -1 : trace.spanAt(track, time, (i) => !trace.contains[i] && trace.spans.end[i] > time);
    if (span >= 0) this.goTo(side, span, false);
    else this.goToTrack(side, track, time, false);
    if (time < this.tick(side, this.view.from) || time > this.tick(side, this.view.to)) this.view.reveal(this.axis(side, time), this.axis(side, time));
    this.changed();
  }
  goToHit(step: number): void {
    if (this.hits.length === 0) return;
    this.hit = (this.hit + step + this.hits.length) % this.hits.length;
    const hit = this.hits[this.hit];
    this.goTo(hit.side, hit.span, false);
  }
  /** The differences that are listed and stepped through. */
  get differences(): Difference[] {
    const all = this.diff?.differences ?? [];
    return this.differenceKind === 'all' ? all : all.filter((d) => d.kind === this.differenceKind);
  }
  goToDifference(index: number): void {
    const list = this.differences;
    if (list.length === 0) return;
    this.difference = (index + list.length) % list.length;
    const d = list[this.difference];
    if (d.spanB >= 0) this.openRow(1, this.sides[1].trace.spans.track[d.spanB]);
    if (d.spanA >= 0) this.goTo(0, d.spanA, false);
    else if (d.spanB >= 0) this.goTo(1, d.spanB, false);
    else if (d.eventA >= 0) this.goToEvent(0, d.eventA);
    else if (d.eventB >= 0) this.goToEvent(1, d.eventB);
    if (d.spanA >= 0 && d.spanB >= 0) this.revealBoth(d.spanA, d.spanB);
    this.tab = 'differences';
    this.changed();
  }
  /** Both in sight, unless they are so far apart that neither would be seen. */
  private revealBoth(a: number, b: number): void {
    const [sa, sb] = [this.sides[0].trace.spans, this.sides[1].trace.spans];
    const from = Math.min(this.axis(0, sa.begin[a]), this.axis(1, sb.begin[b]));
    const to = Math.max(this.axis(0, sa.end[a]), this.axis(1, sb.end[b]));
    const longer = Math.max(sa.end[a] - sa.begin[a], (sb.end[b] - sb.begin[b]) * this.ratio);
    if (to - from < 60 * longer) this.view.show(from, to, 0.4);
  }
  /** Moves the second trace so that the selected step begins at the same place in both; again: back. */
  align(): void {
    const s = this.selection;
    const moved = this.shift !== 0;
    this.shift = 0;
    if (moved || !this.diff || s?.kind !== 'span') return;
    const partner = (s.side === 0 ? this.diff.partnerOfA : this.diff.partnerOfB)[s.span];
    if (partner < 0) return;
    const [a, b] = s.side === 0 ? [s.span, partner] : [partner, s.span];
    this.shift = this.axis(0, this.sides[0].trace.spans.begin[a]) - this.axis(1, this.sides[1].trace.spans.begin[b]);
  }
  /** Selects it and frames it from cause to effect. */
  goToFinding(side: number, finding: Finding): void {
    this.showFinding(side, finding);
    const times = [finding.time, ...causes(finding).map((mark) => mark.time)].map((time) => this.axis(side, time));
    this.view.frame(Math.min(...times), Math.max(...times));
    this.changed();
  }
  /** Selects it and scrolls to its lanes, without zooming. */
  showFinding(side: number, finding: Finding): void {
    const tracks = [finding.track, ...causes(finding).map((mark) => mark.track)];
    this.bringAllIntoView(side, [...new Set(tracks)].filter((track) => track >= 0));
    this.select({kind: 'finding', side, finding}, false);
    this.tab = 'findings';
  }
  /** As many of the lanes as fit, the first in any case; folds CTAs between them that hold none. */
  private bringAllIntoView(side: number, tracks: number[]): void {
    for (const track of tracks) this.openRow(side, track);
    const place = (): [number, number] => {
      const rows = tracks.map((track) => this.rowOf(side, track)).filter((row) => row !== undefined);
      return [Math.min(...rows.map((row) => row.y)), Math.max(...rows.map((row) => row.y + row.height))];
    };
    let [top, bottom] = place();
    if (bottom - top > this.height - kAround) {
      const needed = new Set(tracks.map((track) => this.ctaOf(side, track)));
      for (const row of this.rows)
        if (row.kind === 'cta' && row.open && row.toggle && row.y > top && row.y < bottom && !needed.has(row.cta) && !needed.has(row.other!))
          if (!this.toggled.delete(row.toggle)) this.toggled.add(row.toggle);
      this.layOut();
      [top, bottom] = place();
    }
    if (!(top < bottom)) return;
    if (bottom - top > this.height - kAround) return this.bringIntoView(this.rowOf(side, tracks[0]));
    if (top < this.scroll + 30 || bottom > this.scroll + this.height - 20) this.scrollTo((top + bottom - this.height) / 2);
  }
  private goToEvent(side: number, event: number): void {
    const {events} = this.sides[side].trace;
    this.goToTrack(side, events.track[event], events.time[event]);
  }

  // ---- vertical place; the picture sets its height

  height = 600;
  /** The picture has another height. */
  resized(height: number): void {
    this.height = height;
    this.layOut();
  }

  // ---- the lane that the keyboard is on

  lane: string | null = null;
  get laneRow(): Row | null {
    return this.lane === null ? null : this.rows.find((row) => keyOf(row) === this.lane) ?? null;
  }
  /** The lane above or below; the first in sight if there is none yet. */
  stepLane(step: number): void {
    const at = this.rows.findIndex((row) => keyOf(row) === this.lane);
    const first = this.rows.findIndex((row) => row.y >= this.scroll - 1);
    const next = at < 0 ? first : Math.min(Math.max(at + step, 0), this.rows.length - 1);
    if (next < 0) return;
    this.lane = keyOf(this.rows[next]);
    this.bringIntoView(this.rows[next], true);
    this.changed();
  }
  bringIntoView(row: Row | undefined, least = false): void {
    if (!row) return;
    if (least) {
      if (row.y < this.scroll) this.scrollTo(row.y);
      else if (row.y + row.height > this.scroll + this.height) this.scrollTo(row.y + row.height - this.height);
      return;
    }
    if (row.y < this.scroll + 30 || row.y + row.height > this.scroll + this.height - 20)
      this.scrollTo(row.y - this.height / 3);
  }
  scrollTo(y: number): void {
    this.scroll = Math.max(0, Math.min(y, heightOf(this.rows) + 16 - this.height));
    this.moved();
  }

  // ---- change

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  /** Only what is seen of the picture has changed. */
  onMove(listener: () => void): () => void {
    this.viewListeners.push(listener);
    return () => this.viewListeners.splice(this.viewListeners.indexOf(listener), 1);
  }
  changed(): void {
    for (const listener of this.listeners) listener();
    this.moved();
  }
  moved(): void {
    for (const listener of this.viewListeners) listener();
  }
}
