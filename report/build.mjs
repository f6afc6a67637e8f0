// SPDX-License-Identifier: Apache-2.0
// Builds page.html: one file with script and style in it and a place for the data.  The same sources and the same
// package-lock.json give the same bytes; tests/report/ holds the committed page to that.
//
//   node build.mjs [FILE]     FILE instead of page.html
import {build} from 'esbuild';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const result = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.tsx'],
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
const licence = readFileSync(join(here, 'node_modules/preact/LICENSE'), 'utf8').trim();
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
  .replace('/*licence*/', () => licence)
  .replace('/*style*/', () => output('.css'))
  .replace('/*script*/', () => script);
if (/[^\x00-\x7f]/.test(page)) throw new Error('the page must be ASCII: it becomes a C++ string literal');
writeFileSync(process.argv[2] ?? join(here, 'page.html'), page);
