// SPDX-License-Identifier: Apache-2.0
// Speed and size of an HTML report with more than 100,000 spans, in headless Chromium at 1280 x 800.
//
//   node bench/report.mjs SM100SIM
//
// Opening: from the navigation to the first frame with the trace in it, median of five.  Frames: the time from one to the
// next while the picture pans or zooms in every one of them; with a display's 60 Hz it is at least 16.7 ms.  Drawing: what
// of it our code takes.
import {mkdtempSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {Browser, Simulator, large, source} from '../tests/report/pages.mjs';

const folder = mkdtempSync(join(tmpdir(), 'sm100sim-bench-'));
const simulator = new Simulator(resolve(process.argv[2] ?? join(source, 'build/release/sm100sim')), folder);
const file = simulator.page('large', simulator.trace('large', '01_dense_small.toml', ...large));
const browser = await Browser.start();
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const percentile90 = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.9)];

const openings = [];
let page;
for (let i = 0; i < 5; ++i) {
  await page?.close();
  page = await browser.open(file);
  openings.push(await page.evaluate(() => report.openedAfter));
}

/** Distances of frames, and drawing times, of 150 frames that all move the view. */
async function frames(move) {
  return page.evaluate((source) => new Promise((done) => {
    const move = new Function('model', 'frame', source);
    const {model, picture} = report, gaps = [], draws = [];
    let last = 0, frame = 0;
    const step = (now) => {
      if (last > 0) {
        gaps.push(now - last);
        draws.push(picture.frameMilliseconds);
      }
      last = now;
      if (++frame > 150) return done({gaps, draws});
      move(model, frame);
      model.moved();
      requestAnimationFrame(step);
    };
    model.view.showAll();
    requestAnimationFrame(step);
  }), move);
}
const counts = await page.evaluate(() => {
  const {trace} = report.model.sides[0];
  return [trace.spans.count, trace.events.count];
});
const row = (name, {gaps, draws}) =>
  console.log(`${name.padEnd(22)} frame median ${median(gaps).toFixed(1)} ms, 90 % ${percentile90(gaps).toFixed(1)} ms; drawing median ${median(draws).toFixed(1)} ms, 90 % ${percentile90(draws).toFixed(1)} ms`);

console.log(`trace                  ${counts[0].toLocaleString('en-US')} spans, ${counts[1].toLocaleString('en-US')} barrier events`);
console.log(`page with the trace    ${(statSync(file).size / 1e6).toFixed(2)} MB`);
console.log(`page without data      ${(statSync(join(source, 'report/page.html')).size / 1e3).toFixed(0)} kB`);
console.log(`opens in               ${median(openings).toFixed(0)} ms (${openings.map((ms) => ms.toFixed(0)).join(', ')})`);
row('zoom', await frames('model.view.zoom(frame < 75 ? 0.94 : 1 / 0.94, 300);'));
row('pan, whole run', await frames('model.view.pan(frame % 100 < 50 ? 9 : -9);'));
row('pan, zoomed in', await frames('if (frame === 1) model.view.zoom(0.1, 300); model.view.pan(frame % 100 < 50 ? 9 : -9);'));
row('scroll, CTAs closed', await frames('if (frame === 1) model.setCtasOpen(false); model.scrollTo(frame * 20);'));
row('scroll, CTAs open', await frames('if (frame === 1) model.setCtasOpen(true); model.scrollTo(frame * 90);'));
await browser.close();
rmSync(folder, {recursive: true});
