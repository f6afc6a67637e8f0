// What is drawn over the rows: texts, the selection, flows, the critical path, findings, differences, the cursor.

import {lastAtMost} from '../data/barriers';
import type {Trace} from '../data/trace';
import type {Model, Selection} from '../model';
import {nanoseconds} from '../text/format';
import {type Label, kFont, kSmallFont} from './draw_rows';
import {type Box, Places} from './places';
import {css} from './theme';

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
    for (const onBright of [false, true]) {
      g.font = small ? kSmallFont : kFont;
      g.fillStyle = onBright ? '#0c0d10' : model.theme.text;
      for (const label of labels) if (label.small === small && label.onBright === onBright) g.fillText(label.text, label.x, label.y + 0.5);
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

export function drawFindings(o: Overlay): void {
  const {g, model, places, height} = o;
  model.sides.forEach(({trace}, side) => {
    for (const finding of trace.findings) {
      const x = model.view.x(model.axis(side, finding.time));
      if (x < -20 || x > model.view.width + 20) continue;
      const place = finding.track >= 0 ? places.track(side, finding.track) : null;
      const selected = model.selection?.kind === 'finding' && model.selection.finding === finding;
      g.strokeStyle = g.fillStyle = css(model.theme.alarm);
      g.lineWidth = selected ? 2 : 1;
      g.setLineDash(selected ? [] : [4, 3]);
      g.beginPath();
      g.moveTo(x, 0);
      g.lineTo(x, height);
      g.stroke();
      g.setLineDash([]);
      pin(g, x, place ? place.y0 + kPinTop : 8, finding.id, finding.warning, model);
    }
  });
}

/** Above the body of a role's lane. */
export const kPinTop = -3, kPinHeight = 14;
export function pinWidth(id: string): number {
  return 12 + 7.5 * id.length;
}

/** A flag with the id of what was found; a warning's is hollow. */
function pin(g: CanvasRenderingContext2D, x: number, y: number, text: string, hollow: boolean, model: Model): void {
  g.font = 'bold 11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  const width = pinWidth(text);
  if (x + width > model.view.width) x -= width;
  g.beginPath();
  g.rect(x, y, width, kPinHeight);
  g.fillStyle = hollow ? css(model.theme.background) : css(model.theme.alarm);
  g.fill();
  g.strokeStyle = css(model.theme.alarm);
  g.stroke();
  g.fillStyle = hollow ? css(model.theme.alarm) : model.theme.dark ? '#1a1206' : '#ffffff';
  g.fillText(text, x + 6, y + kPinHeight / 2 + 0.5);
}

/** Waits that nobody ended. */
export function drawOpenWaits(o: Overlay): void {
  const {model, places, height} = o;
  model.openWaits.forEach((waits, side) => {
    for (const span of waits) {
      const box = places.span(side, span);
      if (!box?.exact || box.y1 < 0 || box.y0 > height || box.x1 < 0 || box.x0 > model.view.width) continue;
      flag(o, box, model.hung[side] ? 'never woken' : 'still asleep', true);
    }
  });
}

/** A frame around a box, with a text at its right end where there is room. */
function flag(o: Overlay, box: Box, text: string, bold: boolean): void {
  const {g, model} = o;
  g.strokeStyle = g.fillStyle = css(model.theme.alarm);
  g.lineWidth = bold ? 2.5 : 1.5;
  const x0 = Math.max(-3, box.x0), x1 = Math.min(Math.max(box.x1, box.x0 + 3), model.view.width + 3);
  g.strokeRect(x0, box.y0, x1 - x0, box.y1 - box.y0);
  if (!text) return;
  g.font = 'bold 10px system-ui, sans-serif';
  g.textBaseline = 'middle';
  const width = g.measureText(text).width + 6;
  const x = Math.min(x1, model.view.width) - width - 1;
  g.fillRect(x, box.y0 + 1, width, 12);
  g.fillStyle = model.theme.dark ? '#1a1206' : '#ffffff';
  g.fillText(text, x + 3, box.y0 + 7.5);
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
      flag(o, box, current || box.x1 - box.x0 > 100 || (d.kind === 'structure' && box.x1 - box.x0 > 12) ? text : '', current);
    });
  });
}
