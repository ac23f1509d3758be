/** Starts, finds and stops the server process of one PostgreSQL data folder. */
import { execFile } from 'node:child_process';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './postgres-binaries.ts';
import type { ClusterPlace } from './postgres-cluster.ts';

const START_TIMEOUT_MS = 60_000;
/** Recovery after a crash may take longer than a start. */
const READY_TIMEOUT_SECONDS = 300;
const LOG_LIMIT_BYTES = 10_000_000;

/** What must hold whatever postgresql.conf says: loopback only, and no statement or value in the log. */
const FIXED_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_checkpoints: 'off',
  log_timezone: 'UTC',
  timezone: 'UTC',
};

export interface RunningServer {
  pid: number;
  port: number;
}

export interface StartOptions {
  /** The port must stay what it was, because others use it. */
  keepPort: boolean;
  settings: Readonly<Record<string, string>>;
}

/** The live server of the data folder, if there is one. */
export async function findServer(clusterDir: string): Promise<RunningServer | undefined> {
  const lines = (await readPidFile(clusterDir))?.split('\n') ?? [];
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!Number.isInteger(pid) || pid <= 0 || !Number.isInteger(port) || port <= 0) return undefined;
  return (await isPostmaster(pid, clusterDir)) ? { pid, port } : undefined;
}

/** Start the server; call it only while no other process can start or stop it. */
export async function startServer(place: ClusterPlace, options: StartOptions): Promise<RunningServer> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  let port = (await lastPort(place.clusterDir)) ?? (await freePort());
  for (;;) {
    await removeStalePidFile(place.clusterDir);
    const failure = await tryStart(place, port, options.settings);
    const server = await findServer(place.clusterDir);
    if (server !== undefined) return server;
    const portTaken = /could not bind|could not create any TCP\/IP sockets/.test(failure);
    // Backends of a killed server hold its shared memory until they notice.
    const passing = portTaken || /pre-existing shared memory|lock file/.test(failure);
    if (!passing || performance.now() > deadline)
      throw new EmbeddedPostgresError(`PostgreSQL in ${place.clusterDir} did not start: ${failure.trim()}`);
    if (portTaken && !options.keepPort) port = await freePort();
    else await sleep(250);
  }
}

/** Stop the server: sessions are ended, everything is written. Returns once the process is gone. */
export async function stopServer(
  place: Pick<ClusterPlace, 'clusterDir' | 'binaries' | 'user'>,
): Promise<void> {
  const server = await findServer(place.clusterDir);
  if (server === undefined) return;
  // A signal needs no rights in the data folder; Windows has none.
  if (process.platform === 'win32')
    await place.user.run(place.binaries.pg_ctl, ['stop', '-D', place.clusterDir, '-m', 'fast']);
  else process.kill(server.pid, 'SIGINT');
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (await isPostmaster(server.pid, place.clusterDir)) {
    if (performance.now() > deadline)
      throw new EmbeddedPostgresError(`PostgreSQL (process ${server.pid}) did not stop within 60 s.`);
    await sleep(25);
  }
}

/** One attempt; returns what went wrong. */
async function tryStart(
  place: ClusterPlace,
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<string> {
  const log = join(place.clusterDir, 'server.log');
  const before = await startLog(log);
  const all = Object.entries({ ...FIXED_SETTINGS, ...settings }).map(
    ([name, value]) => `-c ${name}='${value}'`,
  );
  const { output } = await place.user.run(place.binaries.pg_ctl, [
    ...['start', '-w', '-t', String(READY_TIMEOUT_SECONDS), '-D', place.clusterDir, '-l', log],
    ...['-o', `-p ${port} ${all.join(' ')}`],
  ]);
  const logged = await readFile(log, 'utf8').catch(() => '');
  return `${output}\n${Buffer.from(logged).subarray(before).toString()}`;
}

/** Size of the log before a start; a large one is put aside, and the one put aside before is dropped. */
async function startLog(log: string): Promise<number> {
  const size = await stat(log).then(
    (found) => found.size,
    () => 0,
  );
  if (size < LOG_LIMIT_BYTES) return size;
  await rename(log, `${log}.old`);
  return 0;
}

/** A crash leaves the file; when its process id belongs to something else by now, PostgreSQL would not start. */
async function removeStalePidFile(clusterDir: string): Promise<void> {
  if ((await findServer(clusterDir)) === undefined)
    await rm(join(clusterDir, 'postmaster.pid'), { force: true });
}

async function readPidFile(clusterDir: string): Promise<string | undefined> {
  return readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** PostgreSQL keeps the command line of its last start, the port with it. */
async function lastPort(clusterDir: string): Promise<number | undefined> {
  const text = await readFile(join(clusterDir, 'postmaster.opts'), 'utf8').catch(() => '');
  const port = /"-p" "(\d+)"/.exec(text)?.[1];
  return port === undefined ? undefined : Number(port);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** The process lives and is the server of this folder: its command line names the folder. */
async function isPostmaster(pid: number, clusterDir: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandLine.split('\0').includes(clusterDir);
  }
  if (process.platform === 'win32') return isAlive(pid);
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-p', String(pid), '-o', 'args=']).catch(() => ({
    stdout: '',
  }));
  return stdout.includes(clusterDir);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
