// SPDX-License-Identifier: Apache-2.0
// Takes the pictures of docs/pictures.md in headless Chromium; npm ci in report/ comes first.
//
//   node docs/pictures/report.mjs [SM100SIM [H200_TRACE [B200_TRACE]]]
//
// H200_TRACE is `sm100-run scenarios/copy/four_stages.toml --trace FILE` on an H200, B200_TRACE the published timeline of matmul_v5,
// imported with traces/maps/gau_nernst_matmul_v5.toml; without them (or with "-") those pictures stay as they are.
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {Browser, Simulator, settle, source} from '../../tests/report/pages.mjs';

const [program = join(source, 'build/release/sm100sim'), hardware = '-', b200] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'sm100sim-pictures-'));
const simulator = new Simulator(resolve(program), folder);
const browser = await Browser.start();

/** What `act` does runs in the page, with its model. */
async function picture(name, traces, act, {scheme = 'light', height = 800} = {}) {
  const page = await browser.open(simulator.page(name, ...traces), {scheme, height});
  await page.evaluate(`((model) => { ${act}; model.changed(); })(report.model)`);
  await settle(page);
  await page.waitForTimeout(300); // texts beside the picture follow when it has come to rest
  await page.screenshot({path: join(source, `docs/pictures/report_${name}.png`)});
  console.log(`docs/pictures/report_${name}.png`);
  await page.close();
}

/** Selects the n-th span of that sort. */
const select = (role, kind, pipeline, n) => `
  const {trace} = model.sides[0];
  const found = Array.from({length: trace.spans.count}, (_, i) => i).filter((i) =>
    trace.track(i).name === '${role}' && trace.kind(i) === '${kind}' && trace.pipeline(i) === '${pipeline}');
  model.select({kind: 'span', side: 0, span: found[${n}]});`;

const healthy = simulator.trace('healthy', '01_dense_small.toml', 'run.l2="warm"');
const dense = simulator.trace('dense', '01_dense_small.toml');
const oneStage = simulator.trace('one', '02_one_stage.toml');
const starved = simulator.trace('starved', '06_starved_by_tma.toml');
const blocked = simulator.trace('blocked', '07_blocked_by_epilogue.toml');
const hang = simulator.trace('hang', 'bugs/bytes/expect_tx_too_large.toml');
const hazard = simulator.trace('hazard', 'bugs/phases/stale_release_parity.toml');
const two = simulator.trace('two', '01_dense_small.toml', 'config.stages=2');

await picture('healthy', [healthy], '');
await picture('late', [dense], `model.view.show(4500, 7000, 0); ${select('mma', 'wait', 'input_full', 9)}`, {scheme: 'dark'});
await picture('one_stage', [oneStage], '');
await picture('starved', [starved], `model.view.show(6000, 10000, 0)`);
// The CTA that the path ends in, whichever that is.
await picture('blocked', [blocked], `model.showPath = true; model.tab = 'path'; const {trace} = model.sides[0];
  const last = trace.path.track.findLast((track) => track >= 0 && trace.tracks[track].cta >= 0);
  const cta = trace.tracks[last].cta; model.setCtasOpen(false); model.toggle('cta ' + cta);
  model.scrollTo(model.rows.find((row) => row.kind === 'cta' && row.cta.id === cta).y)`);
await picture('hang', [hang], '');
await picture('hazard', [hazard], 'model.goToFinding(0, model.findings[0].findings[0])', {scheme: 'dark'});
await picture('stages', [two, dense], 'model.setCtasOpen(false); model.toggle("cta 0")');
if (hardware !== '-') {
  const simulated = simulator.trace('copy', 'copy/four_stages.toml', 'run.recorder=true', 'run.sm_clock_ghz=1.978');
  await picture('hardware', [simulated, hardware], 'model.view.show(0, 60000, 0); model.setCtasOpen(false); model.toggle("cta 0")');
}
if (b200) {
  const simulated = simulator.trace('v5', 'direct/v5_4096.toml');
  await picture('matmul_v5', [simulated, b200], 'model.view.show(0, 45000, 0); model.setCtasOpen(false); model.toggle("cta 0")');
}
await browser.close();
rmSync(folder, {recursive: true});
