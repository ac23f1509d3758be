/**
 * Finds the server to connect to among those that the URL of a database names. The one that was good last comes first;
 * one that failed comes last.
 * Contract: OPS-31.
 */
import pg from 'pg';
import { NO_TLS, NoServerError } from '../unavailable.ts';
import type { DatabaseAddress, DatabaseHost } from './database-url.ts';

export interface DatabaseHosts extends Pick<DatabaseAddress, 'mustWrite' | 'connectMs'> {
  /** How long connecting may take at most, when all are tried. */
  readonly findMs: number;
  /**
   * The server to connect to; undefined where the URL names one. While none is known to be good, they are tried in
   * turn, once for all callers that wait. Throws {@link NoServerError}, or what is wrong with the URL.
   */
  find(): Promise<DatabaseHost | undefined>;
  /** It failed, or takes no writes: the next call of `find` tries the others, then this one. */
  doubt(host: DatabaseHost): void;
}

export function trackHosts(
  { hosts, mustWrite, connectMs }: DatabaseAddress,
  config: pg.ClientConfig,
): DatabaseHosts {
  let order = [...hosts];
  let good: DatabaseHost | undefined;
  let finding: Promise<DatabaseHost> | undefined;

  async function tryInTurn(): Promise<DatabaseHost> {
    const failures: { host: DatabaseHost; error: Error }[] = [];
    for (const host of order) {
      const error = await tryHost(host).catch((failure: Error) => failure);
      if (error === undefined) {
        good = host;
        order = [host, ...order.filter((other) => other !== host)];
        return host;
      }
      failures.push({ host, error });
    }
    throw (
      failures.find(({ error }) => isFaultOfUrl(error))?.error ??
      new NoServerError(failures.map(({ host, error }) => `${host.host}:${host.port} ${reasonOf(error)}`))
    );
  }

  async function tryHost(host: DatabaseHost): Promise<void> {
    const limits = { connectionTimeoutMillis: connectMs, query_timeout: connectMs };
    const client = Object.assign(new pg.Client({ ...config, ...limits }), host);
    client.on('error', () => undefined);
    try {
      await client.connect();
      if (!mustWrite) return;
      const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
      if (rows[0]?.transaction_read_only !== 'off') throw new ReadOnlyError();
    } finally {
      void client.end().catch(() => undefined);
    }
  }

  return {
    mustWrite,
    connectMs,
    findMs: (hosts.length + 1) * connectMs,
    async find() {
      if (hosts.length === 0 || good !== undefined) return good;
      finding ??= tryInTurn().finally(() => {
        finding = undefined;
      });
      return finding;
    },
    doubt({ host, port }) {
      if (good?.host !== host || good.port !== port) return;
      order = [...order.filter((other) => other !== good), good];
      good = undefined;
    },
  };
}

class ReadOnlyError extends Error {}

/** A wrong user or password, or a database that is not there: no other server mends it. */
function isFaultOfUrl(error: Error): boolean {
  return error instanceof pg.DatabaseError && /^28|^3D/.test(error.code ?? '');
}

/** Why it is not used; its own message is left out, because it may quote anything. */
function reasonOf(error: Error): string {
  if (error instanceof ReadOnlyError) return 'is read-only';
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') return `cannot be used (${code})`;
  if (error.message === NO_TLS) return 'takes no TLS, which sslmode of the URL asks for';
  return /time/.test(error.message) ? 'did not answer in time' : 'ended the connection';
}
