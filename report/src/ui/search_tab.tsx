// SPDX-License-Identifier: Apache-2.0
import {useState} from 'preact/hooks';

import {search} from '../data/search';
import {placeText, tileText} from '../data/tiles';
import type {Model} from '../model';
import {duration, grouped} from '../text/format';
import {trackText} from '../text/sentences';
import {clickable} from './clickable';

const kShown = 200;

export function runSearch(model: Model, query: string): void {
  model.query = query;
  model.hits = search(model.sides.map((side) => side.trace), query);
  model.hit = -1;
  if (query.trim()) model.tab = 'search';
  else if (model.tab === 'search') model.tab = 'overview';
  model.changed();
}

export function SearchTab({model}: {model: Model}) {
  const [page, setPage] = useState<{hits: unknown; first: number} | null>(null);
  if (!model.query.trim())
    return (
      <div class="text">
        <p>Words that must all fit a span: the name of its lane, its kind, its barrier.</p>
        <ul>
          <li><code>mma wait input_full[2]</code></li>
          <li><code>tile:1,0 load_issue</code></li>
          <li><code>cta:3 stage:2 phase:1</code></li>
          <li><code>wait &gt;500</code>: longer than 500 ticks</li>
        </ul>
      </div>
    );
  if (model.hits.length === 0) return <p class="text">Nothing fits &ldquo;{model.query}&rdquo;. Each word must be part of a lane's name, a kind or a barrier, or a field such as <code>stage:2</code>.</p>;
  const around = Math.max(0, Math.min(model.hit - 20, model.hits.length - kShown));
  const first = page && page.hits === model.hits ? page.first : around;
  const last = Math.min(first + kShown, model.hits.length);
  const turn = (to: number) => setPage({hits: model.hits, first: Math.max(0, Math.min(to, model.hits.length - kShown))});
  return (
    <div>
      <p class="text">{grouped(model.hits.length)} spans; n and p step through them.
        {model.hits.length > kShown && <> Listed are {grouped(first + 1)} to {grouped(last)}: <span class="choice">
          <button disabled={first === 0} onClick={() => turn(first - kShown)}>before</button>
          <button disabled={last === model.hits.length} onClick={() => turn(first + kShown)}>after</button>
        </span></>}
      </p>
      <ol class="list" start={first + 1}>
        {model.hits.slice(first, first + kShown).map(({side, span}, n) => {
          const {trace} = model.sides[side];
          return (
            <li key={`${side} ${span}`} class={first + n === model.hit ? 'current' : ''} {...clickable(() => {
              model.hit = first + n;
              model.goTo(side, span, false);
            })}>
              <b>{[trace.kind(span), placeText(trace, span)].filter((part) => part).join(' ')}</b>{' '}
              <span class="quiet">{model.sides.length > 1 ? 'AB'[side] + ', ' : ''}{trackText(trace.track(span))}{tileText(trace, span) && `, ${tileText(trace, span)}`}, {duration(model, trace.spans.end[span] - trace.spans.begin[span], trace)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
