/**
 * npm test [-- flags of node --test] [files and folders]: runs the tests against one PostgreSQL, the embedded one unless
 * TEST_DATABASE_URL names another (a superuser's URL). With TEST_CITUS_URL the databases lie on a Citus cluster
 * (CONTRIBUTING.md). The migrations are applied once, to a template that each test file clones
 * (test-support/database/database.ts). What tests write is kept in memory where there is room. Files share processes
 * (test-groups.ts).
 *
 * Without arguments it runs all files but those that take longest, and fails when a statement that the service issued is one
 * that Citus could not run (statement-rules.ts). With TEST_SIZE=full too it runs all files, with more cases
 * (test-support/sized.ts), and also fails when a sentence of docs/contract.md is proved by no test that passed.
 * `--statements` with files has their statements checked too. STATEMENTS_FOLDER keeps what was recorded.
 */
import { execFileSync, spawn } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEmbeddedPostgres, stopAbandoned } from '../local-postgres/embedded-postgres.ts';
import { isAlive } from '../local-postgres/postgres-process.ts';
import { withClient } from '../src/platform/db/migrate.ts';
import { createTemplate } from '../test-support/database/template.ts';
import { isFullSize } from '../test-support/sized.ts';
import { parseContract, unprovenFaults } from './contract-coverage.ts';
import { checkStatements, readStatements } from './statement-check.ts';
import { inGroups, isForWholeRun } from './test-groups.ts';

const PLACES = ['src', 'local-postgres', 'tools', 'test', 'scripts', 'bench', 'soak', 'web/src'];
const PREFIX = 'interchange-test-';
const DATABASE = 'database';
const RECORD_STATEMENTS = new URL('../test-support/record-statements.js', import.meta.url).href;
const PASSED_TITLES = new URL('passed-titles.ts', import.meta.url).href;
/** Hundreds of processes load the same modules: each is compiled once. */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
/** Tests wait for PostgreSQL and for processes, so one more than there are cores; each has its connections. */
const CONCURRENCY = Math.min(availableParallelism() + 1, 4);
/** Where Linux keeps files in memory. Cloning a database there takes a twentieth of the time that a disk takes. */
const MEMORY = '/dev/shm';
/** More than a run keeps there at any moment. */
const MEMORY_NEEDED_BYTES = 3e9;

interface TestServer {
  url: string;
  close(): Promise<void>;
}

async function main(): Promise<number> {
  // Tests in a browser see the console as it is now.
  execFileSync(process.execPath, ['web/prepare.js', '--if-needed'], { stdio: 'inherit' });
  const folder = await openFolder();
  const server = await openServer(folder);
  try {
    const template = await createTemplate(server.url);
    try {
      return await runTests(folder, {
        TMPDIR: join(folder, 'tmp'),
        TEST_ADMIN_URL: server.url,
        TEST_TEMPLATE: template.name,
        NODE_COMPILE_CACHE: COMPILED,
      });
    } finally {
      await template.drop();
    }
  } finally {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The folder of this run. It holds the database, and what tests make in `tmpdir()`; other users may, too. */
async function openFolder(): Promise<string> {
  for (const place of [tmpdir(), MEMORY]) await removeAbandoned(place);
  const place = (await hasMemory()) ? MEMORY : tmpdir();
  const folder = await mkdtemp(join(place, `${PREFIX}${process.pid}-`));
  await mkdir(join(folder, 'tmp'));
  await chmod(folder, 0o711);
  await chmod(join(folder, 'tmp'), 0o1777);
  return folder;
}

async function hasMemory(): Promise<boolean> {
  if (process.platform !== 'linux' || process.availableMemory() < 2 * MEMORY_NEEDED_BYTES) return false;
  const { bavail, bsize } = await statfs(MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  // Tests start programs that they put there; containers often forbid it.
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '');
  const mayStart = !new RegExp(` ${MEMORY} \\S+ \\S*noexec`).test(mounts);
  return mayStart && bavail * bsize > MEMORY_NEEDED_BYTES;
}

async function openServer(folder: string): Promise<TestServer> {
  const url = process.env.TEST_CITUS_URL ?? process.env.TEST_DATABASE_URL;
  if (url !== undefined) return { url, close: async () => undefined };
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    shared_buffers: '128MB',
    max_wal_size: '512MB',
    // Thousands of connections sign in.
    scram_iterations: '1',
  };
  const server = await openEmbeddedPostgres({ dataDir: join(folder, DATABASE), settings });
  await storePasswordAgain(server.url);
  return { url: server.url, close: () => server.release() };
}

/** The password was stored before the settings held. */
async function storePasswordAgain(url: string): Promise<void> {
  const [user, password] = [new URL(url).username, new URL(url).password].map(decodeURIComponent);
  await withClient(url, async (client) => {
    const [role, secret] = [client.escapeIdentifier(user ?? ''), client.escapeLiteral(password ?? '')];
    await client.query(`alter role ${role} password ${secret}`);
  });
}

/** Runs that were killed leave their server and folder. */
async function removeAbandoned(place: string): Promise<void> {
  for (const name of await readdir(place).catch(() => [])) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(place, name);
    // A folder of another user is left to that user.
    const stopped = await stopAbandoned(join(folder, DATABASE)).catch(() => false);
    if (stopped) await rm(folder, { recursive: true, force: true });
  }
}

async function runTests(folder: string, environment: NodeJS.ProcessEnv): Promise<number> {
  const all = process.argv.slice(2);
  const given = all.filter((argument) => argument !== '--statements');
  const flags = given.filter((argument) => argument.startsWith('-'));
  const named = given.filter((argument) => !argument.startsWith('-'));
  const found = (named.length > 0 ? named : PLACES).flatMap((place) =>
    isFolder(place) ? testsBelow(place) : [place],
  );
  const isAll = given.length === 0 && isFullSize();
  const isQuick = given.length === 0 && !isFullSize();
  const chosen = isQuick ? found.filter((file) => !isForWholeRun(file)) : found;
  // Flags such as --test-name-pattern pass over a suite that is not loaded yet.
  const files = chosen.length === 1 || flags.length > 0 ? chosen : await inGroups(chosen, folder);
  const statements = process.env.STATEMENTS_FOLDER ?? join(folder, 'statements');
  const titles = join(folder, 'titles');
  const checksStatements = isAll || isQuick || given.length < all.length;
  const code = await runNode(
    [
      '--test',
      `--test-concurrency=${CONCURRENCY}`,
      '--test-timeout=1800000',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      ...(isAll ? [`--test-reporter=${PASSED_TITLES}`, `--test-reporter-destination=${titles}`] : []),
      ...flags,
      ...files,
    ],
    checksStatements ? { ...environment, ...(await recordingIn(statements)) } : environment,
  );
  if (isQuick) sayLeftOut(found.length - chosen.length);
  // On a cluster some tests are left out, so their sentences have no proof, and their statements are not recorded.
  if (code !== 0 || process.env.TEST_CITUS_URL !== undefined) return code;
  const proven = !isAll || (await provesContract(titles));
  const distributable = !checksStatements || (await canBeDistributed(statements, { whole: isAll }));
  return proven && distributable ? 0 : 1;
}

async function recordingIn(folder: string): Promise<NodeJS.ProcessEnv> {
  await mkdir(folder, { recursive: true });
  // Tests start programs as other users, too.
  await chmod(folder, 0o1777);
  return {
    STATEMENTS_FOLDER: folder,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${RECORD_STATEMENTS}`,
  };
}

function sayLeftOut(count: number): void {
  process.stdout.write(
    `\n${count} files that take longest were left out: pages in a browser, whole programs and servers. ` +
      'TEST_SIZE=full npm test runs them too, as .ci/run does.\n',
  );
}

/** False when the service issued a statement that Citus would refuse, or run on all nodes; says which. */
async function canBeDistributed(recorded: string, { whole }: { whole: boolean }): Promise<boolean> {
  const faults = checkStatements(await readStatements(recorded), { whole });
  return holds(faults, 'Mend each statement: docs/adr/0130-statements-for-citus.md.');
}

/** False when a sentence is proved by no test that passed; says which. */
async function provesContract(passed: string): Promise<boolean> {
  const sentences = parseContract(await readFile('docs/contract.md', 'utf8'));
  const faults = unprovenFaults(sentences, (await readFile(passed, 'utf8')).split('\n'));
  return holds(faults, 'Each needs a test that runs here, with its id in the title: CONTRIBUTING.md.');
}

/** Whether there are no faults; says each, and then what to do. */
function holds(faults: readonly string[], remedy: string): boolean {
  const lines = faults.length === 0 ? [] : [...faults, remedy];
  for (const line of lines) process.stderr.write(`${line}\n`);
  return faults.length === 0;
}

function runNode(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const forward = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function testsBelow(folder: string): string[] {
  return globSync(join(folder, '**/*.test.ts')).sort();
}

process.exitCode = await main();
