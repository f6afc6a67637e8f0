// SPDX-License-Identifier: Apache-2.0
// Builds page.html, the page of a report, and play.html, that of `sm100sim play`: one file each with script and style in it;
// the first has a place for the data.  The same sources and the same package-lock.json give the same bytes; tests/report/
// holds the committed pages to that.
//
//   node build.mjs [FOLDER]     FOLDER instead of this one
import {build} from 'esbuild';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const licence = readFileSync(join(here, 'node_modules/preact/LICENSE'), 'utf8').trim();

async function buildPage(entry, template, file) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    outdir: 'out',
    format: 'iife',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'inline',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  const output = (extension) => result.outputFiles.find((f) => f.path.endsWith(extension)).text.trim();
  // A script element ends at the first "</script", wherever it stands.
  const script = output('.js').replaceAll('</script', '<\\/script');
  const page = readFileSync(join(here, template), 'utf8')
    .replace('/*licence*/', () => licence)
    .replace('/*style*/', () => output('.css'))
    .replace('/*script*/', () => script);
  if (/[^\x00-\x7f]/.test(page)) throw new Error('the page must be ASCII: it becomes a C++ string literal');
  writeFileSync(join(process.argv[2] ?? here, file), page);
}

await buildPage('src/main.tsx', 'src/page.html', 'page.html');
await buildPage('src/play/main.tsx', 'src/play/page.html', 'play.html');
