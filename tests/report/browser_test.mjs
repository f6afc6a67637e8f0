// SPDX-License-Identifier: Apache-2.0
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

const big = simulator.trace('large', '01_dense_small.toml', ...large);
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

const dense = simulator.trace('dense_small', '01_dense_small.toml');
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

const pairsOfLaunch = ['launch.0.config.cta_group=2', 'launch.0.config.mma=[256, 128, 16]', 'launch.0.config.cluster=[2, 1, 1]'];

await check('the share of the tensor core is that of sm100sim stats, of pairs and of several kernels too', async () => {
  for (const trace of [dense, simulator.trace('two_sms', '13_pairs.toml'),
                       simulator.trace('launches_pairs', 'launches/split_k_two_streams.toml', ...pairsOfLaunch)]) {
    const share = /MMAs in flight ([\d.]+)% of/.exec(simulator.call('stats', trace))[1];
    const page = await browser.open(simulator.page('share', trace));
    await page.getByRole('tab', {name: 'Overview'}).click();
    await settle(page);
    const shown = await page.locator('.content').innerText();
    assert.ok(shown.includes(`MMAs in flight ${share} %`), `stats says ${share}, the page ${/MMAs in flight.*/.exec(shown)}`);
    await page.close();
  }
});

await check('a launch of several has its pairs, and its lanes names that are not cut', async () => {
  const page = await browser.open(simulator.page('launches_pairs',
    simulator.trace('launches_pairs', 'launches/split_k_two_streams.toml', ...pairsOfLaunch)));
  const clusters = await page.evaluate(() => report.model.rows.filter((row) => row.kind === 'cta').map((row) => row.cluster));
  assert.match(clusters[0], /pair with 1$/);
  assert.match(clusters[1], /pair with 0$/);
  assert.doesNotMatch(clusters[4], /pair/);
  await page.close();
});

await check('the length of the run is the one that sm100sim run prints, and is in sight', async () => {
  const length = /([\d,]+) cycles/.exec(simulator.call('run', 'scenarios/01_dense_small.toml'))[1];
  assert.ok((await healthy.locator('.bar').innerText()).includes(`${length} cycles`), length);
  assert.ok((await healthy.locator('.content').innerText()).includes(`${length} cycles`), length);
  await press(healthy, '0');
  assert.ok((await range(healthy))[1] >= +length.replaceAll(',', ''));
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
    const end = trace.metadata.run_ticks;
    let gaps = 0;
    for (let i = 1; i < path.count; ++i) gaps += path.begin[i] !== path.end[i - 1];
    return {verdict: path.verdict, shares: path.shares, gaps, ends: path.end[path.count - 1] === end};
  });
  assert.equal(gaps, 0);
  assert.ok(ends, 'it leads to the end of the run');
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

const two = simulator.trace('two_stages', '01_dense_small.toml', 'config.stages=2');
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

/** The colour of a pixel of the picture, [r, g, b], x and y in the plot. */
const pixelAt = (page, x, y) => page.evaluate(([x, y]) => {
  const {picture} = report, density = devicePixelRatio;
  return [...picture.element.getContext('2d').getImageData((picture.names + x) * density, (26 + y) * density, 1, 1).data].slice(0, 3);
}, [x, y]);

const hangTrace = simulator.trace('hang', 'bugs/bytes/expect_tx_too_large.toml');
const hang = await browser.open(simulator.page('hang', hangTrace));
await check('a hang: root wait, guilty event and victims are marked apart, and agree with the report', async () => {
  const waits = await hang.evaluate(() => [...report.model.openWaits[0]].map((i) => report.model.sides[0].trace.track(i).name).sort());
  assert.deepEqual(waits, ['epilogue', 'epilogue', 'epilogue', 'epilogue', 'load', 'mma', 'scheduler']);
  const text = await hang.locator('.content').innerText();
  assert.match(text, /Hang at [0-9,]+/);
  assert.match(text, /likely cause: expect_tx counts 16,384\s+bytes more/);
  await picture(hang, 'hang-light');
  const frames = await hang.evaluate(() => report.picture.marks.frames.map(({span, what}) => {
    const {trace} = report.model.sides[0];
    return `${what} ${trace.track(span).name} ${trace.kind(span)}`;
  }).sort());
  assert.deepEqual(frames, ['fault load load_issue', 'root mma wait', 'victim epilogue wait', 'victim epilogue wait',
    'victim epilogue wait', 'victim epilogue wait', 'victim load wait', 'victim scheduler wait']);
  // The words and the cycle of the root wait in the panel are those of the run's report.
  const report = simulator.call('run', 'scenarios/bugs/bytes/expect_tx_too_large.toml');
  const since = /^ {2}mma \(warp 6\) of CTA \d+ (waits for input_full\[2\] parity \d since cycle ([\d,]+)) /m.exec(report);
  assert.ok(since, report);
  await hang.evaluate(() => {
    const {model, picture} = window.report;
    model.select({kind: 'span', side: 0, span: picture.marks.frames.find(({what}) => what === 'root').span});
  });
  await settle(hang);
  const panel = (await hang.locator('.content').innerText()).replaceAll('\n', ' ');
  assert.ok(panel.includes(since[1]), `${since[1]}\n${panel}`);
  const begin = await hang.evaluate(() => {
    const {spans} = report.model.sides[0].trace;
    return [spans.begin[report.model.selection.span], spans.end[report.model.selection.span]];
  });
  const cycle = +since[2].replaceAll(',', '');
  assert.ok(begin[0] <= cycle && cycle < begin[1], `${begin}, the report says ${cycle}`);
  assert.ok(panel.includes('At fault') === false && panel.includes('The root of the hang'));
});

await check('a click on a hang frames it from cause to effect, on all its lanes', async () => {
  await hang.getByRole('tab', {name: /Findings/}).click();
  await press(hang, '0');
  await hang.evaluate(() => report.model.scrollTo(10000));
  await hang.getByRole('button', {name: /^Hang at/}).click();
  await settle(hang);
  const seen = await hang.evaluate(() => {
    const {model} = report, {trace} = model.sides[0], finding = trace.findings[0];
    const marks = finding.marks.filter((mark) => mark.what !== 'victim');
    const row = (track) => model.rowOf(0, track);
    return {
      times: [...marks.map((mark) => mark.time), finding.time].every((time) => time > model.view.from && time < model.view.to),
      rows: marks.every(({track}) => row(track).y >= model.scroll && row(track).y + row(track).height <= model.scroll + model.height),
      length: model.view.to - model.view.from,
      cause: finding.time - Math.min(...marks.map((mark) => mark.time)),
    };
  });
  assert.ok(seen.times && seen.rows, JSON.stringify(seen));
  assert.ok(seen.length >= seen.cause && seen.length < 2 * seen.cause + 600, JSON.stringify(seen));
  await picture(hang, 'hang-framed');
});

await check('the flag of a hang is on the lane of the role that its sentence names', async () => {
  const {message, role} = await hang.evaluate(() => {
    const {trace} = report.model.sides[0], [finding] = trace.findings;
    return {message: finding.message, role: trace.tracks[finding.track].name};
  });
  assert.ok(message.startsWith(`${role} (warp`), `${role}: ${message}`);
});

await check('lines of a report lead to the lane and the cycle that they name', async () => {
  const lines = await hang.locator('pre button.line').allInnerTexts();
  assert.ok(lines.length >= 8, lines.join('\n'));
  const fault = hang.locator('pre button.line', {hasText: 'at fault: load'});
  await fault.click();
  await settle(hang);
  const where = () => hang.evaluate(() => {
    const {selection, sides: [{trace}], view} = report.model;
    const span = selection.kind === 'span' ? selection.span : -1;
    return {role: span >= 0 ? trace.track(span).name : selection.track?.name, kind: span >= 0 ? trace.kind(span) : selection.kind, time: selection.time,
      begin: trace.spans.begin[span], seen: span < 0 || (trace.spans.begin[span] <= view.to && trace.spans.end[span] >= view.from)};
  });
  let at = await where();
  assert.deepEqual([at.role, at.kind, at.seen], ['load', 'load_issue', true]);
  const armed = hang.locator('pre button.line', {hasText: /armed at cycle/}).first();
  const cycle = +/armed at cycle ([\d,]+)/.exec(await armed.innerText())[1].replaceAll(',', '');
  await armed.click();
  await settle(hang);
  at = await where();
  assert.deepEqual([at.role, at.kind, at.time], ['input_full[2]', 'barrier', cycle]);
  assert.equal(await hang.evaluate(() => report.model.tab), 'findings');
  clean(hang);
});

await check('the header has the verdict, the configuration and the version; the badge leads to the hang', async () => {
  const bar = await hang.locator('.bar').innerText();
  assert.match(bar, /HANG/);
  assert.match(bar, /\d+ x \d+ x \d+/);
  assert.match(bar, /\d stages/);
  assert.match(bar, /sm100sim \d+\.\d+/);
  await hang.getByRole('tab', {name: 'Overview'}).click();
  await hang.locator('.badge').click();
  await settle(hang);
  assert.deepEqual(await hang.evaluate(() => [report.model.tab, report.model.selection.kind]), ['findings', 'finding']);
  for (const [file, verdict] of [['dense_small', /^PASS, clean$/], ['large', /^PASS, incomplete$/]]) {
    const other = await browser.open(join(folder, `${file}.html`));
    assert.match(await other.locator('.badge').innerText(), verdict);
    await other.close();
  }
});
await hang.close();

const mismatch = await browser.open(simulator.page('mismatch', simulator.trace('mismatch', 'bugs/provenance/rows_of_another_tile.toml')));
await check('wrong numbers are explained: the badge and the findings say what was multiplied, and lead to the load', async () => {
  assert.match(await mismatch.locator('.badge').innerText(), /^MISMATCH, PV1 and \d more$/);
  await mismatch.locator('.badge').click();
  await settle(mismatch);
  assert.deepEqual(await mismatch.evaluate(() => [report.model.tab, report.model.selection.kind]), ['findings', 'finding']);
  const text = await mismatch.locator('.finding').first().innerText();
  assert.match(text, /PV1/);
  assert.match(text, /where .* belong/);
  assert.match(text, /loaded by load \(warp 5\)/);
  const at = await mismatch.evaluate(() => {
    const {trace} = report.model.sides[0], found = report.model.findings[0].findings[0];
    return {role: trace.tracks[found.track].name, time: found.time, end: trace.metadata.run_ticks ?? Infinity};
  });
  assert.match(at.role, /load/);
  await picture(mismatch, 'mismatch-light');
  clean(mismatch);
});
await mismatch.close();

const raced = simulator.trace('finding', 'bugs/phases/stale_release_parity.toml');
const finding = await browser.open(simulator.page('finding', raced), {scheme: 'dark'});
await check('a finding is pinned where it happened, and a click shows its report', async () => {
  await picture(finding, 'finding-dark');
  await finding.getByRole('tab', {name: 'Overview'}).click();
  await settle(finding);
  const at = await finding.evaluate(() => {
    const {model, picture} = report, found = model.findings[0].findings[0];
    const row = model.rowOf(0, found.track), box = picture.element.getBoundingClientRect();
    const pin = picture.pins().find((p) => p.finding.id === found.id);
    const time = model.view.x(found.time);
    return {x: box.x + 168 + pin.x + 8, y: box.y + 26 + pin.y + 3, beside: time >= pin.x - 1 && time <= pin.x + pin.width + 1, lane: Math.abs(pin.y - (row.y - model.scroll)) < 10};
  });
  assert.ok(at.beside && at.lane);
  await finding.mouse.click(at.x, at.y);
  await settle(finding);
  assert.match(await finding.locator('.finding.current pre').innerText(), /FINDING TM7 at cycle/);
  assert.match(await finding.locator('.badge').innerText(), /^TM7/);
});

await check('both accesses of a hazard are in sight, numbered where the report says, and joined', async () => {
  const seen = await finding.evaluate(() => {
    const {model, picture} = report, {trace} = model.sides[0], {finding: found} = model.selection;
    const [first, second] = found.marks, [joined] = picture.marks.joined;
    const row = (mark) => model.rowOf(0, mark.track);
    return {
      what: found.marks.map((mark) => mark.what),
      cycles: found.marks.map((mark) => `${trace.tracks[mark.track].name} (warp ${trace.tracks[mark.track].warp}) of CTA ${trace.tracks[mark.track].cta} at cycle ${mark.time.toLocaleString('en-US')}`),
      report: found.report, joined: picture.marks.joined.length,
      x: joined.x, at: [first, second].map((mark) => model.view.x(mark.time)), y: joined.y,
      rows: [first, second].map((mark) => [row(mark).y - model.scroll, row(mark).y + row(mark).height - model.scroll]),
      width: model.view.width, height: model.height, alarm: model.theme.alarm,
    };
  });
  assert.deepEqual(seen.what, ['first', 'second']);
  for (const words of seen.cycles) assert.ok(seen.report.includes(words), `${words}\n${seen.report}`);
  assert.deepEqual(seen.x, seen.at);
  for (const n of [0, 1]) {
    assert.ok(seen.x[n] > 0 && seen.x[n] < seen.width, `x ${seen.x}`);
    assert.ok(seen.y[n] > seen.rows[n][0] && seen.y[n] < seen.rows[n][1] && seen.rows[n][0] >= 0 && seen.rows[n][1] <= seen.height, `y ${seen.y}`);
  }
  // The second is filled; the line is drawn.
  const colour = await pixelAt(finding, seen.x[1] + (seen.x[1] - seen.x[0] < 17 ? 9 : 0) + 5, seen.y[1] + 4);
  assert.ok(colour.every((v, i) => Math.abs(v - seen.alarm[i]) < 4), `${colour}`);
  await picture(finding, 'hazard-dark');
  clean(finding);
});
await finding.close();

const many = simulator.trace('equal', 'bugs/lanes/every_lane_multiplies.toml');
const equal = await browser.open(simulator.page('equal', many));
await check('equal findings are one with a count', async () => {
  const {all, groups} = await equal.evaluate(() => ({all: report.model.sides[0].trace.findings.length, groups: report.model.findings.map((g) => g.findings.length)}));
  const counted = groups.filter((count) => count > 1);
  assert.ok(counted.length > 0 && groups.length < all, `${groups} of ${all}`);
  await equal.getByRole('tab', {name: /Findings/}).click();
  assert.equal(await equal.getByRole('tab', {name: /Findings/}).innerText(), `Findings ${groups.length}`);
  assert.equal(await equal.locator('.finding').count(), groups.length);
  assert.ok((await equal.locator('.content').innerText()).includes(`, ${counted[0]} times`));
  await picture(equal, 'equal-light');
  clean(equal);
});
await equal.close();

await check('alarm, texts and frames have the contrast that WCAG asks, in both themes', async () => {
  const page = await browser.open(join(folder, 'dense_small.html'));
  const themes = await page.evaluate(() => report.themes);
  await page.close();
  const rgb = (color) => typeof color === 'string' ? [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16)) : color;
  const luminance = (color) => rgb(color).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  const mix = (a, b, part) => rgb(a).map((v, i) => v + (rgb(b)[i] - v) * part);
  assert.equal(contrast([0, 0, 0], [255, 255, 255]), 21);
  const poor = [];
  const least = (theme, what, a, b, limit) => {
    const c = contrast(a, b);
    if (c < limit) poor.push(`${theme.dark ? 'dark' : 'light'}: ${what} ${c.toFixed(2)}, less than ${limit}`);
  };
  for (const theme of themes) {
    const grounds = {background: theme.background, 'second background': theme.secondBackground, panel: theme.panel, current: theme.current};
    least(theme, 'alarm on the tensor core', theme.alarm, theme.actor.mma, 3);
    least(theme, 'text on the alarm', theme.onAlarm, theme.alarm, 4.5);
    least(theme, 'text of the good verdict', theme.onGood, theme.good, 4.5);
    for (const [name, ground] of Object.entries(grounds)) {
      if (name !== 'current') least(theme, `alarm on ${name}`, theme.alarm, ground, 3);
      least(theme, `accent frame on ${name}`, theme.accent, ground, 3);
      for (const text of ['text', 'quietText', 'accent', 'alarmText']) least(theme, `${text} on ${name}`, theme[text], ground, 4.5);
    }
    least(theme, 'text on a CTA head', theme.text, theme.grid, 4.5);
    least(theme, 'quiet text on a CTA head', theme.quietText, theme.grid, 4.5);
    for (const [name, hue] of Object.entries(theme.actor)) {
      least(theme, `text on a bar of ${name}`, '#0c0d10', hue, 4.5);
      for (const part of [theme.wait.fill, theme.wait.hatch]) least(theme, `text on a wait for ${name}`, theme.text, mix(theme.background, hue, part), 4.5);
    }
    for (const tile of theme.tiles) least(theme, 'text on a tile', theme.text, tile, 4.5);
    for (const shade of [theme.even, theme.odd]) least(theme, 'text on a phase', theme.text, shade, 4.5);
  }
  assert.deepEqual(poor, []);
});

const small = await browser.open(join(folder, 'dense_small.html'));
await check('a search selects its old text, and has no limit', async () => {
  await press(small, '/');
  await small.keyboard.type('mma wait');
  await press(small, 'Enter');
  await press(small, 'Escape');
  await press(small, '/');
  await small.keyboard.type('epilogue');
  assert.equal(await small.evaluate(() => report.model.query), 'epilogue');
  await press(small, 'Escape');
  await small.locator('.search input').click();
  await small.keyboard.type('cta');
  assert.equal(await small.evaluate(() => report.model.query), 'cta');
  const all = await browser.open(join(folder, 'large.html'));
  await press(all, '/');
  await all.keyboard.type('>0');
  await settle(all);
  const {hits, longer} = await all.evaluate(() => {
    const {spans} = report.model.sides[0].trace;
    let longer = 0;
    for (let i = 0; i < spans.count; ++i) longer += spans.end[i] > spans.begin[i];
    return {hits: report.model.hits.length, longer};
  });
  assert.ok(longer > 100_000);
  assert.equal(hits, longer);
  assert.ok((await all.locator('.content').innerText()).includes(`${hits.toLocaleString('en-US')} spans`));
  assert.match(await all.locator('.content').innerText(), /Listed are 1 to 200/);
  await all.getByRole('button', {name: 'after'}).click();
  assert.match(await all.locator('.content').innerText(), /Listed are 201 to 400/);
  clean(all);
  await all.close();
});

await check('rings, barriers and minimap pale with the rest under a search and the critical path', async () => {
  const vivid = () => small.evaluate(() => {
    // Device pixels are CSS pixels here.  The strongest colour in the rows of rings, in the strip of the CTA and in the minimap: how far it is from grey.
    const {model, picture, minimap} = report;
    const copy = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const strength = (canvas, x, y, w, h) => {
      [copy.canvas.width, copy.canvas.height] = [w, h];
      copy.drawImage(canvas, x, y, w, h, 0, 0, w, h);
      const {data} = copy.getImageData(0, 0, w, h);
      let most = 0;
      for (let i = 0; i < data.length; i += 4) most = Math.max(most, Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]));
      return most;
    };
    const of = (kind) => model.rows.filter((row) => row.kind === kind && row.y > model.scroll && row.y + row.height < model.scroll + model.height)
      .reduce((most, row) => Math.max(most, strength(picture.element, 168, 26 + row.y - model.scroll + 3, model.view.width - 20, row.height - 6)), 0);
    const map = document.querySelector('.minimap canvas');
    return {ring: of('ring'), stage: of('stage'), cta: strength(picture.element, 168, 26 + 4, model.view.width - 20, 18), map: strength(map, 180, 16, map.width - 190, 28)};
  });
  const search = async (text) => {
    await press(small, '/');
    await small.keyboard.type(text);
    await press(small, 'Escape');
    await small.mouse.move(5, 5);
    await settle(small);
  };
  for (let i = 0; i < 4; ++i) await press(small, 'Escape');
  await press(small, '0');
  const before = await vivid();
  await search('scheduler setup');
  const under = await vivid();
  for (const part of ['ring', 'stage', 'cta', 'map']) assert.ok(under[part] < 0.5 * before[part], `${part}: ${before[part]}, under a search ${under[part]}`);
  await picture(small, 'pale-search');
  for (let i = 0; i < 4; ++i) await press(small, 'Escape');
  await press(small, 'r');
  const path = await vivid();
  for (const part of ['ring', 'stage']) assert.ok(path[part] < 0.5 * before[part], `${part}: ${before[part]}, under the path ${path[part]}`);
  await picture(small, 'pale-path');
  await press(small, 'r');
});

await check('tooltip and time label follow moves by keyboard', async () => {
  await press(small, '0');
  await small.evaluate(() => { report.model.view.show(4000, 7000, 0); report.model.scrollTo(0); report.model.moved(); });
  await settle(small);
  const at = await pointOf(small, 0, 'wait', 'input_full', false);
  await small.mouse.move(at.x, at.y);
  await settle(small);
  const under = () => small.evaluate(([x, y]) => {
    const {model, picture} = report, box = picture.element.getBoundingClientRect();
    const thing = picture.thingAt(x - box.x, y - box.y);
    return {cursor: picture.cursor, time: model.view.time(x - box.x - picture.names), hover: model.hover && model.hover.span, thing: thing && thing.span,
      shown: !document.querySelector('.tooltip').hidden, title: document.querySelector('.tooltip').innerText};
  }, [at.x, at.y]);
  const before = await under();
  for (const key of ['d', 'w', 's', 'a', '0']) {
    await press(small, key);
    const after = await under();
    assert.ok(Math.abs(after.cursor - after.time) < 1e-3, `${key}: the label says ${after.cursor}, the mouse is at ${after.time}`);
    assert.equal(after.hover, after.thing, key);
    assert.equal(after.shown, after.thing !== null, key);
    if (key === 'd') assert.notEqual(after.cursor, before.cursor);
  }
});

await check('lanes are reached by keyboard: up and down, left and right, Enter', async () => {
  await small.mouse.move(5, 5);
  for (let i = 0; i < 4; ++i) await press(small, 'Escape');
  await small.evaluate(() => { report.model.view.showAll(); report.model.scrollTo(0); });
  // Tab leads to the picture.
  let reached = false;
  for (let i = 0; i < 20 && !reached; ++i) {
    await small.keyboard.press('Tab');
    reached = await small.evaluate(() => document.activeElement === report.picture.element);
  }
  assert.ok(reached, 'Tab reaches the picture');
  const lane = () => small.evaluate(() => {
    const row = report.model.laneRow;
    return {label: row?.label, kind: row?.kind, open: row?.open, seen: row && row.y >= report.model.scroll && row.y + row.height <= report.model.scroll + report.model.height,
      live: document.querySelector('.live').textContent, shown: !document.querySelector('.tooltip').hidden, tooltip: document.querySelector('.tooltip').innerText};
  });
  await press(small, 'ArrowDown');
  assert.deepEqual([(await lane()).kind, (await lane()).open], ['cta', true]);
  await press(small, 'Enter');
  assert.equal((await lane()).open, false);
  await press(small, 'Enter');
  await press(small, 'ArrowDown');
  let at = await lane();
  assert.deepEqual([at.label, at.kind, at.shown], ['load', 'role', true]);
  assert.match(at.live, /load, CTA 0/);
  await press(small, 'ArrowRight');
  const first = await small.evaluate(() => report.model.selection.span);
  await press(small, 'ArrowRight');
  const {selection, cursor, begin} = await small.evaluate(() => {
    const {model, picture} = report;
    return {selection: model.selection, cursor: picture.cursor, begin: model.sides[0].trace.spans.begin[model.selection.span]};
  });
  assert.ok(selection.span > first);
  assert.equal(cursor, begin, 'the time label is where the step begins');
  at = await lane();
  assert.ok(at.shown && at.live.includes(at.tooltip.split('\n')[0]), `${at.tooltip}\n${at.live}`);
  // Every lane can be reached, and is in sight then.
  const labels = [];
  for (let i = 0; i < 24; ++i) {
    await press(small, 'ArrowDown');
    at = await lane();
    labels.push(at.label);
    assert.ok(at.seen, at.label);
  }
  for (const label of ['tma load', 'input ring', 'stage 3', 'mma', 'umma', 'accum ring', 'tensor memory', 'warp 0']) assert.ok(labels.includes(label) || label === 'warp 0', `${label} of ${labels}`);
  while ((await lane()).kind !== 'stage') await press(small, 'ArrowUp');
  await press(small, 'ArrowRight');
  await press(small, 'ArrowRight');
  assert.equal(await small.evaluate(() => report.model.selection.kind), 'stage');
  await picture(small, 'keyboard');
});

await check('the panel is as wide as it is dragged', async () => {
  const before = await small.locator('.panel').boundingBox(), plot = await small.evaluate(() => report.picture.width);
  await small.mouse.move(before.x - 3, 400);
  await small.mouse.down();
  await small.mouse.move(before.x - 203, 400, {steps: 4});
  await small.mouse.up();
  await settle(small);
  const after = await small.locator('.panel').boundingBox();
  assert.ok(Math.abs(after.width - before.width - 200) < 5, `${before.width} to ${after.width}`);
  assert.ok(Math.abs(await small.evaluate(() => report.picture.width) - plot + 200) < 5);
  await small.locator('.splitter').focus();
  await press(small, 'ArrowRight');
  assert.ok(Math.abs((await small.locator('.panel').boundingBox()).width - after.width + 20) < 2);
  clean(small);
});
await small.close();

await check('a copy says its operand, box, multicast mask and line; a CTA its cluster, rank and pair', async () => {
  const page = await browser.open(simulator.page('pairs', simulator.trace('pairs', 'smoke/smoke_03.toml', 'run.data="none"')));
  const {labels, heads} = await page.evaluate(() => ({
    labels: report.model.rows.filter((row) => row.kind === 'cta').map((row) => row.label),
    heads: report.model.rows.filter((row) => row.kind === 'cta').map((row) => row.cluster)}));
  assert.equal(labels[3], 'CTA 3 on SM 3');
  assert.equal(heads[3], 'cluster of CTA 0, rank 3, pair with 2');
  await page.evaluate(() => {
    const {model} = report, {trace} = model.sides[0];
    model.goTo(0, Array.from({length: trace.spans.count}, (_, i) => i).find((i) => trace.kind(i) === 'tma_load' && trace.track(i).cta === 1));
  });
  await settle(page);
  const panel = (await page.locator('.content').innerText()).replaceAll('\n', ' ');
  assert.match(panel, /operand [AB], box at \(-?\d+(, -?\d+)+\)/);
  assert.match(panel, /multicast to ranks \d+, .* of the cluster \(mask 0x[0-9a-f]+\)/);
  assert.match(panel, /line load_warp\.h:\d+/);
  await picture(page, 'cluster-light');
  clean(page);
  await page.close();
});

await check('a single CTA uses the window', async () => {
  const one = simulator.trace('single', '01_dense_small.toml', 'problem.m=128', 'problem.n=128', 'run.data="none"');
  const page = await browser.open(simulator.page('single', one), {height: 1000});
  const {bottom, height, ctas} = await page.evaluate(() => {
    const {rows, height, sides} = report.model, last = rows[rows.length - 1];
    return {bottom: last.y + last.height, height, ctas: sides[0].ctas.length};
  });
  assert.equal(ctas, 1);
  assert.ok(bottom > 0.85 * height && bottom <= height, `${bottom} of ${height}`);
  const roles = await page.evaluate(() => report.model.rows.filter((row) => row.kind === 'role').map((row) => row.height));
  assert.ok(Math.min(...roles) > 28);
  await picture(page, 'single-light');
  clean(page);
  await page.close();
});

await check('at a width of 700 pixels everything is there', async () => {
  const page = await browser.open(join(folder, 'hang.html'), {width: 700, height: 800});
  const boxes = await page.evaluate(() => {
    const box = (selector) => document.querySelector(selector).getBoundingClientRect();
    const outside = [...document.querySelectorAll('.bar *, .panel nav *, .content > *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.className || e.tagName);
    return {plot: box('.plot').width, height: box('.plot').height, panel: box('.panel').width, below: box('.panel').top >= box('.plot').bottom, outside,
      names: report.picture.names, scroll: document.documentElement.scrollWidth};
  });
  assert.deepEqual([boxes.plot, boxes.panel, boxes.below, boxes.scroll], [700, 700, true, 700], JSON.stringify(boxes));
  assert.ok(boxes.height > 250, `${boxes.height}`);
  assert.ok(boxes.names < 140);
  assert.deepEqual(boxes.outside.filter((name) => name !== 'name'), []);
  await picture(page, 'narrow-light');
  await page.locator('pre button.line').first().click();
  await settle(page);
  const before = await page.locator('.panel').boundingBox();
  await page.mouse.move(350, before.y - 3);
  await page.mouse.down();
  await page.mouse.move(350, before.y - 83, {steps: 4});
  await page.mouse.up();
  await settle(page);
  assert.ok(Math.abs((await page.locator('.panel').boundingBox()).height - before.height - 80) < 5);
  clean(page);
  await page.close();
});

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
