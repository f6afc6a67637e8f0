// SPDX-License-Identifier: Apache-2.0
import type {Model} from '../model';

const keys: [string, string][] = [
  ['wheel, w s', 'zoom at the mouse'],
  ['drag, a d', 'move'],
  ['\u2191 \u2193', 'the lane above, below; Enter opens and closes it'],
  ['\u2190 \u2192', 'in the lane: the step before, after'],
  ['Page \u2191 \u2193, wheel over the names', 'scroll'],
  ['shift + drag', 'measure a distance'],
  ['0', 'the whole run'],
  ['click', 'select; double click or f: zoom to it'],
  ['/ or Ctrl F', 'search'],
  ['n p', 'next, previous hit'],
  ['[ ]', 'previous, next difference of two traces'],
  ['=', 'move B so that the selected step begins where it does in A; again: back'],
  ['c e', 'close, open all CTAs'],
  ['x', 'flows on or off'],
  ['r', 'critical path on or off'],
  ['u', 'cycles or time'],
  ['t', 'light or dark'],
  ['i', 'show or hide the panel'],
  ['Esc', 'step back'],
];

export function Help({model}: {model: Model}) {
  const close = () => {
    model.helpOpen = false;
    model.changed();
  };
  return (
    <div class="veil" onClick={close}>
      <div class="help" role="dialog" aria-label="Keys" onClick={(event) => event.stopPropagation()}>
        <h2>Keys and mouse</h2>
        <dl>{keys.map(([key, what]) => <><dt>{key}</dt><dd>{what}</dd></>)}</dl>
        <button onClick={close}>Close (Esc)</button>
      </div>
    </div>
  );
}
