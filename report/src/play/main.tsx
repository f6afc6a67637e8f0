// SPDX-License-Identifier: Apache-2.0
// The page of `sm100sim play`: the page of the report, with a strip that changes the run.
import {render} from 'preact';
import {useEffect, useReducer} from 'preact/hooks';

import '../style.css';
import './play.css';
import {App} from '../ui/app';
import type {MoreTab} from '../ui/panel';
import {Lesson} from './lesson';
import {Player} from './player';
import {fresh, readMenu, same} from './session';
import {Strip} from './strip';

declare global {
  interface Window {
    /** For tests. */
    player?: Player;
  }
}

function Page({player}: {player: Player}) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  useEffect(() => player.onChange(() => redraw(0)), []);
  const {report, notes} = player.reply!;
  const more: MoreTab[] = player.lesson ? [{tab: 'lesson', name: 'Lesson', body: <Lesson player={player} />}] : [];
  more.push({tab: 'report', name: 'Report', body: <div class="text"><pre>{[report.trimEnd(), ...notes].join('\n')}</pre></div>});
  return <App model={player.model!} strip={<Strip player={player} />} more={more} />;
}

async function open(): Promise<void> {
  const root = document.getElementById('app')!;
  try {
    const player = new Player(await readMenu());
    const {state, before} = player;
    await player.show(state, before);
    // An address may hold what the scenario refuses: then its controls are there to mend it.
    for (const scenario of [state.scenario, player.menu.opened])
      if (!player.model) await player.show(fresh(scenario), null);
    if (player.model && player.complaints.length === 0 && !same(player.state, state)) await player.show(state, before);
    if (!player.model) throw new Error(player.complaints.map(({text}) => text).join(' '));
    window.player = player;
    root.replaceChildren();
    render(<Page player={player} />, root);
  } catch (error) {
    root.textContent = `${error instanceof Error ? error.message : error}`;
  }
}

void open();
