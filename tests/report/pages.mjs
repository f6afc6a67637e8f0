// SPDX-License-Identifier: Apache-2.0
// For the browser test and the bench: traces and pages made with sm100sim, and a browser to open them.
import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

export const source = join(dirname(fileURLToPath(import.meta.url)), '../..');

const candidates = [process.env.SM100_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const browserPath = candidates.find((path) => path && existsSync(path));

/** playwright-core, from the page's own packages. */
export function playwright() {
  return createRequire(join(source, 'report/package.json'))('playwright-core');
}

export class Simulator {
  constructor(program, folder) {
    this.program = resolve(program);
    this.folder = resolve(folder);
  }
  /** Runs in the project's root, so that no path of this machine is in a report.  Exit codes other than 2 and 5 are a kernel's, which may be what is wanted. */
  call(...words) {
    try {
      return execFileSync(this.program, words, {cwd: source, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe']});
    } catch (error) {
      if (error.status === 2 || error.status === 5 || error.status === null) throw new Error(`sm100sim ${words.join(' ')}: ${error.stderr}`);
      return error.stdout;
    }
  }
  trace(name, scenario, ...sets) {
    const file = join(this.folder, `${name}.pftrace`);
    this.call('run', join('scenarios', scenario), '--trace', file, ...sets.flatMap((set) => ['--set', set]));
    return file;
  }
  /** The path of a page of one or two traces. */
  page(name, ...traces) {
    const file = join(this.folder, `${name}.html`);
    this.call('export', ...traces, '--format', 'html', '-o', file);
    return file;
  }
}

/** More than 100,000 spans: 512 tiles on 148 SMs. */
export const large = ['problem.m=4096', 'problem.n=2048', 'problem.k=1024', 'run.sms=148', 'run.data="none"'];

export class Browser {
  static async start() {
    const browser = await playwright().chromium.launch({executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu']});
    return new Browser(browser);
  }
  constructor(browser) {
    this.browser = browser;
  }
  /** Opens a file at 1280 x 800 and collects what goes wrong: console errors, and requests for anything but the file. */
  async open(file, {scheme = 'light', width = 1280, height = 800} = {}) {
    const page = await this.browser.newPage({viewport: {width, height}, colorScheme: scheme});
    const url = pathToFileURL(file).href;
    page.complaints = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') page.complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => page.complaints.push(`error: ${error.stack}`));
    page.on('request', (request) => {
      if (request.url() !== url && request.url() !== 'data:,') page.complaints.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    await page.waitForSelector('body[data-ready]');
    await settle(page);
    return page;
  }
  close() {
    return this.browser.close();
  }
}

/** Until what was asked for has been drawn. */
export function settle(page) {
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
}
