// SPDX-License-Identifier: Apache-2.0
// Who acts in a kernel.  Roles are known by the work that their warps record, barriers by who arrives on them, so that the
// names of a kernel's roles and barriers are its own.  Only a trace without barriers, as a GPU records it, is read by the
// names that the kernels of this family use.

import {splitBarrierName, withoutLaunch} from './structure';
import type {Trace, Track} from './trace';

/** Who is meant: the hue of a lane, of a span, and of a wait for it. */
export type Actor = 'load' | 'mma' | 'epilogue' | 'store' | 'clc' | 'other';

const actorOfKind: Record<string, Actor> = {
  load_issue: 'load', tma_load: 'load',
  mma_issue: 'mma', mma_commit: 'mma', umma: 'mma', tmem_write: 'mma',
  tmem_load: 'epilogue', smem_read: 'epilogue', smem_write: 'epilogue', reduce: 'epilogue', tmem_read: 'epilogue',
  store_issue: 'store', store_wait: 'store', tma_store: 'store',
  clc_request: 'clc', clc_fetch: 'clc', clc_cancel: 'clc',
};
export function kindActor(kind: string): Actor {
  return actorOfKind[kind] ?? 'other';
}

const actorOfUnit: Record<string, Actor> = {'tma load': 'load', 'tma store': 'store', umma: 'mma', clc: 'clc', tmem: 'mma'};
export function unitActor(unit: string): Actor {
  return actorOfUnit[unit] ?? 'other';
}

/** What the work of a span says of its role.  Every role fetches tiles, and who writes a tile out stores it as well. */
function workOf(kind: string): Actor {
  if (kind === 'clc_fetch') return 'other';
  const actor = kindActor(kind);
  return actor === 'store' ? 'epilogue' : actor;
}

/** Names of the kernels of this family: of barriers that no trace shows anybody arrive on. */
const familyBarriers: Record<string, Actor> = {
  input_full: 'load', input_empty: 'mma', accum_full: 'mma', accum_empty: 'epilogue',
  tma: 'load', mma: 'mma', clc_full: 'clc', clc_empty: 'epilogue', throttle_full: 'load', throttle_empty: 'clc', tmem_dealloc: 'epilogue',
};
/** And of roles that record no work. */
const familyRoles: Record<string, Actor> = {
  load: 'load', mma: 'mma', epilogue: 'epilogue', consumer: 'epilogue', warp: 'epilogue', scheduler: 'clc',
};
/** In the order in which data pass them: of equal votes the last one counts. */
const inOrder: Actor[] = ['other', 'clc', 'load', 'mma', 'epilogue'];

class Votes {
  private readonly counts = new Map<string, Map<Actor, number>>();
  add(name: string, actor: Actor): void {
    if (actor === 'other') return;
    const of = this.counts.get(name) ?? new Map<Actor, number>();
    this.counts.set(name, of.set(actor, (of.get(actor) ?? 0) + 1));
  }
  /** Who has the most votes, and this part of them at least; else "other". */
  winners(part = 0): Map<string, Actor> {
    const winners = new Map<string, Actor>();
    for (const [name, of] of this.counts) {
      let best: Actor = 'other', most = 0, all = 0;
      for (const [actor, count] of of) {
        all += count;
        if (count < most || (count === most && inOrder.indexOf(actor) < inOrder.indexOf(best))) continue;
        [best, most] = [actor, count];
      }
      winners.set(name, most >= part * all ? best : 'other');
    }
    return winners;
  }
}

/** Each warp of a role has a vote: what it does most. */
function learnRoles(traces: Trace[]): Map<string, Actor> {
  const votes = new Votes();
  for (const trace of traces) {
    const ofWarp = new Votes();
    for (const track of trace.tracks) {
      if (track.kind !== 'role') continue;
      for (let i = trace.spanStart[track.id]; i < trace.spanStart[track.id + 1]; ++i) ofWarp.add(`${track.id}`, workOf(trace.kind(i)));
    }
    for (const [id, actor] of ofWarp.winners()) votes.add(trace.tracks[+id].name, actor);
  }
  return votes.winners();
}

export class Actors {
  private readonly roles: Map<string, Actor>;
  private readonly barriers: Map<string, Actor>;
  /** Nothing is multiplied: where a matmul has its tensor core, consumer warps read the stages. */
  readonly copies: boolean;

  constructor(traces: Trace[] = []) {
    this.roles = learnRoles(traces);
    const multiplies = (track: Track) => track.kind === 'role' ? this.role(track.name) === 'mma' : track.name === 'umma';
    const loads = (track: Track) => track.kind === 'role' && this.role(track.name) === 'load';
    const tracks = traces.flatMap((trace) => trace.tracks);
    this.copies = tracks.some(loads) && !tracks.some(multiplies);
    const votes = new Votes();
    for (const trace of traces) {
      const arrive = trace.eventKinds.indexOf('arrive'), bytes = trace.eventKinds.indexOf('complete_tx');
      const {events} = trace;
      for (let i = 0; i < events.count; ++i) {
        const by = trace.tracks[events.by[i]];
        if (!by || (events.kind[i] !== arrive && events.kind[i] !== bytes)) continue;
        const actor = by.kind === 'unit' ? unitActor(by.name) : this.role(by.name);
        votes.add(splitBarrierName(trace.tracks[events.track[i]].name)[0], actor);
      }
    }
    this.barriers = votes.winners(0.6); // what all roles release is nobody's
  }

  role(name: string): Actor {
    return this.roles.get(name) ?? familyRoles[withoutLaunch(name)] ?? 'other';
  }
  /** Who has to act before a wait on this barrier array can end. */
  barrier(array: string): Actor {
    const known = this.barriers.get(array) ?? familyBarriers[withoutLaunch(array)] ?? 'other';
    return known === 'mma' && this.copies ? 'epilogue' : known;
  }
  /** [producer, consumer] of a ring. */
  ring(name: string): [Actor, Actor] {
    return [this.barrier(`${name}_full`), this.barrier(`${name}_empty`)];
  }
}
