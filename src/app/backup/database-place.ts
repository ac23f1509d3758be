/**
 * Notices a database that was restored from a dump, or copied, and not marked (docs/backup.md): it is another database, or the
 * tables in it are others. A copy of the files of a server cannot be told from the server itself.
 * Contract: EXC-56.
 */
import { oneRow, type Queryable } from '../../platform/db/database.ts';
import { appError } from '../errors.ts';

/** Throws `unmarked_copy` when the service last ran on another database than this. Needs the owner of the schema. */
export async function requireKnownPlace(owner: Queryable): Promise<void> {
  if (await isUnmarkedCopy(owner)) throw appError('unmarked_copy', { fault: UNMARKED_COPY });
  await recordPlace(owner);
}

export const UNMARKED_COPY =
  'This database was restored from a dump, or copied, since the service last ran on it. It may have forgotten what was delivered.';

export async function isUnmarkedCopy(owner: Queryable): Promise<boolean> {
  const place = await readPlace(owner);
  const { rows } = await owner.query<{ place: string }>({ text: 'select place from database_place' });
  const [stored] = rows;
  if (place === undefined || stored === undefined) return false;
  // One of before tables were told apart names the server and the database.
  return stored.place !== place && !place.startsWith(`${stored.place}/`);
}

/** From now on this is the place where the service runs. */
export async function recordPlace(owner: Queryable): Promise<void> {
  const place = await readPlace(owner);
  if (place === undefined) return;
  await owner.query({
    text: `
      insert into database_place (place)
      values ($1)
      on conflict (single_row) do update
      set place = excluded.place
      where database_place.place <> excluded.place`,
    values: [place],
  });
}

/** Undefined where this user may not ask. */
async function readPlace(owner: Queryable): Promise<string | undefined> {
  const { allowed } = await oneRow<{ allowed: boolean }>(owner, {
    text: `select has_function_privilege('pg_control_system()', 'execute') as allowed`,
  });
  if (!allowed) return undefined;
  const { place } = await oneRow<{ place: string }>(owner, {
    text: `
      select s.system_identifier || '/' || d.oid || '/' || 'database_place'::regclass::oid as place
      from pg_control_system() s, pg_database d
      where d.datname = current_database()`,
  });
  return place;
}
