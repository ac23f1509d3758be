/** Puts and deletes single entries of a terminology map. */
import type { Pool } from '../../platform/db/database.ts';
import { terminologyError } from '../errors.ts';
import { findEntry } from './list-maps.store.ts';
import type { StoredEntry } from './map.schema.ts';
import { deleteEntry, type MapChange, type MapKey, type MapScope, upsertEntries } from './map.store.ts';
import { checkEntry, type GivenEntry } from './map-entry.ts';
import { changeMap, recordMapChange } from './open-map.ts';

/** Make this the entry of its key. 403 when it is not for this account to change, 400 when it is not valid. */
export async function putMapEntry(
  db: Pool,
  scope: MapScope,
  { given, change }: { given: GivenEntry; change: MapChange },
): Promise<{ entry: StoredEntry; created: boolean }> {
  return changeMap(db, scope, change, async (client, now) => {
    const checked = checkEntry(given);
    if ('fault' in checked) throw terminologyError('bad_map_entry', checked);
    const { created, unchanged } = await upsertEntries(client, scope, {
      entries: [checked.entry],
      change: { ...change, now },
    });
    const { localSystem, localCode, targetSystem, targetCode } = checked.entry;
    const after = { localSystem, localCode, targetSystem, targetCode };
    if (unchanged === 0) await recordMapChange(client, scope, change, { action: 'put', after });
    const entry = await findEntry(client, scope, checked.entry);
    if (entry === undefined) throw new Error('the entry just written is not there');
    return { entry, created: created === 1 };
  });
}

/** 403 when it is not for this account to delete, 404 when there is no such entry. */
export async function deleteMapEntry(
  db: Pool,
  scope: MapScope,
  { key, change }: { key: MapKey; change: MapChange },
): Promise<void> {
  await changeMap(db, scope, change, async (client, now) => {
    await recordMapChange(client, scope, change, { action: 'delete', after: { ...key } });
    if (!(await deleteEntry(client, scope, { key, change: { ...change, now } })))
      throw terminologyError('not_found');
  });
}
