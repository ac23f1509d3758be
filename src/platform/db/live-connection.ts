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

export interface LiveConnectionOptions {
  config: pg.ClientConfig;
  channels: readonly string[];
  /** Milliseconds between checks that the connection still answers. */
  heartbeatMs?: number;
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
  /** The connection, while it is up. */
  client(): pg.Client | undefined;
  close(): Promise<void>;
}

export async function openLiveConnection(options: LiveConnectionOptions): Promise<LiveConnection> {
  const heartbeatMs = options.heartbeatMs ?? 5_000;
  let current: pg.Client | undefined;
  let closed = false;

  function drop(client: pg.Client): void {
    if (current !== client) return;
    current = undefined;
    options.onStateChange?.(false);
    void client.end().catch(() => undefined);
    if (!closed) void reconnect();
  }

  async function connect(): Promise<void> {
    const client = new pg.Client({
      ...options.config,
      query_timeout: 15_000,
      connectionTimeoutMillis: 10_000,
    });
    client.on('notification', (message) => options.onNotification(message.channel, message.payload ?? ''));
    client.on('error', (error) => {
      options.onError(error);
      drop(client);
    });
    client.on('end', () => drop(client));
    try {
      await client.connect();
      await options.prepare?.(client);
      for (const channel of options.channels) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    if (closed) return client.end();
    current = client;
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
    const client = current;
    client?.query('select 1').catch(() => drop(client));
  }, heartbeatMs);
  heartbeat.unref();
  return {
    get up() {
      return current !== undefined;
    },
    client: () => current,
    async close() {
      closed = true;
      clearInterval(heartbeat);
      const client = current;
      current = undefined;
      await client?.end().catch(() => undefined);
    },
  };
}
