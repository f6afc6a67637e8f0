import {search} from '../data/search';
import {placeText, tileText} from '../data/tiles';
import type {Model} from '../model';
import {duration} from '../text/format';
import {trackText} from '../text/sentences';

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
  const first = Math.max(0, Math.min(model.hit - 20, model.hits.length - kShown));
  return (
    <div>
      <p class="text">{model.hits.length.toLocaleString('en-US')} spans; n and p step through them.</p>
      <ol class="list" start={first + 1}>
        {model.hits.slice(first, first + kShown).map(({side, span}, n) => {
          const {trace} = model.sides[side];
          return (
            <li key={`${side} ${span}`} class={first + n === model.hit ? 'current' : ''} onClick={() => {
              model.hit = first + n;
              model.goTo(side, span, false);
            }}>
              <b>{[trace.kind(span), placeText(trace, span)].filter((part) => part).join(' ')}</b>{' '}
              <span class="quiet">{model.sides.length > 1 ? 'AB'[side] + ', ' : ''}{trackText(trace.track(span))}{tileText(trace, span) && `, ${tileText(trace, span)}`}, {duration(model, trace.spans.end[span] - trace.spans.begin[span], trace)}</span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
