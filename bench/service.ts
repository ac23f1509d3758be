/** Starts what is measured: the service and its floor, each a process of its own, on one database. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Running {
  url: string;
  stop(): Promise<void>;
}

const ROOT = new URL('..', import.meta.url);

export async function startService(env: Record<string, string>): Promise<Running> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ['src/bin/interchange.ts', 'serve', '--port', String(port)], {
    cwd: ROOT,
    env: { ...process.env, LOG_LEVEL: 'warn', DRAIN_SECONDS: '0', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await answering(`${url}/readyz`, child);
  return { url, stop: () => stop(child) };
}

export async function startFloor(args: readonly string[]): Promise<Running> {
  const port = await freePort();
  const [databaseUrl = '', ...rest] = args;
  const child = fork(new URL('floor.ts', import.meta.url), [databaseUrl, String(port), ...rest]);
  await once(child, 'message');
  return { url: `http://127.0.0.1:${port}`, stop: () => stop(child) };
}

async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    const ready = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    await sleep(100);
  }
  throw new Error('the service did not become ready');
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
