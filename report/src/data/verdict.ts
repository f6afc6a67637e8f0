// SPDX-License-Identifier: Apache-2.0
// How a run ended, as its first line says it: what it found, else what the trace's metadata hold.

import {type FindingGroup, findingTitle} from './findings';
import type {Trace} from './trace';

export interface Verdict {
  kind: 'good' | 'warning' | 'bad' | 'unknown';
  text: string;
  explanation: string;
}

/** @param findings  of this trace.  null: nobody judged it, as on a GPU. */
export function verdictOf(trace: Trace, findings: FindingGroup[]): Verdict | null {
  const {outcome, verdict, source} = trace.metadata;
  const errors = findings.filter((group) => !group.warning), warnings = findings.length - errors.length;
  if (outcome === 'mismatch') {
    // Findings of provenance (PV) say where the numbers come from.
    const text = `MISMATCH${errors.length > 0 ? `, ${errors[0].id}` : ''}${errors.length > 1 ? ` and ${errors.length - 1} more` : ''}`;
    return {kind: 'bad', text, explanation: errors[0]?.message ?? 'The output is not the product of the operands.'};
  }
  if (errors.length > 0) {
    const text = findingTitle(errors[0]).toUpperCase().replace('FINDING ', '') + (errors.length > 1 ? ` and ${errors.length - 1} more` : '');
    return {kind: 'bad', text, explanation: errors[0].message};
  }
  const found = warnings > 0 ? `, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}` : '';
  if (outcome === 'pass')
    return {
      kind: verdict === 'clean' && warnings === 0 ? 'good' : 'warning',
      text: `PASS, ${verdict === 'clean' && warnings > 0 ? found.slice(2) : verdict + found}`,
      explanation: verdict === 'incomplete' ? 'Nothing was found, but not everything was looked at: the summary of sm100sim run says what.'
        : 'Everything was checked, and nothing is wrong.',
    };
  if (source !== 'sim') return null;
  return warnings > 0 ? {kind: 'warning', text: found.slice(2), explanation: findings[0].message} : null;
}
