// SPDX-License-Identifier: Apache-2.0
// The run in short: what it was, what it waited for, and how to read the picture.

import {useMemo, useState} from 'preact/hooks';

import {type RoleShare, roleShares, tensorCoreShare} from '../data/stalls';
import type {Cta} from '../data/structure';
import type {Trace} from '../data/trace';
import type {Model} from '../model';
import {grouped, percent, seconds, tickName} from '../text/format';
import {launchText, launchesOf} from '../text/configuration';
import {explainRole} from '../text/glossary';
import {css, mix, roleActor, waitActor} from '../view/theme';
import {runSearch} from './search_tab';
import {useMoves} from './use_moves';

export function Overview({model}: {model: Model}) {
  const [part, setPart] = useState<'run' | 'view'>('run');
  useMoves(model);
  return (
    <div class="text">
      {model.sides.map(({trace, ctas}, side) => <RunFacts trace={trace} ctas={ctas} name={model.sides.length > 1 ? 'AB'[side] : ''} />)}
      {model.sides.map(({trace}, side) => trace.path && <p class="verdict">
        {model.sides.length > 1 && <b>{'AB'[side]} </b>}<b>What limits it: </b>{trace.path.verdict}.
        {side === 0 && <> <button class="link" onClick={() => { [model.tab, model.showPath] = ['path', true]; model.changed(); }}>Show the critical path</button></>}
      </p>)}
      <h3>Where the time goes
        <span class="choice">
          <button aria-pressed={part === 'run'} onClick={() => setPart('run')}>whole run</button>
          <button aria-pressed={part === 'view'} onClick={() => setPart('view')}>what is shown</button>
        </span>
      </h3>
      <p class="quiet">Share of its warps' time that a role works, and what it waits for. A wait begins with its first
        try_wait, so one that passes at once counts a little; the summary of <code>run</code> counts the time asleep alone. Click a wait to find its spans.</p>
      {model.sides.map(({trace}, side) => <Stalls model={model} side={side} trace={trace} part={part} />)}
      <h3>How to read it</h3>
      <p>Each CTA's lanes follow the data from top to bottom: loads fill the stages of the input ring, the tensor core reads
        them and fills an accumulator, the epilogue reads that and stores the tile. Solid bars are work; hatched bars are waits
        and have the colour of whoever has to act first. Point at a lane's name or a bar to read what it is; the Legend has
        everything.</p>
    </div>
  );
}

function RunFacts({trace, ctas, name}: {trace: Trace; ctas: Cta[]; name: string}) {
  const {metadata} = trace;
  const c = metadata.configuration as Record<string, number | string | number[]>;
  const {length} = trace;
  const ran = new Set(trace.tracks.filter((t) => t.cta >= 0).map((t) => t.cta)).size;
  const shape = c['m'] !== undefined ? `${c['m']} x ${c['n']}${c['k'] !== undefined ? ` x ${c['k']}` : ''} ${c['dtype'] ?? ''}` : '';
  const busy = useMemo(() => tensorCoreShare(trace, ctas), [trace, ctas]);
  return (
    <>
      <h2>{name && <b>{name} </b>}{metadata.scenario || trace.name}</h2>
      <dl class="facts">
        <dt>length</dt><dd>{grouped(length)} {tickName(trace)} = {seconds(trace, length)}{metadata.run_ticks ? '' : ', from the first event to the last'}</dd>
        {metadata.part && <><dt>recorded</dt><dd>{metadata.part}</dd></>}
        {launchesOf(trace).map((l) => <><dt>launch</dt><dd>{launchText(l)}</dd></>)}
        {shape && <><dt>problem</dt><dd>{shape}</dd></>}
        <dt>ran on</dt><dd>{metadata.device && `${metadata.device}, `}{ran} {ran === 1 ? 'CTA' : 'CTAs'}, {metadata.source === 'sim' ? 'simulated' : 'measured on a GPU'}</dd>
        {c['stages'] !== undefined && <><dt>stages</dt><dd>{`${c['stages']}`} input{c['accum_stages'] !== undefined ? `, ${c['accum_stages']} ${c['accum_stages'] === 1 ? 'accumulator' : 'accumulators'}` : ''}</dd></>}
        {busy > 0 && <><dt>tensor core</dt><dd>has MMAs in flight {percent(busy)} of the time, over all SMs that ran a CTA</dd></>}
        {metadata.dropped_events > 0 && <><dt>lost</dt><dd>{grouped(metadata.dropped_events)} events were dropped while recording</dd></>}
      </dl>
    </>
  );
}

function Stalls({model, side, trace, part}: {model: Model; side: number; trace: Trace; part: 'run' | 'view'}) {
  const shares = part === 'run' ? roleShares(trace) : roleShares(trace, model.tick(side, model.view.from), model.tick(side, model.view.to));
  return <div class="stalls">{shares.map((share) => <Stall model={model} share={share} side={side} />)}</div>;
}

function Stall({model, share, side}: {model: Model; share: RoleShare; side: number}) {
  const {theme} = model;
  const rest = share.waiting.filter(([, ticks]) => ticks / share.total >= 0.005);
  return (
    <div class="stall" data-role={share.role}>
      <div class="who" title={explainRole(share.role)}>
        <b>{model.sides.length > 1 ? `${'AB'[side]} ` : ''}{share.role}</b> works {percent(share.working / share.total)}
      </div>
      <div class="stack">
        <span style={{width: percent(share.working / share.total).replace(' ', ''), background: css(theme.actor[roleActor(share.role)])}} />
        {rest.map(([what, ticks]) => {
          const hue = theme.actor[waitActor(what)];
          const [a, b] = [css(mix(theme.background, hue, 0.15)), css(mix(theme.background, hue, 0.5))];
          return <span style={{width: `${100 * ticks / share.total}%`, background: `repeating-linear-gradient(135deg, ${a} 0 4px, ${b} 4px 6px)`}} />;
        })}
      </div>
      <div class="waits">{rest.map(([what, ticks]) => (
        <button class="link" onClick={() => runSearch(model, `${share.role} wait ${what}`)}>{what} {percent(ticks / share.total)}</button>
      ))}</div>
    </div>
  );
}
