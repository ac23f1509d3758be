/** SQL of the public base address at which the service was last started. */
import type { Queryable } from '../../platform/db/database.ts';

export async function recordServiceAddress(db: Queryable, publicBaseUrl: string): Promise<void> {
  await db.query({
    text: `
      insert into service_address (public_base_url)
      values ($1)
      on conflict (single_row) do update
      set public_base_url = excluded.public_base_url`,
    values: [publicBaseUrl],
  });
}

/** Undefined while the API was never started on this database. */
export async function readServiceAddress(db: Queryable): Promise<string | undefined> {
  const { rows } = await db.query<{ public_base_url: string }>({
    text: 'select public_base_url from service_address',
  });
  return rows[0]?.public_base_url;
}
