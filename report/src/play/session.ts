// SPDX-License-Identifier: Apache-2.0
// What has been chosen, and the server that runs it.  The address holds the choice, so a reload, the browser's way back and a
// bookmark all lead to it.

export type Value = number | string | boolean | number[];

/** As sim/cli/play_state.h has it. */
export interface State {
  scenario: string;
  set: Record<string, Value>;
  /** Id of an offered fault, "none", or "" for those of the scenario's file. */
  fault: string;
  /** The n-th time that it is made, from 1; 0: every time. */
  occurrence: number;
}

export interface NumberControl {
  kind: 'number';
  id: string;
  key: string;
  label: string;
  title: string;
  value: number | null;
  low: number;
  high: number;
  step: number;
}
export interface ChoiceControl {
  kind: 'choice';
  id: string;
  label: string;
  title: string;
  /** Index of a choice. */
  value: number;
  choices: {label: string; set: Record<string, Value>; refused: string | null}[];
}
export type Control = NumberControl | ChoiceControl;

export interface Reply {
  trace: string;
  before?: string;
  diff?: string;
  report: string;
  notes: string[];
  outcome: string;
  cycles: number;
  before_cycles?: number;
  description: string;
  kernel: string;
  faults: {id: string; words: string; group: string; times: number}[];
  own_fault: string;
  /** The lesson's page, as Markdown; "": the scenario is of none. */
  lesson: string;
  controls: Control[];
  /** The scenario as a file, and the command that runs it. */
  text: string;
  command: string;
  run_seconds: number;
  seconds: number;
}
export interface Complaint {
  /** "config.stages"; "": of no control. */
  key: string;
  text: string;
}

export interface Menu {
  opened: string;
  /** What controls can set, "config.stages". */
  keys: string[];
  groups: {label: string; scenarios: {name: string; description: string}[]}[];
}

export function fresh(scenario: string): State {
  return {scenario, set: {}, fault: '', occurrence: 0};
}
export function same(a: State, b: State): boolean {
  return toQuery(a) === toQuery(b);
}

// ---------------------------------------------------------------- the address

function valueOf(text: string): Value {
  if (text === 'true' || text === 'false') return text === 'true';
  const numbers = text.split(',').map(Number);
  if (text === '' || numbers.some(Number.isNaN)) return text;
  return numbers.length > 1 ? numbers : numbers[0];
}

function toQuery(state: State): string {
  const words = new URLSearchParams({scenario: state.scenario});
  for (const key of Object.keys(state.set).sort()) words.set(key, `${state.set[key]}`);
  if (state.fault) words.set('fault', state.fault);
  if (state.occurrence) words.set('occurrence', `${state.occurrence}`);
  // Slashes, commas and spaces are easier to read as they are.
  return words.toString().replaceAll('%2F', '/').replaceAll('%2C', ',');
}
function ofWords(words: URLSearchParams): State | null {
  const state = fresh(words.get('scenario') ?? '');
  for (const [key, value] of words)
    if (key === 'fault') state.fault = value;
    else if (key === 'occurrence') state.occurrence = Number(value) || 0;
    else if (key !== 'scenario' && key !== 'before') state.set[key] = valueOf(value);
  return state.scenario ? state : null;
}

/** The hash of an address, without "#". */
export function toHash(state: State, before: State | null): string {
  return toQuery(state) + (before ? `&before=${encodeURIComponent(toQuery(before))}` : '');
}
export function ofHash(hash: string): {state: State; before: State | null} | null {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const state = ofWords(words), before = words.get('before');
  return state && {state, before: before ? ofWords(new URLSearchParams(before)) : null};
}

// ---------------------------------------------------------------- the server

const token = new URLSearchParams(location.search).get('token') ?? '';

async function ask(path: string, body?: unknown): Promise<Response> {
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {'X-Sm100sim-Token': token, ...(body === undefined ? {} : {'Content-Type': 'application/json'})},
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch(() => {
    throw new Error('sm100sim play has ended, or cannot be reached; start it again and reload the page it opens.');
  });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

export async function readMenu(): Promise<Menu> {
  return (await ask('/api/menu')).json();
}
/** A run, or why there is none. */
export async function run(state: State, before: State | null): Promise<Reply | {errors: Complaint[]}> {
  return (await ask('/api/run', {state, before})).json();
}
export function reportAddress(state: State, before: State | null): string {
  return `/report?${new URLSearchParams({token, request: JSON.stringify({state, before})})}`;
}
