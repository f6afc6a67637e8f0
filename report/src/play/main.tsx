// SPDX-License-Identifier: Apache-2.0
// The page of `sm100sim play`: the page of the report, with a strip that changes the run.
import {render} from 'preact';

import '../style.css';
import './play.css';
import {App} from '../ui/app';
import {Player} from './player';
import {fresh, readMenu, same} from './session';
import {Strip} from './strip';

declare global {
  interface Window {
    /** For tests. */
    player?: Player;
  }
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
    render(<App model={player.model} strip={<Strip player={player} />} />, root);
  } catch (error) {
    root.textContent = `${error instanceof Error ? error.message : error}`;
  }
}

void open();
