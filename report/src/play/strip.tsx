// SPDX-License-Identifier: Apache-2.0
// The strip below the bar: everything that can be changed of the run.

import {useEffect, useState} from 'preact/hooks';

import {grouped} from '../text/format';
import type {Player} from './player';
import {type ChoiceControl, type Complaint, type Control, type NumberControl, type State, type Value, fresh, reportAddress, same} from './session';

export function Strip({player}: {player: Player}) {
  const {reply, state, complaints} = player;
  if (!reply) return null;
  const of = (keys: string[]) => complaints.find((c) => keys.some((key) => key === c.key || key.startsWith(`${c.key}.`) || c.key.startsWith(`${key}.`)));
  const known = new Set<Complaint>();
  const complaint = (keys: string[]): Complaint | undefined => {
    const found = of(keys);
    if (found) known.add(found);
    return found;
  };
  const wrong = complaint(['fault']);
  return (
    <form class="strip" aria-label="What can be changed" aria-busy={player.busy} onSubmit={(event) => event.preventDefault()}>
      <div class="controls">
        <Scenarios player={player} />
        {reply.controls.map((control) => (
          <ControlField key={control.id} control={control} player={player} wrong={complaint(keysOf(control))} />
        ))}
        <Faults player={player} wrong={wrong} />
        <Compare player={player} />
        <button type="button" disabled={same(state, fresh(state.scenario))} title="The scenario as its file has it"
          onClick={() => void player.open(state.scenario)}>Reset</button>
        <CopyButton text={reply.text} label="Copy as scenario" what="The scenario" />
        <CopyButton text={reply.command} label="Copy command" what="The command" />
        <a class="button" href={reportAddress(state, player.before)} target="_blank" rel="noopener">Open report</a>
        <span class="quiet took" role="status" title="From the change to the picture">{player.busy ? 'running' : `${player.milliseconds.toFixed(0)} ms`}</span>
      </div>
      {complaints.length > 0 && (
        <div class="complaints" role="alert">
          {complaints.map((c) => <p><b>{aboutText(c, reply.controls, state)}</b>{c.text}</p>)}
          <p class="quiet">The picture still shows the run before.</p>
        </div>
      )}
    </form>
  );
}

/** "Stages 99: " */
function aboutText({key}: Complaint, controls: Control[], state: State): string {
  const control = controls.find((c) => keysOf(c).includes(key));
  if (key === 'fault') return 'Fault: ';
  if (!control || !(key in state.set)) return '';
  return `${control.label}${control.kind === 'number' ? '' : `, ${key.replace(/.*\./, '')}`} ${state.set[key]}: `;
}

/** The keys that a control sets. */
function keysOf(control: Control): string[] {
  if (control.kind === 'number') return [control.key];
  return [...new Set(control.choices.flatMap((choice) => Object.keys(choice.set)))];
}

function Scenarios({player}: {player: Player}) {
  const {menu, state, reply} = player;
  const listed = menu.groups.some((group) => group.scenarios.some(({name}) => name === state.scenario));
  return (
    <label class="control wide" title={reply!.description}>
      <span>Scenario</span>
      <select name="scenario" value={state.scenario} onChange={(event) => void player.open(event.currentTarget.value)}>
        {!listed && <option value={state.scenario}>{state.scenario}</option>}
        {menu.groups.map((group) => (
          <optgroup label={group.label}>
            {group.scenarios.map(({name, description}) => (
              <option value={name} selected={name === state.scenario}>{description || name}</option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** What a control looks like when it is not as the scenario's file has it, and when its value is refused. */
function look(changed: boolean, wrong: Complaint | undefined): string {
  return `control${changed ? ' changed' : ''}${wrong ? ' wrong' : ''}`;
}

function ControlField({control, player, wrong}: {control: Control; player: Player; wrong: Complaint | undefined}) {
  const changed = keysOf(control).some((key) => key in player.state.set);
  return control.kind === 'number'
    ? <NumberField control={control} player={player} wrong={wrong} changed={changed} />
    : <ChoiceField control={control} player={player} wrong={wrong} changed={changed} />;
}

interface FieldProperties<T> {
  control: T;
  player: Player;
  wrong: Complaint | undefined;
  changed: boolean;
}

function NumberField({control, player, wrong, changed}: FieldProperties<NumberControl>) {
  const chosen = player.state.set[control.key];
  const value = chosen === undefined ? control.value : chosen as number;
  return (
    <label class={look(changed, wrong)} title={wrong?.text ?? control.title}>
      <span>{control.label}</span>
      <input type="number" name={control.id} value={value === null ? '' : `${value}`} placeholder="none" min={control.low < control.step ? 0 : control.low}
        max={control.high} step={control.step} aria-invalid={wrong !== undefined} style={{width: `${Math.max(4, `${value ?? 'none'}`.length) + 3}ch`}}
        onChange={(event) => {
          const set = {...player.state.set};
          const text = event.currentTarget.value;
          if (text === '') delete set[control.key];
          else set[control.key] = Number(text);
          void player.change({set});
        }} />
    </label>
  );
}

function ChoiceField({control, player, wrong, changed}: FieldProperties<ChoiceControl>) {
  // A choice that the scenario refuses stays chosen, so that the next change can make it right.
  const {set} = player.state;
  const wanted = control.choices.findIndex((choice) =>
    Object.keys(choice.set).length > 0 && Object.entries(choice.set).every(([key, value]) => `${set[key]}` === `${value}`));
  const value = player.complaints.length > 0 && wanted >= 0 ? wanted : control.value;
  return (
    <label class={look(changed, wrong)} title={wrong?.text ?? control.title}>
      <span>{control.label}</span>
      <select name={control.id} value={`${value}`} aria-invalid={wrong !== undefined}
        onChange={(event) => void player.change({set: {...player.state.set, ...control.choices[Number(event.currentTarget.value)].set}})}>
        {control.choices.map((choice, n) => (
          <option value={`${n}`} selected={n === value} title={choice.refused ?? ''}>{choice.label}{choice.refused && ' \u2013 not with the rest'}</option>
        ))}
      </select>
    </label>
  );
}

/** Whose mistakes come first. */
const order = ['load', 'mma', 'epilogue', 'scheduler'];
function rank(group: string): number {
  const at = order.indexOf(group);
  return at >= 0 ? at : group === 'set-up' ? order.length + 1 : order.length;
}

const moments: [number, string][] = [[0, 'every time'], [1, 'the first time'], [2, 'the second time'], [3, 'the third time'], [4, 'the fourth time'], [8, 'the eighth time']];

function Faults({player, wrong}: {player: Player; wrong: Complaint | undefined}) {
  const {state, reply} = player;
  const {faults, own_fault: own} = reply!;
  if (faults.length === 0 && !own) return null;
  const groups = [...new Set(faults.map((fault) => fault.group))].sort((a, b) => rank(a) - rank(b));
  const listed = ['', 'none'].includes(state.fault) || faults.some(({id}) => id === state.fault);
  return (
    <>
      <label class={`${look(state.fault !== '', wrong)} fault`} title={wrong?.text ?? 'What the kernel is made to do wrong'}>
        <span>Fault</span>
        <select name="fault" value={state.fault} aria-invalid={wrong !== undefined}
          onChange={(event) => void player.change({fault: event.currentTarget.value, occurrence: 0})}>
          {own ? <option value="">as in the scenario: {own}</option> : <option value="">none</option>}
          {own && <option value="none">none</option>}
          {!listed && <option value={state.fault}>{state.fault}</option>}
          {groups.map((group) => (
            <optgroup label={group}>
              {faults.filter((fault) => fault.group === group).map((fault) => (
                <option value={fault.id} selected={fault.id === state.fault}>{group === 'set-up' ? '' : `${group}: `}{fault.words}</option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      {!['', 'none'].includes(state.fault) && (
        <label class="control" title="Which of a warp's executions the fault alters">
          <span>When</span>
          <select name="occurrence" value={`${state.occurrence}`} onChange={(event) => void player.change({occurrence: Number(event.currentTarget.value)})}>
            {moments.map(([n, text]) => <option value={`${n}`} selected={n === state.occurrence}>{text}</option>)}
          </select>
        </label>
      )}
    </>
  );
}

/** "stages 4, M 256": what a state sets. */
function settingsText(state: State): string {
  const words = Object.entries(state.set).map(([key, value]: [string, Value]) => `${key.replace(/.*\./, '')} ${value}`);
  if (state.fault) words.push(state.fault === 'none' ? 'no fault' : state.fault.split('.')[0].replaceAll('-', ' '));
  return words.join(', ') || 'as in the file';
}

function Compare({player}: {player: Player}) {
  const {state, before, previous} = player;
  const choices: {name: string; text: string; state: State | null}[] = [{name: 'alone', text: 'alone', state: null}];
  if (before) choices.push({name: 'kept', text: `beside: ${settingsText(before)}`, state: before});
  if (previous && !(before && same(previous, before))) choices.push({name: 'before', text: `beside the run before: ${settingsText(previous)}`, state: previous});
  const file = fresh(state.scenario);
  if (!same(state, file) && ![before, previous].some((other) => other && same(other, file)))
    choices.push({name: 'file', text: 'beside the scenario as in its file', state: file});
  if (!(before && same(before, state))) choices.push({name: 'this', text: 'keep this run to compare with', state});
  return (
    <label class={`control compare${before ? ' changed' : ''}`} title="Two runs on one axis: A is the one before, B the one now">
      <span>Show</span>
      <select name="compare" value={before ? 'kept' : 'alone'}
        onChange={(event) => void player.compareWith(choices.find(({name}) => name === event.currentTarget.value)!.state)}>
        {choices.map(({name, text}) => <option value={name} selected={name === (before ? 'kept' : 'alone')}>{text}</option>)}
      </select>
    </label>
  );
}

function CopyButton({text, label, what}: {text: string; label: string; what: string}) {
  const [said, say] = useState<'' | 'done' | 'refused'>('');
  useEffect(() => say(''), [text]);
  const lines = text.trimEnd().split('\n').length;
  return (
    <>
      <button type="button" onClick={() => void navigator.clipboard.writeText(text).then(() => say('done'), () => say('refused'))}>{label}</button>
      {said === 'done' && <span class="quiet" role="status">{what} is on the clipboard{lines > 1 && ` (${grouped(lines)} lines)`}.</span>}
      {said === 'refused' && <textarea readOnly rows={Math.min(lines, 8)} cols={60} value={text} aria-label={what} onFocus={(event) => event.currentTarget.select()} />}
    </>
  );
}
