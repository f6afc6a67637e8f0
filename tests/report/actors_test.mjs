// SPDX-License-Identifier: Apache-2.0
// Who acts is learned from a trace's own work and barriers, whatever a kernel calls its roles (report/src/data/actors.ts).
// Prints one line per check; exit code 1 if one fails.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const report = join(dirname(fileURLToPath(import.meta.url)), '../../report');
const {build} = createRequire(join(report, 'build.mjs'))('esbuild');
const bundle = await build({entryPoints: [join(report, 'src/data/actors.ts')], bundle: true, write: false, format: 'esm', logLevel: 'warning'});
const {Actors} = await import(`data:text/javascript,${encodeURIComponent(bundle.outputFiles[0].text)}`);

/** A trace of tracks "role NAME" or "unit NAME" with the kinds of their spans, and of arrivals [barrier, track]. */
function trace(tracks, arrivals = []) {
  const all = Object.keys(tracks).map((key) => ({kind: key.split(' ')[0], name: key.slice(5).replace(/#.*/, '')}));
  const kinds = Object.values(tracks), spanStart = [0];
  for (const of of kinds) spanStart.push(spanStart.at(-1) + of.length);
  const barriers = [...new Set(arrivals.map(([barrier]) => barrier))];
  const flat = kinds.flat();
  const track = arrivals.map(([barrier]) => all.length + barriers.indexOf(barrier));
  const by = arrivals.map(([, of]) => Object.keys(tracks).indexOf(of));
  const names = barriers.map((name) => ({kind: 'barrier', name}));
  for (const _ of names) spanStart.push(spanStart.at(-1));
  return {tracks: [...all, ...names].map((track, id) => ({...track, id})), spanStart, kind: (i) => flat[i], eventKinds: ['arrive', 'complete_tx'],
    events: {count: arrivals.length, kind: arrivals.map(() => 0), track, by}};
}

let failed = 0;
function check(name, act) {
  try {
    act();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

check('roles are known by what their warps do', () => {
  const actors = new Actors([trace({
    'role fetcher': ['wait', 'load_issue', 'load_issue', 'clc_fetch'], 'role worker': ['mma_issue', 'mma_commit'],
    'role writer': ['tmem_load', 'smem_write', 'store_issue'], 'role asker': ['clc_request', 'clc_fetch', 'clc_fetch']})]);
  assert.deepEqual(['fetcher', 'worker', 'writer', 'asker', 'stranger'].map((role) => actors.role(role)),
    ['load', 'mma', 'epilogue', 'clc', 'other']);
  assert.equal(actors.copies, false);
});
check('a role whose warps differ is what most of them are', () => {
  const actors = new Actors([trace({'role w#0': ['load_issue', 'load_issue', 'tmem_load'], 'role w#1': ['tmem_load'], 'role w#2': ['tmem_load']})]);
  assert.equal(actors.role('w'), 'epilogue');
});
check('barriers are known by who arrives on them', () => {
  const actors = new Actors([trace({'role fetcher': ['load_issue'], 'role worker': ['mma_issue'], 'unit tma load': ['tma_load'], 'unit umma': ['umma']},
    [['a_full[0]', 'role fetcher'], ['a_full[1]', 'unit tma load'], ['a_empty[0]', 'unit umma'],
      ['all', 'role fetcher'], ['all', 'role worker']])]);
  assert.deepEqual(['a_full', 'a_empty', 'all', 'unseen'].map((array) => actors.barrier(array)), ['load', 'mma', 'other', 'other']);
  assert.deepEqual(actors.ring('a'), ['load', 'mma']);
});
check('where nothing is multiplied, consumers release the stages', () => {
  const actors = new Actors([trace({'role in': ['load_issue'], 'role out': ['smem_read', 'store_issue']},
    [['input_empty[0]', 'role out']])]);
  assert.ok(actors.copies);
  assert.equal(actors.barrier('input_empty'), 'epilogue');
});
check('a trace without barriers is read by the names of the family', () => {
  const matmul = new Actors([trace({'role load': ['load_issue'], 'role mma': ['mma_issue']})]);
  assert.deepEqual([matmul.barrier('input_empty'), matmul.role('scheduler')], ['mma', 'clc']);
  const copy = new Actors([trace({'role load': ['load_issue'], 'role consumer': ['smem_read']})]);
  assert.equal(copy.barrier('input_empty'), 'epilogue');
});
check('a launch whose role recorded no work is read by the names behind the launch', () => {
  const hung = new Actors([trace({'role gemm.load': ['load_issue'], 'role gemm.mma': ['mma_issue'], 'role gemm.epilogue': ['wait']})]);
  assert.deepEqual([hung.role('gemm.epilogue'), hung.barrier('gemm.accum_full')], ['epilogue', 'mma']);
});
process.exit(failed ? 1 : 0);
