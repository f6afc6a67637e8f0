// SPDX-License-Identifier: Apache-2.0
// What is drawn over the rows: texts, the selection, flows, the critical path, findings, differences, the cursor.

import {lastAtMost} from '../data/barriers';
import {markSpan} from '../data/findings';
import type {Finding, Mark, Trace} from '../data/trace';
import type {Model, Selection} from '../model';
import {duration, nanoseconds} from '../text/format';
import {type Label, kFont, kSmallFont} from './draw_rows';
import {type Box, Places} from './places';
import {css, onBright} from './theme';

export interface Overlay {
  model: Model;
  g: CanvasRenderingContext2D;
  places: Places;
  height: number;
}

export function drawLabels(o: Overlay, labels: Label[]): void {
  const {g, model} = o;
  g.textBaseline = 'middle';
  for (const small of [false, true])
    for (const bright of [false, true]) {
      g.font = small ? kSmallFont : kFont;
      g.fillStyle = bright ? onBright : model.theme.text;
      for (const label of labels) if (label.small === small && label.onBright === bright) g.fillText(label.text, label.x, label.y + 0.5);
    }
}

/** Moment of a flow's step from one span to the next: [leaves the source, reaches the sink], in ticks. */
function stepTimes(trace: Trace, source: number, sink: number): [number, number] {
  const {spans} = trace;
  const reaches = trace.kind(sink) === 'wait' || trace.kind(sink).endsWith('_wait') ? spans.end[sink] : spans.begin[sink];
  return [Math.min(Math.max(reaches, spans.begin[source]), spans.end[source]), reaches];
}

export interface Step {
  from: number;
  to: number;
}

/** Steps of the flows that lead to and from a span: directly, or all the way back. */
export function flowSteps(trace: Trace, span: number, far: boolean): Step[] {
  const steps: Step[] = [];
  for (let at = span, hops = 0; hops < (far ? 12 : 1); ++hops) {
    const source = trace.source(trace.spans.flowIn[at]);
    if (source < 0) break;
    steps.push({from: source, to: at});
    at = source;
  }
  for (const sink of trace.sinksOf(trace.spans.flowOut[span])) steps.push({from: span, to: sink});
  return steps;
}

function arrow(g: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  const bend = Math.max(14, Math.min(60, Math.abs(x1 - x0) / 2));
  g.beginPath();
  g.moveTo(x0, y0);
  g.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 1, y1);
  g.stroke();
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x1 - 7, y1 - 4);
  g.lineTo(x1 - 7, y1 + 4);
  g.closePath();
  g.fill();
  g.beginPath();
  g.arc(x0, y0, 2.5, 0, 7);
  g.fill();
}

const middle = (box: Box) => (box.y0 + box.y1) / 2;

function drawFlows(o: Overlay, selection: Selection, far: boolean): number {
  if (selection.kind !== 'span') return 0;
  const {g, model, places} = o;
  const {trace} = model.sides[selection.side];
  const steps = flowSteps(trace, selection.span, far);
  let drawn = 0;
  for (const pass of [0, 1]) { // a halo first, so that arrows stand out on any colour
    g.strokeStyle = g.fillStyle = pass === 0 ? css(model.theme.background, 0.85) : model.theme.text;
    g.lineWidth = pass === 0 ? 4.5 : 1.6;
    for (const {from, to} of steps) {
      const a = places.span(selection.side, from), b = places.span(selection.side, to);
      if (!a || !b) continue;
      const [leaves, reaches] = stepTimes(trace, from, to);
      arrow(g, model.view.x(model.axis(selection.side, leaves)), middle(a), model.view.x(model.axis(selection.side, reaches)), middle(b));
      drawn += pass;
    }
  }
  return drawn;
}

function outline(o: Overlay, box: Box, width: number): void {
  const {g, model} = o;
  const x0 = Math.max(-4, box.x0), x1 = Math.min(model.view.width + 4, Math.max(box.x1, box.x0 + 2));
  if (x1 < -3 || x0 > model.view.width + 3) return;
  g.lineWidth = width + 2;
  g.strokeStyle = css(model.theme.background);
  g.strokeRect(x0 - 1, box.y0 - 1, x1 - x0 + 2, box.y1 - box.y0 + 2);
  g.lineWidth = width;
  g.strokeStyle = model.theme.text;
  g.strokeRect(x0 - 1, box.y0 - 1, x1 - x0 + 2, box.y1 - box.y0 + 2);
}

/** The number of flow arrows that were drawn. */
export function drawSelection(o: Overlay): number {
  const {model, places} = o;
  const {selection, hover} = model;
  let arrows = 0;
  if (selection?.kind === 'span') {
    const box = places.span(selection.side, selection.span);
    if (box) outline(o, box, 2);
    const partner = partnerOf(model, selection.side, selection.span);
    const other = partner >= 0 ? places.span(1 - selection.side, partner) : null;
    if (box && other) {
      outline(o, other, 1);
      o.g.setLineDash([3, 3]);
      o.g.strokeStyle = model.theme.quietText;
      o.g.lineWidth = 1.5;
      for (const side of ['x0', 'x1'] as const) {
        o.g.beginPath();
        o.g.moveTo(box[side], middle(box));
        o.g.lineTo(other[side], middle(other));
        o.g.stroke();
      }
      o.g.setLineDash([]);
    }
    if (model.showFlows) arrows += drawFlows(o, selection, true);
  }
  if (hover?.kind === 'span' && !(selection?.kind === 'span' && selection.span === hover.span && selection.side === hover.side)) {
    const box = places.span(hover.side, hover.span);
    if (box) outline(o, box, 1);
    if (model.showFlows) arrows += drawFlows(o, hover, false);
  }
  return arrows;
}

export function partnerOf(model: Model, side: number, span: number): number {
  if (!model.diff) return -1;
  return (side === 0 ? model.diff.partnerOfA : model.diff.partnerOfB)[span];
}

/** A line along the lanes that are at work on it, up and down where one hands over to another. */
export function drawPath(o: Overlay): void {
  const {g, model, places} = o;
  const {path} = model.sides[0].trace;
  if (!model.showPath || !path) return;
  const first = Math.max(0, lastAtMost(path.begin, model.tick(0, model.view.from)) - 1);
  const to = model.tick(0, model.view.to);
  for (const halo of [true, false]) {
    g.strokeStyle = halo ? css(model.theme.background) : css(model.theme.path);
    g.lineWidth = halo ? 4.5 : 2.5;
    g.lineJoin = 'round';
    g.beginPath();
    let connected = false;
    for (let i = first; i < path.count && path.begin[i] <= to; ++i) {
      const box = path.span[i] >= 0 ? places.span(0, path.span[i]) : path.track[i] >= 0 ? places.track(0, path.track[i]) : null;
      if (!box) continue;
      // Along the lower edge of a bar, below one that it would hide.
      const y = box.y1 - box.y0 < 10 ? box.y1 + 2 : box.y1 - (box.exact && path.span[i] >= 0 ? 2 : 4);
      const x0 = model.view.x(model.axis(0, path.begin[i])), x1 = model.view.x(model.axis(0, path.end[i]));
      if (connected) g.lineTo(x0, y);
      else g.moveTo(x0, y);
      g.lineTo(x1, y);
      connected = true;
    }
    g.stroke();
  }
}

/** Flags of findings; those of the same id on one lane at one place are one. */
export interface Pin {
  x: number;
  y: number;
  width: number;
  text: string;
  warning: boolean;
  side: number;
  finding: Finding;
}

export const kPinHeight = 14;
/** Above the body of a role's lane. */
const kPinTop = -3;

export function pinsOf(model: Model, places: Places): Pin[] {
  const pins = new Map<string, {side: number; findings: Finding[]; x: number; y: number}>();
  model.sides.forEach(({trace}, side) => {
    for (const finding of trace.findings) {
      const x = model.view.x(model.axis(side, finding.time));
      const place = finding.track >= 0 ? places.track(side, finding.track) : null;
      const y = place ? place.y0 + kPinTop : 8;
      const key = `${finding.id} ${Math.round(x / 24)} ${y}`;
      const known = pins.get(key);
      if (known) known.findings.push(finding);
      else pins.set(key, {side, findings: [finding], x, y});
    }
  });
  const placed: Pin[] = [];
  const selected = model.selection?.kind === 'finding' ? model.selection.finding : null;
  const weight = ({findings}: {findings: Finding[]}) => findings.includes(selected!) ? 0 : findings[0].warning ? 2 : 1;
  for (const {side, findings, x, y} of [...pins.values()].sort((a, b) => weight(a) - weight(b))) {
    const text = findings.length > 1 ? `${findings[0].id} \u00d7${findings.length}` : findings[0].id;
    const width = 12 + 7.5 * text.length;
    const finding = findings.find((f) => f === selected) ?? findings[0];
    /** Beside those that are there already. */
    const beside = (from: number, right: boolean): number => {
      const other = placed.find((p) => p.y === y && from < p.x + p.width && from + width > p.x);
      return other ? beside(right ? other.x + other.width + 2 : other.x - width - 2, right) : from;
    };
    const right = beside(x, true), fits = right + width <= model.view.width || x > model.view.width;
    placed.push({x: fits ? right : beside(x - width, false), y, width, text, warning: finding.warning, side, finding});
  }
  return placed;
}

export function drawFindings(o: Overlay): void {
  const {g, model, places, height} = o;
  for (const {trace, side} of model.sides.map(({trace}, side) => ({trace, side})))
    for (const finding of trace.findings) {
      const x = model.view.x(model.axis(side, finding.time));
      if (x < -20 || x > model.view.width + 20) continue;
      const selected = model.selection?.kind === 'finding' && model.selection.finding === finding;
      g.strokeStyle = css(model.theme.alarm);
      g.lineWidth = selected ? 2 : 1;
      g.setLineDash(selected ? [] : [4, 3]);
      g.beginPath();
      g.moveTo(x, 0);
      g.lineTo(x, height);
      g.stroke();
      g.setLineDash([]);
    }
  for (const pin of pinsOf(model, places)) drawPin(g, pin, model);
}

/** A flag with the id of what was found; a warning's is hollow. */
function drawPin(g: CanvasRenderingContext2D, {x, y, width, text, warning}: Pin, model: Model): void {
  if (x < -width - 20 || x > model.view.width + 20) return;
  const {theme} = model;
  g.font = 'bold 11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.lineWidth = 1.5;
  g.beginPath();
  g.rect(x, y, width, kPinHeight);
  g.fillStyle = warning ? css(theme.background) : css(theme.alarm);
  g.fill();
  g.strokeStyle = css(theme.alarm);
  g.stroke();
  g.fillStyle = warning ? theme.alarmText : theme.onAlarm;
  g.fillText(text, x + 6, y + kPinHeight / 2 + 0.5);
}

/** A wait that was open when a run ended that was not hung: no more than that. */
type Framed = Mark['what'] | 'asleep';

/** What is drawn of findings beside their flags, for tests: the spans in frames and the accesses that are joined. */
export interface Marks {
  frames: {side: number; span: number; what: Framed}[];
  joined: {finding: Finding; x: [number, number]; y: [number, number]}[];
}

const frameText: Record<Framed, string> = {
  root: 'root wait', fault: 'at fault', victim: 'never woken', first: '', second: '', asleep: 'still asleep',
};

/** Waits that nobody ended, and what a finding says of a span: the root wait, its victims and who is at fault look different. */
export function drawMarkedSpans(o: Overlay, marks: Marks): void {
  const {model, places, height} = o;
  model.sides.forEach((_, side) => {
    const all = new Map<number, Framed>(model.marked[side]);
    for (const span of model.openWaits[side]) if (!all.has(span)) all.set(span, model.hung[side] ? 'victim' : 'asleep');
    // What is drawn later stands out.
    const order: Framed[] = ['asleep', 'victim', 'fault', 'root'];
    for (const kind of order)
      for (const [span, what] of all) {
        if (what !== kind) continue;
        const box = places.span(side, span);
        if (!box?.exact || box.y1 < 0 || box.y0 > height || box.x1 < 0 || box.x0 > model.view.width) continue;
        flag(o, box, frameText[what], what);
        marks.frames.push({side, span, what});
      }
  });
}

/** The two accesses of a hazard, numbered and joined: of the finding that is selected, else of the first that ended the run. */
export function drawHazards(o: Overlay, marks: Marks): void {
  const {model, places, g} = o;
  const {theme} = model;
  const chosen = model.selection?.kind === 'finding' ? model.selection.finding : null;
  model.sides.forEach(({trace}, side) => {
    const shown = chosen ? trace.findings.filter((f) => f === chosen) : trace.findings.filter((f) => !f.warning).slice(0, 1);
    for (const finding of shown) {
      const selected = finding === chosen;
      const first = finding.marks.find((m) => m.what === 'first'), second = finding.marks.find((m) => m.what === 'second');
      if (!first || !second) continue;
      const at = [first, second].map((mark) => {
        const span = markSpan(trace, mark);
        const box = span >= 0 ? places.span(side, span) : null;
        if (box?.exact && selected) outline(o, box, 1.5);
        const lane = places.track(side, mark.track);
        return lane && {x: model.view.x(model.axis(side, mark.time)), y: box ? middle(box) : (lane.y0 + lane.y1) / 2};
      });
      const [a, b] = at;
      if (!a || !b) continue;
      for (const halo of [true, false]) {
        g.strokeStyle = halo ? css(theme.background) : css(theme.alarm);
        g.lineWidth = halo ? 6 : 2.5;
        g.beginPath();
        // Up and down in the middle, so that it does not hide under a lane.
        g.moveTo(a.x, a.y);
        if (Math.abs(a.y - b.y) < 2) g.bezierCurveTo(a.x, a.y - 26, b.x, b.y - 26, b.x, b.y);
        else g.bezierCurveTo((a.x + b.x) / 2, a.y, (a.x + b.x) / 2, b.y, b.x, b.y);
        g.stroke();
      }
      const near = Math.hypot(a.x - b.x, a.y - b.y) < 17;
      numbered(o, near ? a.x - 9 : a.x, a.y, '1', true);
      numbered(o, near ? b.x + 9 : b.x, b.y, '2', false);
      const text = `${duration(model, second.time - first.time, trace)} apart`;
      g.font = 'bold 10px system-ui, sans-serif';
      const width = g.measureText(text).width + 8;
      if (Math.abs(a.x - b.x) > width + 30) label(o, (a.x + b.x) / 2 - width / 2, (a.y + b.y) / 2 - (Math.abs(a.y - b.y) < 2 ? 26 : 6), text, css(theme.background), theme.alarmText);
      marks.joined.push({finding, x: [a.x, b.x], y: [a.y, b.y]});
    }
  });
}

function numbered({g, model}: Overlay, x: number, y: number, text: string, hollow: boolean): void {
  const {theme} = model;
  g.beginPath();
  g.arc(x, y, 8, 0, 7);
  g.fillStyle = hollow ? css(theme.background) : css(theme.alarm);
  g.fill();
  g.lineWidth = 2;
  g.strokeStyle = css(theme.alarm);
  g.stroke();
  g.font = 'bold 11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.textAlign = 'center';
  g.fillStyle = hollow ? theme.alarmText : theme.onAlarm;
  g.fillText(text, x, y + 0.5);
  g.textAlign = 'left';
}

function label({g}: Overlay, x: number, y: number, text: string, back: string, color: string): void {
  g.font = 'bold 10px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.fillStyle = back;
  g.fillRect(x, y, g.measureText(text).width + 8, 12);
  g.fillStyle = color;
  g.fillText(text, x + 4, y + 6.5);
}

/**
 * A frame around a box with a text at its right end where there is room.  The root wait's is thick and its text on the alarm; who is
 * at fault has a dark one; that of a victim is thin and broken, that of a wait that was merely open thin and quiet; differences of two traces have an accent or, where they differ in
 * structure, the alarm.
 */
function flag(o: Overlay, box: Box, text: string, kind: Framed | 'timing' | 'structure', current = false): void {
  const {g, model} = o, {theme} = model;
  const color = kind === 'fault' ? theme.text : kind === 'timing' ? theme.accent : kind === 'asleep' ? theme.quietText : css(theme.alarm);
  const width = kind === 'root' ? 3 : kind === 'fault' || current ? 2.5 : 1.5;
  const x0 = Math.max(-4, box.x0), x1 = Math.min(Math.max(box.x1, box.x0 + 3), model.view.width + 4);
  g.lineWidth = width + 2;
  g.strokeStyle = css(theme.background);
  g.strokeRect(x0, box.y0, x1 - x0, box.y1 - box.y0);
  g.lineWidth = width;
  g.strokeStyle = color;
  g.setLineDash(kind === 'victim' ? [5, 3] : []);
  g.strokeRect(x0, box.y0, x1 - x0, box.y1 - box.y0);
  g.setLineDash([]);
  if (kind === 'fault') arrowhead(o, Math.min(Math.max(x0, 6), model.view.width - 6), box.y0);
  if (!text) return;
  g.font = 'bold 10px system-ui, sans-serif';
  g.textBaseline = 'middle';
  const length = g.measureText(text).width + 8;
  // At the right end of a wait; beside what is too short for it.
  const inside = Math.min(x1, model.view.width) - Math.max(0, x0) > length + 8;
  if (!inside && (kind === 'victim' || kind === 'asleep')) return;
  const x = inside ? Math.min(x1, model.view.width) - length - 2 : x1 + length + 4 < model.view.width ? x1 + 3 : x0 - length - 3;
  const hollow = kind === 'victim' || kind === 'asleep';
  label(o, x, box.y0 + 1.5, text, hollow ? css(theme.background) : color, kind === 'victim' ? theme.alarmText : hollow ? theme.quietText : kind === 'root' || kind === 'structure' ? theme.onAlarm : css(theme.background));
}

/** Points down at the begin of what is at fault. */
function arrowhead({g, model}: Overlay, x: number, y: number): void {
  g.fillStyle = css(model.theme.alarm);
  g.beginPath();
  g.moveTo(x - 6, y - 9);
  g.lineTo(x + 6, y - 9);
  g.lineTo(x, y + 1);
  g.closePath();
  g.fill();
}

/** Spans that differ: a frame with by how much A is longer, or what is missing. */
export function drawDifferences(o: Overlay): void {
  const {model, places, height} = o;
  if (!model.diff) return;
  const {differences} = model;
  differences.forEach((d, n) => {
    const current = n === model.difference;
    ([[0, d.spanA], [1, d.spanB]] as const).forEach(([side, span]) => {
      const box = span >= 0 ? places.span(side, span) : null;
      if (!box?.exact || box.y1 < 0 || box.y0 > height || box.x1 < 0 || box.x0 > model.view.width) return;
      const text = d.kind === 'structure' ? '\u2260' : side === 0 ? `${d.ns > 0 ? '+' : '\u2212'}${nanoseconds(Math.abs(d.ns))}` : '';
      flag(o, box, current || box.x1 - box.x0 > 100 || (d.kind === 'structure' && box.x1 - box.x0 > 12) ? text : '', d.kind, current);
    });
  });
}
