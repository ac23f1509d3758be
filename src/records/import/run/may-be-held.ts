/** Which units are grouped before they are written (docs/adr/0124). Contract: IN-9, IN-20. */
import { inBatches } from '../group/batches.ts';
import type { WriteContext } from '../map/resource-importer.ts';
import type { Unit } from './unit.ts';

/** Entries of a unit whose records are held until all of them are mapped, at most, and bytes of their JSON. */
const HELD = 5_000;
const HELD_BYTES = 8 * 1_048_576;

/**
 * Whether the unit is small, has new patients, and has no record of patients that is stored already: what refers to such a
 * record by an identifier must find it as the unit has it.
 */
export async function mayBeHeld(
  { client, scope }: WriteContext,
  { entries: all }: Unit,
  newPatients: ReadonlySet<string>,
): Promise<boolean> {
  if (newPatients.size === 0 || all.length > HELD) return false;
  if (all.reduce((bytes, { start, end }) => bytes + end - start, 0) > HELD_BYTES) return false;
  for (const [{ kind, lookup }, entries] of Map.groupBy(all, ({ importer }) => importer)) {
    if (kind === undefined) continue;
    const ids = entries.map(({ target }) => target.id);
    if (new Set(ids).size < ids.length) return false;
    const stored = await inBatches(ids, (some) => lookup.existing(client, scope, some));
    if (stored.length > 0) return false;
  }
  return true;
}
