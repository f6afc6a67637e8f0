// SPDX-License-Identifier: Apache-2.0
// The page of `sm100sim play`: the page of the report, with a strip that changes the run.
import {render} from 'preact';

import '../style.css';
import './play.css';
import {App} from '../ui/app';
import {Player} from './player';
import {readMenu} from './session';
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
    await player.show(player.state, player.before);
    if (!player.model) throw new Error(player.complaints.map(({text}) => text).join(' '));
    window.player = player;
    root.replaceChildren();
    render(<App model={player.model} strip={<Strip player={player} />} />, root);
  } catch (error) {
    root.textContent = `${error instanceof Error ? error.message : error}`;
  }
}

void open();
