/** Whether DATABASE_SERVICE_URL means the database of DATABASE_URL, as a user without further rights. Contract: OPS-7. */
import { connectClient, oneRow, type Queryable } from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { roleAttributes } from '../../platform/db/service-role.ts';
import { failureOf } from '../commands/failure-text.ts';
import type { Config } from '../config/config.ts';
import { appError } from '../errors.ts';

export interface ServiceUserFault {
  /** What is wrong. */
  text: string;
  remedy: string;
}

/** Throws `service_user` where the service would work on two databases, or with more rights than it needs. */
export async function requireServiceUser(url: string, { database }: Config): Promise<void> {
  if (database.kind !== 'url' || database.serviceUrl === undefined) return;
  const owner = await connectClient({ url, applicationName: 'interchange service user' });
  try {
    const fault = await findServiceUserFault(owner, database.serviceUrl);
    if (fault !== undefined) throw appError('service_user', fault);
  } finally {
    await owner.end();
  }
}

/** Connects to `serviceUrl`, and compares it with the connection of the owner. Changes nothing. */
export async function findServiceUserFault(
  owner: Queryable,
  serviceUrl: string,
): Promise<ServiceUserFault | undefined> {
  const connected = await connectClient({
    url: serviceUrl,
    applicationName: 'interchange service user',
  }).catch((error: unknown): ServiceUserFault => {
    const { text, remedy } = failureOf(error, 'DATABASE_SERVICE_URL');
    return {
      text: `DATABASE_SERVICE_URL cannot be used: ${text}`,
      remedy: remedy ?? 'Correct it: docs/environment.md says what it must name.',
    };
  });
  if ('text' in connected) return connected;
  try {
    const [own, other] = [await readSession(owner), await readSession(connected)];
    if (own.server !== other.server || own.database !== other.database)
      return {
        text: `DATABASE_SERVICE_URL names another ${own.server === other.server ? 'database' : 'server'} than DATABASE_URL.`,
        remedy: 'Give both the same hosts and the same database.',
      };
    const { name, mayAct } = other;
    const excess = await roleAttributes(connected, name);
    if (excess.length > 0)
      return {
        text: `The user of DATABASE_SERVICE_URL, ${name}, may do more than the service needs: ${excess.join(', ')}.`,
        remedy: `Name a user that is ${SERVICE_ROLE} only: docs/environment.md says how to make one.`,
      };
    if (!mayAct)
      return {
        text: `The user of DATABASE_SERVICE_URL, ${name}, may not act as ${SERVICE_ROLE}.`,
        remedy: `Run as a superuser: grant ${SERVICE_ROLE} to ${name};`,
      };
    return undefined;
  } finally {
    await connected.end();
  }
}

interface Session {
  server: string;
  database: string;
  /** Of the user. */
  name: string;
  /** As the service's role. */
  mayAct: boolean;
}

/** Anybody may ask for the start of a server, unlike for its system identifier; it differs between servers. */
async function readSession(db: Queryable): Promise<Session> {
  return oneRow<Session>(db, {
    text: `
      select extract(epoch from pg_postmaster_start_time())::text as server, oid::text as database,
        session_user as name, coalesce(pg_has_role(session_user, to_regrole($1), 'member'), false) as "mayAct"
      from pg_database
      where datname = current_database()`,
    values: [SERVICE_ROLE],
  });
}
