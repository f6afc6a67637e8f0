// SPDX-License-Identifier: Apache-2.0
// One plain sentence for everything that the page shows, for a reader who meets SM100 for the first time.

import {splitBarrierName, withoutLaunch} from '../data/structure';

const roles: Record<string, string> = {
  load: 'The load warp tells the TMA unit which tiles of A and B to copy into shared memory, one ring stage at a time.',
  mma: 'The MMA warp starts the matrix multiplications: one thread issues them, and the tensor core works on its own.',
  epilogue: 'An epilogue warp reads finished accumulators from tensor memory, converts them and stores them to the output.',
  scheduler: 'The scheduler warp asks the launch hardware for the next tile while the others work on the current one.',
  consumer: 'A consumer warp takes filled stages out of shared memory and stores them to the output.',
  warp: 'This kernel has no roles: every warp loads, multiplies and stores.',
};

const units: Record<string, string> = {
  'tma load': 'The TMA unit copies boxes of a tensor from global into shared memory. A bar is one copy, from its issue to its last byte.',
  'tma store': 'The TMA unit copies finished tiles from shared memory to global memory. A bar is one copy.',
  umma: 'The tensor core (tcgen05.mma). A bar is a group of matrix multiplications between two commits, from issue to result.',
  clc: 'Cluster launch control: hardware that hands a running CTA the tile of a CTA that has not started yet. A bar is one request.',
  tmem: 'Tensor memory, where accumulators live: 512 columns of 128 lanes. Bars show which columns are allocated, written or read.',
};

const rings: Record<string, string> = {
  input: 'Stages of shared memory with tiles of A and B. Loads fill them, the tensor core reads them.',
  accum: 'Accumulators in tensor memory. The tensor core fills one while the epilogue reads the other.',
  clc: 'Answers of cluster launch control: which tile comes next. Every role reads each of them.',
  throttle: 'Keeps the scheduler from running ahead: the load warp fills a stage when it begins a tile.',
};

const barriers: Record<string, string> = {
  input_full: 'A phase completes when the stage holds its tiles of A and B: load arms it with the bytes to come, and the copies count them down.',
  input_empty: 'A phase completes when the tensor core has read the stage; then loads may overwrite it.',
  accum_full: 'A phase completes when all multiplications of a tile are done; then its accumulator may be read.',
  accum_empty: 'A phase completes when the epilogue has read the accumulator; then the tensor core may overwrite it.',
  clc_full: 'A phase completes when the answer with the next tile has arrived.',
  clc_empty: 'A phase completes when every role has read the answer; then its place may be used again.',
  throttle_full: 'A phase completes when load has begun a tile; then the scheduler may ask for the next one.',
  throttle_empty: 'A phase completes when the scheduler has noticed that load has begun a tile.',
  tmem_dealloc: 'A phase completes when all reads of tensor memory are over; then it may be freed.',
  tma: 'A phase completes when the copies of one k tile have arrived.',
  mma: 'A phase completes when the multiplications of one k tile are done.',
};

const kinds: Record<string, string> = {
  wait: 'The warp waits at a barrier, from its first try_wait on; where the phase is over already, that is all. The colour is that of whoever has to act first.',
  load_issue: 'Issuing the TMA copies of one stage.',
  mma_issue: 'Issuing the matrix multiplications of one stage.',
  mma_commit: 'tcgen05.commit: asks the tensor core to signal a barrier when all its work so far is done.',
  tmem_load: 'tcgen05.ld: accumulators from tensor memory into registers, and the wait for them.',
  smem_read: 'Shared memory to registers.',
  smem_write: 'Registers to shared memory.',
  store_issue: 'Issuing a store of finished output.',
  store_wait: 'Waiting until earlier stores have read their shared memory (cp.async.bulk.wait_group).',
  lock_wait: 'Split-K: waiting for the CTAs that add their part of the tile first.',
  reduce: 'Split-K: adding partial sums through a workspace in global memory.',
  clc_request: 'Asking for the next tile.',
  clc_fetch: 'Reading the answer: the next tile, or the end of work.',
  tile: 'One work tile of the output, around everything done for it.',
  setup: 'Before the main loop: barriers are initialised, tensor memory is allocated.',
  drain: 'After the main loop: waiting until nobody signals our barriers any more.',
  map_edit: 'Making the tensor maps of another group: edited, released to the tensormap proxy, acquired.',
  tma_load: 'A copy from global into shared memory, in flight.',
  tma_store: 'A copy from shared into global memory, in flight.',
  umma: 'Matrix multiplications in the tensor core.',
  clc_cancel: 'A request for the next tile, in flight.',
  tmem_alloc: 'Columns of tensor memory that are allocated.',
  tmem_write: 'tcgen05.st: a warp writes registers into tensor memory; or tcgen05.cp: shared memory is copied there.',
  tmem_read: 'tcgen05.ld: a warp reads columns of tensor memory.',
};

/** What a wait on a barrier array means, after the name of the role. */
const reasons: Record<string, string> = {
  input_full: 'waited for its operands: the TMA copies into this stage were still on their way',
  input_empty: 'waited for a free stage: the tensor core had not read the old operands yet',
  accum_full: 'waited for a finished accumulator: the tensor core was still at work on this tile',
  accum_empty: 'waited for a free accumulator: the epilogue had not read the old one yet',
  clc_full: 'waited to learn its next tile: the answer of cluster launch control was still on its way',
  clc_empty: 'waited for a place for the next answer: some role had not read the old one yet',
  throttle_full: 'waited until the load warp began a tile: the next one is only asked for then',
  throttle_empty: 'waited until the scheduler had taken note of the tile before',
  tmem_dealloc: 'waited until all reads of tensor memory were over, to free it',
  tma: 'waited for the copies of its k tile',
  mma: 'waited for the multiplications of its k tile',
  griddepcontrol: 'waited for the launch ahead to complete (griddepcontrol.wait)',
};

/** A kernel that copies has consumer warps where a matmul has its tensor core. */
export function speakOfCopies(): void {
  roles['load'] = 'The load warp tells the TMA unit which parts of the matrix to copy into shared memory, one ring stage at a time.';
  rings['input'] = 'Stages of shared memory with parts of the matrix. Loads fill them, the consumer warps read them.';
  barriers['input_full'] = 'A phase completes when the stage holds its part of the matrix: load arms it with the bytes to come, and the copies count them down.';
  barriers['input_empty'] = 'A phase completes when the consumers have read the stage; then loads may overwrite it.';
  reasons['input_full'] = 'waited for data: the TMA copies into this stage were still on their way';
  reasons['input_empty'] = 'waited for a free stage: the consumers had not read the old data yet';
}

export const stageStateText = [
  'Empty: nobody needs what it holds; the producer may take it.',
  'Filling: the producer has taken it and its data is on the way.',
  'Full: the data is there, the consumer has not begun.',
  'Being read: the consumer is at work and has not given it back.',
];

export function explainRole(name: string): string {
  return roles[withoutLaunch(name)] ?? `A warp with the role "${name}".`;
}
export function explainUnit(name: string): string {
  return units[name] ?? `A hardware unit: ${name}.`;
}
export function explainRing(name: string): string {
  return rings[withoutLaunch(name)] ?? `A ring of buffers between a producer and a consumer, guarded by ${name}_full and ${name}_empty.`;
}
export function explainKind(kind: string): string {
  return kinds[kind] ?? kind;
}
export function explainBarrier(name: string): string {
  const [array] = splitBarrierName(name);
  return barriers[withoutLaunch(array)] ?? 'An mbarrier: a counter in shared memory that warps wait on.';
}
export const explainBarrierLane =
  'An mbarrier in shared memory. Its phases alternate in shade; a phase completes when no arrival and no byte is missing. ' +
  'Grey bars show the arrivals still missing, blue bars the bytes; the thin line on top shows that somebody waits, and has the colour of findings if nobody ever woke it.';
export const explainCta =
  'A CTA (thread block) and its SM. The strip shows loads in flight, the tensor core and the epilogue at work.';

/** What a wait on a barrier means, as the end of a sentence that begins with the role. */
export function waitReason(pipeline: string): string {
  return reasons[withoutLaunch(pipeline)] ?? (pipeline ? `waited for ${pipeline}` : 'waited');
}
