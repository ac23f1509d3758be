/**
 * One dedicated connection that listens for notifications and also carries statements.
 *
 * PostgreSQL signals listeners when a transaction commits, before its client learns of it, and a backend
 * hands pending notifications to its client before it reports the end of its own statement. So when a
 * statement sent here returns, every notification of a transaction that was finished before the statement
 * was sent has been delivered. Revocation relies on this (docs/adr/0004).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type ConnectionOptions, clientConfig, type Queryable, setUpConnection } from '../database.ts';
import { DatabaseClient, isOfNoUse } from './database-client.ts';

/** Between checks that the connection still answers. */
const HEARTBEAT_MS = 5_000;

export interface LiveConnectionOptions {
  connection: ConnectionOptions;
  channels: readonly string[];
  /** Called on each new connection before it counts; when it rejects, the connection is given up. */
  prepare?: (client: pg.Client) => Promise<void>;
  onNotification: (channel: string, payload: string) => void;
  /** Called after every change between listening and not listening. */
  onStateChange?: (up: boolean) => void;
  onError: (error: Error) => void;
}

export interface LiveConnection {
  /** True while every channel is listened to. */
  readonly up: boolean;
  /** The connection, while it is up. Statements that come together take turns. */
  client(): Queryable | undefined;
  close(): Promise<void>;
}

export async function openLiveConnection(options: LiveConnectionOptions): Promise<LiveConnection> {
  const config = { query_timeout: 15_000, ...clientConfig(options.connection) };
  let current: Connection | undefined;
  let closed = false;

  function drop(client: pg.Client): void {
    if (current?.client !== client) return;
    current = undefined;
    options.onStateChange?.(false);
    void client.end().catch(() => undefined);
    if (!closed) void reconnect();
  }

  async function connect(): Promise<void> {
    const client = new DatabaseClient(config);
    client.on('notification', (message) => options.onNotification(message.channel, message.payload ?? ''));
    client.on('error', (error) => {
      options.onError(error);
      drop(client);
    });
    client.on('end', () => drop(client));
    try {
      await client.connect();
      await setUpConnection(client, options.connection);
      await options.prepare?.(client);
      for (const channel of options.channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    if (closed) return client.end();
    const onFailure = (error: unknown): void => {
      // The client ends the connection, which takes as long as the server likes.
      if (isOfNoUse(error)) drop(client);
    };
    current = { client, statements: inTurn(client, onFailure) };
    options.onStateChange?.(true);
  }

  async function reconnect(): Promise<void> {
    for (let attempt = 0; !closed && current === undefined; attempt += 1) {
      try {
        await connect();
        return;
      } catch (error) {
        if (attempt === 0) options.onError(error as Error);
        await sleep(Math.min(2_000, 50 * 2 ** attempt), undefined, { ref: false });
      }
    }
  }

  await connect();
  const heartbeat = setInterval(() => {
    const connection = current;
    connection?.statements.query({ text: 'select 1' }).catch(() => drop(connection.client));
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    get up() {
      return current !== undefined;
    },
    client: () => current?.statements,
    async close() {
      closed = true;
      clearInterval(heartbeat);
      const connection = current;
      current = undefined;
      await connection?.client.end().catch(() => undefined);
    },
  };
}

interface Connection {
  client: pg.Client;
  statements: Queryable;
}

/** A connection runs one statement at a time, and from version 9 on pg leaves it to its caller to wait for that. */
function inTurn(client: pg.Client, onFailure: (error: unknown) => void): Queryable {
  let last: Promise<unknown> = Promise.resolve();
  return {
    query<Row extends pg.QueryResultRow>(statement: pg.QueryConfig) {
      const result = last.then(() => client.query<Row>(statement));
      last = result.catch(onFailure);
      return result;
    },
  };
}
