import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const olderNode = findOlderNode();
const onPosix = {
  skip: process.platform === 'win32' && 'there npm starts it in another way',
  timeout: 20_000,
};

/** The launcher in a folder of its own, where interchange.ts is a program that the tests can watch. */
describe('launch.js', () => {
  let root: string;
  let launcher: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'interchange-launch-'));
    await mkdir(join(root, 'src', 'bin'), { recursive: true });
    launcher = join(root, 'src', 'bin', 'launch.js');
    await copyFile(join(ROOT, 'src/bin/launch.js'), launcher);
    await writeFile(join(root, 'package.json'), '{ "type": "module" }');
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    await writeFile(
      join(root, 'src', 'bin', 'interchange.ts'),
      `const [what]: string[] = process.argv.slice(2);
       const seen = JSON.stringify({ version: process.versions.node, args: process.argv.slice(2), pid: process.pid });
       if (what === 'echo') process.stdin.pipe(process.stdout);
       if (what === 'wait') {
         setInterval(() => undefined, 1000);
         for (const signal of ['SIGTERM', 'SIGINT'])
           process.on(signal, () => { process.stdout.write(signal, () => process.exit(0)); });
       }
       process.stdout.write(seen + '\\n');
       if (what === 'exit') process.exitCode = 7;
       if (what === 'die') process.kill(process.pid, 'SIGKILL');`,
    );
  });
  after(() => rm(root, { recursive: true }));

  for (const [name, node, skip] of [
    ['the pinned Node.js', process.execPath, false],
    [
      'an older Node.js',
      olderNode ?? '',
      olderNode === undefined ? 'no older Node.js on this machine' : false,
    ],
  ] as const)
    describe(`under ${name}`, { skip }, () => {
      test('runs the command under Node.js 26 or newer, with its arguments [CMD-1]', async () => {
        const { output, code } = await run(node, ['show', '--name', 'two words', '']);
        const seen = JSON.parse(output);
        assert.ok(Number.parseInt(seen.version, 10) >= 26);
        assert.deepEqual(seen.args, ['show', '--name', 'two words', '']);
        assert.equal(code, 0);
      });

      test('passes input, output and the exit code through', async () => {
        assert.match((await run(node, ['echo'], 'from stdin')).output, /from stdin$/);
        assert.equal((await run(node, ['exit'])).code, 7);
      });

      test('ends by the signal that ended the command', async () => {
        assert.equal((await run(node, ['die'])).signal, 'SIGKILL');
      });

      for (const signal of ['SIGTERM', 'SIGINT'] as const)
        test(`passes ${signal} on once, and ends when the command has ended`, async () => {
          const child = spawn(node, [launcher, 'wait'], { stdio: ['pipe', 'pipe', 'inherit'] });
          await firstLine(child);
          const output = collect(child);
          child.kill(signal);
          const [code] = await once(child, 'close');
          assert.equal(code, 0);
          assert.equal(output(), signal);
        });

      test('ends with the shell that npm started it through, as if told itself', onPosix, async () => {
        // What follows keeps the shell from becoming the program.
        const script = `'${node}' '${launcher}' wait; true`;
        const env = { ...process.env, npm_lifecycle_event: 'start' };
        const shell = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'], env });
        await firstLine(shell);
        const output = collect(shell);
        const closed = once(shell, 'close');
        shell.kill('SIGTERM');
        await closed;
        assert.equal(output(), 'SIGTERM');
      });

      test('does not leave the command behind when it is killed', async () => {
        const child = spawn(node, [launcher, 'wait'], { stdio: ['pipe', 'pipe', 'inherit'] });
        const { pid } = JSON.parse(await firstLine(child));
        const closed = once(child, 'close');
        child.kill('SIGKILL');
        // The output closes once the command, which holds it as well, is gone.
        await closed;
        assert.throws(() => execFileSync('grep', ['-q', '.', `/proc/${pid}/cmdline`], { stdio: 'ignore' }));
      });
    });

  test('needs no pinned Node.js where the one of the machine is new enough [CMD-2]', async () => {
    await rm(join(root, 'node_modules'));
    const { output, code } = await run(process.execPath, ['show']);
    await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    assert.equal(code, 0);
    assert.equal(JSON.parse(output).version, process.versions.node);
  });

  test('says what to install where there is no Node.js 26', { skip: olderNode === undefined }, async () => {
    await rm(join(root, 'node_modules'));
    const child = spawn(olderNode ?? '', [launcher], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (text) => {
      errors += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 1);
    assert.match(errors, /needs Node\.js 26 or newer.*\nRun npm ci with optional dependencies/);
  });

  async function run(node: string, args: string[], input = '') {
    const child = spawn(node, [launcher, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const output = collect(child);
    child.stdin.end(input);
    const [code, signal] = await once(child, 'close');
    return { output: output(), code: code as number | null, signal: signal as string | null };
  }
});

function collect(child: ChildProcess): () => string {
  let text = '';
  child.stdout?.on('data', (chunk) => {
    text += chunk;
  });
  return () => text;
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = await once(child.stdout ?? child, 'data');
  return String(chunk);
}

/** The machine's own Node.js from 18 to 25, outside node_modules. */
function findOlderNode(): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(':').filter((path) => !path.includes('node_modules')))
    try {
      const path = join(folder, 'node');
      const major = Number.parseInt(
        execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }),
        10,
      );
      if (major >= 18 && major < 26) return path;
    } catch {}
  return undefined;
}
