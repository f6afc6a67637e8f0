// The frame around the picture: bar on top, panel on the right, help.

import {useEffect, useReducer, useRef} from 'preact/hooks';

import type {Model} from '../model';
import {duration, tickName} from '../text/format';
import {listen} from '../view/input';
import {Minimap} from '../view/minimap';
import {Picture} from '../view/picture';
import {dark, light} from '../view/theme';
import {Help} from './help';
import {Panel} from './panel';
import {runSearch} from './search_tab';

declare global {
  interface Window {
    /** For tests: the state and the drawing of the page, and when the first frame had been drawn, in ms. */
    report?: {model: Model; picture: Picture; minimap: Minimap; openedAfter: number};
  }
}

export function App({model}: {model: Model}) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const map = useRef<HTMLDivElement>(null), plot = useRef<HTMLDivElement>(null), field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const paint = () => document.documentElement.dataset.theme = model.theme.dark ? 'dark' : 'light';
    paint();
    model.onChange(() => {
      paint();
      redraw(0);
    });
    const picture = new Picture(model, plot.current!);
    const minimap = new Minimap(model, map.current!);
    listen(model, picture, () => {
      field.current?.focus();
      field.current?.select();
    });
    const ready = () => {
      window.report = {model, picture, minimap, openedAfter: performance.now()};
      document.body.dataset.ready = 'true';
    };
    requestAnimationFrame(() => requestAnimationFrame(ready));
  }, []);
  return (
    <div class={`app ${model.panelOpen ? '' : 'wide'}`}>
      <Bar model={model} field={field} />
      <div class="minimap" ref={map} />
      <div class="plot" ref={plot} />
      {model.panelOpen && <Panel model={model} />}
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
      <h1 title={`${trace.name}${second ? ` and ${second.name}` : ''}`}>
        {second ? <><b>A</b> {trace.name} <b>B</b> {second.name}</> : trace.metadata.scenario || trace.name}
      </h1>
      <span class="quiet">{second ? '' : [trace.metadata.device, duration(model, trace.end - trace.begin)].filter((part) => part).join(', ')}</span>
      <span class="grow" />
      <label class="search">
        <input ref={field} type="search" placeholder="Search   ( / )" value={model.query} spellcheck={false}
          aria-label="Search spans" title="Words that must all fit, for example: mma wait input_full[2]   or   tile:1,0 load_issue   or   wait >500"
          onInput={(event) => runSearch(model, event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') model.goToHit(event.shiftKey ? -1 : 1);
            if (event.key === 'Escape') event.currentTarget.blur();
          }} />
        {model.query && <span class="count">{hits === 0 ? 'none' : `${model.hit + 1} of ${hits}`}</span>}
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
