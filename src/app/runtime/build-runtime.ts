/** What every part of a process stands on: database, keys, log, metrics, live callers, the access log. */

import { DELIVERY_CHANNEL } from '../../exchange/queue/delivery-call.ts';
import { type ClockWatch, watchClock } from '../../platform/db/clock-watch.ts';
import { type LiveConnection, openLiveConnection } from '../../platform/db/connection/live-connection.ts';
import { createPool, type Pool, type PoolOptions } from '../../platform/db/database.ts';
import type { DatabaseTime } from '../../platform/db/database-time.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { createWriteWatch, type WriteWatch } from '../../platform/db/write-watch.ts';
import { errorFields, type Log } from '../../platform/log/log.ts';
import { createMetrics, type Metrics } from '../../platform/metrics/metrics.ts';
import {
  type AccessLogWriter,
  APPEND_LIMIT_MS,
  createAccessLogWriter,
  HEAD_EVENT,
  RENEWED_EVENT,
} from '../../privacy/access-log/access-log.writer.ts';
import { newestChainKey } from '../../privacy/access-log/access-log-keys.ts';
import { type ActivityRecorder, createActivityRecorder } from '../../tenancy/activity/record-activity.ts';
import { type CallerDirectory, createCallerDirectory } from '../../tenancy/callers/caller-directory.ts';
import { LIVE_CHANNEL, parseLiveChange } from '../../tenancy/live.ts';
import { createWorkWatch, type WorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import type { Config } from '../config/config.ts';
import { announceKey, KEYS_CHANNEL } from '../master-key/key-holders.ts';
import type { ServiceKeys } from '../master-key/service-keys.ts';
import { type ChangeNotifications, createChangeNotifications } from './change-notifications.ts';
import { logClock, registerClockGauge } from './clock.ts';
import { FURTHER_CONNECTIONS } from './further-connections.ts';
import { tellLostConnections } from './lost-connections.ts';
import { logWorkChange, registerWorkGauge } from './organisation-work.ts';

export interface Runtime {
  config: Config;
  /** URL that connections of the service sign in by, other than those of `owner`. */
  serviceUrl: string;
  log: Log;
  /** The clock of this machine. */
  now: () => Date;
  databaseTime: () => DatabaseTime;
  clock: ClockWatch;
  metrics: Metrics;
  keys: ServiceKeys;
  /** Acts as the service's role. */
  db: Pool;
  /** As `db`, for what takes long: imports and housekeeping. */
  background: Pool;
  /** Acts as the owner of the schema: partitions only. */
  owner: Pool;
  /** Whether the database takes writes. */
  writes: WriteWatch;
  live: LiveConnection;
  callers: CallerDirectory;
  accessLog: AccessLogWriter;
  changes: ChangeNotifications;
  /** Which organisations background work fails for. */
  work: WorkWatch;
  /** Flushed by its own timer, and when the runtime closes. */
  activity: ActivityRecorder;
  /**
   * Calls back with an organisation of which deliveries, modules or connections changed; with none when calls may have
   * been lost. Returns how to end that.
   */
  listen: (onCall: (organisationId: string | undefined) => void) => () => void;
  /** Told of each connection to the database that was lost while nobody used it. */
  onLost: (error: Error) => void;
  /** Called when a stop begins, before anything is closed. */
  onStopping: () => void;
  close(): Promise<void>;
}

export interface RuntimeOptions {
  config: Config;
  log: Log;
  now: () => Date;
  /** Names another time than the clock of the database; for tests. */
  databaseTime?: () => DatabaseTime;
  /** URL of the owner, from `openDatabase`. */
  url: string;
  /** See `ReadyDatabase`; without it, the owner acts as the service's role. */
  serviceUrl?: string | undefined;
  /** Closed with the runtime. */
  keys: ServiceKeys;
}

export async function buildRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { config, log, now, databaseTime = () => null, url, serviceUrl = url, keys } = options;
  const metrics = createMetrics();
  const lost = tellLostConnections(log);
  const onError = lost.note;
  const writes = createWriteWatch();
  const onFailure = (error: unknown) => writes.note(error);
  const { requests, background: long } = config.timeLimits;
  const service = { url: serviceUrl, role: SERVICE_ROLE, onFailure };
  const open = (
    applicationName: string,
    max: number,
    options: Omit<PoolOptions, 'applicationName' | 'max'>,
  ) => createPool({ ...options, applicationName, max }, onError);
  const db = open('interchange', config.databaseConnections, { ...service, limits: requests });
  const background = open('interchange background', FURTHER_CONNECTIONS.background, {
    ...service,
    limits: long,
  });
  // A short wait for locks: whoever writes the access log queues behind it.
  const ownerLimits = { ...long, lockMs: shorter(requests.lockMs, OWNER_LOCK_MS) };
  const owner = open('interchange owner', FURTHER_CONNECTIONS.owner, { url, limits: ownerLimits, onFailure });
  // Transactions wait for the access log: if it took its connection from their pool, they could all wait for ever.
  const appending = {
    ...service,
    limits: { ...requests, statementMs: shorter(requests.statementMs, APPEND_LIMIT_MS) },
  };
  const accessLogDb = open('interchange access log', FURTHER_CONNECTIONS.accessLog, appending);
  const clock = await watchClock({
    db,
    now,
    databaseTime,
    maxSkewSeconds: config.clockMaxSkewSeconds,
    onChange: (watch) => logClock(log, watch),
  });
  registerClockGauge(metrics.registry, clock);
  const work = createWorkWatch({ onChange: (change) => logWorkChange(log, change) });
  registerWorkGauge(metrics.registry, work);
  const activity = createActivityRecorder({
    db,
    now,
    work: work.of('activity'),
    onError: (error) => log.warn(errorFields(error), 'activity could not be counted; trying again later'),
  });
  const callers = createCallerDirectory(db, databaseTime);
  const listeners = new Set<(organisationId: string | undefined) => void>();
  const live = await openLiveConnection({
    connection: { ...appending, applicationName: 'interchange live' },
    channels: [LIVE_CHANNEL, KEYS_CHANNEL, DELIVERY_CHANNEL],
    prepare: (client) => announceKey(client, keys),
    onNotification: (channel, payload) => {
      if (channel === LIVE_CHANNEL) callers.onNotification(payload);
      if (channel === KEYS_CHANNEL) void renewKey();
      const changed = channel === DELIVERY_CHANNEL ? payload : changedOrganisation(channel, payload);
      if (changed !== undefined) for (const listener of listeners) listener(changed);
    },
    onStateChange(up) {
      callers.setListening(up);
      if (up) for (const listener of listeners) listener(undefined);
    },
    onError,
  });
  /** A rotation of the master key asks every process to look for a new key. */
  async function renewKey(): Promise<void> {
    const client = live.client();
    if (client !== undefined) await announceKey(client, keys).catch(onError);
  }
  const changes = createChangeNotifications(live, () => callers.forget());
  const accessLog = createAccessLogWriter({
    pool: accessLogDb,
    connection: () => changes.connection(),
    chainKey: (on) => newestChainKey(keys, on),
    now,
    onError: (error) => log.error(errorFields(error), 'access log not written'),
    onRenewed: (writerId) =>
      log.info(
        { event: RENEWED_EVENT, writerId },
        'the master key was rotated, so this process begins a new chain of the access log; nothing was lost',
      ),
    work: work.of('access-log'),
    onGroup: (entries) => {
      metrics.accessLogEntries.inc(entries);
      metrics.accessLogGroups.inc();
    },
  });
  const heads = setInterval(() => noteHeads(accessLog, log), HEAD_NOTES_MS).unref();
  return {
    config,
    serviceUrl,
    log,
    now,
    databaseTime,
    clock,
    metrics,
    keys,
    db,
    background,
    owner,
    writes,
    live,
    callers,
    accessLog,
    changes,
    work,
    activity,
    onLost: onError,
    onStopping: lost.stopping,
    listen(onCall) {
      listeners.add(onCall);
      return () => void listeners.delete(onCall);
    },
    async close() {
      clearInterval(heads);
      clock.close();
      await activity.close();
      await accessLog.close();
      noteHeads(accessLog, log);
      await live.close();
      const pools = [db, background, owner, accessLogDb].map((pool) => pool.end());
      await Promise.all([...pools, keys.close()]);
      lost.close();
    },
  };
}

/** Of a change that is not of one session: a module may have been switched on. */
function changedOrganisation(channel: string, payload: string): string | undefined {
  const change = channel === LIVE_CHANNEL ? parseLiveChange(payload) : undefined;
  return change?.sessionId === undefined ? change?.organisationId : undefined;
}

const HEAD_NOTES_MS = 60_000;
/** Shorter than a group of the access log may take, so that it is not refused for it. */
const OWNER_LOCK_MS = 2_000;

/** A limit of the configuration, where 0 is none, and `mostMs` at most. */
function shorter(limitMs: number, mostMs: number): number {
  return limitMs === 0 ? mostMs : Math.min(limitMs, mostMs);
}

/** Says in the log how far this process's chains have come: what is kept outside the database shows a rollback. */
function noteHeads(accessLog: AccessLogWriter, log: Log): void {
  for (const { writerId, sequence, hash } of accessLog.heads())
    log.info({ event: HEAD_EVENT, writerId, count: sequence, hash }, 'head of the access log chain');
}
