/** The processes of the service, each started again when it ends, and the PostgreSQL that they share. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../src/bin/interchange.ts', import.meta.url));
/** Before a process that ended is started again, so that one that cannot start does not keep the machine busy. */
const RESTART_MS = 300;
/** Longer than a process takes to finish its requests and to give back its leases. */
const STOP_MS = 60_000;

export interface Supervised {
  readonly name: string;
  /** The process itself, and those that it started. */
  pids(): Promise<number[]>;
  /** Resolves once it runs, also after it was killed. */
  up(): Promise<void>;
  /** SIGKILL for all of it. */
  killAll(): Promise<void>;
  /** SIGKILL for one of those that it started; for itself when there are none. */
  killOne(pick: (pids: readonly number[]) => number): Promise<void>;
  /** SIGTERM, and the exit code; null when it does not end. It is not started again. */
  stop(): Promise<number | null>;
  /** Each of its processes begins to. */
  collectGarbage(): Promise<void>;
  /** SIGKILL for all of it, for good. */
  abandon(): Promise<void>;
  /** Messages of its log that say that something unforeseen happened. */
  readonly surprises: string[];
}

/** Keep `interchange <args>` running. What it writes goes to a file of `folder`. */
export function supervise(
  name: string,
  args: readonly string[],
  { env, folder }: { env: Record<string, string>; folder: string },
): Supervised {
  const log = createWriteStream(join(folder, `${name}.log`));
  const surprises: string[] = [];
  let stopping = false;
  let child = start();
  process.once('exit', () => signal(-(child.pid ?? 0), 'SIGKILL'));

  function start(): ChildProcess {
    const { PATH = '', HOME = '' } = process.env;
    const started = spawn(process.execPath, [PROGRAM, ...args], {
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C on a terminal reaches the soak alone.
      detached: true,
    });
    for (const stream of [started.stdout, started.stderr])
      createInterface(stream).on('line', (line) => {
        log.write(`${line}\n`);
        const message = surpriseIn(line);
        if (message !== undefined) surprises.push(`${name}: ${message}`);
      });
    started.once('exit', () => {
      if (!stopping)
        setTimeout(() => {
          if (!stopping) child = start();
        }, RESTART_MS);
    });
    return started;
  }

  const pids = async () => [child.pid ?? 0, ...(await childrenOf(child.pid ?? 0))];
  return {
    name,
    surprises,
    pids,
    async up() {
      while (child.exitCode !== null || child.signalCode !== null) await sleep(50);
    },
    async killAll() {
      for (const pid of await pids()) kill(pid);
    },
    async killOne(pick) {
      const [own = 0, ...others] = await pids();
      kill(others.length === 0 ? own : pick(others));
    },
    async stop() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = once(child, 'exit').then(([code]) => code as number | null);
      child.kill('SIGTERM');
      return (await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })])) ?? null;
    },
    async collectGarbage() {
      for (const pid of await pids()) signal(pid, 'SIGUSR2');
    },
    async abandon() {
      stopping = true;
      for (const pid of await pids()) kill(pid);
      log.end();
    },
  };
}

/** What only a fault of ours writes. Outages are warnings, and they are expected here. */
function surpriseIn(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined;
  const { msg, errorName, errorCode } = JSON.parse(line) as Record<string, string | undefined>;
  if (msg !== 'unexpected error' && msg !== 'unhandled rejection') return undefined;
  return `${msg} (${errorName ?? 'no name'}, ${errorCode ?? 'no code'})`;
}

/** Of Linux; without it, none are known. */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

export function kill(pid: number): void {
  signal(pid, 'SIGKILL');
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    if (pid !== 0) process.kill(pid, name);
  } catch {
    // It ended by itself meanwhile.
  }
}
