// SPDX-License-Identifier: Apache-2.0
import {render} from 'preact';

import {readDiff} from './data/diff';
import {readTrace} from './data/trace';
import {Model} from './model';
import './style.css';
import {speakOfCopies} from './text/glossary';
import {App} from './ui/app';
import {learnActors} from './view/theme';

async function open(): Promise<void> {
  const root = document.getElementById('app')!;
  try {
    const a = await readTrace('trace-a');
    if (!a) throw new Error('it holds no trace; sm100sim export writes pages that do');
    const b = await readTrace('trace-b');
    if (learnActors(b ? [a, b] : [a]).copies) speakOfCopies();
    const model = new Model(b ? [a, b] : [a], b ? await readDiff(a, b) : null);
    if (a.findings.length > 0) model.showFinding(0, a.findings.find((f) => !f.warning) ?? a.findings[0]);
    if (model.diff) model.tab = 'differences';
    document.title = `${a.metadata.scenario || a.name} - sm100sim`;
    root.replaceChildren();
    render(<App model={model} />, root);
  } catch (error) {
    root.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : error}`;
    throw error;
  }
}

void open();
