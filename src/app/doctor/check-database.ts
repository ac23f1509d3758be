/** Checks that the database answers, takes writes and is new enough, and each server that its URL names. */
import {
  type DatabaseAddress,
  readDatabaseUrl,
  urlOfHost,
} from '../../platform/db/connection/database-url.ts';
import { connectClient, oneRow, type Queryable } from '../../platform/db/database.ts';
import { type CheckResult, failed, ok, warning } from './finding.ts';

export async function checkDatabase(owner: Queryable, url: string): Promise<CheckResult> {
  const { version, number, takesWrites } = await readServer(owner);
  if (number < 150_000) return failed(`PostgreSQL ${version} is too old.`, 'Use version 15 or newer.');
  if (!takesWrites)
    return failed(
      `PostgreSQL ${version} takes no writes: it is a standby, or set to read only.`,
      'Connect to the primary, or turn default_transaction_read_only off.',
    );
  const hosts = await readHosts(readDatabaseUrl(url));
  if (hosts.length === 0) return ok(`PostgreSQL ${version} answers, and takes writes.`);
  const text = `PostgreSQL ${version} answers. ${hosts.map(({ name, state }) => `${name} ${state}`).join('; ')}.`;
  const primaries = new Set(hosts.filter(({ state }) => state === WRITES).map(({ server }) => server));
  if (primaries.size > 1)
    return failed(
      `${text} Records may be written to either.`,
      'Stop at once the one that should be no primary: docs/operations.md, "A standby".',
    );
  if (hosts.some(({ server }) => server === undefined))
    return warning(text, 'Start that server, or take its name out of DATABASE_URL.');
  return ok(text);
}

interface Server {
  version: string;
  number: number;
  takesWrites: boolean;
  recovers: boolean;
  /** Differs between servers, so that one that is named twice counts once. */
  server: string;
}

async function readServer(db: Queryable): Promise<Server> {
  return oneRow<Server>(db, {
    text: `
      select current_setting('server_version') as version,
        current_setting('server_version_num')::integer as number,
        not pg_is_in_recovery() and not current_setting('default_transaction_read_only')::boolean as "takesWrites",
        pg_is_in_recovery() as recovers,
        extract(epoch from pg_postmaster_start_time())::text as server`,
  });
}

const WRITES = 'takes writes';

interface HostState {
  name: string;
  state: string;
  /** Undefined where it cannot be reached. */
  server?: string;
}

/** Empty where the URL names one server. */
async function readHosts(address: DatabaseAddress): Promise<HostState[]> {
  return Promise.all(
    address.hosts.map(async (host) => {
      const name = `${host.host}:${host.port}`;
      try {
        const url = urlOfHost(address, host);
        const client = await connectClient({ url, applicationName: 'interchange doctor' });
        try {
          const { takesWrites, recovers, server } = await readServer(client);
          return { name, state: takesWrites ? WRITES : recovers ? 'is a standby' : 'is read-only', server };
        } finally {
          await client.end();
        }
      } catch (error) {
        const { code } = error as { code?: unknown };
        return { name, state: `cannot be used (${typeof code === 'string' ? code : 'no answer'})` };
      }
    }),
  );
}
