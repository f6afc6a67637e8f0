// SPDX-License-Identifier: Apache-2.0
// The frame around the picture: bar on top, panel on the right, help.

import type {ComponentChildren} from 'preact';
import {useEffect, useReducer, useRef} from 'preact/hooks';

import type {Trace} from '../data/trace';
import type {Model} from '../model';
import {duration, grouped, tickName} from '../text/format';
import {verdictOf} from '../data/verdict';
import {configurationText} from '../text/configuration';
import {listen} from '../view/input';
import {Minimap} from '../view/minimap';
import {Picture} from '../view/picture';
import {type Theme, applyTheme, dark, light} from '../view/theme';
import {Help} from './help';
import {type MoreTab, Panel, Splitter} from './panel';
import {runSearch} from './search_tab';

declare global {
  interface Window {
    /** For tests: the state and the drawing of the page, and when the first frame had been drawn, in ms. */
    report?: {model: Model; picture: Picture; minimap: Minimap; themes: Theme[]; openedAfter: number};
  }
}

/**
 * @param strip  below the bar: what changes the run, where something can
 * @param more   tabs of the panel beside those that every page has
 */
export function App({model, strip, more = []}: {model: Model; strip?: ComponentChildren; more?: MoreTab[]}) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const map = useRef<HTMLDivElement>(null), plot = useRef<HTMLDivElement>(null), field = useRef<HTMLInputElement>(null), live = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const paint = () => applyTheme(model.theme, document.documentElement);
    paint();
    model.onChange(() => {
      paint();
      redraw(0);
    });
    const picture = new Picture(model, plot.current!);
    const minimap = new Minimap(model, picture, map.current!);
    listen(model, picture, live.current!, () => {
      field.current?.focus();
      field.current?.select();
    });
    const ready = () => {
      window.report = {model, picture, minimap, themes: [light, dark], openedAfter: performance.now()};
      document.body.dataset.ready = 'true';
    };
    requestAnimationFrame(() => requestAnimationFrame(ready));
  }, []);
  return (
    <div class={`app ${model.panelOpen ? '' : 'wide'}`} style={{'--panel-width': `${model.panelWidth}px`, '--panel-height': `${model.panelHeight}px`}}>
      <div class="top">
        <Bar model={model} field={field} />
        {strip}
      </div>
      <div class="minimap" ref={map} />
      <div class="plot" ref={plot} />
      {model.panelOpen && <Splitter model={model} />}
      {model.panelOpen && <Panel model={model} more={more} />}
      <div class="live" ref={live} aria-live="polite" />
      {model.helpOpen && <Help model={model} />}
    </div>
  );
}

function Bar({model, field}: {model: Model; field: {current: HTMLInputElement | null}}) {
  const {trace} = model.sides[0];
  const second = model.sides[1]?.trace;
  const set = (change: () => void) => () => {
    change();
    model.changed();
  };
  const hits = model.hits.length;
  return (
    <header class="bar">
      <div class="what">
        <h1 title={`${trace.name}${second ? ` and ${second.name}` : ''}`}>
          {model.sides.map((side, n) => <>
            <span class="name">{second && <b>{'AB'[n]}</b>}{second ? side.trace.name : trace.metadata.scenario || trace.name}</span>
            <Badge model={model} side={n} />
          </>)}
        </h1>
        <div class="quiet facts-line" title={model.sides.map((side) => `${aboutText(model, side.trace)}, ${side.trace.metadata.tool_version}`).join('\n')}>
          {model.sides.map((side, n) => <><span class="about">{second && <b>{'AB'[n]}</b>}{aboutText(model, side.trace)}</span>{
            n + 1 === model.sides.length && <span class="version">{versionText(trace)}</span>}</>)}
        </div>
      </div>
      <label class="search">
        <input ref={field} type="search" placeholder="Search   ( / )" value={model.query} spellcheck={false}
          aria-label="Search spans" title="Words that must all fit, for example: mma wait input_full[2]   or   tile:1,0 load_issue   or   wait >500"
          onInput={(event) => runSearch(model, event.currentTarget.value)}
          onFocus={(event) => event.currentTarget.select()}
          onPointerDown={(event) => {
            // The click that brings the focus must not take the selection of the old text away.
            if (document.activeElement === event.currentTarget) return;
            event.preventDefault();
            event.currentTarget.focus();
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') model.goToHit(event.shiftKey ? -1 : 1);
            if (event.key !== 'Escape') return;
            event.preventDefault(); // the browser would empty the field and leave the search as it is
            event.currentTarget.blur();
          }} />
        {model.query && <span class="count">{hits === 0 ? 'none' : `${grouped(model.hit + 1)} of ${grouped(hits)}`}</span>}
      </label>
      <button aria-pressed={model.showFlows} title="Arrows from cause to effect, on hover and selection (x)"
        onClick={set(() => model.showFlows = !model.showFlows)}>Flows</button>
      {trace.path &&
        <button aria-pressed={model.showPath} title="The chain of work and waits that decides when the run ends (r)"
          onClick={set(() => { model.showPath = !model.showPath; if (model.showPath) model.tab = 'path'; })}>Critical path</button>}
      <span class="choice" title="Unit of all times (u)">
        <button aria-pressed={model.unit === 'cycles'} onClick={set(() => model.unit = 'cycles')}>{tickName(trace)}</button>
        <button aria-pressed={model.unit === 'time'} onClick={set(() => model.unit = 'time')}>time</button>
      </span>
      <span class="choice" title="Light or dark (t)">
        <button aria-pressed={!model.theme.dark} onClick={set(() => model.theme = light)}>light</button>
        <button aria-pressed={model.theme.dark} onClick={set(() => model.theme = dark)}>dark</button>
      </span>
      <button aria-pressed={model.panelOpen} title="Show or hide the panel (i)" onClick={set(() => model.panelOpen = !model.panelOpen)}>Panel</button>
      <button title="Keys (?)" aria-label="Keys" onClick={set(() => model.helpOpen = true)}>?</button>
    </header>
  );
}

/** Length, device and configuration. */
function aboutText(model: Model, trace: Trace): string {
  const {device, source, part} = trace.metadata;
  return [duration(model, trace.length, trace), part, device, source === 'hardware' ? 'measured' : '', configurationText(trace)]
    .filter((text) => text).join(', ');
}

/** Who wrote the trace, without the commit. */
function versionText(trace: Trace): string {
  return trace.metadata.tool_version.replace(/ \(.*/, '');
}

/** How the run ended; a click leads to what it found. */
function Badge({model, side}: {model: Model; side: number}) {
  const verdict = verdictOf(model.sides[side].trace, model.findings.filter((group) => group.side === side));
  if (!verdict) return null;
  const group = model.findings.find((g) => g.side === side && g.warning === (verdict.kind !== 'bad'));
  return (
    <button class={`badge ${verdict.kind}`} title={verdict.explanation} onClick={() => {
      model.panelOpen = true;
      if (group) return model.goToFinding(side, group.findings[0]);
      model.tab = 'overview';
      model.changed();
    }}>{verdict.text}</button>
  );
}
