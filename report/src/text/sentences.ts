// SPDX-License-Identifier: Apache-2.0
// What is selected or under the mouse, in words: what, where, when, what it waited for and who ended it.

import {lastAtMost} from '../data/barriers';
import {markSpan} from '../data/findings';
import {stageStates} from '../data/rings';
import {placeText, tileText} from '../data/tiles';
import type {Trace, Track} from '../data/trace';
import type {Model, Selection} from '../model';
import {partnerOf} from '../view/overlay';
import {bytes, duration, grouped, nanoseconds, percent, seconds, tickName} from './format';
import {explainBarrier, explainKind, explainRing, stageStateText, waitReason} from './glossary';

export interface Link {
  text: string;
  side: number;
  span: number;
}

export interface Words {
  title: string;
  /** For the tooltip. */
  short: string;
  sentences: string[];
  facts: [string, string][];
  links: Link[];
}

export function trackText(track: Track): string {
  const who = track.kind === 'role' ? `${track.name} (warp ${track.warp})` : track.name;
  return `${who} of CTA ${track.cta}`;
}

function spanTitle(trace: Trace, i: number): string {
  const stage = trace.spans.stage[i];
  // The barrier that a tensor core's group signals is the one that frees its operands.
  if (trace.kind(i) === 'umma' && trace.pipeline(i) === 'input_empty') return `umma of input stage ${stage}`;
  const k = trace.spans.k[i];
  return [trace.kind(i), placeText(trace, i), k >= 0 ? `k ${k}` : ''].filter((part) => part).join(' ');
}

/** "the copy (tma load of CTA 0)": what woke a wait or set a unit to work. */
function causeText(trace: Trace, cause: number): string {
  const track = trace.track(cause), kind = trace.kind(cause);
  if (kind === 'tma_load') return `the TMA copy into ${placeText(trace, cause)}`;
  if (kind === 'umma') return 'the tensor core, with the commit of its multiplications';
  if (kind === 'clc_cancel') return 'the answer of cluster launch control';
  return `${trackText(track)}, in its ${spanTitle(trace, cause)}`;
}

function spanSentences(model: Model, side: number, i: number, words: Words): void {
  const {trace} = model.sides[side];
  const kind = trace.kind(i), track = trace.track(i);
  const length = duration(model, trace.spans.end[i] - trace.spans.begin[i], trace);
  const cause = trace.source(trace.spans.flowIn[i]);
  const sinks = trace.sinksOf(trace.spans.flowOut[i]);
  const marked = markSentences(model, side, i);
  words.sentences.push(...marked);
  if (track.cta < 0) {
    words.sentences.push(length.startsWith('0 ') ? 'A call of the program; calls take no simulated time.' : 'A launch of the program.');
  } else if (kind === 'wait') {
    const atOnce = cause < 0 && trace.events.count > 0 && !model.openWaits[side].has(i);
    if (!(marked.length > 0 && model.openWaits[side].has(i))) words.sentences.push(atOnce
      ? `The ${track.name} warp looked at ${placeText(trace, i)} and went on at once: the phase was complete already.`
      : `The ${track.name} warp ${waitReason(trace.pipeline(i))}.`);
    if (marked.length === 0 && model.openWaits[side].has(i)) words.sentences.push(model.hung[side]
      ? 'Nobody ever woke it: the phase cannot complete any more.' : 'It was still asleep when the run stopped.');
    else if (cause >= 0) words.sentences.push(`It was woken after ${length} by ${causeText(trace, cause)} (CTA ${trace.track(cause).cta}).`);
  } else {
    words.sentences.push(explainKind(kind));
    if (cause >= 0) words.sentences.push(`Started by ${trackText(trace.track(cause))}, in its ${spanTitle(trace, cause)}.`);
  }
  if (cause >= 0) words.links.push({text: `${kind === 'wait' ? 'woken by' : 'started by'} ${spanTitle(trace, cause)}, ${trackText(trace.track(cause))}`, side, span: cause});
  for (const sink of sinks.subarray(0, 6))
    words.links.push({text: `${trace.kind(sink) === 'wait' ? 'woke' : 'started'} ${spanTitle(trace, sink)}, ${trackText(trace.track(sink))}`, side, span: sink});
  if (sinks.length > 6) words.sentences.push(`It has ${sinks.length} effects; the first six are linked.`);
}

/** "to ranks 0, 2 of the cluster (mask 0x5)" */
function multicastText(mask: number): string {
  const ranks = Array.from({length: 16}, (_, r) => r).filter((r) => mask >> r & 1);
  return `to ${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.join(', ')} of the cluster (mask 0x${mask.toString(16)})`;
}

/** What a finding says of the span, in the words of its report. */
function markSentences(model: Model, side: number, i: number): string[] {
  const {trace} = model.sides[side];
  const sentences: string[] = [];
  for (const finding of trace.findings)
    for (const mark of finding.marks) {
      if (mark.track !== trace.spans.track[i] || markSpan(trace, mark) !== i) continue;
      const line = mark.line ? ` (${mark.line})` : '';
      switch (mark.what) {
        case 'root': sentences.push(`The root of the hang: ${trackText(trace.track(i))} ${mark.text}${line}.`); break;
        case 'victim': sentences.push(`It ${mark.text}${line}. Nobody can wake it, because of the root wait.`); break;
        case 'fault': sentences.push(`At fault${line}: ${mark.text}.`); break;
        default: sentences.push(`The ${mark.what} of the two accesses of ${finding.id}, at ${grouped(mark.time)}: ${mark.text}${line}.`);
      }
    }
  return sentences;
}

/** Waits inside a span that are not for an mbarrier, the longest first. */
function innerWaits(trace: Trace, i: number): string[] {
  const {wakeups, spans} = trace;
  const sums = new Map<string, {ticks: number; by: number}>();
  const track = spans.track[i];
  for (let w = trace.wakeupStart[track]; w < trace.wakeupStart[track + 1]; ++w) {
    if (wakeups.begin[w] >= spans.end[i] || wakeups.end[w] <= spans.begin[i] || wakeups.end[w] > spans.end[i]) continue;
    const reason = trace.names[wakeups.reason[w]] ?? 'something';
    const sum = sums.get(reason) ?? {ticks: 0, by: -1};
    sums.set(reason, {ticks: sum.ticks + wakeups.end[w] - Math.max(wakeups.begin[w], spans.begin[i]), by: wakeups.by[w]});
  }
  return [...sums].sort((a, b) => b[1].ticks - a[1].ticks).filter(([, sum]) => sum.ticks > 0).map(([reason, {ticks, by}]) =>
    `${grouped(ticks)} ${tickName(trace)} of it asleep: ${reason}${by >= 0 ? `, ended by ${trackText(trace.tracks[by])}` : ''}.`);
}

function describeSpan(model: Model, side: number, i: number): Words {
  const {trace} = model.sides[side];
  const {spans} = trace;
  const track = trace.track(i), tile = tileText(trace, i);
  const length = spans.end[i] - spans.begin[i];
  const words: Words = {title: spanTitle(trace, i), short: '', sentences: [], facts: [], links: []};
  if (trace.kind(i) === 'tile' && tile) words.title = tile;
  spanSentences(model, side, i, words);
  if (!trace.contains[i]) words.sentences.push(...innerWaits(trace, i));
  words.short = `${trackText(track)}${tile ? `, ${tile}` : ''}\n${duration(model, length, trace)} (${seconds(trace, length)})\n${words.sentences.join(' ')}`;
  const facts = words.facts;
  if (model.sides.length > 1) facts.push(['trace', side === 0 ? `A, ${trace.name}` : `B, ${trace.name}`]);
  facts.push(['where', track.cta < 0 ? 'host' : `${trackText(track)}, SM ${track.sm}`]);
  facts.push(['when', `${grouped(spans.begin[i])} to ${grouped(spans.end[i])}`]);
  facts.push(['length', `${grouped(length)} ${tickName(trace)} = ${seconds(trace, length)}`]);
  if (tile) facts.push(['tile', tile.replace('tile ', '')]);
  if (spans.k[i] >= 0) facts.push(['k tile', `${spans.k[i]}`]);
  if (trace.pipeline(i)) facts.push([track.kind === 'unit' ? 'signals' : 'barrier', placeText(trace, i)]);
  else if (spans.stage[i] >= 0) facts.push(['stage', `${spans.stage[i]}`]);
  if (spans.phase[i] >= 0) facts.push(['phase', `${spans.phase[i]} (parity ${spans.phase[i] & 1})`]);
  if (spans.bytes[i] >= 0) facts.push(['bytes', `${bytes(spans.bytes[i])}${length > 0 ? `, ${(spans.bytes[i] / length).toFixed(1)} B per ${tickName(trace).replace(/s$/, '')}` : ''}`]);
  if (spans.dimensions[i] > 0) {
    facts.push(['operand', `${trace.names[spans.operand[i]] ?? 'a tensor'}, box at (${spans.coordinates.slice(0, spans.dimensions[i]).map((c) => c[i]).join(', ')})`]);
  }
  if (spans.multicast[i] > 0) facts.push(['multicast', multicastText(spans.multicast[i])]);
  if (spans.columns[i] > 0) facts.push(['columns', `${spans.column[i]} to ${spans.column[i] + spans.columns[i] - 1} of tensor memory`]);
  if (trace.line(i)) facts.push(['line', trace.line(i)]);
  const partner = partnerOf(model, side, i);
  if (partner >= 0) {
    const other = model.sides[1 - side].trace;
    const ns = (t: Trace, s: number) => (t.spans.end[s] - t.spans.begin[s]) * 1e9 / t.metadata.ticks_per_second;
    const difference = ns(trace, i) - ns(other, partner);
    facts.push([side === 0 ? 'in B' : 'in A', `${seconds(other, other.spans.end[partner] - other.spans.begin[partner])}; ` +
      `${Math.abs(difference) < 0.5 ? 'the same' : `this one is ${nanoseconds(Math.abs(difference))} ${difference > 0 ? 'longer' : 'shorter'}`}`]);
    words.links.push({text: `the same step in ${side === 0 ? 'B' : 'A'}`, side: 1 - side, span: partner});
  }
  return words;
}

/** ", mma (warp 6)", and of which CTA if it is another one. */
function actorText(trace: Trace, event: number, cta: number): string {
  const {actor, by} = trace.events;
  const other = by[event] >= 0 && trace.tracks[by[event]].cta !== cta ? ` of CTA ${trace.tracks[by[event]].cta}` : '';
  return actor[event] >= 0 ? `, ${trace.names[actor[event]]}${other}` : '';
}

function describeStage(model: Model, s: Selection & {kind: 'stage'}): Words {
  const {trace} = model.sides[s.side];
  const intervals = model.ring(s.side, s.cta, s.ring)[s.stage];
  const at = lastAtMost(intervals.begin, s.time);
  const inside = at >= 0 && intervals.end[at] > s.time;
  const state = inside ? intervals.state[at] : 0;
  const from = inside ? intervals.begin[at] : at >= 0 ? intervals.end[at] : s.cta.begin;
  const to = inside ? intervals.end[at] : intervals.begin[at + 1] ?? s.cta.end;
  const all = [0, 0, 0, 0];
  intervals.begin.forEach((begin, i) => all[intervals.state[i]] += intervals.end[i] - begin);
  const life = s.cta.end - s.cta.begin;
  all[0] = Math.max(0, life - all[1] - all[2] - all[3]);
  const title = `${s.ring.name} ring, stage ${s.stage}: ${stageStates[state]}`;
  return {
    title,
    short: `${stageStateText[state]}\n${duration(model, to - from, trace)}${inside ? `, fill ${intervals.fill[at]}` : ''}`,
    sentences: [stageStateText[state], explainRing(s.ring.name),
      ...(s.cta.arrays.length === 0 ? ['This trace recorded no barriers, so a stage counts as filling until its consumer goes on.'] : [])],
    facts: [
      ['where', `CTA ${s.cta.id}, SM ${s.cta.sm}`],
      ['when', `${grouped(from)} to ${grouped(to)}`],
      ['length', `${grouped(to - from)} ${tickName(trace)} = ${seconds(trace, to - from)}`],
      ...(inside ? [['fill', `${intervals.fill[at]} (parity ${intervals.fill[at] & 1})`] as [string, string]] : []),
      ...stageStates.map((name, i): [string, string] => [name, `${percent(all[i] / Math.max(1, life))} of the CTA's life`]),
    ],
    links: [],
  };
}

function describeBarrier(model: Model, s: Selection & {kind: 'barrier'}): Words {
  const {trace} = model.sides[s.side];
  const {events} = trace;
  const lane = model.barrier(s.side, s.cta, s.track);
  const phase = lastAtMost(lane.phaseBegin, s.time), at = lastAtMost(lane.time, s.time);
  const waiting = lane.waits.filter((w) => w.begin <= s.time && w.end > s.time);
  const pending = at >= 0 ? lane.pending[at] : 0, tx = at >= 0 ? lane.tx[at] : 0;
  const missing = [
    pending > 0 ? `${grouped(pending)} of ${grouped(lane.mostPending)} arrivals` : '',
    tx > 0 ? `${grouped(tx)} bytes` : '',
  ].filter((part) => part).join(' and ');
  const state = phase < 0 ? 'not initialised yet' : `phase ${phase} (parity ${phase & 1}) misses ${missing || 'nothing'}`;
  const list: [string, string][] = [];
  const first = trace.eventStart[s.track.id];
  let e = first;
  while (e < trace.eventStart[s.track.id + 1] && events.time[e] <= s.time) ++e;
  for (let i = Math.max(first, e - 5); i < Math.min(trace.eventStart[s.track.id + 1], e + 3); ++i) {
    const amount = events.amount[i] > 0 ? ` ${grouped(events.amount[i])}${/tx/.test(trace.eventKinds[events.kind[i]]) ? ' B' : ''}` : '';
    list.push([`${i < e ? '' : 'later: '}${grouped(events.time[i])}`,
      `${trace.eventKinds[events.kind[i]]}${amount}, phase ${events.phase[i]}${actorText(trace, i, s.cta.id)}`]);
  }
  return {
    title: `${s.track.name}: ${state}`,
    short: `${explainBarrier(s.track.name)}${waiting.length > 0 ? `\nWaiting: ${waiting.map((w) => w.actor).join(', ')}` : ''}`,
    sentences: [explainBarrier(s.track.name)],
    facts: [
      ['where', `CTA ${s.cta.id}, SM ${s.cta.sm}`],
      ['at', grouped(s.time)],
      ['state', state],
      ['waiting', waiting.map((w) => w.actor + (w.open ? ', for ever' : '')).join(', ') || 'nobody'],
      ...list,
    ],
    links: [],
  };
}

export function describe(model: Model, s: Selection): Words {
  switch (s.kind) {
    case 'span': return describeSpan(model, s.side, s.span);
    case 'stage': return describeStage(model, s);
    case 'barrier': return describeBarrier(model, s);
    case 'finding': return {title: s.finding.id, short: s.finding.message, sentences: [s.finding.message], facts: [], links: []};
  }
}
