/**
 * Which processes of the service hold which master key. Each says so in the name of its live connection, which ends
 * with the process, so that nothing is left behind by one that was killed.
 */
import type { Queryable } from '../../platform/db/database.ts';
import type { ServiceKeys } from './service-keys.ts';

/** A notification here asks every process to read its key file and the data keys again. */
export const KEYS_CHANNEL = 'interchange_keys';

const LIVE = 'interchange live';
/** The key of such a process is another one only after a restart. */
const FIXED = ', from MASTER_KEY';

/** Reads the keys again on a connection and names it after the key. Rejects with WrongMasterKeyError. */
export async function announceKey(
  db: Queryable,
  keys: Pick<ServiceKeys, 'check' | 'masterKeyId' | 'fixed'>,
): Promise<void> {
  await keys.check(db);
  await db.query({
    text: `select set_config('application_name', $1, false)`,
    values: [`${LIVE}, key ${keys.masterKeyId}${keys.fixed ? FIXED : ''}`],
  });
}

export async function askForRenewal(db: Queryable): Promise<void> {
  await db.query({ text: `select pg_notify($1, '')`, values: [KEYS_CHANNEL] });
}

/** Where the processes run that do not hold this master key: addresses, one for each process. */
export async function holdersOfOtherKeys(db: Queryable, masterKeyId: string): Promise<string[]> {
  const { rows } = await db.query<{ place: string }>({
    text: `
      select coalesce(host(client_addr), 'this machine') || ' (' || application_name || ')' as place
      from pg_stat_activity
      where datname = current_database()
        and application_name like $1 || '%'
        and not starts_with(application_name, $1 || ', key ' || $2)
      order by place`,
    values: [LIVE, masterKeyId],
  });
  return rows.map(({ place }) => place);
}

/** Whether a process that `holdersOfOtherKeys` named may read another key without a restart. */
export function mayTakeOver(holder: string): boolean {
  return !holder.includes(FIXED);
}
