/** PostgreSQL access: pools, transactions and how values are read. No business words here. */
import pg from 'pg';
import { watched } from './unavailable.ts';

/** Anything that runs SQL: a pool or a client inside a transaction. */
export interface Queryable {
  query<Row extends pg.QueryResultRow>(
    statement: pg.QueryConfig,
  ): Promise<{ rows: Row[]; rowCount: number | null }>;
}

export type Pool = pg.Pool;
export type Client = pg.PoolClient;

export interface PoolOptions {
  /** PostgreSQL connection URL. */
  url: string;
  /** Connections at most. */
  max: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** Role that the connections act as; without it, the user of the URL. */
  role?: string;
  /** Server settings of the connections, such as `enable_seqscan`. */
  settings?: Readonly<Record<string, string>>;
  /** Told of every statement and connection that fails. */
  onFailure?: (error: unknown) => void;
}

const types = new pg.TypeOverrides();
// Dates without a time stay text: a JavaScript Date would move them across zones.
types.setTypeParser(pg.types.builtins.DATE, (text: string) => text);
types.setTypeParser(pg.types.builtins.INT8, Number);

/** Connection settings shared by pools and single connections. */
export function clientConfig(options: Omit<PoolOptions, 'max'>): pg.ClientConfig {
  const { connectionString, startup } = splitOptions(options.url);
  startup.push('-c TimeZone=UTC', '-c jit=off');
  if (options.role !== undefined) startup.push(`-c role=${options.role}`);
  for (const [name, value] of Object.entries(options.settings ?? {})) startup.push(`-c ${name}=${value}`);
  return {
    connectionString,
    application_name: options.applicationName,
    options: startup.join(' '),
    types,
    keepAlive: true,
  };
}

/** pg lets what the URL says replace the settings beside it; our options, the role above all, must come last. */
function splitOptions(url: string): { connectionString: string; startup: string[] } {
  if (!/[?&](options|application_name)=/.test(url)) return { connectionString: url, startup: [] };
  const parsed = new URL(url);
  const startup = parsed.searchParams.getAll('options');
  parsed.searchParams.delete('options');
  parsed.searchParams.delete('application_name');
  return { connectionString: parsed.href, startup };
}

/** A pool of connections; errors of idle connections are reported to `onError` and never thrown. */
export function createPool(options: PoolOptions, onError: (error: Error) => void): Pool {
  const pool = new pg.Pool({ ...clientConfig(options), max: options.max, connectionTimeoutMillis: 10_000 });
  pool.on('error', onError);
  // A pool stops listening to a connection that it gives up, and the server's last words would end the process.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    client.query = watched(client.query, options.onFailure);
  });
  pool.connect = watched(pool.connect, options.onFailure);
  return pool;
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
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}
