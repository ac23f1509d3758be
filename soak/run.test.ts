/** The soak as a program on a terminal: what Ctrl-C and a wrong option do. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serverPid, untilGone } from '../test-support/database/embedded.ts';
import { waitUntil } from '../test-support/wait-until.ts';
import { childrenOf } from './processes.ts';

const RUN = fileURLToPath(new URL('run.ts', import.meta.url));

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'interchange-soak-'));
});
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));

test('Ctrl-C compares what there is, stops everything and removes it', { timeout: 900_000 }, async () => {
  const { child, output } = start('--minutes', '30', '--seed', '7', '--patients', '2');
  await waitUntil(() => output().includes('all flows run'), 'the flows run');
  const pids = await processesOf(child);
  pressCtrlC(child);
  const [code] = await once(child, 'close');
  assert.equal(code, 0, output());
  assert.match(output(), /ending early.*\nsettling\n.*changes of patients delivered .* good\n/s);
  assert.match(output(), /nothing came out of order\. The soak ended early, so memory was not measured\./);
  for (const pid of pids) await untilGone(pid);
  assert.deepEqual(await readdir(folder), []);
});

test('a second Ctrl-C ends every process at once', { timeout: 900_000 }, async () => {
  const { child, output } = start('--minutes', '30', '--patients', '1');
  await waitUntil(() => output().includes('all flows run'), 'the flows run');
  const pids = await processesOf(child);
  pressCtrlC(child);
  await waitUntil(() => output().includes('ending early'), 'it ends early');
  pressCtrlC(child);
  const [code] = await once(child, 'close');
  assert.equal(code, 1, output());
  for (const pid of pids) await untilGone(pid);
  assert.match(output(), new RegExp(`are in ${folder}/interchange-embedded-`));
});

test('a wrong option ends with 2 and names the help', async () => {
  const { child, output } = start('--minute', '3');
  const [code] = await once(child, 'close');
  assert.equal(code, 2, output());
  assert.match(output(), /--minute.*\n\(run npm run soak -- --help to see the options\)\n$/s);
  assert.deepEqual(await readdir(folder), []);
});

/** As a shell with a terminal does: the program leads a group. Its folders lie in `folder`. */
function start(...args: string[]): { child: ChildProcessWithoutNullStreams; output(): string } {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [RUN, ...args], {
    env: { PATH, HOME, TMPDIR: folder },
    detached: true,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  return { child, output: () => text };
}

/** A terminal signals the whole group. */
function pressCtrlC({ pid }: ChildProcessWithoutNullStreams): void {
  assert.ok(pid);
  process.kill(-pid, 'SIGINT');
}

/** PostgreSQL, the processes of the service, and the FHIR server. */
async function processesOf({ pid = 0 }: ChildProcessWithoutNullStreams): Promise<number[]> {
  const [name = ''] = await readdir(folder);
  const children = await childrenOf(pid);
  assert.equal(children.length, 3);
  const theirs = await Promise.all(children.map(childrenOf));
  return [await serverPid(join(folder, name, 'data')), ...children, ...theirs.flat()];
}
