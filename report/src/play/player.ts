// SPDX-License-Identifier: Apache-2.0
// From a choice to its picture: asks for the run, and shows it when it is there.  One question is under way at a time; of
// those that are put meanwhile only the last counts.

import {unpackDiff} from '../data/diff';
import {type Trace, unpackTrace} from '../data/trace';
import {Model} from '../model';
import {speakOfCopies} from '../text/glossary';
import {learnActors} from '../view/theme';
import {Morph} from '../view/morph';
import {type Complaint, type Menu, type Reply, type State, fresh, ofHash, run, same, toHash} from './session';

export class Player {
  state: State;
  /** Beside what the run is shown; null: alone. */
  before: State | null;
  /** Of the run that is shown. */
  reply: Reply | null = null;
  complaints: Complaint[] = [];
  /** The lesson that was opened last: its page stays while other scenarios, which it may ask for, are looked at. */
  lesson: {scenario: string; text: string; scroll: number; answered: boolean} | null = null;
  /** The run before the one that is shown, for "before / after". */
  private shown: State | null = null;
  previous: State | null = null;
  busy = false;
  /** From the change to the picture, in ms. */
  milliseconds = 0;
  /** How many runs have been shown, for tests. */
  runs = 0;
  model: Model | null = null;
  private morph: Morph | null = null;
  private asked: {state: State; before: State | null; since: number} | null = null;
  private readonly listeners: (() => void)[] = [];

  constructor(readonly menu: Menu) {
    const there = ofHash(location.hash);
    this.state = there?.state ?? fresh(menu.opened);
    this.before = there?.before ?? null;
    window.addEventListener('popstate', () => {
      // The address that the page was opened with has no state, if nothing had been changed.
      const now = ofHash(location.hash);
      void this.show(now?.state ?? fresh(menu.opened), now?.before ?? null);
    });
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** What a control does. */
  change(change: Partial<State>): Promise<void> {
    return this.goTo({...this.state, ...change}, this.before);
  }
  /** Another scenario, as its file has it. */
  open(scenario: string): Promise<void> {
    return this.goTo(fresh(scenario), null);
  }
  compareWith(before: State | null): Promise<void> {
    return this.goTo(this.state, before);
  }
  private goTo(state: State, before: State | null): Promise<void> {
    const hash = `#${toHash(state, before)}`;
    if (hash !== location.hash) history.pushState(null, '', hash);
    return this.show(state, before);
  }

  async show(state: State, before: State | null): Promise<void> {
    [this.state, this.before] = [state, before];
    const under_way = this.asked !== null;
    this.asked = {state, before, since: performance.now()};
    if (under_way) return;
    while (this.asked !== null) {
      const asked: NonNullable<typeof this.asked> = this.asked;
      this.busy = true;
      this.changed();
      try {
        const reply = await run(asked.state, asked.before);
        if (this.asked !== asked) continue;
        if ('errors' in reply) this.complaints = reply.errors;
        else await this.take(reply, asked.state);
        this.milliseconds = performance.now() - asked.since;
      } catch (error) {
        this.complaints = [{key: '', text: error instanceof Error ? error.message : `${error}`}];
      }
      if (this.asked === asked) this.asked = null;
    }
    this.busy = false;
    this.changed();
  }

  private async take(reply: Reply, state: State): Promise<void> {
    const now = await unpackTrace(reply.trace);
    const before = reply.before ? await unpackTrace(reply.before) : null;
    const traces: Trace[] = before ? [before, now] : [now];
    const diff = before && reply.diff ? await unpackDiff(reply.diff, before, now) : null;
    // The glossary is of one sort of kernel: another sort begins anew.
    if (this.reply && this.reply.kernel !== reply.kernel && [this.reply.kernel, reply.kernel].includes('pipeline_copy')) return location.reload();
    this.reply = reply;
    const opened = reply.lesson !== '' && reply.lesson !== this.lesson?.text;
    if (opened) this.lesson = {scenario: state.scenario, text: reply.lesson, scroll: 0, answered: false};
    this.complaints = [];
    if (this.shown && !same(this.shown, state)) this.previous = this.shown.scenario === state.scenario ? this.shown : null;
    this.shown = state;
    if (learnActors(traces).copies) speakOfCopies();
    if (!this.model || !this.morph) {
      this.model = new Model(traces, diff);
      this.morph = new Morph(this.model);
      this.describe(opened);
    } else {
      this.morph.show(traces, () => {
        this.model!.replace(traces, diff);
        this.describe(opened);
      });
    }
    document.title = `${now.metadata.scenario || now.name} - sm100sim play`;
    ++this.runs;
  }

  /**
   * What the panel shows of a new run: what went wrong, if something did.  A lesson stays and says it itself.
   * @param opened  with this run a lesson has been opened
   */
  private describe(opened: boolean): void {
    const model = this.model!;
    const side = model.sides.length - 1;
    const wrong = model.sides[side].trace.findings.find((finding) => !finding.warning);
    const lesson = opened || (this.lesson !== null && model.tab === 'lesson');
    if (wrong) model.showFinding(side, wrong);
    else if (model.tab === 'findings') model.tab = model.diff ? 'differences' : 'overview';
    if (lesson) model.tab = 'lesson';
  }
}
