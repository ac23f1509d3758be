/**
 * A connection to the database. Where its URL names several servers, it goes to the one that takes writes.
 * Contract: OPS-31.
 */
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { isUnanswered, NoServerError, watched } from '../unavailable.ts';
import type { DatabaseHosts } from './database-hosts.ts';
import { tracedQuery } from './traced-calls.ts';

export interface DatabaseClientConfig extends pg.ClientConfig {
  hosts: DatabaseHosts;
  /** Told of every statement that fails. */
  onFailure?: ((error: unknown) => void) | undefined;
}

export interface Statement<Row> extends pg.QueryConfig {
  /**
   * Takes each row as it comes; the answer has none of them. Rows that are large and many are garbage before V8 takes them for
   * something that lives long. The statement fails with what this throws.
   */
  onRow?: (row: Row) => void;
}

/** A class, because a pool makes its connections with one. */
export class DatabaseClient extends pg.Client {
  readonly #hosts: DatabaseHosts;

  constructor(config: DatabaseClientConfig) {
    super({ ...config, connectionTimeoutMillis: config.hosts.connectMs });
    this.#hosts = config.hosts;
    // An error that nobody listens to would end the process. The statement under way fails by itself.
    this.on('error', () => undefined);
    const onFailure = (error: unknown): void => {
      config.onFailure?.(error);
      if (isOfNoUse(error)) this.#giveUp();
    };
    this.query = tracedQuery(watched(handingRowsOn(this.query), onFailure));
    endWithUnreadable((this as unknown as { connection: Reading }).connection);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null, client?: pg.Client) => void): void;
  override connect(
    callback?: (error: Error | null, client?: pg.Client) => void,
  ): Promise<pg.Client> | undefined {
    const connected = this.#connectToHost();
    if (callback === undefined) return connected;
    connected.then(() => callback(null, this), callback);
    return undefined;
  }

  async #connectToHost(): Promise<pg.Client> {
    const found = await this.#hosts.find();
    if (found !== undefined) Object.assign(this, found);
    try {
      return await super.connect();
    } catch (error) {
      this.#hosts.doubt(this);
      throw error;
    }
  }

  /** Call it with what the server says of itself; throws {@link NoServerError} when it is not to be used. */
  checkWrites(isReadOnly: boolean): void {
    if (!isReadOnly || !this.#hosts.mustWrite) return;
    this.#hosts.doubt(this);
    throw new NoServerError([`${this.host}:${this.port} is read-only`]);
  }

  #giveUp(): void {
    this.#hosts.doubt(this);
    void this.end().catch(() => undefined);
  }
}

/**
 * After what a connection is not used again: its server does not take writes any more, so that it was the primary once
 * (25006), or it did not answer in the time that pg gives it.
 */
export function isOfNoUse(error: unknown): boolean {
  return (error instanceof pg.DatabaseError && error.code === '25006') || isUnanswered(error);
}

/** The part of pg that reads what the server sends. */
interface Reading {
  attachListeners(stream: Duplex): void;
}

/**
 * An answer that pg cannot read, such as a value that is longer than a string may be, ends its connection. pg throws it where
 * nobody catches, and the process would end.
 */
function endWithUnreadable(connection: Reading): void {
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    attach(stream);
    for (const read of stream.listeners('data') as ((bytes: Buffer) => void)[]) {
      stream.off('data', read);
      stream.on('data', (bytes: Buffer) => {
        try {
          read(bytes);
        } catch (error) {
          stream.destroy(error as Error);
        }
      });
    }
  };
}

/** `query` of a connection, for statements with `onRow` too. */
function handingRowsOn<Query extends (...args: never[]) => unknown>(query: Query): Query {
  const handing = function (this: unknown, ...args: unknown[]): unknown {
    const statement = args[0] as Partial<Statement<object>>;
    const { onRow, query_timeout } = statement as typeof statement & { query_timeout?: number };
    if (onRow === undefined) return Reflect.apply(query, this, args);
    const running = Object.assign(new pg.Query<object>(statement as pg.QueryConfig), { query_timeout });
    let failure: unknown;
    running.on('row', (row, answer) => {
      // pg adds the row to its answer after this call.
      if (answer !== undefined) answer.addRow = () => undefined;
      try {
        if (failure === undefined) onRow(row);
      } catch (error) {
        failure = error;
      }
    });
    const run = (callback: (error: unknown, answer?: unknown) => void): unknown =>
      Reflect.apply(query, this, [
        running,
        (error: unknown, answer: unknown) => callback(error ?? failure, answer),
      ]);
    const callback = args.at(-1);
    if (typeof callback === 'function') return run(callback as never);
    return new Promise((resolve, reject) => {
      run((error, answer) => (error == null ? resolve(answer) : reject(error)));
    });
  };
  return handing as unknown as Query;
}
