/** SQL of which organisations have entries in the access log. */
import type { Queryable } from '../../platform/db/database.ts';
import { isWholeDatabase } from '../../tenancy/organisations/organisation-work.ts';

/**
 * Organisations that may have entries in the log, or in the table of one of its months. The log is asked as well: an
 * entry may name an organisation that never was. While the database refuses an organisation, the others are known by their
 * own table alone.
 */
export async function organisationsOfLog(db: Queryable, table = 'access_log'): Promise<string[]> {
  const known = await db.query<{ id: string }>({ text: 'select id from organisation' });
  const logged = await db
    .query<{ id: string }>({ text: `select distinct organisation_id as id from ${table}` })
    .catch((error: unknown) => {
      if (isWholeDatabase(error)) throw error;
      return { rows: [] };
    });
  return [...new Set([...known.rows, ...logged.rows].map(({ id }) => id))];
}
