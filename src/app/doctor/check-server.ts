/** Checks of the database server as the service uses it: its clock, its connections, its notifications. */
import { randomBytes } from 'node:crypto';
import { watchClock } from '../../platform/db/clock-watch.ts';
import { onOwnConnection } from '../../platform/db/connection/own-connection.ts';
import {
  answeredWithin,
  type Client,
  oneRow,
  type Pool,
  type Queryable,
} from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { isUnanswered } from '../../platform/db/unavailable.ts';
import type { Config } from '../config/config.ts';
import { skewText } from '../runtime/clock.ts';
import { FURTHER_CONNECTIONS } from '../runtime/further-connections.ts';
import { type CheckResult, counted, failed, notRun, ok } from './finding.ts';

/** How long a notification may take, and each statement that is needed for it. */
const NOTIFICATION_MS = 5_000;
/** What a standby answers to LISTEN. */
const TAKES_NO_WRITES = '25006';
const CHANNEL = 'interchange_doctor';

export async function checkClock(owner: Pool, now: () => Date, maxSkewSeconds: number): Promise<CheckResult> {
  const clock = await watchClock({
    db: owner,
    now,
    databaseTime: () => null,
    maxSkewSeconds,
    onChange: () => undefined,
  });
  clock.close();
  const text = `The clock of this machine is ${skewText(clock)}`;
  if (!clock.isOff()) return ok(`${text}. Allowed are ${maxSkewSeconds} s.`);
  return failed(
    `${text}, and ${maxSkewSeconds} s are allowed. The service issues no tokens.`,
    'Correct the wrong clock: run chronyc tracking or timedatectl on both machines.',
  );
}

/** Behind a pooler that shares connections between transactions, roles, LISTEN and locks of sessions are lost. */
export async function checkPooler(owner: Pool): Promise<CheckResult> {
  const shared = await onOwnConnection(owner, async (first) => {
    const own = await backendOf(first);
    return onOwnConnection(owner, async (second) => {
      await second.query('begin');
      return (await backendOf(second)) === own;
    });
  });
  if (!shared) return ok('Each connection has a session of its own in the database.');
  return failed(
    'Two connections share one session of the database: a pooler in between works in transaction mode.',
    'Set pool_mode = session in PgBouncer for this database, or connect to PostgreSQL directly.',
  );
}

async function backendOf(client: Client): Promise<number> {
  return (await oneRow<{ pid: number }>(client, { text: 'select pg_backend_pid() as pid' })).pid;
}

export async function checkNotifications(owner: Pool): Promise<CheckResult> {
  const came = await onOwnConnection(owner, async (listener) => {
    const nonce = randomBytes(8).toString('hex');
    const heard = new Promise<boolean>((resolve) => {
      const timer = setTimeout(resolve, NOTIFICATION_MS, false);
      listener.on('notification', ({ payload }) => {
        if (payload !== nonce) return;
        clearTimeout(timer);
        resolve(true);
      });
    });
    await answeredWithin(listener, NOTIFICATION_MS).query({ text: `listen ${CHANNEL}` });
    await answeredWithin(owner, NOTIFICATION_MS).query({
      text: 'select pg_notify($1, $2)',
      values: [CHANNEL, nonce],
    });
    return heard;
  }).catch((error: { code?: string }) => {
    if (isUnanswered(error)) return false;
    if (error.code !== TAKES_NO_WRITES) throw error;
    return undefined;
  });
  if (came === undefined) return notRun('It was left out, because the database takes no writes.');
  if (came) return ok('A notification that was sent came back.');
  return failed(
    `A notification that was sent did not come back within ${NOTIFICATION_MS / 1_000} s. Processes do not learn of changes, and read without their caches.`,
    'Set pool_mode = session in a pooler in between, or connect to PostgreSQL directly.',
  );
}

interface Limits {
  permitted: number;
  /** Connections that are not the service's; another service on the same server is one of the others. */
  others: number;
  /** Processes of the service that run. */
  processes: number;
}

export async function checkConnections(owner: Queryable, config: Config): Promise<CheckResult> {
  const { permitted, others, processes } = await readLimits(owner);
  const further = Object.values(FURTHER_CONNECTIONS).reduce((sum, count) => sum + count, 0);
  const each = config.databaseConnections + further;
  const wanted = each * Math.max(processes, 1);
  const running = processes === 0 ? '1 process' : counted(processes, 'running process', 'running processes');
  const text = `${running} may open ${wanted} connections; the database permits ${permitted}, and others have ${others}.`;
  if (wanted + others <= permitted) return ok(text);
  return failed(
    text,
    'Raise max_connections of PostgreSQL (or the limit of the database or role), lower DATABASE_CONNECTIONS, or run fewer processes.',
  );
}

async function readLimits(owner: Queryable): Promise<Limits> {
  return oneRow<Limits>(owner, {
    text: `
      select
        least(
          current_setting('max_connections')::integer
            - current_setting('superuser_reserved_connections')::integer
            - coalesce(current_setting('reserved_connections', true)::integer, 0),
          (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
          (select min(nullif(rolconnlimit, -1)) from pg_roles where rolname in (current_user, $1))
        ) as permitted,
        (
          select count(*)
          from pg_stat_activity
          -- Of other users a plain user learns no type. What has no user or no database is no client.
          where coalesce(backend_type = 'client backend', num_nulls(usesysid, datid) = 0)
            and (datname <> current_database() or application_name not like 'interchange%')
        ) as others,
        (
          select count(*)
          from pg_stat_activity
          where datname = current_database()
            and application_name like 'interchange live%'
        ) as processes`,
    values: [SERVICE_ROLE],
  });
}

/** How many processes of the service are connected. */
export async function runningProcesses(owner: Queryable): Promise<number> {
  return (await readLimits(owner)).processes;
}
