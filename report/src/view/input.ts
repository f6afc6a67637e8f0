// SPDX-License-Identifier: Apache-2.0
// Mouse and keyboard on the picture.

import {lastAtMost} from '../data/barriers';
import type {Model, Selection} from '../model';
import {describe} from '../text/sentences';
import {showTooltip} from '../ui/tooltip';
import {type Row, heightOf} from './layout';
import {type Picture, kAxis, kScrollBar} from './picture';
import {dark, light} from './theme';

/** @param live  what is written there, a screen reader says */
export function listen(model: Model, picture: Picture, live: HTMLElement, focusSearch: () => void): void {
  const canvas = picture.element;
  /** Where the mouse is on the canvas; null: elsewhere. */
  let mouse: {x: number; y: number; clientX: number; clientY: number} | null = null;
  let down: {x: number; y: number; scroll: number; measuring: boolean} | null = null;
  let scrolling: number | null = null; // where the handle was grabbed
  let last = {x: 0, y: 0}, moved = false;

  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const step = event.deltaMode === 1 ? 30 : 1;
    if (event.offsetX < picture.names || event.shiftKey) model.scrollTo(model.scroll + (event.deltaY + event.deltaX) * step);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) model.view.pan(event.deltaX * step);
    else model.view.zoom(1.0015 ** (event.deltaY * step), event.offsetX - picture.names);
    model.moved();
    hoverAgain();
  }, {passive: false});

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const handle = picture.scrollHandle();
    if (handle && event.offsetX >= picture.width - kScrollBar) {
      const inside = event.offsetY >= handle[0] && event.offsetY < handle[0] + handle[1];
      scrolling = inside ? event.offsetY - handle[0] : handle[1] / 2;
      return scrollBy(event.offsetY);
    }
    down = {x: event.offsetX, y: event.offsetY, scroll: model.scroll, measuring: event.shiftKey && event.offsetX >= picture.names};
    if (down.measuring) {
      const time = model.view.time(event.offsetX - picture.names);
      picture.measured = [time, time];
    }
    last = {x: event.offsetX, y: event.offsetY};
    moved = false;
    canvas.focus({preventScroll: true});
  });

  canvas.addEventListener('pointermove', (event) => {
    const {offsetX: x, offsetY: y} = event;
    mouse = {x, y, clientX: event.clientX, clientY: event.clientY};
    if (scrolling !== null) return scrollBy(y);
    if (down) {
      moved ||= Math.abs(x - down.x) + Math.abs(y - down.y) > 3;
      if (down.measuring && picture.measured) picture.measured[1] = model.view.time(x - picture.names);
      else if (moved) {
        if (down.x >= picture.names) model.view.pan(last.x - x);
        model.scrollTo(down.scroll + down.y - y);
        canvas.style.cursor = 'grabbing';
      }
      last = {x, y};
      showTooltip(null);
      model.moved();
      return;
    }
    hoverAt(x, y, event.clientX, event.clientY);
  });

  /** The picture has moved under the mouse. */
  function hoverAgain(): void {
    if (mouse && !down) hoverAt(mouse.x, mouse.y, mouse.clientX, mouse.clientY);
  }

  canvas.addEventListener('pointerup', (event) => {
    scrolling = null;
    const clicked = down && !moved;
    const measuring = down?.measuring;
    down = null;
    canvas.style.cursor = '';
    if (measuring) {
      if (!moved) picture.measured = null;
      model.moved();
      return;
    }
    if (!clicked) return;
    picture.measured = null;
    const row = picture.rowAt(event.offsetY);
    if (row?.toggle && (event.offsetX < picture.names || row.kind === 'ring' || row.kind === 'cta')) return model.toggle(row.toggle);
    const thing = picture.thingAt(event.offsetX, event.offsetY);
    if (thing?.kind === 'finding') model.goToFinding(thing.side, thing.finding);
    else model.select(thing, thing !== null);
  });

  canvas.addEventListener('dblclick', (event) => {
    const thing = picture.thingAt(event.offsetX, event.offsetY);
    if (thing?.kind === 'span') zoomToSelection(model);
  });

  canvas.addEventListener('pointerleave', () => {
    mouse = null;
    picture.cursor = null;
    model.hover = null;
    showTooltip(null);
    model.moved();
  });

  /** Moves the handle of the scroll bar to where the mouse holds it. */
  function scrollBy(y: number): void {
    const handle = picture.scrollHandle();
    if (!handle || scrolling === null) return;
    const way = picture.height - kAxis - handle[1];
    const rows = heightOf(model.rows) + 16 - (picture.height - kAxis);
    model.scrollTo((y - scrolling - kAxis) / Math.max(1, way) * rows);
  }

  function hoverAt(x: number, y: number, clientX: number, clientY: number): void {
    picture.cursor = x >= picture.names ? model.view.time(x - picture.names) : null;
    const row = picture.rowAt(y);
    if (x < picture.names && row) {
      model.hover = null;
      canvas.style.cursor = row.toggle ? 'pointer' : 'help';
      showTooltip({x: clientX, y: clientY, title: row.kind === 'cta' ? row.cta.title : row.label, text: row.explanation});
    } else {
      model.hover = picture.thingAt(x, y);
      canvas.style.cursor = model.hover ? 'pointer' : 'default';
      const words = model.hover && describe(model, model.hover);
      showTooltip(words ? {x: clientX, y: clientY, title: words.title, text: words.short} : null);
    }
    model.moved();
  }

  window.addEventListener('keydown', (event) => {
    const inField = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if ((event.ctrlKey || event.metaKey) && event.key === 'f') {
      event.preventDefault();
      return focusSearch();
    }
    if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
    // Enter and space belong to a button that has the focus.
    const elsewhere = document.activeElement !== canvas && document.activeElement !== document.body;
    if (elsewhere && (event.key === 'Enter' || event.key === ' ')) return;
    if (!pressed(model, picture, event.key, focusSearch)) return;
    event.preventDefault();
    if (laneKeys.has(event.key)) showLane();
    else if (viewKeys.has(event.key)) hoverAgain();
    else if (event.key === 'Escape') showTooltip(null);
  });

  /** The lane, and what is selected in it, beside it and to a screen reader; the time label goes where the selection begins. */
  function showLane(): void {
    const row = model.laneRow;
    if (!row) return;
    const {selection} = model;
    const inLane = selection && selection.side === row.side && laneOf(model, selection) === row ? selection : null;
    const box = canvas.getBoundingClientRect();
    const y = box.y + kAxis + Math.max(0, row.y - model.scroll) + row.height - 12;
    const words = inLane ? describe(model, inLane) : null;
    const title = words ? words.title : row.kind === 'cta' ? row.cta.title : `${row.label}, CTA ${row.cta.id}`;
    const text = words ? words.short : row.explanation;
    let x = 0;
    if (inLane) {
      const time = model.axis(row.side, timeOf(model, inLane));
      picture.cursor = time;
      x = Math.max(0, Math.min(model.view.x(time), model.view.width - 40));
    }
    model.hover = null;
    showTooltip({x: box.x + picture.names + x, y, title, text});
    live.textContent = `${inLane ? `${row.label}: ` : ''}${title}${row.open === undefined ? '' : row.open ? ', open' : ', closed'}. ${text}`;
    model.moved();
  }
}

const laneKeys = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Enter', ' ']);
/** Keys that move the picture under the mouse, or change what is under it. */
const viewKeys = new Set(['w', 's', 'a', 'd', 'f', '0', 'PageUp', 'PageDown', 'n', 'p', '[', ']', '=', 'e', 'c', 'u']);

/** The lane of a selection. */
function laneOf(model: Model, selection: Selection): Row | undefined {
  switch (selection.kind) {
    case 'span': return model.rowOf(selection.side, model.sides[selection.side].trace.spans.track[selection.span]);
    case 'barrier': return model.rowOf(selection.side, selection.track.id);
    case 'stage': return model.rows.find((row) => row.kind === 'stage' && row.side === selection.side && row.cta === selection.cta &&
      row.ring === selection.ring && row.stage === selection.stage);
    case 'finding': return undefined;
  }
}

function timeOf(model: Model, selection: Selection): number {
  switch (selection.kind) {
    case 'span': return model.sides[selection.side].trace.spans.begin[selection.span];
    case 'finding': return selection.finding.time;
    default: return selection.time;
  }
}

/** The times at which something begins in a lane of stages or of a barrier. */
function beginsOf(model: Model, row: Row & {kind: 'stage' | 'barrier'}): number[] {
  return row.kind === 'stage' ? model.ring(row.side, row.cta, row.ring)[row.stage].begin : model.barrier(row.side, row.cta, row.track).phaseBegin;
}

/** The step before or after the one selected in the keyboard's lane; the first in sight if none is. */
function stepInLane(model: Model, step: number): void {
  const row = model.laneRow;
  if (!row) return neighbour(model, step);
  const {selection} = model, {trace} = model.sides[row.side];
  const inLane = selection && selection.side === row.side && laneOf(model, selection) === row;
  const from = model.tick(row.side, model.view.from), to = model.tick(row.side, model.view.to);
  if (row.kind === 'role' || row.kind === 'unit' || row.kind === 'tmem') {
    if (inLane) return neighbour(model, step);
    const {spans, spanStart} = trace;
    let last = -1;
    for (let i = spanStart[row.track.id]; i < spanStart[row.track.id + 1] && spans.begin[i] <= to; ++i) {
      if (trace.contains[i] || spans.end[i] < from) continue;
      if (spans.begin[i] >= from && step > 0) return model.goTo(row.side, i);
      last = i;
    }
    if (last >= 0) model.goTo(row.side, last);
    return;
  }
  if (row.kind !== 'stage' && row.kind !== 'barrier') return;
  const begins = beginsOf(model, row);
  const now = inLane && selection.kind === row.kind ? selection.time : step > 0 ? from - 1 : to;
  const at = step > 0 ? lastAtMost(begins, now) + 1 : lastAtMost(begins, now - 1e-6);
  if (at < 0 || at >= begins.length) return;
  const time = begins[at];
  model.view.reveal(model.axis(row.side, time), model.axis(row.side, time));
  model.select(row.kind === 'stage' ? {kind: 'stage', side: row.side, cta: row.cta, ring: row.ring, stage: row.stage, time}
    : {kind: 'barrier', side: row.side, cta: row.cta, track: row.track, time});
}

function zoomToSelection(model: Model): void {
  const {selection} = model;
  if (selection?.kind !== 'span') return;
  const {spans} = model.sides[selection.side].trace;
  model.view.show(model.axis(selection.side, spans.begin[selection.span]), model.axis(selection.side, spans.end[selection.span]), 0.5);
  model.moved();
}

/** The span before or after the selected one in its lane. */
function neighbour(model: Model, step: number): void {
  const {selection} = model;
  if (selection?.kind !== 'span') return;
  const {trace} = model.sides[selection.side];
  const track = trace.spans.track[selection.span];
  for (let i = selection.span + step; i >= trace.spanStart[track] && i < trace.spanStart[track + 1]; i += step)
    if (trace.contains[i] === trace.contains[selection.span]) return model.goTo(selection.side, i);
}

function toggleLane(model: Model): void {
  const row = model.laneRow;
  if (row?.toggle) model.toggle(row.toggle);
}

/** False: the key means nothing here. */
function pressed(model: Model, picture: Picture, key: string, focusSearch: () => void): boolean {
  const {view} = model;
  const centre = picture.cursor === null ? view.width / 2 : view.x(picture.cursor);
  const actions: Record<string, () => void> = {
    w: () => view.zoom(0.8, centre),
    s: () => view.zoom(1.25, centre),
    a: () => view.pan(-view.width / 8),
    d: () => view.pan(view.width / 8),
    f: () => zoomToSelection(model),
    '0': () => view.showAll(),
    ArrowUp: () => model.stepLane(-1),
    ArrowDown: () => model.stepLane(1),
    Enter: () => toggleLane(model),
    ' ': () => toggleLane(model),
    PageUp: () => model.scrollTo(model.scroll - model.height * 0.9),
    PageDown: () => model.scrollTo(model.scroll + model.height * 0.9),
    ArrowLeft: () => stepInLane(model, -1),
    ArrowRight: () => stepInLane(model, 1),
    n: () => model.goToHit(1),
    p: () => model.goToHit(-1),
    ']': () => model.goToDifference(model.difference + 1),
    '[': () => model.goToDifference(model.difference < 0 ? -1 : model.difference - 1),
    '=': () => model.align(),
    e: () => model.setCtasOpen(true),
    c: () => model.setCtasOpen(false),
    x: () => model.showFlows = !model.showFlows,
    r: () => model.showPath = !model.showPath,
    u: () => model.unit = model.unit === 'cycles' ? 'time' : 'cycles',
    t: () => model.theme = model.theme.dark ? light : dark,
    i: () => model.panelOpen = !model.panelOpen,
    '?': () => model.helpOpen = !model.helpOpen,
    '/': focusSearch,
    Escape: () => {
      if (model.helpOpen) model.helpOpen = false;
      else if (picture.measured) picture.measured = null;
      else if (model.selection) model.selection = null;
      else if (model.lane !== null) model.lane = null;
      else {
        [model.query, model.hits, model.hit] = ['', [], -1];
        if (model.tab === 'search') model.tab = 'overview';
      }
    },
  };
  const action = actions[key];
  if (!action) return false;
  action();
  if (/^[wsad]$|^Page/.test(key)) model.moved();
  else model.changed();
  return true;
}
