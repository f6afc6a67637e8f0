import {render} from 'preact';

import {readDiff} from './data/diff';
import {readTrace} from './data/trace';
import {Model} from './model';
import './style.css';
import {App} from './ui/app';

async function open(): Promise<void> {
  const root = document.getElementById('app')!;
  try {
    const a = await readTrace('trace-a');
    if (!a) throw new Error('it holds no trace; sm100sim export writes pages that do');
    const b = await readTrace('trace-b');
    const model = new Model(b ? [a, b] : [a], b ? await readDiff(a, b) : null);
    if (a.findings.length > 0) model.tab = 'findings';
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
