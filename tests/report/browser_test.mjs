// What a person does with the page, in headless Chromium.  Prints one line per check; exit code 1 if one fails.
//
//   node browser_test.mjs SM100SIM FOLDER     screenshots and pages are left in FOLDER
import assert from 'node:assert/strict';
import {copyFileSync, mkdirSync, statSync} from 'node:fs';
import {join} from 'node:path';

import {Browser, Simulator, large, settle, source} from './pages.mjs';

const [program, folder] = process.argv.slice(2);
mkdirSync(folder, {recursive: true});
const simulator = new Simulator(program, folder);
const browser = await Browser.start();
let failed = 0;

async function check(name, act) {
  try {
    await act();
    console.log(`ok      ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
const picture = (page, name) => page.screenshot({path: join(folder, `${name}.png`)});
const range = (page) => page.evaluate(() => [report.model.view.from, report.model.view.to]);
/** A key, and the frame that shows what it did. */
async function press(page, key) {
  await page.keyboard.press(key);
  await settle(page);
}
const clean = (page) => assert.deepEqual(page.complaints, []);

/** Where the first span that fits lies on the screen, [x, y] of its middle. */
async function pointOf(page, side, kind, pipeline, withFlow) {
  return page.evaluate(([side, kind, pipeline, withFlow]) => {
    const {model, picture} = report, {trace} = model.sides[side], {spans} = trace;
    const shown = (i) => spans.begin[i] > model.view.from && spans.end[i] < model.view.to &&
      (spans.end[i] - spans.begin[i]) * model.view.scale > 6;
    for (let i = 0; i < spans.count; ++i) {
      if (trace.kind(i) !== kind || trace.pipeline(i) !== pipeline || (withFlow && !spans.flowIn[i]) || !shown(i)) continue;
      const row = model.rowOf(side, spans.track[i]);
      if (!row || row.y < model.scroll || row.y + row.height > model.scroll + model.height) continue;
      const box = picture.element.getBoundingClientRect();
      return {span: i, x: box.x + 168 + model.view.x((spans.begin[i] + spans.end[i]) / 2), y: box.y + 26 + row.y - model.scroll + 18};
    }
    return null;
  }, [side, kind, pipeline, withFlow]);
}

const big = simulator.trace('large', 'dense_small.toml', ...large);
const page = await browser.open(simulator.page('large', big));

await check('a trace of more than 100,000 spans opens', async () => {
  const spans = await page.evaluate(() => report.model.sides[0].trace.spans.count);
  assert.ok(spans > 100_000, `${spans} spans`);
  const rows = await page.evaluate(() => report.model.rows.filter((row) => row.kind === 'cta').map((row) => row.open));
  assert.equal(rows.length, 148);
  assert.ok(rows[0] && !rows[20], 'the first CTAs are open, the others closed');
  assert.ok(statSync(join(folder, 'large.html')).size < 12e6, 'its page is under 12 MB');
  await picture(page, 'large-light');
});

await check('the wheel zooms at the mouse, w and s zoom, dragging and a and d pan', async () => {
  const before = await range(page);
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, -600);
  await settle(page);
  const zoomed = await range(page);
  assert.ok(zoomed[1] - zoomed[0] < 0.6 * (before[1] - before[0]));
  const width = await page.evaluate(() => report.model.view.width);
  const part = (r) => r[0] + (r[1] - r[0]) * (600 - 168) / width; // the time under the mouse
  assert.ok(Math.abs(part(zoomed) - part(before)) < 0.02 * (before[1] - before[0]));
  await page.mouse.down();
  await page.mouse.move(700, 400, {steps: 5});
  await page.mouse.up();
  await settle(page);
  const panned = await range(page);
  assert.ok(panned[0] < zoomed[0] && Math.abs((panned[1] - panned[0]) - (zoomed[1] - zoomed[0])) < 1);
  await press(page, 'w');
  assert.ok((await range(page))[1] - (await range(page))[0] < panned[1] - panned[0]);
  await press(page, 's');
  const at = await range(page);
  await press(page, 'd');
  assert.ok((await range(page))[0] > at[0]);
  await press(page, 'a');
  assert.ok(Math.abs((await range(page))[0] - at[0]) < 1);
  await press(page, '0');
  assert.ok((await range(page))[0] <= before[0] + 1);
});

await check('a search finds spans by name, and n steps through them', async () => {
  await press(page, '/');
  await page.keyboard.type('mma wait input_full[2] cta:40');
  await settle(page);
  const hits = await page.evaluate(() => report.model.hits.length);
  assert.ok(hits > 5, `${hits} hits`);
  await press(page, 'Enter');
  await press(page, 'Escape');
  const first = await page.evaluate(() => report.model.selection);
  await press(page, 'n');
  await settle(page);
  const second = await page.evaluate(() => {
    const {selection, sides, view, rows, scroll, height} = report.model;
    const {trace} = sides[0], i = selection.span;
    const row = rows.find((r) => r.kind === 'role' && r.track.id === trace.spans.track[i]);
    return {selection, kind: trace.kind(i), pipeline: trace.pipeline(i), stage: trace.spans.stage[i], cta: trace.track(i).cta,
      seen: view.from <= trace.spans.begin[i] && view.to >= trace.spans.end[i] && row.y >= scroll && row.y < scroll + height};
  });
  assert.deepEqual([second.kind, second.pipeline, second.stage, second.cta, second.seen], ['wait', 'input_full', 2, 40, true]);
  assert.notEqual(first.span, second.selection.span);
  await picture(page, 'search');
  await press(page, '/');
  await page.keyboard.type('nothing-of-that-name');
  assert.equal(await page.evaluate(() => report.model.hits.length), 0);
  await press(page, 'Escape');
  for (let i = 0; i < 3; ++i) await press(page, 'Escape');
});
await check('no errors, nothing loaded', () => clean(page));
await page.close();

const dense = simulator.trace('dense_small', 'dense_small.toml');
const healthy = await browser.open(simulator.page('dense_small', dense));
await picture(healthy, 'healthy-light');

await check('hovering over a wait shows who woke it, and says so', async () => {
  await healthy.evaluate(() => { report.model.view.show(4000, 7000, 0); report.model.moved(); });
  await settle(healthy);
  const at = await pointOf(healthy, 0, 'wait', 'input_full', true);
  assert.ok(at, 'a wait in sight');
  await healthy.mouse.move(at.x, at.y);
  await settle(healthy);
  assert.ok(await healthy.evaluate(() => report.picture.arrows) >= 1, 'an arrow was drawn');
  const text = await healthy.locator('.tooltip').innerText();
  assert.match(text, /wait input_full\[\d\]/);
  assert.match(text, /woken after .* by the TMA copy/);
  await healthy.mouse.click(at.x, at.y);
  await settle(healthy);
  const panel = await healthy.locator('.content').innerText();
  assert.match(panel, /waited for its operands/);
  assert.match(panel, /mma \(warp 6\) of CTA 0, SM 0/);
  await healthy.mouse.move(600, 60);
  await picture(healthy, 'selection-light');
  await healthy.locator('.links button').first().click();
  await settle(healthy);
  assert.equal(await healthy.evaluate(() => report.model.sides[0].trace.kind(report.model.selection.span)), 'tma_load');
});

await check('names of lanes explain themselves', async () => {
  await healthy.mouse.move(60, 150);
  await settle(healthy);
  assert.match(await healthy.locator('.tooltip').innerText(), /load warp tells the TMA unit/);
});

await check('the shares of waiting are those of sm100sim stats', async () => {
  await healthy.getByRole('tab', {name: 'Overview'}).click();
  await settle(healthy);
  const stats = simulator.call('stats', dense);
  for (const role of ['epilogue', 'load', 'mma', 'scheduler']) {
    const works = new RegExp(`^${role} .*?([\\d.]+)% `, 'm').exec(stats)[1];
    const shown = await healthy.locator(`.stall[data-role=${role}] .who`).innerText();
    assert.ok(shown.includes(`works ${works} %`), `${role}: ${shown}, stats says ${works}`);
  }
});

await check('ring stages are filled, full, read and empty, once per phase', async () => {
  const wrong = await healthy.evaluate(() => {
    const {model} = report, {trace, ctas} = model.sides[0], wrong = [];
    const done = trace.eventKinds.indexOf('phase_complete');
    for (const cta of ctas)
      for (const ring of cta.rings.filter((r) => r.name === 'input' || r.name === 'accum'))
        model.ring(0, cta, ring).forEach((stage, s) => {
          const full = cta.arrays.find((a) => a.name === `${ring.name}_full`).tracks[s];
          let phases = 0;
          for (let e = trace.eventStart[full.id]; e < trace.eventStart[full.id + 1]; ++e) phases += trace.events.kind[e] === done;
          const fills = new Set(stage.fill).size;
          if (fills !== phases || phases === 0) wrong.push(`${ring.name} ${s}: ${fills} fills, ${phases} phases`);
          for (let i = 1; i < stage.begin.length; ++i) {
            if (stage.begin[i] < stage.end[i - 1]) wrong.push(`${ring.name} ${s}: overlap`);
            if (stage.fill[i] === stage.fill[i - 1] && stage.state[i] <= stage.state[i - 1]) wrong.push(`${ring.name} ${s}: order`);
          }
          if (!stage.state.includes(1) || !stage.state.includes(3)) wrong.push(`${ring.name} ${s}: a state is missing`);
        });
    return wrong;
  });
  assert.deepEqual(wrong, []);
});

await check('the critical path is shown, has no gaps, and its shares are those of sm100sim stats --critical-path', async () => {
  await press(healthy, '0');
  await press(healthy, 'r');
  await healthy.getByRole('tab', {name: 'Path'}).click();
  await settle(healthy);
  const {verdict, shares, gaps, ends} = await healthy.evaluate(() => {
    const {trace} = report.model.sides[0], {path} = trace;
    const end = trace.spans.end.reduce((last, at, i) => trace.track(i).kind === 'role' ? Math.max(last, at) : last, 0);
    let gaps = 0;
    for (let i = 1; i < path.count; ++i) gaps += path.begin[i] !== path.end[i - 1];
    return {verdict: path.verdict, shares: path.shares, gaps, ends: path.end[path.count - 1] === end};
  });
  assert.equal(gaps, 0);
  assert.ok(ends, 'it leads to the end of the last role');
  const stats = simulator.call('stats', '--critical-path', dense);
  assert.ok(stats.includes(verdict), `${verdict}\n${stats}`);
  const panel = await healthy.locator('.content').innerText();
  assert.ok(panel.includes(Math.round(shares[0].ticks).toLocaleString('en-US')));
  await picture(healthy, 'critical-path-light');
  await healthy.locator('.list li').first().click();
  await settle(healthy);
  await press(healthy, 'r');
});

await check('keys: help, units, theme, panel, CTAs', async () => {
  await press(healthy, '?');
  assert.ok(await healthy.getByRole('dialog').isVisible());
  await picture(healthy, 'help-light');
  await press(healthy, 'Escape');
  assert.equal(await healthy.getByRole('dialog').count(), 0);
  await press(healthy, 't');
  assert.equal(await healthy.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await press(healthy, 'u');
  assert.equal(await healthy.evaluate(() => report.model.unit), 'time');
  await press(healthy, 'i');
  assert.equal(await healthy.locator('.panel').count(), 0);
  await press(healthy, 'i');
  await press(healthy, 'c');
  assert.ok(await healthy.evaluate(() => report.model.rows.every((row) => row.kind === 'cta')));
  await press(healthy, 'e');
  await healthy.evaluate(() => report.model.toggle('barriers 0'));
  await press(healthy, '0');
  await healthy.evaluate(() => report.model.scrollTo(report.model.rows.find((row) => row.kind === 'barriers').y - 40));
  await settle(healthy);
  await picture(healthy, 'barriers-dark');
  await healthy.getByRole('tab', {name: 'Legend'}).click();
  await settle(healthy);
  await picture(healthy, 'legend-dark');
});
await check('no errors, nothing loaded', () => clean(healthy));
await healthy.close();

const dark = await browser.open(join(folder, 'dense_small.html'), {scheme: 'dark'});
await check('a browser that prefers dark gets dark', async () => {
  assert.equal(await dark.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await picture(dark, 'healthy-dark');
  clean(dark);
});
await dark.close();

const two = simulator.trace('two_stages', 'dense_small.toml', 'config.stages=2');
const both = await browser.open(simulator.page('two_against_six', two, dense));
await check('two traces: ] jumps through the differences', async () => {
  const list = await both.evaluate(() => report.model.diff.differences.length);
  assert.ok(list > 3);
  await picture(both, 'diff-light');
  const seen = [];
  for (let i = 0; i < 3; ++i) {
    await press(both, ']');
    await settle(both);
    seen.push(await both.evaluate(() => {
      const {model} = report, d = model.diff.differences[model.difference], {spans} = model.sides[0].trace;
      const begin = model.axis(0, spans.begin[d.spanA]), end = model.axis(0, spans.end[d.spanA]);
      return {n: model.difference, selected: model.selection.span === d.spanA && model.selection.side === 0, seen: begin >= model.view.from && end <= model.view.to};
    }));
  }
  assert.deepEqual(seen, [0, 1, 2].map((n) => ({n, selected: true, seen: true})));
  assert.equal(await both.locator('.list .current').count(), 1);
  await press(both, '[');
  assert.equal(await both.evaluate(() => report.model.difference), 1);
  await picture(both, 'difference-light');
  clean(both);
});
await both.close();

const hang = await browser.open(simulator.page('hang', simulator.trace('hang', 'bugs/expect_tx_too_large.toml')));
await check('a hang: the waits that nobody ended are marked', async () => {
  const waits = await hang.evaluate(() => [...report.model.openWaits[0]].map((i) => report.model.sides[0].trace.track(i).name).sort());
  assert.deepEqual(waits, ['epilogue', 'epilogue', 'epilogue', 'epilogue', 'load', 'mma', 'scheduler']);
  const text = await hang.locator('.content').innerText();
  assert.match(text, /Hang at [0-9,]+/);
  assert.match(text, /likely cause: expect_tx counts 16,384\s+bytes more/);
  await picture(hang, 'hang-light');
  clean(hang);
});
await hang.close();

const raced = simulator.trace('finding', 'more_tiles_than_sms.toml', 'fault=[{instruction="tcgen05_wait_ld", action="drop"}]');
const finding = await browser.open(simulator.page('finding', raced), {scheme: 'dark'});
await check('a finding is pinned where it happened, and a click shows its report', async () => {
  await picture(finding, 'finding-dark');
  await finding.getByRole('tab', {name: 'Overview'}).click();
  await settle(finding);
  const at = await finding.evaluate(() => {
    const {model, picture} = report, found = model.sides[0].trace.findings[0];
    const row = model.rowOf(0, found.track), box = picture.element.getBoundingClientRect();
    return {x: box.x + 168 + model.view.x(found.time) + 8, y: box.y + 26 + row.y - model.scroll + 3};
  });
  await finding.mouse.click(at.x, at.y);
  await settle(finding);
  assert.match(await finding.locator('.finding.current pre').innerText(), /FINDING TC15 at cycle/);
  clean(finding);
});
await finding.close();

await check('a page without data says so', async () => {
  const file = join(folder, 'empty.html');
  copyFileSync(join(source, 'report/page.html'), file);
  const empty = await browser.browser.newPage();
  await empty.goto(`file://${file}`);
  assert.match(await empty.locator('#app').innerText(), /cannot be shown: it holds no trace/);
  await empty.close();
});

await browser.close();
console.log(failed === 0 ? 'all checks passed' : `${failed} checks failed`);
process.exit(failed === 0 ? 0 : 1);
