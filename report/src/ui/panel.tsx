// SPDX-License-Identifier: Apache-2.0
// The panel on the right: what is selected, and the answers to "why is it slow" and "what went wrong".

import type {ComponentChildren} from 'preact';

import type {Model, Tab} from '../model';
import {describe} from '../text/sentences';
import {partnerOf} from '../view/overlay';
import {DifferencesTab} from './differences_tab';
import {FindingsTab} from './findings_tab';
import {Legend} from './legend';
import {Overview} from './overview';
import {PathTab} from './path_tab';
import {SearchTab} from './search_tab';

/** A tab that only some pages have. */
export interface MoreTab {
  tab: Tab;
  name: string;
  body: ComponentChildren;
}

export function Panel({model, more}: {model: Model; more: MoreTab[]}) {
  const findings = model.findings.length;
  const tabs: [Tab, string][] = [...more.map(({tab, name}): [Tab, string] => [tab, name]), ['overview', 'Overview'], ['selection', 'Selection']];
  if (findings > 0) tabs.push(['findings', `Findings ${findings}`]);
  if (model.sides[0].trace.path) tabs.push(['path', 'Path']);
  if (model.diff) tabs.push(['differences', 'Differences']);
  if (model.query) tabs.push(['search', 'Search']);
  tabs.push(['legend', 'Legend']);
  return (
    <aside class="panel">
      <nav role="tablist">
        {tabs.map(([tab, name]) => (
          <button key={tab} role="tab" aria-selected={model.tab === tab} onClick={() => {
            model.tab = tab;
            model.changed();
          }}>{name}</button>
        ))}
      </nav>
      <div class="content" role="tabpanel" key={model.tab}>
        {model.tab === 'overview' && <Overview model={model} />}
        {model.tab === 'selection' && <SelectionTab model={model} />}
        {more.map(({tab, body}) => model.tab === tab && body)}
        {model.tab === 'findings' && <FindingsTab model={model} />}
        {model.tab === 'path' && <PathTab model={model} />}
        {model.tab === 'differences' && <DifferencesTab model={model} />}
        {model.tab === 'search' && <SearchTab model={model} />}
        {model.tab === 'legend' && <Legend model={model} />}
      </div>
    </aside>
  );
}

/** Between picture and panel: drags its edge, and moves it with the arrow keys. */
export function Splitter({model}: {model: Model}) {
  const below = innerWidth < kBelow;
  const [size, least, most] = below ? [model.panelHeight, 120, innerHeight - 220] : [model.panelWidth, 220, innerWidth - 360];
  const set = (value: number) => {
    const fits = Math.round(Math.max(least, Math.min(value, most)));
    if (below) model.panelHeight = fits;
    else model.panelWidth = fits;
    model.changed();
  };
  return (
    <div class="splitter" role="separator" tabIndex={0} aria-label="Size of the panel" title="Drag, or use the arrow keys"
      aria-orientation={below ? 'horizontal' : 'vertical'} aria-valuenow={size} aria-valuemin={least} aria-valuemax={most}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) set(below ? innerHeight - event.clientY : innerWidth - event.clientX);
      }}
      onKeyDown={(event) => {
        const steps: Record<string, number> = {ArrowLeft: 20, ArrowUp: 20, ArrowRight: -20, ArrowDown: -20, Home: most - size, End: least - size};
        if (!(event.key in steps)) return;
        event.preventDefault();
        event.stopPropagation();
        set(size + steps[event.key]);
      }} />
  );
}

/** Windows narrower than this have the panel below the picture (style.css). */
const kBelow = 820;

function SelectionTab({model}: {model: Model}) {
  const {selection} = model;
  if (!selection) return <p class="text">Click a bar in the picture to see what it is, what it waited for and who ended it.</p>;
  const words = describe(model, selection);
  return (
    <div class="text">
      <h2>{words.title}</h2>
      {words.sentences.map((sentence) => <p>{sentence}</p>)}
      {words.links.length > 0 && <ul class="links">{words.links.map((link) => (
        <li><button class="link" onClick={() => model.goTo(link.side, link.span)}>{link.text}</button></li>
      ))}</ul>}
      {selection.kind === 'span' && partnerOf(model, selection.side, selection.span) >= 0 && (
        <button onClick={() => { model.align(); model.changed(); }}>{model.shift === 0 ? 'Align both traces here (=)' : 'Move B back (=)'}</button>
      )}
      <dl class="facts">{words.facts.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}</dl>
    </div>
  );
}
