// SPDX-License-Identifier: Apache-2.0
// `sm100sim play` in headless Chromium: ten edits with their times, comparing, mistakes, the address, copying, the keyboard,
// and what somebody without the token gets.  Prints one line per check; exit code 1 if one fails.
//
//   node play_test.mjs SM100SIM FOLDER     screenshots are left in FOLDER
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, readdirSync} from 'node:fs';
import {get} from 'node:http';
import {join, resolve} from 'node:path';

import {Browser, Simulator, settle, source} from './pages.mjs';

const [program, folder] = process.argv.slice(2);
mkdirSync(folder, {recursive: true});

/** Started as a user does, from the project's root; ends with end(). */
class Server {
  static async start(...words) {
    const process = spawn(resolve(program), ['play', '--no-browser', ...words], {cwd: source, stdio: ['ignore', 'pipe', 'pipe']});
    const server = new Server();
    server.process = process;
    server.ended = new Promise((done) => process.on('exit', (code) => done(code)));
    server.out = server.err = '';
    process.stderr.on('data', (data) => server.err += data);
    await Promise.race([server.ended, new Promise((done) => process.stdout.on('data', (data) => {
      server.out += data;
      if (server.out.includes('Ctrl-C')) done();
    }))]);
    server.url = server.out.split('\n')[0];
    return server;
  }
  end() {
    this.process.kill('SIGINT');
    return this.ended;
  }
}

const server = await Server.start();
if (server.err.includes('built without')) {
  console.log(`SKIPPED: ${server.err.trim()}`);
  process.exit(77);
}
const {origin, port} = new URL(server.url);
const token = new URL(server.url).searchParams.get('token');
const browser = await Browser.start();
const simulator = new Simulator(program, folder);
/** What `sm100sim run` says of a scenario: the page must say the same, whatever the machine's figures are. */
const said = (scenario, pattern) => pattern.exec(simulator.call('run', `scenarios/${scenario}.toml`))[1];
const cycles = (scenario) => said(scenario, /([\d,]+) cycles/);
const lessonOne = Number(cycles('lessons/01_one_stage').replaceAll(',', ''));
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

/** Opens an address and collects what goes wrong, and requests for anything but the server. */
async function open(url, {scheme = 'light', width = 1280, height = 800, reduced = true} = {}) {
  const page = await browser.browser.newPage({viewport: {width, height}, colorScheme: scheme, reducedMotion: reduced ? 'reduce' : 'no-preference'});
  page.complaints = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') page.complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => page.complaints.push(`error: ${error.stack}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && request.url() !== 'data:,') page.complaints.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector('body[data-ready]');
  await settle(page);
  return page;
}
const picture = (page, name) => page.screenshot({path: join(folder, `${name}.png`)});
const clean = (page) => assert.deepEqual(page.complaints, []);

/** Does something to the page and waits until its run is shown. */
async function until(page, act) {
  const runs = await page.evaluate(() => player.runs);
  await act();
  await page.waitForFunction((n) => player.runs > n && !player.busy, runs);
  await settle(page);
}
/** The same for what is refused. */
async function refused(page, act) {
  await act();
  await page.waitForSelector('.complaints');
  await settle(page);
}
const number = (page, name, value) => async () => {
  await page.fill(`input[name=${name}]`, `${value}`);
  await page.press(`input[name=${name}]`, 'Enter');
};
const choice = (page, name, value) => () => page.selectOption(`select[name=${name}]`, value);
const state = (page) => page.evaluate(() => ({cycles: player.reply.cycles, outcome: player.reply.outcome, hash: location.hash,
  badge: document.querySelector('.badge').innerText, stages: report.model.sides.at(-1).ctas[0].rings.find((ring) => ring.name === 'input').stages,
  rows: report.model.rows.length, milliseconds: player.milliseconds, seconds: player.reply.seconds, sides: report.model.sides.length}));

const page = await open(server.url);

await check('the page opens with the first lesson and its controls', async () => {
  const now = await state(page);
  assert.equal(now.outcome, 'pass');
  assert.equal(now.stages, 4);
  const labels = await page.locator('.control > span').allInnerTexts();
  for (const label of ['Scenario', 'Stages', 'Accumulators', 'k tile', 'Tile', 'Cluster', 'Scheduler', 'M', 'N', 'K', 'Seed', 'Fault', 'Show'])
    assert.ok(labels.includes(label), `${label} is among ${labels}`);
  assert.match(await page.title(), /sm100sim play/);
  await picture(page, 'play-first');
  clean(page);
});

await check('ten edits, each with its picture', async () => {
  const edits = [
    ['stages 1', number(page, 'stages', 1), 'pass'],
    ['stages 2', number(page, 'stages', 2), 'pass'],
    ['stages 6', number(page, 'stages', 6), 'pass'],
    ['K 1024', number(page, 'k', 1024), 'pass'],
    ['a tile of 64 x 128', choice(page, 'tile', {label: '64 x 128'}), 'pass'],
    ['k tile of 32', choice(page, 'swizzle', {label: '32 deep (64 B)'}), 'pass'],
    ['accumulators 1', number(page, 'accum_stages', 1), 'pass'],
    ['static scheduler', choice(page, 'scheduler', {label: 'static'}), 'pass'],
    ['seed 7', number(page, 'seed', 7), 'pass'],
    ['fault: forget the release of input_empty', choice(page, 'fault', {label: 'mma: forget the release of input_empty'}), 'hang'],
  ];
  const seen = new Set();
  for (const [name, act, outcome] of edits) {
    await until(page, act);
    const now = await state(page);
    assert.equal(now.outcome, outcome, name);
    seen.add(now.hash);
    console.log(`        ${name.padEnd(42)} ${`${now.cycles}`.padStart(6)} cycles  ${now.outcome.padEnd(5)} ` +
      `${(1000 * now.seconds).toFixed(0).padStart(4)} ms in the server, ${now.milliseconds.toFixed(0).padStart(4)} ms to the picture`);
  }
  assert.equal(seen.size, 10, 'each has an address of its own');
  assert.match(await page.locator('.badge').innerText(), /HANG/);
  assert.match(await page.locator('.outcome').innerText(), /HANG.*can never wake/);
  await page.click('text=Who is to blame?');
  assert.match(await page.locator('.panel').innerText(), /can never wake/);
  await picture(page, 'play-hang');
  await page.getByRole('tab', {name: 'Lesson'}).click();
  clean(page);
});

await check('the way back of the browser undoes edits, a reload keeps them', async () => {
  await until(page, () => page.goBack());
  assert.equal((await state(page)).outcome, 'pass');
  assert.equal(await page.inputValue('select[name=fault]'), '');
  const before = await state(page);
  await page.reload();
  await page.waitForSelector('body[data-ready]');
  await settle(page);
  const after = await state(page);
  assert.deepEqual([after.cycles, after.hash], [before.cycles, before.hash]);
  assert.equal(await page.inputValue('input[name=k]'), '1024');
});

await check('reset is the scenario as in its file', async () => {
  await until(page, () => page.click('text=Reset'));
  assert.equal((await state(page)).cycles, lessonOne);
  assert.equal(await page.locator('.control.changed').count(), 0);
});

await check('before and after stand on one axis', async () => {
  await until(page, number(page, 'stages', 1));
  await until(page, choice(page, 'compare', 'before'));
  let now = await state(page);
  assert.equal(now.sides, 2);
  assert.match(now.hash, /before=/);
  const [a, b] = await page.evaluate(() => report.model.sides.map(({trace}) => trace.length));
  assert.ok(a < b, `four stages take ${a} cycles, one takes ${b}`);
  assert.ok(await page.locator('text=Differences').isVisible());
  await picture(page, 'play-compare');
  await until(page, number(page, 'stages', 2)); // A stays what it was
  assert.equal(await page.evaluate(() => report.model.sides[0].trace.length), a);
  assert.ok(await page.evaluate(() => report.model.sides[1].trace.length) < b);
  await until(page, choice(page, 'compare', 'alone'));
  now = await state(page);
  assert.equal(now.sides, 1);
  assert.doesNotMatch(now.hash, /before=/);
  clean(page);
});

await check('a value that the scenario refuses is a sentence at its control, and can be mended', async () => {
  const before = await state(page);
  await refused(page, number(page, 'stages', 99));
  const text = await page.locator('.complaints').innerText();
  assert.match(text, /^Stages 99: allowed are 1 to 6 \(/);
  assert.equal(await page.getAttribute('input[name=stages]', 'aria-invalid'), 'true');
  assert.equal((await state(page)).cycles, before.cycles, 'the picture is that of the run before');
  await picture(page, 'play-refused');
  // An address with a mistake opens with its controls.
  const again = await open(page.url());
  assert.match(await again.locator('.complaints').innerText(), /^Stages 99/);
  await until(again, number(again, 'stages', 3));
  assert.equal(await again.locator('.complaints').count(), 0);
  assert.equal((await state(again)).stages, 3);
  clean(again);
  await again.close();
  await until(page, number(page, 'stages', 4));
  assert.equal(await page.locator('.complaints').count(), 0);
});

await check('a fault can be made once, and says which', async () => {
  await until(page, choice(page, 'fault', {label: 'mma: forget the release of input_empty'}));
  const every = await state(page);
  await until(page, choice(page, 'occurrence', {label: 'the second time'}));
  const second = await state(page);
  assert.equal(second.outcome, 'hang');
  assert.ok(second.cycles > every.cycles);
  await until(page, choice(page, 'fault', {label: 'none'}));
  assert.equal((await state(page)).outcome, 'pass');
});

await check('lessons and other kernels can be chosen', async () => {
  await until(page, choice(page, 'scenario', 'lessons/04_odd_start_broken'));
  assert.equal((await state(page)).outcome, 'hang');
  assert.match(await page.locator('select[name=fault] option').first().innerText(), /^as in the scenario: flip_parity/);
  await until(page, choice(page, 'fault', 'none'));
  assert.equal((await state(page)).outcome, 'pass');
  await until(page, choice(page, 'scenario', 'lessons/14_block_scaling'));
  assert.equal((await state(page)).outcome, 'pass');
  await until(page, choice(page, 'scenario', 'lessons/01_one_stage'));
});

await check('a lesson: read, guess, edit, break, answer, what is next', async () => {
  const lessons = await open(`${server.url}#scenario=lessons/03_expect_tx`);
  const text = () => lessons.locator('.lesson').innerText();
  const offers = (name) => lessons.locator('.lesson').getByRole('button', {name, exact: true}).first();
  assert.match(await text(), /Lesson 3: expect_tx[^]*kernels\/pipeline\/input_ring.h[^]*Guess first[^]*Which role hangs first/);
  assert.ok((await text()).includes(`This run passes in ${cycles('lessons/03_expect_tx')} cycles`));
  assert.doesNotMatch(await text(), /49,152, where a fill has 32,768/, 'the answer waits until it is asked for');
  await picture(lessons, 'lesson-first');
  await until(lessons, () => offers('Make the edit').click());
  assert.equal((await state(lessons)).outcome, 'hang');
  const hang = said('lessons/03_expect_tx_broken', /(HANG at cycle [\d,]+: 7 of 7 warps)/);
  assert.ok((await text()).includes(hang), 'the lesson stays and says what broke');
  assert.equal(await offers('Make the edit').getAttribute('aria-pressed'), 'true');
  await lessons.click('.lesson summary >> text=What happens');
  assert.match(await text(), /49,152, where a fill has 32,768[^]*What it costs/);
  await lessons.locator('.lesson .outcome').scrollIntoViewIfNeeded();
  await picture(lessons, 'lesson-broken');
  // The report is read from its beginning, and the lesson goes on where it was left.
  const left = await lessons.locator('.content').evaluate((e) => e.scrollTop);
  assert.ok(left > 0);
  await lessons.click('text=Who is to blame?');
  await settle(lessons);
  assert.equal(await lessons.locator('.content').evaluate((e) => e.scrollTop), 0);
  assert.match(await lessons.locator('.panel').innerText(), /expect_tx counts 16,384 bytes more/);
  await lessons.getByRole('tab', {name: 'Lesson'}).click();
  await settle(lessons);
  assert.equal(await lessons.locator('.content').evaluate((e) => e.scrollTop), left);
  assert.match(await text(), /49,152, where a fill has 32,768/);
  await until(lessons, () => offers('Beside the healthy run').click());
  assert.equal((await state(lessons)).sides, 2);
  assert.ok(await lessons.locator('.lesson').isVisible());
  await until(lessons, () => offers('The healthy run').click());
  assert.equal((await state(lessons)).outcome, 'pass');
  await until(lessons, () => offers('Next lesson').click());
  assert.match(await text(), /Lesson 4/);
  assert.doesNotMatch(await text(), /phase 0 misses 1 of 1 arrivals/, 'the next answer is hidden again');
  assert.equal(await lessons.locator('.content').evaluate((e) => e.scrollTop), 0, 'a lesson begins at its beginning');
  await until(lessons, () => offers('Previous lesson').click());
  assert.match(await text(), /Lesson 3/);
  clean(lessons);
  await lessons.close();
});

await check('each lesson is shown, its edit does what its scenario expects, and other scenarios leave it open', async () => {
  const lessons = await open(server.url);
  const names = await lessons.evaluate(() => player.menu.groups[0].scenarios.map(({name}) => name).filter((name) => !name.endsWith('_broken')));
  assert.equal(names.length, readdirSync(join(source, 'docs/lessons')).filter((name) => /^\d\d-/.test(name)).length);
  await until(lessons, () => lessons.locator('.lesson').getByRole('button', {name: '--set config.stages=2'}).click());
  assert.deepEqual(await state(lessons).then(({stages, cycles}) => [stages, cycles > lessonOne]), [2, true]);
  await until(lessons, () => lessons.goBack());
  for (const [at, name] of names.entries()) {
    if (at > 0) await until(lessons, () => lessons.locator('.lesson').getByRole('button', {name: 'Next lesson'}).first().click());
    const shown = await lessons.locator('.lesson').innerText();
    assert.match(shown, new RegExp(`${at + 1} of ${names.length}[^]*Lesson ${at + 1}:[^]*Guess first[^]*This run passes[^]*Try next`), name);
    // Nothing of Markdown is left over.
    const prose = await lessons.locator('.lesson').evaluate((e) => [...e.querySelectorAll('p, li, td, h2, h3')].map((part) => part.textContent).join('\n'));
    assert.doesNotMatch(prose, /\]\(|\*\*|^#|<!--|^\||```/m, name);
    assert.equal(await lessons.locator('.lesson').getByRole('button', {name: 'Next lesson'}).first().isDisabled(), at + 1 === names.length);
  }
  await until(lessons, () => lessons.locator('.lesson').getByRole('button', {name: 'scenarios/06_starved_by_tma.toml'}).click());
  assert.match(await lessons.locator('.lesson').innerText(), /Lesson 15:[^]*The healthy run/);
  await until(lessons, () => lessons.locator('.lesson').getByRole('button', {name: 'The healthy run', exact: true}).click());
  assert.match(await lessons.locator('.lesson').innerText(), /This run passes/);
  clean(lessons);
  await lessons.close();
});

await check('copy as scenario and as command', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], {origin});
  await until(page, number(page, 'stages', 2));
  await page.click('text=Copy as scenario');
  await page.waitForSelector('text=is on the clipboard');
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^description = .*\n[^]*stages = 2\n/);
  await page.click('text=Copy command');
  await page.waitForSelector('text=The command is on the clipboard');
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^sm100sim run .*01_one_stage.toml --set config.stages=2$/);
});

await check('open report is the page of export, which asks nobody', async () => {
  const [report] = await Promise.all([page.context().waitForEvent('page'), page.click('text=Open report')]);
  const requests = [];
  report.on('request', (request) => requests.push(request.url()));
  await report.waitForSelector('body[data-ready]');
  assert.equal(await report.locator('.strip').count(), 0);
  assert.equal(await report.evaluate(() => window.report.model.sides[0].ctas[0].rings.find((ring) => ring.name === 'input').stages), 2);
  assert.equal(await report.evaluate(() => fetch('/api/menu').then(() => 'answered', () => 'refused')), 'refused');
  await report.close();
});

await check('all controls can be reached and used with the keyboard', async () => {
  await page.click('.bar .search input');
  const reached = [];
  for (let i = 0; i < 45; ++i) {
    await page.keyboard.press('Tab');
    reached.push(await page.evaluate(() => document.activeElement.name || document.activeElement.innerText));
  }
  for (const name of ['scenario', 'stages', 'tile', 'fault', 'compare', 'Copy as scenario', 'Open report']) assert.ok(reached.includes(name), `${name} is among ${reached}`);
  await page.focus('input[name=stages]');
  await until(page, () => page.keyboard.press('ArrowUp'));
  assert.equal((await state(page)).stages, 3);
  await page.focus('select[name=scheduler]');
  const view = await page.evaluate(() => [report.model.view.from, report.model.view.to, report.model.theme.dark]);
  await until(page, () => page.keyboard.press('s')); // the select's, not the timeline's
  assert.match((await state(page)).hash, /scheduler=static/);
  assert.equal(await page.evaluate(() => report.model.theme.dark), view[2]);
  clean(page);
});

await check('the timeline moves from one run to the next, and arrives', async () => {
  const moving = await open(server.url, {reduced: false});
  const runs = await moving.evaluate(() => player.runs);
  await number(moving, 'stages', 1)();
  await moving.waitForFunction((n) => player.runs > n, runs);
  const on_the_way = await moving.evaluate(() => {
    const {model} = report;
    if (!model.moving) return null;
    const mma = model.sides[0].trace.spans.count - 1;
    const last = model.sides[0].trace.spans, now = model.moving[0].trace.spans;
    let apart = 0, wrong = 0;
    for (let i = 0; i <= mma; ++i) {
      if (now.begin[i] !== last.begin[i]) ++apart;
      if (now.end[i] < now.begin[i]) ++wrong;
    }
    return {apart, wrong};
  });
  assert.ok(on_the_way && on_the_way.apart > 10 && on_the_way.wrong === 0, JSON.stringify(on_the_way));
  await picture(moving, 'play-moving');
  await moving.waitForFunction(() => report.model.moving === null);
  await settle(moving);
  const arrived = await moving.screenshot({clip: {x: 0, y: 250, width: 900, height: 540}});
  const still = await open(moving.url());
  await settle(still);
  assert.ok(arrived.equals(await still.screenshot({clip: {x: 0, y: 250, width: 900, height: 540}})), 'the picture is that of a page that opens with the run');
  // Who wants no movement gets none.
  const runs_still = await still.evaluate(() => player.runs);
  await number(still, 'stages', 4)();
  await still.waitForFunction((n) => player.runs > n, runs_still);
  assert.equal(await still.evaluate(() => report.model.moving), null);
  clean(moving);
  await moving.close();
  await still.close();
});

await check('a part that is looked at stays in sight', async () => {
  await page.evaluate(() => { report.model.view.show(3000, 5000, 0); report.model.changed(); });
  await until(page, number(page, 'seed', 3));
  const [from, to] = await page.evaluate(() => [report.model.view.from, report.model.view.to]);
  assert.deepEqual([from, to], [3000, 5000]);
});

await check('dark, and in a narrow window', async () => {
  const dark = await open(server.url, {scheme: 'dark', width: 700, height: 900});
  const outside = await dark.evaluate(() => [...document.querySelectorAll('.strip *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.className || e.tagName));
  assert.deepEqual(outside.filter((tag) => !['OPTION', 'OPTGROUP'].includes(tag)), []);
  assert.ok(await dark.evaluate(() => document.querySelector('.plot').getBoundingClientRect().height) > 150);
  await picture(dark, 'play-narrow-dark');
  clean(dark);
  await dark.close();
});

/** A request as it is written, without a browser's help. */
function request(path, headers = {}) {
  return new Promise((done, fail) => get({host: '127.0.0.1', port, path, headers}, (response) => {
    let body = '';
    response.on('data', (data) => body += data);
    response.on('end', () => done({status: response.statusCode, body, headers: response.headers}));
  }).on('error', fail));
}

await check('without the token, under another name and from another page nothing is answered', async () => {
  const sentence = 'Refused: this needs the token of the address that sm100sim play has printed.\n';
  for (const path of ['/', '/?token=', `/?token=${'0'.repeat(32)}`, '/report', '/api/menu', '/api/run', '/nowhere', '/..%2f..%2fetc%2fpasswd', '/%0a']) {
    const {status, body} = await request(path);
    assert.deepEqual([status, body], [403, sentence], path);
  }
  const named = await request(`/?token=${token}`, {host: 'evil.example'});
  assert.equal(named.status, 403);
  const from = await request('/api/menu', {'x-sm100sim-token': token, origin: 'http://evil.example'});
  assert.equal(from.status, 403);
  assert.equal((await request('/api/menu', {'x-sm100sim-token': token})).status, 200);
  assert.equal((await request('/etc/passwd', {'x-sm100sim-token': token})).status, 404);
  // A page of another origin cannot even read the refusal.
  const other = await browser.browser.newPage();
  await other.goto('data:text/html,<p>elsewhere');
  assert.equal(await other.evaluate((url) => fetch(url).then(() => 'read', () => 'refused'), server.url), 'refused');
  await other.close();
});

await check('it listens on the loopback interface only', async () => {
  const listening = ['/proc/net/tcp', '/proc/net/tcp6'].filter(existsSync).flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/)).filter((words) => words[3] === '0A' && parseInt((words[1] ?? '').split(':')[1], 16) === Number(port))
    .map((words) => words[1].split(':')[0]);
  assert.deepEqual(listening, ['0100007F']);
});

await check('Ctrl-C ends it and leaves no process', async () => {
  const children = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ')[1] === `${server.process.pid}`;
    } catch {
      return false;
    }
  });
  const engine = children();
  assert.equal(engine.length, 1);
  assert.equal(await server.end(), 0);
  assert.ok(!existsSync(`/proc/${engine[0]}`));
  await refused(page, number(page, 'stages', 1));
  assert.match(await page.locator('.complaints').innerText(), /has ended/);
});

await check('what cannot be opened is a sentence', async () => {
  const none = await Server.start('no_such_scenario');
  assert.equal(await none.ended, 2);
  assert.match(none.err, /no_such_scenario: no such file/);
});

await browser.close();
console.log(failed === 0 ? 'all checks passed' : `${failed} checks failed`);
process.exit(failed === 0 ? 0 : 1);
