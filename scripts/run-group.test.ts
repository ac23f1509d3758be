import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const RUN_GROUP = new URL('../test-support/run-group.ts', import.meta.url).href;

/** Whether promises are followed: each has an id of its own then. */
const NESTED = `
  import assert from 'node:assert/strict';
  import { executionAsyncId } from 'node:async_hooks';
  import { after, before, describe, test } from 'node:test';
  const done = [];
  before(() => done.push('before'));
  after(() => assert.deepEqual(done, ['before', 'first', 'second']));
  test('no promise is followed', async () => {
    await null;
    const id = executionAsyncId();
    await null;
    assert.equal(executionAsyncId(), id);
  });
  describe('outer', () => {
    describe('inner', () => {
      test('first', async () => void done.push('first'));
      test('second', (t) => t.test('a part', () => void done.push('second')));
    });
  });
`;
const STRAY = `
  import { test } from 'node:test';
  test('passes', async () => {
    Promise.reject(new Error('nobody waited for it'));
    await new Promise(setImmediate);
  });
`;

test('each file is a suite with its own hooks, and its tests stand where they are written', async (t) => {
  const { status, stdout } = await runFiles(t, { 'one.mjs': NESTED, 'two.mjs': NESTED });
  assert.equal(status, 0, stdout);
  const lines = stdout.split('\n').map((line) => line.replace(/ \([\d.]+ms\)$/, ''));
  const ofFile = [
    '  ✔ no promise is followed',
    '  ▶ outer',
    '    ▶ inner',
    '      ✔ first',
    '      ▶ second',
    '        ✔ a part',
    '      ✔ second',
    '    ✔ inner',
    '  ✔ outer',
  ];
  const expected = ['one.mjs', 'two.mjs'].flatMap((name) => [`▶ ${name}`, ...ofFile, `✔ ${name}`]);
  assert.deepEqual(lines.slice(0, expected.length), expected);
});

test('an error that no test waits for fails the run, and says where it came from', async (t) => {
  const { status, stdout } = await runFiles(t, { 'stray.mjs': STRAY });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /Error: nobody waited for it\n\s+at .*stray\.mjs:4:/);
});

test('a file that cannot be loaded fails the run, and those behind it run', async (t) => {
  const { status, stdout } = await runFiles(t, {
    'broken.mjs': "import './not-there.mjs';",
    'one.mjs': NESTED,
  });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /✖ broken\.mjs/);
  assert.match(stdout, /✔ no promise is followed/);
});

/** Runs the files as one group, as `npm test` does. */
async function runFiles(t: TestContext, texts: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-group-'));
  t.after(() => rm(folder, { recursive: true }));
  const files = [];
  for (const [name, text] of Object.entries(texts)) {
    const path = join(folder, name);
    await writeFile(path, text);
    files.push({ name, url: pathToFileURL(path).href });
  }
  const program = join(folder, 'group.test.mjs');
  const runGroup = `import { runGroup } from ${JSON.stringify(RUN_GROUP)};\n`;
  await writeFile(program, `${runGroup}await runGroup(${JSON.stringify(files)});\n`);
  // A run within a run is refused.
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=spec', program], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout };
}
