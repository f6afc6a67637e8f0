// SPDX-License-Identifier: Apache-2.0
import type {Model} from '../model';
import {percent} from '../text/format';
import {clickable} from './clickable';

export function DifferencesTab({model}: {model: Model}) {
  const diff = model.diff!;
  const {header} = diff;
  const structural = diff.differences.filter((d) => d.kind === 'structure').length;
  const {timing} = header;
  return (
    <div>
      <div class="text">
        <h2>{header.identical ? 'Same structure' : 'Different structure'}</h2>
        <p>{header.identical
          ? `Every warp did the same things in the same order: ${header.events_compared.toLocaleString('en-US')} events.`
          : `In ${structural} ${structural === 1 ? 'place' : 'places'} A does something else than B; of each lane the first is listed.`}{' '}
          A took {(timing.span_a_ns / 1000).toFixed(2)} &micro;s, B {(timing.span_b_ns / 1000).toFixed(2)} &micro;s.</p>
        {header.configuration.length > 0 && <p>Configured differently (A, B): {header.configuration.join('; ')}.</p>}
        {header.tiles_on_other_ctas > 0 && <p>{header.tiles_on_other_ctas} of {header.tiles} tiles ran on other CTAs, which is no difference: cluster launch control hands them out as CTAs become free.</p>}
        {header.notes.map((note) => <p class="quiet">{note.charAt(0).toUpperCase() + note.slice(1)}.</p>)}
        {header.only_in_a.length > 0 && <p>Only in A: {header.only_in_a.slice(0, 8).join(', ')}{header.only_in_a.length > 8 ? ' \u2026' : ''}</p>}
        {header.only_in_b.length > 0 && <p>Only in B: {header.only_in_b.slice(0, 8).join(', ')}{header.only_in_b.length > 8 ? ' \u2026' : ''}</p>}
        {timing.explained_by.length > 0 && <>
          <h3>What differs most <span class="quiet">share, sum over its spans</span></h3>
          <table class="sums">{timing.explained_by.slice(0, 5).map((e) => (
            <tr><td>{e.role} {e.kind} {e.pipeline}</td><td class="number">{percent(e.share)}</td>
              <td class="quiet number">{(Math.abs(e.a_minus_b_ns) / 1000).toFixed(2)} &micro;s {e.a_minus_b_ns > 0 ? 'longer' : 'shorter'} in A</td></tr>
          ))}</table>
        </>}
        <h3>Differences <span class="quiet">[ and ] step through them</span>
          <span class="choice">{(['all', 'structure', 'timing'] as const).map((kind) => (
            <button aria-pressed={model.differenceKind === kind} onClick={() => {
              [model.differenceKind, model.difference] = [kind, -1];
              model.changed();
            }}>{kind} {kind === 'all' ? diff.differences.length : diff.differences.filter((d) => d.kind === kind).length}</button>
          ))}</span>
        </h3>
      </div>
      <ol class="list">{model.differences.map((d, n) => (
        <li key={n} class={n === model.difference ? 'current' : ''} {...clickable(() => model.goToDifference(n))}>
          <b>{d.kind === 'structure' ? '\u2260 ' : ''}{d.title}</b> <span class="quiet">{d.detail}</span>
        </li>
      ))}</ol>
    </div>
  );
}
