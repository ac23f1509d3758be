/** What every part of a process stands on: database, keys, log, metrics, live callers, the access log. */

import { CommandError } from '../platform/command/command.ts';
import { createKeyRing, type KeyRing } from '../platform/crypto/key-ring.ts';
import { type ClockWatch, watchClock } from '../platform/db/clock-watch.ts';
import { openDataFolder } from '../platform/db/data-folder.ts';
import { clientConfig, createPool, type Pool } from '../platform/db/database.ts';
import type { DatabaseTime } from '../platform/db/database-time.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../platform/db/embedded-postgres.ts';
import { type LiveConnection, openLiveConnection } from '../platform/db/live-connection.ts';
import { letServiceRoleSignIn, migrate, pendingMigrations, SERVICE_ROLE } from '../platform/db/migrate.ts';
import { errorFields, type Log } from '../platform/log/log.ts';
import { createMetrics, type Metrics } from '../platform/metrics/metrics.ts';
import { type AccessLogWriter, createAccessLogWriter, HEAD_EVENT } from '../privacy/access-log.writer.ts';
import { type CallerDirectory, createCallerDirectory } from '../tenancy/caller-directory.ts';
import { LIVE_CHANNEL } from '../tenancy/live.ts';
import { logClock, registerClockGauge } from './clock.ts';
import type { Config } from './config/config.ts';
import { loadMasterKey } from './config/master-key.ts';
import { createHearing, type Hearing } from './hearing.ts';

/** The database of a process: where it is, and how it is let go of. */
export interface OpenDatabase {
  /** URL of the owner of the schema. */
  url: string;
  /** URL of a user who is the service's role and nothing more, where there is one. */
  serviceUrl: string | undefined;
  keys: KeyRing;
  release(): Promise<void>;
}

/** Join or start the embedded database, or take the configured one; and load the master key. */
export async function openDatabase(config: Config, log: Log): Promise<OpenDatabase> {
  // What is wrong with the folder is said before anything is kept in it.
  if (config.database.kind === 'embedded') await openDataFolder(config.dataDir);
  const keys = createKeyRing(await loadMasterKey(config));
  if (config.database.kind === 'url') {
    const { url, serviceUrl } = config.database;
    return { url, serviceUrl, keys, release: async () => undefined };
  }
  const embedded: EmbeddedPostgres = await openEmbeddedPostgres({ dataDir: config.dataDir, log });
  const serviceUrl = new URL(embedded.url);
  serviceUrl.username = SERVICE_ROLE;
  serviceUrl.password = servicePassword(keys);
  return { url: embedded.url, serviceUrl: serviceUrl.href, keys, release: () => embedded.release() };
}

/** Password of the service's role in the embedded database. */
function servicePassword(keys: KeyRing): string {
  return keys.derive('database-service-role').toString('hex');
}

/**
 * Make sure that the schema is that of this version. The embedded database is migrated as it is met, and its
 * service role may sign in; an operator's own is left to `interchange migrate`.
 */
export async function requireSchema({ url, keys }: OpenDatabase, config: Config): Promise<void> {
  if (config.database.kind === 'embedded') {
    await migrate(url);
    await letServiceRoleSignIn(url, servicePassword(keys));
    return;
  }
  const pending = await pendingMigrations(url);
  if (pending.length > 0)
    throw new CommandError(
      `The database lacks ${pending.length} migration(s), from ${pending[0]} on. Run: npx interchange migrate`,
    );
}

export interface Runtime {
  config: Config;
  /** URL of the owner of the schema. */
  url: string;
  log: Log;
  /** The clock of this machine. */
  now: () => Date;
  databaseTime: () => DatabaseTime;
  clock: ClockWatch;
  metrics: Metrics;
  keys: KeyRing;
  /** Acts as the service's role. */
  db: Pool;
  /** Acts as the owner of the schema: partitions only. */
  owner: Pool;
  live: LiveConnection;
  callers: CallerDirectory;
  accessLog: AccessLogWriter;
  hearing: Hearing;
  close(): Promise<void>;
}

export interface RuntimeOptions {
  config: Config;
  log: Log;
  now: () => Date;
  /** Names another time than the clock of the database; for tests. */
  databaseTime?: () => DatabaseTime;
  /** URL of the owner, from {@link openDatabase}. */
  url: string;
  /** See {@link OpenDatabase}; without it, the owner acts as the service's role. */
  serviceUrl?: string | undefined;
  keys: KeyRing;
}

export async function buildRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { config, log, now, databaseTime = () => null, url, serviceUrl = url, keys } = options;
  const metrics = createMetrics();
  const onError = (error: Error) => log.warn(errorFields(error), 'database connection lost');
  const role = SERVICE_ROLE;
  const db = createPool(
    { url: serviceUrl, max: config.databaseConnections, applicationName: 'interchange', role },
    onError,
  );
  const owner = createPool({ url, max: 2, applicationName: 'interchange owner' }, onError);
  const clock = await watchClock({
    db,
    now,
    databaseTime,
    maxSkewSeconds: config.clockMaxSkewSeconds,
    onChange: (watch) => logClock(log, watch),
  });
  registerClockGauge(metrics.registry, clock);
  const callers = createCallerDirectory(db, databaseTime);
  const live = await openLiveConnection({
    config: clientConfig({ url: serviceUrl, applicationName: 'interchange live', role }),
    channels: [LIVE_CHANNEL],
    onNotification: (_channel, payload) => callers.onNotification(payload),
    onStateChange: (up) => callers.setListening(up),
    onError,
  });
  const hearing = createHearing(live, () => callers.forget());
  const accessLog = createAccessLogWriter({
    pool: db,
    connection: () => hearing.connection(),
    key: keys.derive('access-log'),
    now,
    onError: (error) => log.error(errorFields(error), 'access log not written'),
    onGroup: (entries) => {
      metrics.accessLogEntries.inc(entries);
      metrics.accessLogGroups.inc();
    },
  });
  const heads = setInterval(() => noteHead(accessLog, log), HEAD_NOTES_MS).unref();
  return {
    config,
    url,
    log,
    now,
    databaseTime,
    clock,
    metrics,
    keys,
    db,
    owner,
    live,
    callers,
    accessLog,
    hearing,
    async close() {
      clearInterval(heads);
      clock.close();
      await accessLog.close();
      noteHead(accessLog, log);
      await live.close();
      await Promise.all([db.end(), owner.end()]);
    },
  };
}

const HEAD_NOTES_MS = 60_000;

/** Says in the log how far this writer's chain has come: what is kept outside the database shows a rollback. */
function noteHead(accessLog: AccessLogWriter, log: Log): void {
  const head = accessLog.head();
  if (head === undefined) return;
  const { writerId, sequence, hash } = head;
  log.info({ event: HEAD_EVENT, writerId, count: sequence, hash }, 'head of the access log chain');
}
