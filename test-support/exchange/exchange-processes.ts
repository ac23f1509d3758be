/**
 * Real processes of the service on a database that may die: an API, workers and commands, for tests that kill them. As
 * under a supervisor (docs/operations.md), one that ends is started again: a start ends when the database is down.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endProcess } from '../service/end-process.ts';
import { freePort } from '../service/free-port.ts';

const PROGRAM = fileURLToPath(new URL('../../src/bin/interchange.ts', import.meta.url));

export interface Service {
  baseUrl: string;
  /** Run `interchange` with `--json` and return its document. */
  command(...args: string[]): Promise<Record<string, unknown>>;
  /** Start the API and two workers. */
  start(): void;
  /** Kill one of them the hard way. */
  kill(index: number): Promise<void>;
  /** Processes, the API first. */
  readonly count: number;
  stop(): Promise<void>;
  /** What processes wrote to their logs. */
  logs(): string;
}

export async function createService(env: Record<string, string>): Promise<Service> {
  const port = await freePort();
  const environment = { ...process.env, LOG_LEVEL: 'warn', DRAIN_SECONDS: '0', PORT: String(port), ...env };
  const roles = ['api', 'worker', 'worker'];
  const processes: ChildProcess[] = [];
  let logged = '';
  let stopping = false;

  function run(index: number): void {
    const child = spawn(
      process.execPath,
      [PROGRAM, 'serve', '--role', roles[index] ?? 'worker', '--port', String(port)],
      {
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const take = (chunk: Buffer) => {
      logged += chunk.toString();
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('exit', () => {
      if (!stopping) run(index);
    });
    processes[index] = child;
  }

  return {
    baseUrl: `http://127.0.0.1:${port}/api/v1`,
    count: roles.length,
    async command(...args) {
      const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...args, '--json'], {
        env: environment,
      });
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    start() {
      for (const index of roles.keys()) run(index);
    },
    async kill(index) {
      const child = processes[index];
      if (child !== undefined) await endProcess(child, 'SIGKILL');
    },
    async stop() {
      stopping = true;
      await Promise.all(processes.map((child) => endProcess(child)));
    },
    logs: () => logged,
  };
}
