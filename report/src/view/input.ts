// Mouse and keyboard on the picture.

import type {Model} from '../model';
import {heightOf} from './layout';
import {type Picture, kAxis, kNames, kScrollBar} from './picture';
import {showTooltip} from '../ui/tooltip';
import {describe} from '../text/sentences';
import {dark, light} from './theme';

export function listen(model: Model, picture: Picture, focusSearch: () => void): void {
  const canvas = picture.element;
  let down: {x: number; y: number; scroll: number; measuring: boolean} | null = null;
  let scrolling: number | null = null; // where the handle was grabbed
  let last = {x: 0, y: 0}, moved = false;

  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const step = event.deltaMode === 1 ? 30 : 1;
    if (event.offsetX < kNames || event.shiftKey) model.scrollTo(model.scroll + (event.deltaY + event.deltaX) * step);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) model.view.pan(event.deltaX * step);
    else model.view.zoom(1.0015 ** (event.deltaY * step), event.offsetX - kNames);
    model.moved();
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
    down = {x: event.offsetX, y: event.offsetY, scroll: model.scroll, measuring: event.shiftKey && event.offsetX >= kNames};
    if (down.measuring) {
      const time = model.view.time(event.offsetX - kNames);
      picture.measured = [time, time];
    }
    last = {x: event.offsetX, y: event.offsetY};
    moved = false;
    document.activeElement instanceof HTMLElement && document.activeElement.blur();
  });

  canvas.addEventListener('pointermove', (event) => {
    const {offsetX: x, offsetY: y} = event;
    if (scrolling !== null) return scrollBy(y);
    if (down) {
      moved ||= Math.abs(x - down.x) + Math.abs(y - down.y) > 3;
      if (down.measuring && picture.measured) picture.measured[1] = model.view.time(x - kNames);
      else if (moved) {
        if (down.x >= kNames) model.view.pan(last.x - x);
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
    if (row?.toggle && (event.offsetX < kNames || row.kind === 'ring' || row.kind === 'cta')) return model.toggle(row.toggle);
    const thing = picture.thingAt(event.offsetX, event.offsetY);
    if (thing?.kind === 'finding') model.goToFinding(thing.side, thing.finding);
    else model.select(thing, thing !== null);
  });

  canvas.addEventListener('dblclick', (event) => {
    const thing = picture.thingAt(event.offsetX, event.offsetY);
    if (thing?.kind === 'span') zoomToSelection(model);
  });

  canvas.addEventListener('pointerleave', () => {
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
    picture.cursor = x >= kNames ? model.view.time(x - kNames) : null;
    const row = picture.rowAt(y);
    if (x < kNames && row) {
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
    const inField = event.target instanceof HTMLInputElement;
    if ((event.ctrlKey || event.metaKey) && event.key === 'f') {
      event.preventDefault();
      return focusSearch();
    }
    if (inField || event.ctrlKey || event.metaKey || event.altKey) return;
    if (pressed(model, picture, event.key, focusSearch)) event.preventDefault();
  });
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
    ArrowUp: () => model.scrollTo(model.scroll - 60),
    ArrowDown: () => model.scrollTo(model.scroll + 60),
    PageUp: () => model.scrollTo(model.scroll - model.height * 0.9),
    PageDown: () => model.scrollTo(model.scroll + model.height * 0.9),
    ArrowLeft: () => neighbour(model, -1),
    ArrowRight: () => neighbour(model, 1),
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
      else [model.query, model.hits, model.hit] = ['', [], -1];
    },
  };
  const action = actions[key];
  if (!action) return false;
  action();
  if (/^[wsad]$|^Arrow(Up|Down)$|^Page/.test(key)) model.moved();
  else model.changed();
  return true;
}
