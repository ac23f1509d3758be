/** Folders and processes for the tests of the embedded PostgreSQL. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
  stopAbandoned,
} from '../../local-postgres/embedded-postgres.ts';
import { endProcess } from '../service/end-process.ts';
import { waitUntil } from '../wait-until.ts';

const HOLD = fileURLToPath(new URL('hold-postgres.ts', import.meta.url));

export interface Holder {
  url: string;
  process: ChildProcess;
  /** Kill it the hard way and wait until it is gone. */
  kill(): Promise<void>;
  /** Let it release; resolves with its exit code. */
  release(): Promise<number | null>;
}

/** A new folder; `remove` stops what runs on it. */
export async function makeDataDir(): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'interchange-embedded-'));
  const path = join(folder, 'data');
  return {
    path,
    async remove() {
      await stopAbandoned(path);
      await rm(folder, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** Use the server from this process. Commits are not flushed: the tests kill processes, not the machine. */
export function openHere(dataDir: string): Promise<EmbeddedPostgres> {
  return openEmbeddedPostgres({ dataDir, settings: { fsync: 'off', shared_buffers: '16MB' } });
}

/** Use the server from another process, started through `prefix` (a command that runs its arguments). */
export async function openElsewhere(dataDir: string, prefix: readonly string[] = []): Promise<Holder> {
  const child = startHolder(dataDir, prefix);
  const line = await firstLine(child);
  return {
    url: (JSON.parse(line) as { url: string }).url,
    process: child,
    kill: () => endProcess(child, 'SIGKILL'),
    async release() {
      const gone = once(child, 'exit');
      child.stdin?.end();
      return (await gone)[0] as number | null;
    },
  };
}

export function startHolder(dataDir: string, prefix: readonly string[] = []): ChildProcess {
  const [program = '', ...args] = [...prefix, process.execPath, HOLD, dataDir];
  return spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
}

async function firstLine(child: ChildProcess): Promise<string> {
  let errors = '';
  child.stderr?.on('data', (text) => {
    errors += text;
  });
  if (child.stdout === null) throw new Error('The process has no output.');
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error(`The process ended before it had the database: ${errors}`);
}

/** The first row of one statement on a connection of its own. */
export async function ask(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text, values)).rows[0] ?? {};
  } finally {
    await client.end();
  }
}

/** Ask again until the server answers. */
export function askUntilAnswered(url: string, text: string): Promise<Record<string, unknown>> {
  return waitUntil(() => ask(url, text).catch(() => undefined), `the server answers ${text}`);
}

export async function serverPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgresql', 'postmaster.pid'), 'utf8'), 10);
}

/** False also for a process that has ended when its parent has not noticed yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`).length > 0;
  } catch {
    return false;
  }
}

/** Wait until a process is gone. */
export async function untilGone(pid: number): Promise<void> {
  await waitUntil(() => !isAlive(pid), `process ${pid} is gone`);
}
