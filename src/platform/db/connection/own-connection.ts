/** A connection outside the pool, for work that changes its session. */
import pg from 'pg';
import type { Client, Pool } from '../database.ts';
import { watched } from '../unavailable.ts';

/**
 * Run `work` on a new connection, set up like those of `pool`, and close it: temporary tables and settings of the
 * session end with it. It takes none of the pool's places.
 */
export async function onOwnConnection<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const own = new pg.Pool({ ...pool.options, max: 1 });
  // An error of a connection that nobody listens to ends the process; the next query fails by itself.
  own.on('error', () => undefined);
  own.connect = watched(own.connect);
  try {
    const client = await own.connect();
    try {
      return await work(client);
    } finally {
      client.release(true);
    }
  } finally {
    await own.end();
  }
}
