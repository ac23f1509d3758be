/** The one way of starting what is measured: the service, its commands, and the HTTP floor, each as a process. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { endProcess } from '../test-support/service/end-process.ts';
import { freePort } from '../test-support/service/free-port.ts';
import { cpuMsOf } from './cpu.ts';

export interface Running {
  url: string;
  /** Milliseconds from its start to its first answer. */
  startedMs: number;
  memory(): Promise<Memory>;
  /** Processor time since its start. */
  cpuMs(): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** Resident memory in MB. Undefined where the system has no /proc. */
export interface Memory {
  nowMb: number | undefined;
  peakMb: number | undefined;
}

const ROOT = new URL('..', import.meta.url);
const START_TIMEOUT_MS = 60_000;
/** As `npm start`, the container and the systemd unit start it. */
const SERVICE_FLAGS = ['--max-semi-space-size=16'];
/** Anyone may ask for it, and nothing answers before everything is ready. */
const FIRST_ANSWER = '/api/v1/encounters/fhir/metadata';

export async function startService(
  env: Record<string, string>,
  options: readonly string[] = [],
  flags: readonly string[] = [],
): Promise<Running> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const begunMs = performance.now();
  const child = run(['serve', '--port', String(port), ...options], env, 'ignore', [
    ...SERVICE_FLAGS,
    ...flags,
  ]);
  await answering(`${url}${FIRST_ANSWER}`, child);
  return {
    url,
    startedMs: performance.now() - begunMs,
    memory: () => memoryOf(child.pid),
    cpuMs: () => cpuMsOf(child.pid),
    stop: () => endProcess(child),
  };
}

/** `floors/http.ts`, on one database. */
export async function startFloor(
  databaseUrl: string,
  place: { organisationId: string; facilityId: string },
): Promise<Pick<Running, 'url' | 'stop'>> {
  const port = await freePort();
  const child = fork(new URL('floors/http.ts', import.meta.url), [
    databaseUrl,
    String(port),
    place.organisationId,
    place.facilityId,
  ]);
  await once(child, 'message');
  return { url: `http://127.0.0.1:${port}`, stop: () => endProcess(child) };
}

/** A command to its end: the JSON that it printed, its time, and the most memory that it had. */
export async function runCommand<T>(
  args: readonly string[],
  env: Record<string, string>,
): Promise<{ document: T; seconds: number; peakMb: number | undefined }> {
  const begunMs = performance.now();
  const child = run([...args, '--json'], env, 'pipe');
  if (child.stdout === null) throw new Error('The command has no output.');
  let peakMb: number | undefined;
  const watch = setInterval(async () => {
    const { peakMb: seen } = await memoryOf(child.pid);
    if (seen !== undefined) peakMb = Math.max(peakMb ?? 0, seen);
  }, 50);
  const ended = once(child, 'exit');
  try {
    const document = (await json(child.stdout)) as T;
    await ended;
    return { document, seconds: (performance.now() - begunMs) / 1_000, peakMb };
  } finally {
    clearInterval(watch);
  }
}

function run(
  args: readonly string[],
  env: Record<string, string>,
  stdout: 'ignore' | 'pipe',
  flags: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [...flags, 'src/bin/launch.js', ...args], {
    cwd: ROOT,
    env: { ...process.env, LOG_LEVEL: 'warn', DRAIN_SECONDS: '0', ...env },
    stdio: ['ignore', stdout, 'inherit'],
  });
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}.`);
    const answered = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (answered) return;
    await sleep(10);
  }
  throw new Error('The service did not answer in time.');
}

/** The peak is of the whole life of the process (`VmHWM`). */
async function memoryOf(pid: number | undefined): Promise<Memory> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const megabytes = (name: string) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024);
  };
  return { nowMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') };
}
