// SPDX-License-Identifier: Apache-2.0
// What a run found, as the page shows it: equal findings once with their count, which spans have to do with them, and where
// the lines of a report lead.

import type {Finding, Mark, Trace} from './trace';

/** Findings with the same id and the same words; warnings come after what is wrong. */
export interface FindingGroup {
  side: number;
  id: string;
  warning: boolean;
  message: string;
  /** The first of them is the earliest. */
  findings: Finding[];
}

export function groupFindings(traces: Trace[]): FindingGroup[] {
  const groups = new Map<string, FindingGroup>();
  traces.forEach((trace, side) => {
    for (const finding of trace.findings) {
      const key = `${side} ${finding.id} ${finding.warning} ${finding.message}`;
      const group = groups.get(key);
      if (group) group.findings.push(finding);
      else groups.set(key, {side, id: finding.id, warning: finding.warning, message: finding.message, findings: [finding]});
    }
  });
  for (const group of groups.values()) group.findings.sort((a, b) => a.time - b.time);
  return [...groups.values()].sort((a, b) => Number(a.warning) - Number(b.warning));
}

/** "Hang", "Finding TC15", "Warning TC16", "Stopped". */
export function findingTitle({id, warning}: {id: string; warning: boolean}): string {
  if (id === 'hang') return 'Hang';
  if (id === 'cycle-budget') return 'Stopped';
  return `${warning ? 'Warning' : 'Finding'} ${id}`;
}

/** The span in which a mark lies, -1 if none: of a wait the one that lasts, of an access the innermost. */
export function markSpan(trace: Trace, mark: Mark): number {
  const {spans} = trace;
  if (mark.what !== 'root' && mark.what !== 'victim') return trace.spanAt(mark.track, mark.time);
  return trace.spanAt(mark.track, mark.time, (i) => !trace.contains[i] && spans.end[i] > mark.time);
}

/** Spans that a finding marks, and as what; who is at fault counts more than that it waits, too. */
export function markedSpans(trace: Trace): Map<number, Mark['what']> {
  const marked = new Map<number, Mark['what']>();
  const rank: Mark['what'][] = ['victim', 'first', 'second', 'fault', 'root'];
  for (const finding of trace.findings)
    if (!finding.warning)
      for (const mark of finding.marks) {
        const span = markSpan(trace, mark), known = marked.get(span);
        if (span >= 0 && (!known || rank.indexOf(mark.what) > rank.indexOf(known))) marked.set(span, mark.what);
      }
  return marked;
}

/** Where a line of a report leads. */
export interface Target {
  track: number;
  time: number;
}

const kCycle = /\bcycle (\d{1,3}(?:,\d{3})*|\d+)/;
const kRole = /\b([a-z_]+) \(warps? (\d+)/;
const kBarrier = /\b(\w+\[\d+\])/;
const kCta = /\bCTAs? (\d+)/;

/**
 * For each line of the report: the role or barrier that it names, and the cycle, or else since when that role waits, or what it did
 * last; null where it names none.
 */
export function reportTargets(trace: Trace, finding: Finding): (Target | null)[] {
  const own = trace.tracks[finding.track];
  let cta = own && own.cta >= 0 ? own.cta : -1;
  let barrier = -1; // of the list of a barrier's events
  return finding.report.trimEnd().split('\n').map((line) => {
    const named = kCta.exec(line), who = kRole.exec(line), cycle = kCycle.exec(line), what = kBarrier.exec(line);
    const of = named ? +named[1] : cta;
    const time = cycle ? +cycle[1].replaceAll(',', '') : -1;
    const find = (kind: string, fits: (name: string, warp: number) => boolean) =>
      trace.tracks.find((t) => t.kind === kind && t.cta === of && fits(t.name, t.warp))?.id ?? -1;
    const role = who ? find('role', (name, warp) => name === who[1] && warp === +who[2]) : -1;
    const named_barrier = what ? find('barrier', (name) => name === what[1]) : -1;
    if (named && role >= 0) cta = of;
    if (/^ *last events of /.test(line)) {
      barrier = named_barrier;
      return barrier >= 0 ? {track: barrier, time: finding.time} : null;
    }
    if (/^ *phase \d+:/.test(line) && barrier >= 0 && time >= 0) return {track: barrier, time};
    if (/^(HANG|STOPPED|FINDING|WARNING)\b/.test(line)) return finding.track >= 0 && own?.kind !== 'gpu' ? {track: finding.track, time: finding.time} : null;
    if (/^ *where:/.test(line) && finding.track >= 0) return {track: finding.track, time: finding.time};
    if (/^ *(replay|more|scenario|both touch)\b/.test(line)) return null;
    if (role >= 0) {
      if (time >= 0) return {track: role, time};
      const mark = finding.marks.find((m) => m.track === role && (/at fault/.test(line) ? m.what === 'fault' : m.what === 'root' || m.what === 'victim')) ??
        finding.marks.find((m) => m.track === role);
      return {track: role, time: mark ? mark.time : lastOf(trace, role, finding.time)};
    }
    return named_barrier >= 0 ? {track: named_barrier, time: time >= 0 ? time : finding.time} : null;
  });
}

function lastOf(trace: Trace, track: number, otherwise: number): number {
  const last = trace.spanStart[track + 1] - 1;
  return last >= trace.spanStart[track] ? trace.spans.end[last] : otherwise;
}
