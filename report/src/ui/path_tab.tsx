// SPDX-License-Identifier: Apache-2.0
// The critical path in words: what limits the run, how much each dependency contributes, and the chain itself.

import type {CriticalPath, Trace} from '../data/trace';
import type {Model} from '../model';
import {duration, grouped, percent, tickName} from '../text/format';
import {trackText} from '../text/sentences';
import {clickable} from './clickable';
import {useMoves} from './use_moves';

const kShares = 14, kListed = 150;

export function PathTab({model}: {model: Model}) {
  const trace = model.sides[0].trace, path = trace.path!;
  useMoves(model);
  const from = model.tick(0, model.view.from), to = model.tick(0, model.view.to);
  const seen = Array.from({length: path.count}, (_, i) => i).filter((i) => path.end[i] > from && path.begin[i] < to);
  return (
    <div>
      <div class="text">
        <h2>What decides when the run ends</h2>
        <p class="verdict">{path.verdict.charAt(0).toUpperCase() + path.verdict.slice(1)}.</p>
        <p class="quiet">Found backwards from what finishes last: each segment begins where the one it depended on ends. Shortening
          anything else gains nothing.</p>
        <button aria-pressed={model.showPath} onClick={() => { model.showPath = !model.showPath; model.changed(); }}>
          {model.showPath ? 'Hide it in the picture (r)' : 'Show it in the picture (r)'}</button>
        <table class="sums shares">
          <tr><th>{grouped(path.ticks)} {tickName(trace)}</th><th class="number">share</th><th class="number">{tickName(trace)}</th></tr>
          {path.shares.slice(0, kShares).map((share) => (
            <tr>
              <td>{share.kind}{share.track && <span class="quiet"> {share.track}{share.pipeline && `, ${share.pipeline}`}</span>}</td>
              <td class="number">{percent(share.ticks / path.ticks)}</td>
              <td class="number">{grouped(share.ticks)}</td>
            </tr>
          ))}
        </table>
        <h3>Segments in sight: {grouped(seen.length)}</h3>
      </div>
      <ol class="list">{seen.slice(0, kListed).map((i) => (
        <li key={i} {...clickable(() => goTo(model, path, i))}>
          <b>{path.kind(i)}</b> {duration(model, path.end[i] - path.begin[i], trace)}{' '}
          <span class="quiet">{segmentPlace(trace, path, i)}</span>
        </li>
      ))}</ol>
      {seen.length > kListed && <p class="text quiet">The first {kListed} are listed; zoom in for others.</p>}
    </div>
  );
}

function segmentPlace(trace: Trace, path: CriticalPath, i: number): string {
  const barrier = path.pipeline[i] >= 0 ? `${trace.names[path.pipeline[i]]}${path.stage[i] >= 0 ? `[${path.stage[i]}]` : ''}` : '';
  return [path.track[i] >= 0 ? trackText(trace.tracks[path.track[i]]) : '', barrier, `at ${grouped(path.begin[i])}`].filter((part) => part).join(', ');
}

function goTo(model: Model, path: CriticalPath, i: number): void {
  model.showPath = true;
  if (path.span[i] >= 0) return model.goTo(0, path.span[i], false);
  if (path.track[i] >= 0) model.bringIntoView(model.openRow(0, path.track[i]));
  model.view.reveal(model.axis(0, path.begin[i]), model.axis(0, path.end[i]));
  model.changed();
}
