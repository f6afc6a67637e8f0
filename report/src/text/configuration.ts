// SPDX-License-Identifier: Apache-2.0
// A trace's configuration in a line.

import type {Trace} from '../data/trace';

/** A launch of a run of several kernels, as the configuration has it. */
export interface Launch {
  name: string;
  kernel: string;
  stream: number;
  after: string[];
  pdl: boolean;
}
export function launchesOf(trace: Trace): Launch[] {
  const launches = trace.metadata.configuration['launches'];
  return Array.isArray(launches) ? launches as Launch[] : [];
}
/** "sum: reduce in stream 0, after right" */
export function launchText(l: Launch): string {
  return `${l.name}: ${l.kernel} in stream ${l.stream}${l.after.length > 0 ? `, after ${l.after.join(', ')}` : ''}${l.pdl ? ', programmatic' : ''}`;
}

/** "512 x 256 x 1024 bf16, tile 128 x 256, 6 stages, cluster 2 x 1, pairs" */
export function configurationText(trace: Trace): string {
  const c = trace.metadata.configuration as Record<string, number | string | number[] | undefined>;
  const times = (...values: unknown[]) => values.filter((value) => value !== undefined).join(' x ');
  const cluster = Array.isArray(c['cluster']) ? c['cluster'].slice(0, c['cluster'][2] > 1 ? 3 : 2) : [];
  const launches = launchesOf(trace);
  if (launches.length > 0) return launches.map((l) => `${l.name}: ${l.kernel}`).join(', ');
  const parts = [
    c['m'] !== undefined ? `${times(c['m'], c['n'], c['k'])}${c['dtype'] ? ` ${c['dtype']}` : ''}` : '',
    c['tile_m'] !== undefined ? `tile ${times(c['tile_m'], c['tile_n'], c['tile_k'])}` : '',
    c['stages'] !== undefined ? `${c['stages']} ${c['stages'] === 1 ? 'stage' : 'stages'}` : '',
    cluster.some((n) => n > 1) ? `cluster ${times(...cluster)}` : '',
    c['cta_group'] === 2 ? 'pairs' : '',
    typeof c['splits'] === 'number' && c['splits'] > 1 ? `${c['splits']} splits` : '',
  ];
  return parts.filter((part) => part).join(', ');
}
