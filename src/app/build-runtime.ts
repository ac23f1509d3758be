/** What every part of a process stands on: database, keys, log, metrics, live callers, the access log. */

import { createKeyRing, type KeyRing } from '../platform/crypto/key-ring.ts';
import { clientConfig, createPool, type Pool } from '../platform/db/database.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../platform/db/embedded-postgres.ts';
import { type LiveConnection, openLiveConnection } from '../platform/db/live-connection.ts';
import { SERVICE_ROLE } from '../platform/db/migrate.ts';
import { errorFields, type Log } from '../platform/log/log.ts';
import { createMetrics, type Metrics } from '../platform/metrics/metrics.ts';
import { type AccessLogWriter, createAccessLogWriter } from '../privacy/access-log.writer.ts';
import { type CallerDirectory, createCallerDirectory } from '../tenancy/caller-directory.ts';
import { LIVE_CHANNEL } from '../tenancy/live.ts';
import type { Config } from './config/config.ts';
import { loadMasterKey } from './config/master-key.ts';
import { createHearing, type Hearing } from './hearing.ts';

/** The database of a process: where it is, and how it is let go of. */
export interface OpenDatabase {
  /** URL of the owner of the schema. */
  url: string;
  keys: KeyRing;
  release(): Promise<void>;
}

/** Join or start the embedded database, or take the configured one; and load the master key. */
export async function openDatabase(config: Config, log: Log): Promise<OpenDatabase> {
  if (config.database.kind === 'url') {
    const keys = createKeyRing(await loadMasterKey(config));
    return { url: config.database.url, keys, release: async () => undefined };
  }
  const keys = createKeyRing(await loadMasterKey(config));
  const embedded: EmbeddedPostgres = await openEmbeddedPostgres({ dataDir: config.dataDir, log });
  return { url: embedded.url, keys, release: () => embedded.release() };
}

export interface Runtime {
  config: Config;
  /** URL of the owner of the schema. */
  url: string;
  log: Log;
  now: () => Date;
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
  /** URL of the owner, from {@link openDatabase}. */
  url: string;
  keys: KeyRing;
}

export async function buildRuntime({ config, log, now, url, keys }: RuntimeOptions): Promise<Runtime> {
  const metrics = createMetrics();
  const onError = (error: Error) => log.warn(errorFields(error), 'database connection lost');
  const role = SERVICE_ROLE;
  const db = createPool(
    { url, max: config.databaseConnections, applicationName: 'interchange', role },
    onError,
  );
  const owner = createPool({ url, max: 2, applicationName: 'interchange owner' }, onError);
  const callers = createCallerDirectory(db);
  const live = await openLiveConnection({
    config: clientConfig({ url, applicationName: 'interchange live', role }),
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
  return {
    config,
    url,
    log,
    now,
    metrics,
    keys,
    db,
    owner,
    live,
    callers,
    accessLog,
    hearing,
    async close() {
      await accessLog.close();
      await live.close();
      await Promise.all([db.end(), owner.end()]);
    },
  };
}
