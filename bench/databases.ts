/** The PostgreSQL server of the benchmark, and the databases on it. */
import { randomBytes } from 'node:crypto';
import { openEmbeddedPostgres } from '../local-postgres/embedded-postgres.ts';
import { migrate, withClient } from '../src/platform/db/migrate.ts';
import { databaseUrl } from '../test-support/database/template.ts';

const DATA_DIR = 'data/bench';

export async function openServer(): Promise<{ url: string; release(): Promise<void> }> {
  const url = process.env.BENCH_DATABASE_URL;
  if (url !== undefined) return { url, release: async () => undefined };
  return openEmbeddedPostgres({ dataDir: DATA_DIR });
}

/**
 * A migrated database that stays for the next run. `mark` says how its records were made: a database with another
 * mark is made anew, and `fill` loads its records.
 */
export async function keptDatabase(
  serverUrl: string,
  { name, mark, fill }: { name: string; mark: string; fill(url: string): Promise<void> },
): Promise<string> {
  const url = databaseUrl(serverUrl, name);
  const found = await withClient(serverUrl, async (client) => {
    const { rows } = await client.query<{ mark: string | null }>(
      `select shobj_description(oid, 'pg_database') as mark from pg_database where datname = $1`,
      [name],
    );
    if (rows[0]?.mark === mark) return true;
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name}`);
    return false;
  });
  await migrate(url);
  if (found) return url;
  await fill(url);
  await withClient(serverUrl, (client) => client.query(`comment on database ${name} is '${mark}'`));
  return url;
}

/** A migrated, empty database that is gone after the work. */
export async function withTemporaryDatabase<T>(
  serverUrl: string,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const name = `bench_${randomBytes(6).toString('hex')}`;
  await withClient(serverUrl, (client) => client.query(`create database ${name}`));
  try {
    await migrate(databaseUrl(serverUrl, name));
    return await work(databaseUrl(serverUrl, name));
  } finally {
    await withClient(serverUrl, (client) => client.query(`drop database ${name} with (force)`));
  }
}
