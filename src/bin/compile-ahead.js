// Compiles the modules of the service, for npm ci and the image of the container: the first start is then as quick as the
// next, and needs no more memory, also where node_modules cannot be written (docs/adr/0001).
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import module from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const REQUIRED_MAJOR = 26;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = ['src/**/*.ts', 'local-postgres/**/*.ts', 'tools/**/*.ts'];

if (Number.parseInt(process.versions.node, 10) >= REQUIRED_MAJOR) await compile().catch(leave);

async function compile() {
  module.enableCompileCache(`${ROOT}node_modules/.cache/compiled`);
  for (const path of fs.globSync(MODULES, { cwd: ROOT }))
    if (!/\.test\.ts$|^src.bin/.test(path)) await import(pathToFileURL(ROOT + path).href);
  module.flushCompileCache();
  // interchange.ts runs a command when it is loaded.
  execFileSync(process.execPath, [`${ROOT}src/bin/launch.js`, '--version'], { stdio: 'ignore' });
}

function leave(/** @type {Error} */ { message }) {
  process.stderr.write(`The service is not compiled ahead: ${message}. Its first start does it.\n`);
}
