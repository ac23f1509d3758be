/** Starts, finds and stops the server process of one PostgreSQL data folder. Contract: OPS-8, OPS-10. */
import { readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastingPort } from './lasting-port.ts';
import { EmbeddedPostgresError, ServerNotStarted } from './postgres-binaries.ts';
import { type ClusterPlace, diskFull, saysDiskFull } from './postgres-cluster.ts';
import {
  endOrphans,
  findServer,
  isPostmaster,
  processNamespace,
  type RunningServer,
} from './postgres-process.ts';

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

/** Says in the command line of a server where its process can be seen. PostgreSQL takes any setting with a dot in its name. */
const NAMESPACE = 'interchange.process_namespace';

/**
 * Start the server; call it only while no other process can start or stop it. With `keepPort` it waits for
 * the port that it had, because others use it.
 */
export async function startServer(place: ClusterPlace, keepPort: boolean): Promise<RunningServer> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  let port = (await lastPort(place.clusterDir)) ?? (await lastingPort());
  for (;;) {
    await removeStalePidFile(place.clusterDir);
    const failure = await tryStart(place, port);
    const server = await findServer(place.clusterDir);
    if (server !== undefined) return server;
    if (saysDiskFull(failure) || (await hasNoRoom(place.clusterDir))) throw diskFull(place.dataDir);
    const portTaken = /could not bind|could not create any TCP\/IP sockets/.test(failure);
    const memoryHeld = /pre-existing shared memory/.test(failure);
    const passing = portTaken || memoryHeld || /lock file/.test(failure);
    if (!passing || performance.now() > deadline)
      throw new ServerNotStarted(`PostgreSQL in ${place.clusterDir} did not start: ${failure.trim()}`);
    if (memoryHeld) await endOrphans(place.clusterDir);
    if (portTaken && !keepPort) port = await lastingPort();
    else await sleep(250);
  }
}

/** The log of the server has no room either, so it may not say so. */
async function hasNoRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize < 2 ** 20;
}

/** Stop the server: sessions are ended, everything is written. Returns once the process is gone. */
export async function stopServer(
  place: Pick<ClusterPlace, 'clusterDir' | 'binaries' | 'user'>,
): Promise<void> {
  const server = await findServer(place.clusterDir);
  if (server === undefined) return;
  // A signal needs no rights in the data folder. Windows has no signals.
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

/** One attempt. Returns what pg_ctl printed and the server logged, which tells why a start failed. */
async function tryStart(place: ClusterPlace, port: number): Promise<string> {
  const log = join(place.clusterDir, 'server.log');
  const before = await startLog(log);
  const namespace = await processNamespace();
  const seen = namespace === undefined ? {} : { [NAMESPACE]: namespace };
  const all = Object.entries({ ...FIXED_SETTINGS, ...seen, ...place.settings }).map(
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

/** PostgreSQL keeps the command line of its last start, the port with it. */
async function lastPort(clusterDir: string): Promise<number | undefined> {
  const port = /"-p" "(\d+)"/.exec(await lastCommandLine(clusterDir))?.[1];
  return port === undefined ? undefined : Number(port);
}

/** Whether the last start was in another container: this process does not see whether that server runs. */
export async function wasStartedElsewhere(clusterDir: string): Promise<boolean> {
  const last = new RegExp(`"${NAMESPACE}=(\\d+)"`).exec(await lastCommandLine(clusterDir))?.[1];
  const own = await processNamespace();
  return last !== undefined && own !== undefined && last !== own;
}

async function lastCommandLine(clusterDir: string): Promise<string> {
  return readFile(join(clusterDir, 'postmaster.opts'), 'utf8').catch(() => '');
}
