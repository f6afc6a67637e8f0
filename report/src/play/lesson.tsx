// SPDX-License-Identifier: Apache-2.0
// The lesson that a scenario belongs to: its page up to the question, the edit as a button, what became of the run, and the
// answer behind a click.  What the page says can be tried is a button, too.

import type {ComponentChildren} from 'preact';
import {useEffect, useRef} from 'preact/hooks';

import type {Model} from '../model';
import type {Player} from './player';
import {type State, type Value, fresh, same} from './session';

const kScenario = /^(?:sm100sim run )?(?:scenarios\/(\S+?)\.toml)?((?: ?--set (?:'[^']*'|\S+))*)$/;
const kSetting = /--set (?:'([^']*)'|(\S+))/g;
const kAnswer = '## What happens', kNext = '## Try next', kGuess = '## Guess first';

/** The lessons, as the menu has them: "lessons/03_expect_tx". */
export function lessonsOf(player: Player): string[] {
  return player.menu.groups.flatMap(({scenarios}) => scenarios.map(({name}) => name)).filter((name) => /^lessons\/\d\d_/.test(name) && !name.endsWith('_broken'));
}
const numberOf = (scenario: string) => /\/(\d\d)_/.exec(scenario)?.[1] ?? '';

/** "scenarios/06_starved.toml --set run.sms=4" as the state that it asks for; null: controls cannot do it. */
function stateOf(code: string, player: Player, here: State): State | null {
  const found = kScenario.exec(code);
  if (!found || (!found[1] && !found[2])) return null;
  if (found[1] && !player.menu.groups.some(({scenarios}) => scenarios.some(({name}) => name === found[1]))) return null;
  const set: Record<string, Value> = {};
  for (const [, quoted, plain] of found[2].matchAll(kSetting)) {
    const [key, ...value] = (quoted ?? plain).split('=');
    if (!player.menu.keys.includes(key)) return null;
    try {
      set[key] = JSON.parse(value.join('=')) as Value;
    } catch {
      return null;
    }
  }
  return found[1] ? {...fresh(found[1]), set} : {...here, set: {...here.set, ...set}};
}

interface Page {
  player: Player;
  /** Of the lesson, as its file has it: what a bare "--set" changes. */
  healthy: State;
}

/** A line's text: lessons that it links to can be opened, other pages are named, code that asks for a run is a button. */
function inline(text: string, {player, healthy}: Page): ComponentChildren {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]*\))/).map((part) => {
    const link = /^\[([^\]]+)\]\(([^)#]*)[^)]*\)$/.exec(part);
    if (link) {
      const lesson = lessonsOf(player).find((name) => numberOf(name) === /^(\d\d)-/.exec(link[2])?.[1]);
      if (lesson) return <button type="button" class="link" onClick={() => void player.open(lesson)}>{link[1]}</button>;
      return <>{inline(link[1], {player, healthy})} <span class="quiet">({link[2].startsWith('../') ? `docs/${link[2].slice(3)}` : `docs/lessons/${link[2]}`})</span></>;
    }
    if (part.startsWith('**')) return <b>{part.slice(2, -2)}</b>;
    if (part.startsWith('*') && part.length > 2) return <i>{part.slice(1, -1)}</i>;
    if (!part.startsWith('`')) return part;
    const code = part.slice(1, -1), state = stateOf(code, player, healthy);
    if (!state) return <code>{code}</code>;
    return <button type="button" class="link" title="Show this run" onClick={() => void player.change(state)}><code>{code}</code></button>;
  });
}

const isRow = (line: string) => line.startsWith('|');
const cells = (line: string) => line.split('|').slice(1, -1).map((cell) => cell.trim());

/** As much of Markdown as the lessons have. */
function blocks(lines: string[], page: Page): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  for (let i = 0; i < lines.length;) {
    const from = i, line = lines[i];
    const upTo = (fits: (line: string) => boolean): string[] => {
      while (i < lines.length && fits(lines[i])) ++i;
      return lines.slice(from, i);
    };
    if (line.startsWith('```')) {
      for (++i; i < lines.length && lines[i] !== '```'; ++i);
      // The timeline itself stands beside the lesson.
      const has = (option: string) => lines.slice(from, i).some((l) => l.endsWith(option));
      if (has(' --timeline') && !has(' --critical-path'))
        out.push(<details><summary class="quiet">The same in the terminal</summary><pre>{lines.slice(from + 1, i).join('\n')}</pre></details>);
      else out.push(<>{line.includes(' ') && <div class="quiet file">{line.replace(/^\S+ /, '')}</div>}<pre>{lines.slice(from + 1, i).join('\n')}</pre></>);
      ++i;
    } else if (line.startsWith('## ')) {
      out.push(<h3>{line.slice(3)}</h3>);
      ++i;
    } else if (line.startsWith('<!--')) {
      while (i < lines.length && !lines[i++].includes('-->'));
    } else if (isRow(line)) {
      const [head, , ...rows] = upTo(isRow);
      out.push(<table class="sums"><thead><tr>{cells(head).map((cell) => <th>{cell}</th>)}</tr></thead>
        <tbody>{rows.map((row) => <tr>{cells(row).map((cell) => <td>{inline(cell, page)}</td>)}</tr>)}</tbody></table>);
    } else if (line.startsWith('- ')) {
      const items: string[] = [];
      for (const text of upTo((l) => l.startsWith('- ') || l.startsWith('  ')))
        if (text.startsWith('- ')) items.push(text.slice(2));
        else items[items.length - 1] += ` ${text.trim()}`;
      out.push(<ul>{items.map((item) => <li>{inline(item, page)}</li>)}</ul>);
    } else if (line.trim() === '') {
      ++i;
    } else {
      out.push(<p>{inline(upTo((l) => l.trim() !== '' && !/^(```|## |- |\||<!--)/.test(l)).join(' '), page)}</p>);
    }
  }
  return out;
}

/** Lines from one heading to the next of those given. */
function part(lines: string[], from: string | null, to: string | null): string[] {
  const first = from === null ? 0 : lines.indexOf(from), last = to === null ? -1 : lines.indexOf(to);
  return first < 0 ? [] : lines.slice(first, last < 0 ? undefined : last);
}

/** What became of the run that the timeline shows. */
function Outcome({player, model, healthy}: {player: Player; model: Model; healthy: State}) {
  const {reply, state, before} = player;
  const side = model.sides.length - 1;
  const wrong = model.sides[side].trace.findings.find((finding) => !finding.warning);
  return (
    <div class={wrong ? 'outcome alarm' : 'outcome'} role="status">
      {wrong ? <b>{reply!.report.split('\n')[0]}</b> : <>This run passes in {reply!.cycles.toLocaleString('en')} cycles.</>}{' '}
      {wrong && <button type="button" class="link" onClick={() => { model.showFinding(side, wrong); model.changed(); }}>Who is to blame?</button>}
      {!same(state, healthy) && !before && <>{' '}<button type="button" class="link" onClick={() => void player.compareWith(healthy)}>Beside the healthy run</button></>}
      {before && <>{' '}<button type="button" class="link" onClick={() => void player.compareWith(null)}>Alone</button></>}
    </div>
  );
}

export function Lesson({player}: {player: Player}) {
  const {state, lesson} = player;
  const [title, ...lines] = lesson!.text.split('\n');
  const shown = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = shown.current!.parentElement!;
    const keep = () => { lesson!.scroll = place.scrollTop; };
    place.scrollTo(0, lesson!.scroll);
    place.addEventListener('scroll', keep);
    return () => place.removeEventListener('scroll', keep);
  }, [title]);
  const all = lessonsOf(player), at = all.findIndex((name) => numberOf(name) === numberOf(lesson!.scenario));
  const page: Page = {player, healthy: fresh(all[at])};
  const broken = `${all[at]}_broken`, edited = same(state, fresh(broken));
  const turn = (to: number, label: string) => (
    <button type="button" disabled={!all[to]} onClick={() => void player.open(all[to])}>{label}</button>
  );
  return (
    <div class="text lesson" key={title} ref={shown}>
      <p class="pages">{turn(at - 1, 'Previous lesson')} <span class="quiet">{at + 1} of {all.length}</span> {turn(at + 1, 'Next lesson')}</p>
      <h2>{title.replace(/^# /, '')}</h2>
      {blocks(part(lines, null, kGuess), page)}
      {blocks(part(lines, kGuess, kAnswer), page)}
      <p>
        <button type="button" class="edit" aria-pressed={edited} onClick={() => void player.open(broken)}>Make the edit</button>{' '}
        <button type="button" aria-pressed={same(state, page.healthy)} onClick={() => void player.open(all[at])}>The healthy run</button>
      </p>
      <Outcome player={player} model={player.model!} healthy={page.healthy} />
      <details open={lesson!.answered} onToggle={(event) => { lesson!.answered = event.currentTarget.open; }}>
        <summary>What happens</summary>
        {blocks(part(lines, kAnswer, kNext).slice(1), page)}
      </details>
      {blocks(part(lines, kNext, null), page)}
      <p class="pages">{turn(at - 1, 'Previous lesson')} {turn(at + 1, 'Next lesson')}</p>
    </div>
  );
}
