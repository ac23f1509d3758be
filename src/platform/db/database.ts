/**
 * PostgreSQL access: pools, transactions and how values are read. No business words here.
 * Contract: HTTP-24, OPS-3, OPS-7, OPS-32.
 */
import pg from 'pg';
import { DatabaseClient, type DatabaseClientConfig, type Statement } from './connection/database-client.ts';
import { trackHosts } from './connection/database-hosts.ts';
import { readDatabaseUrl } from './connection/database-url.ts';
import { tracedConnect } from './connection/traced-calls.ts';
import { watched } from './unavailable.ts';

/** Anything that runs SQL: a pool or a client inside a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(
    statement: Statement<Row>,
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}

export type Pool = pg.Pool;
export type Client = pg.PoolClient;

/** How long PostgreSQL lets things take on a connection, in milliseconds; 0: as long as they like. */
export interface TimeLimits {
  /** One statement, what it waits for included (57014). */
  statementMs: number;
  /** One wait for a lock (55P03). */
  lockMs: number;
  /** A transaction between two of its statements (25P03); the connection is lost. */
  idleInTransactionMs: number;
}

export interface ConnectionOptions {
  /** PostgreSQL connection URL. */
  url: string;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Role that the connections act as; without it, the user of the URL. */
  role?: string;
  /** Default: those of the server, which has none unless its operator set some. */
  limits?: TimeLimits;
  /** Told of every statement and connection that fails. */
  onFailure?: ((error: unknown) => void) | undefined;
}

export interface PoolOptions extends ConnectionOptions {
  /** Connections at most. */
  max: number;
  /** Server settings, such as `enable_seqscan`, which may depend on the server. Asked on each new connection. */
  settingsOn?: (client: Pick<DatabaseClient, 'query'>) => Promise<Readonly<Record<string, string>>>;
}

/** How long to wait for a connection of a pool. */
const POOL_WAIT_MS = 10_000;
/**
 * How much longer than PostgreSQL lets a statement take its answer is waited for. PostgreSQL cuts off no commit that
 * waits for a synchronous standby, and a server that hangs cuts off nothing.
 */
const ANSWER_GRACE_MS = 5_000;

const types = new pg.TypeOverrides();
// Dates without a time stay text: a JavaScript Date would move them across zones.
types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);
types.setTypeParser(pg.types.builtins.INT8, Number);

/** The row of a statement that always gives one. */
export async function oneRow<Row extends pg.QueryResultRow>(
  db: Queryable,
  statement: pg.QueryConfig,
): Promise<Row> {
  const { rows } = await db.query<Row>(statement);
  if (rows[0] === undefined) throw new Error('the database gave no row where there is always one');
  return rows[0];
}

/** Whether the database has this table. */
export async function hasTable(db: Queryable, name: string): Promise<boolean> {
  const text = 'select to_regclass($1) is not null as present';
  return (await oneRow<{ present: boolean }>(db, { text, values: [name] })).present;
}

/** The database for statements that are given up, with their connection, when no answer comes in that time. */
export function answeredWithin(db: Queryable, answerMs: number): Queryable {
  const limit = { query_timeout: answerMs };
  return { query: (statement) => db.query({ ...statement, ...limit }) };
}

/** Where to connect, and how; what the connection then is set to comes with {@link setUpConnection}. */
export function clientConfig(options: ConnectionOptions): DatabaseClientConfig {
  const { applicationName, limits, onFailure } = options;
  const address = readDatabaseUrl(options.url);
  const config = {
    connectionString: withoutName(address.url),
    application_name: applicationName,
    types,
    keepAlive: true,
    ...(limits && limits.statementMs > 0 && { query_timeout: limits.statementMs + ANSWER_GRACE_MS }),
  };
  return { ...config, hosts: trackHosts(address, config), onFailure };
}

/**
 * Set a new connection up, in one round trip. Not by options of the start-up message: poolers refuse those. What the
 * URL brings as `options` is set before, so that ours, the role above all, come last.
 */
export async function setUpConnection(
  client: DatabaseClient,
  { role, limits }: ConnectionOptions,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const all = {
    TimeZone: 'UTC',
    // Ids of vital sets and of gathered orders are made of times as text.
    DateStyle: 'ISO, MDY',
    jit: 'off',
    ...settings,
    ...(limits && {
      statement_timeout: String(limits.statementMs),
      lock_timeout: String(limits.lockMs),
      idle_in_transaction_session_timeout: String(limits.idleInTransactionMs),
    }),
    ...(role && { role }),
  };
  const { rows } = await client.query<{ read_only: string }>({
    text: `
      select set_config(name, value, false), current_setting('transaction_read_only') as read_only
      from unnest($1::text[], $2::text[]) as setting (name, value)`,
    values: [Object.keys(all), Object.values(all)],
  });
  client.checkWrites(rows[0]?.read_only === 'on');
}

/** pg lets what the URL says replace the settings beside it; our name must come last. */
function withoutName(url: string): string {
  if (!/[?&]application_name=/.test(url)) return url;
  const parsed = new URL(url);
  parsed.searchParams.delete('application_name');
  return parsed.href;
}

/** One connection, set up; end it after use. */
export async function connectClient(options: ConnectionOptions): Promise<DatabaseClient> {
  const client = new DatabaseClient(clientConfig(options));
  try {
    await client.connect();
    await setUpConnection(client, options);
    return client;
  } catch (error) {
    void client.end().catch(() => undefined);
    throw error;
  }
}

/** A pool of connections; errors of idle connections are reported to `onError` and never thrown. */
export function createPool(options: PoolOptions, onError: (error: Error) => void): Pool {
  const config = clientConfig(options);
  const pool = new pg.Pool({
    ...config,
    Client: DatabaseClient as unknown as typeof pg.Client,
    max: options.max,
    connectionTimeoutMillis: Math.max(POOL_WAIT_MS, config.hosts.findMs),
    async onConnect(given) {
      const client = given as unknown as DatabaseClient;
      await setUpConnection(client, options, await options.settingsOn?.(client));
    },
  });
  pool.on('error', onError);
  pool.connect = tracedConnect(watched(pool.connect, options.onFailure));
  return pool;
}

/** A pool for the time of `work` alone. What is lost of it while it is idle is no news. */
export async function withPool<T>(options: PoolOptions, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = createPool(options, () => undefined);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

const afterCommits = new WeakMap<pg.ClientBase, ((pool: Pool) => void)[]>();

/** Have `then` called with the pool once the {@link transaction} of the client is committed. It must not throw. */
export function afterCommit(client: pg.ClientBase, then: (pool: Pool) => void): void {
  afterCommits.get(client)?.push(then);
}

/** Run `work` in one transaction; it is rolled back when `work` throws. */
export async function transaction<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A pool listens only to idle connections, and an error that nobody listens to ends the process.
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on('error', onError);
  const thens: ((pool: Pool) => void)[] = [];
  afterCommits.set(client, thens);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    for (const then of thens) then(pool);
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    afterCommits.delete(client);
    client.off('error', onError);
    client.release(broken);
  }
}
