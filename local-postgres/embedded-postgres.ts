/**
 * The PostgreSQL that the service brings along, kept under the data folder (docs/adr/0002).
 *
 * Any number of processes use one server. Each holds a shared lock while it does; whoever releases last stops
 * the server. Starting and stopping happen under an exclusive lock, so that they never meet. Both locks end
 * with their process, so a killed one leaves nothing behind.
 * Contract: CMD-18, OPS-1, OPS-8, OPS-38.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { errorFields, type Log } from '../src/platform/log/log.ts';
import { type DataFolder, openDataFolder, readOrMakePassword } from './data-folder.ts';
import { type FileLock, tryLock, waitForLock } from './file-lock.ts';
import { EmbeddedPostgresError, findPostgresBinaries } from './postgres-binaries.ts';
import { type ClusterPlace, DATABASE_OWNER, diskFull, prepareCluster } from './postgres-cluster.ts';
import { findServer, type RunningServer } from './postgres-process.ts';
import { startServer, stopServer, wasStartedElsewhere } from './postgres-server.ts';
import { choosePostgresUser } from './postgres-user.ts';
import { finishPutBack, planPutBack } from './put-back.ts';

const DATABASE = 'interchange';
/** Longer than PostgreSQL gets to recover from a crash (300 s). */
const GATE_TIMEOUT_MS = 330_000;
const WATCH_MS = 500;
const DISK_FULL = '53100';
const CANNOT_CONNECT_NOW = '57P03';
/** A server that starts, recovers or ends: the last three are admin_shutdown, crash_shutdown and cannot_connect_now. */
const PASSING: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  '57P01',
  '57P02',
  CANNOT_CONNECT_NOW,
]);

export interface EmbeddedPostgresOptions {
  dataDir: string;
  /** Told of starts and failures. */
  log?: ServerLog | undefined;
  /** Settings of the server beyond the usual ones, if this process is the one that starts it. */
  settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** URL of the owner of the database; good until release, also when the server had to be started again. */
  url: string;
  /** PostgreSQL's own data folder. */
  clusterDir: string;
  /** Stop using the server; the last user stops it. */
  release(): Promise<void>;
}

interface Site extends ClusterPlace {
  folder: DataFolder;
}

type ServerLog = Pick<Log, 'info' | 'error'>;

const SILENT: ServerLog = { info: () => undefined, error: () => undefined };

/** Join the server that runs on the data folder, or start it, making the folder first when there is none. */
export async function openEmbeddedPostgres({
  dataDir,
  log = SILENT,
  settings = {},
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const site = await findSite(dataDir, settings);
  const password = await readOrMakePassword(site.dataDir);
  const { use, server } = await behindGate(site, async () => {
    const alone = tryLock(site.folder.users, 'exclusive');
    alone?.release();
    const share = takeShare(site);
    try {
      const ready = await openServer(site, { isUsed: alone === undefined, password, log });
      return { use: share, server: ready };
    } catch (error) {
      // Stopped while it recovers, it would begin with that anew at the next start.
      if ((error as { cause?: { code?: string } }).cause?.code === CANNOT_CONNECT_NOW) share.release();
      // It may have been started. Why it cannot be used says more than why it cannot be stopped.
      else await leave(site, share).catch(() => undefined);
      throw error;
    }
  });
  const stopWatching = watch(site, log);
  return {
    url: databaseUrl(server, password, DATABASE),
    clusterDir: site.clusterDir,
    async release() {
      await stopWatching();
      await behindGate(site, () => leave(site, use));
    },
  };
}

/** Stop the server that a killed process left running on a data folder. False when the folder is in use. */
export async function stopAbandoned(dataDir: string): Promise<boolean> {
  const site = await findSite(dataDir);
  return behindGate(site, async () => {
    const alone = tryLock(site.folder.users, 'exclusive');
    if (alone === undefined) return false;
    await stopServer(site);
    alone.release();
    return true;
  });
}

/** A data folder whose database nobody uses, and nobody can, until it is released. */
export interface UnusedFolder {
  path: string;
  /** Replace the database by the one prepared in `stage`, a folder in this one. What was there goes to the folder `before`. */
  putBack(stage: string, before: string): Promise<void>;
  release(): void;
}

/** Undefined while a process uses the database of the folder. */
export async function holdUnused(dataDir: string): Promise<UnusedFolder | undefined> {
  const site = await findSite(dataDir);
  const alone = await behindGate(site, async () => tryLock(site.folder.users, 'exclusive'));
  if (alone === undefined) return undefined;
  return {
    path: site.dataDir,
    putBack: (stage, before) =>
      behindGate(site, async () => {
        // A killed process may have left it running.
        await stopServer(site);
        await planPutBack(site.dataDir, { stage, before });
        await finishPutBack(site.dataDir);
      }),
    release: () => alone.release(),
  };
}

async function findSite(dataDir: string, settings: ClusterPlace['settings'] = {}): Promise<Site> {
  const binaries = await findPostgresBinaries();
  const folder = await openDataFolder(dataDir);
  const clusterDir = join(folder.path, 'postgresql');
  const user = await choosePostgresUser(binaries.postgres, folder.path, clusterDir);
  return { folder, dataDir: folder.path, clusterDir, binaries, user, settings };
}

async function behindGate<T>(site: Site, work: () => Promise<T>): Promise<T> {
  const gate = await waitForLock(site.folder.gate, GATE_TIMEOUT_MS);
  if (gate === undefined)
    throw new EmbeddedPostgresError(
      `Another process is starting or stopping the PostgreSQL server of ${site.dataDir} and did not finish in time. Try again; if that fails, look for a process that hangs.`,
    );
  try {
    return await work();
  } finally {
    gate.release();
  }
}

interface OpenOptions {
  /** True while others use the server. */
  isUsed: boolean;
  password: string;
  log: ServerLog;
}

/** The server with its database. One that was found may still be recovering from a crash, or be ending. */
async function openServer(site: Site, { isUsed, password, log }: OpenOptions): Promise<RunningServer> {
  const deadline = performance.now() + GATE_TIMEOUT_MS;
  for (;;) {
    const server = await joinOrStart(site, isUsed, log);
    try {
      await ensureDatabase(databaseUrl(server, password, 'postgres'));
      return server;
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      if (code === DISK_FULL) throw diskFull(site.dataDir);
      // pg gives no code for a server that is gone without a word.
      const passing = PASSING.has(code) || message === 'Connection terminated unexpectedly';
      if (!passing || performance.now() > deadline)
        throw new EmbeddedPostgresError(`The embedded PostgreSQL cannot be used: ${message}`, {
          cause: error,
        });
      await sleep(100);
    }
  }
}

/** `isUsed`: by others too, who expect it on its port. */
async function joinOrStart(site: Site, isUsed: boolean, log: ServerLog): Promise<RunningServer> {
  const running = await findServer(site.clusterDir);
  if (running?.isStopping === false) return running;
  // Told so with SIGTERM, it waits for sessions, which its users keep open: it would never end. This tells it not to wait.
  if (running !== undefined) await stopServer(site);
  // Two servers on one folder destroy the database.
  if (isUsed && (await wasStartedElsewhere(site.clusterDir)))
    throw new EmbeddedPostgresError(
      `The database in ${site.dataDir} is in use in another container. Run the command there, or stop what runs there.`,
    );
  // Since the folder was opened, a restore may have begun to replace the database. A new one must not be made then.
  await finishPutBack(site.dataDir);
  // It was moved away, or its disk unmounted. Those who are at work go on with it, so a second database must not be made here.
  if (isUsed && !existsSync(site.clusterDir))
    throw new EmbeddedPostgresError(
      `The database in ${site.dataDir} is in use, but ${site.clusterDir} is no longer there. Put it back, or stop the processes that use it.`,
    );
  await prepareCluster(site);
  const server = await startServer(site, isUsed);
  log.info({ port: server.port, pid: server.pid }, 'PostgreSQL started');
  return server;
}

function takeShare(site: Site): FileLock {
  const share = tryLock(site.folder.users, 'shared');
  if (share === undefined)
    throw new EmbeddedPostgresError(
      `Another program has locked ${site.folder.users}. Stop it, then try again.`,
    );
  return share;
}

async function leave(site: Site, use: FileLock): Promise<void> {
  use.release();
  const alone = tryLock(site.folder.users, 'exclusive');
  if (alone === undefined) return;
  try {
    await stopServer(site);
  } finally {
    alone.release();
  }
}

/** Starts the server again when it is gone while in use, on its port, so that pools find it. The result ends this. */
function watch(site: Site, log: ServerLog): () => Promise<void> {
  const stopping = new AbortController();
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(WATCH_MS, undefined, { ref: false, signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      try {
        if ((await findServer(site.clusterDir))?.isStopping === false) continue;
        log.error({}, 'PostgreSQL stopped unexpectedly; starting it again');
        await behindGate(site, () => joinOrStart(site, true, log));
      } catch (error) {
        log.error(errorFields(error), 'PostgreSQL could not be started again');
      }
    }
  })();
  return async () => {
    stopping.abort();
    await ended;
  };
}

function databaseUrl(server: RunningServer, password: string, database: string): string {
  return `postgres://${DATABASE_OWNER}:${password}@127.0.0.1:${server.port}/${database}`;
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'interchange embedded' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
