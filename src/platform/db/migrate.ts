/**
 * Applies the plain SQL files of `migrations/` in order of their names (docs/adr/0003).
 * Contract: ACC-22, LOG-12, OPS-2, OPS-5, OPS-6, OPS-7.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import { connectClient, hasTable, oneRow, type Queryable } from './database.ts';
import { inLockTurns } from './lock-turns.ts';

const MIGRATIONS = new URL('../../../migrations/', import.meta.url);
/** The role that the service acts as; it owns nothing and cannot change the access log. */
export const SERVICE_ROLE = 'interchange_service';

/** Shorter than a request may wait. */
const LOCK_WAIT_MS = 2_000;
/** About ten minutes. */
const LOCK_TURNS = 200;

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** Thrown when the files and the database disagree about what was applied. */
export class MigrationError extends Error {
  override name = 'MigrationError';
}

/** Migrations that the database still lacks, by file name. Throws {@link MigrationError} for a newer schema. */
export async function missingMigrations(db: Queryable): Promise<string[]> {
  const applied = await appliedMigrations(db);
  const names = await migrationNames();
  refuseNewerSchema(applied, names);
  return names.filter((name) => !applied.has(name));
}

/** How the files and the database compare, by file name. */
export interface SchemaState {
  /** How many were applied. */
  applied: number;
  missing: string[];
  /** Applied, and not among the files. */
  unknown: string[];
  /** Applied, and not as the file is now. */
  changed: string[];
}

export async function readSchemaState(client: Queryable): Promise<SchemaState> {
  const applied = await appliedMigrations(client);
  const migrations = await readMigrations();
  const known = new Set(migrations.map(({ name }) => name));
  const isChanged = ({ name, checksum }: Migration) => applied.has(name) && applied.get(name) !== checksum;
  return {
    applied: applied.size,
    missing: migrations.filter(({ name }) => !applied.has(name)).map(({ name }) => name),
    unknown: [...applied.keys()].filter((name) => !known.has(name)).sort(),
    changed: migrations.filter(isChanged).map(({ name }) => name),
  };
}

/** What a run does besides, on the connection that migrates. What they throw ends the run. */
export interface MigrationHooks {
  /** Before the first migration. */
  before(client: pg.ClientBase): Promise<void>;
  /** After the statements of each migration, in its transaction. */
  afterEach(client: pg.ClientBase): Promise<void>;
}

/** Apply what is missing, each file in its own transaction, and renew the grants. Returns the names applied. */
export async function migrate(url: string, hooks?: MigrationHooks): Promise<string[]> {
  const migrations = await readMigrations();
  return withClient(url, async (client) => {
    await checkVersion(client);
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    const applied = await appliedMigrations(client);
    refuseNewerSchema(
      applied,
      migrations.map(({ name }) => name),
    );
    if (applied.size === 0) await refuseTablesOfOthers(client, migrations);
    await ensureServiceRole(client);
    await client.query(`create table if not exists schema_migration (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`);
    await hooks?.before(client);
    const grants = await readFile(new URL('grants.sql', MIGRATIONS), 'utf8');
    const last = migrations.findLast(({ name }) => !applied.has(name));
    const missing: string[] = [];
    for (const migration of migrations) {
      const checksum = applied.get(migration.name);
      if (checksum === migration.checksum) continue;
      if (checksum !== undefined)
        throw new MigrationError(
          `Migration ${migration.name} was changed after it was applied. Restore the file, and put the change into a new migration.`,
        );
      await apply(client, migration, async () => {
        await hooks?.afterEach(client);
        // Else a run that is cut off here would leave a current schema, and a service without its rights.
        if (migration === last) await renewRights(client, grants);
      });
      missing.push(migration.name);
    }
    if (last === undefined) await renewRights(client, grants);
    return missing;
  });
}

/**
 * PostgreSQL fails a change of the rights on a table that another transaction takes out of the access log, so the two take
 * turns. Sent as one query, the lock and the grants are in one transaction also where the caller has begun none.
 */
async function renewRights(client: pg.Client, grants: string): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(${ADVISORY_LOCKS.accessLogPartitions}); ${grants}`);
}

/** An older program may misread, or damage, what a newer one wrote. */
function refuseNewerSchema(applied: ReadonlyMap<string, string>, names: readonly string[]): void {
  const known = new Set(names);
  const unknown = [...applied.keys()].filter((name) => !known.has(name)).sort();
  if (unknown.length === 0) return;
  throw new MigrationError(
    `The database schema is newer than this version of interchange: ${unknown.length} migration(s) are unknown here, from ${unknown[0]} on. Run the version of interchange that applied them, or a newer one.`,
  );
}

/** Before the first migration: a later one would fail when those before it had been applied already. */
async function refuseTablesOfOthers(client: pg.Client, migrations: readonly Migration[]): Promise<void> {
  const made = migrations.flatMap(({ sql }) =>
    [...sql.matchAll(/^create table (\w+)/gm)].map(([, name]) => name),
  );
  const { rows } = await client.query<{ name: string }>({
    text: 'select name from unnest($1::text[]) name where to_regclass(name) is not null group by name order by name',
    values: [made],
  });
  if (rows.length === 0) return;
  throw new MigrationError(
    `The database has tables of another program: ${rows.map(({ name }) => name).join(', ')}. Nothing was changed. Give interchange a database of its own.`,
  );
}

/** `also` is done in the same transaction. */
async function apply(client: pg.Client, migration: Migration, also: () => Promise<void>): Promise<void> {
  const giveUp = (cause: unknown) =>
    new MigrationError(
      `Migration ${migration.name} waited ten minutes for what another transaction uses, such as a dump or an import. Wait until that has ended, then migrate again.`,
      { cause },
    );
  try {
    await inLockTurns({ turns: LOCK_TURNS, giveUp }, () => tryToApply(client, migration, also));
  } catch (error) {
    if (error instanceof MigrationError) throw error;
    throw new MigrationError(`Migration ${migration.name} failed: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function tryToApply(client: pg.Client, migration: Migration, also: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await client.query(`set local lock_timeout = ${LOCK_WAIT_MS}`);
    await client.query(migration.sql);
    await also();
    await client.query('insert into schema_migration (name, checksum) values ($1, $2)', [
      migration.name,
      migration.checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function checkVersion(client: pg.Client): Promise<void> {
  const { version, supported } = await oneRow<{ version: string; supported: boolean }>(client, {
    text: `
      select current_setting('server_version') as version,
        current_setting('server_version_num')::integer >= 150000 as supported`,
  });
  if (!supported) throw new MigrationError(`PostgreSQL ${version} is too old. Use version 15 or newer.`);
}

/** Let the service's role sign in with this password, so that no connection of the service is the owner's. */
export async function letServiceRoleSignIn(url: string, password: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query('select pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    await client.query(`alter role ${SERVICE_ROLE} login password ${client.escapeLiteral(password)}`);
  });
}

async function ensureServiceRole(client: pg.Client): Promise<void> {
  const grant = `grant ${SERVICE_ROLE} to <the user of DATABASE_URL>;`;
  await client
    .query(`do $$ begin
      if not exists (select from pg_roles where rolname = '${SERVICE_ROLE}') then
        create role ${SERVICE_ROLE} nologin;
      end if;
    exception when duplicate_object or unique_violation then null;
    end $$`)
    .catch(
      refused(
        `The database role ${SERVICE_ROLE} is missing, and this user may not create it. Run as a superuser: create role ${SERVICE_ROLE} nologin; ${grant}`,
      ),
    );
  // Membership alone is not enough: from PostgreSQL 16 on, who creates a role may administer it but not act as it.
  await client
    .query(`do $$ begin
      set local role ${SERVICE_ROLE};
      reset role;
    exception when insufficient_privilege then
      execute format('grant ${SERVICE_ROLE} to %I', current_user);
    end $$`)
    .catch(
      refused(
        `The user of DATABASE_URL may not act as the database role ${SERVICE_ROLE}. Run as a superuser: ${grant}`,
      ),
    );
}

function refused(message: string): (cause: unknown) => never {
  return (cause) => {
    throw new MigrationError(message, { cause });
  };
}

async function appliedMigrations(client: Queryable): Promise<Map<string, string>> {
  if (!(await hasTable(client, 'schema_migration'))) return new Map();
  const applied = await client.query<{ name: string; checksum: string }>({
    text: 'select name, checksum from schema_migration',
  });
  return new Map(applied.rows.map((row) => [row.name, row.checksum]));
}

async function migrationNames(): Promise<string[]> {
  return (await readdir(MIGRATIONS)).filter((name) => /^\d{4}-.*\.sql$/.test(name)).sort();
}

async function readMigrations(): Promise<Migration[]> {
  return Promise.all(
    (await migrationNames()).map(async (name) => {
      const sql = await readFile(new URL(name, MIGRATIONS), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Run `work` on a connection of the owner of the schema. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectClient({ url, applicationName: 'interchange migrate' });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
