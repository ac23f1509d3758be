/** Conditional creates and updates of a Bundle (R4, "Conditional create"). Contract: IN-11. */
import { lockNumber } from '../../../platform/db/advisory-locks.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { ResourceImporter } from '../map/resource-importer.ts';
import { chunks } from '../run/entry-chunks.ts';
import type { EntryReason, Unit, UnitEntry, UnitRequest } from '../run/unit.ts';
import { identifierText } from './record-id.ts';

/**
 * `ifNoneExist` and conditional updates: a record in reach that carries the identifier is used in place of a new one.
 * Where none is found, Bundles of an organisation go one after the other for each type. Otherwise two of them could
 * both find nothing and both create.
 */
export async function applyConditions(client: Client, request: UnitRequest): Promise<EntryReason[]> {
  const rejected: EntryReason[] = [];
  const conditional = request.unit.entries.filter(({ condition }) => condition !== undefined);
  const byImporter = [...Map.groupBy(conditional, ({ importer }) => importer)];
  for (const [importer, entries] of byImporter.sort(([a], [b]) => a.order - b.order)) {
    for (const chunk of chunks(entries)) {
      const missing = await matchConditions(client, request, { importer, entries: chunk }, rejected);
      if (missing.length === 0 || request.dryRun !== undefined) continue;
      await client.query('select pg_advisory_xact_lock($1)', [
        lockNumber(`import ${request.scope.organisationId} ${importer.type}`),
      ]);
      await matchConditions(client, request, { importer, entries: missing }, rejected);
    }
  }
  redirectToFirst(conditional);
  rejected.push(...writtenTwice(request.unit, conditional));
  return rejected;
}

/** Points entries at the records that they stand for; returns the entries for which it found none. */
async function matchConditions(
  client: Client,
  { scope, reach, dryRun }: UnitRequest,
  { importer, entries }: { importer: ResourceImporter; entries: readonly UnitEntry[] },
  rejected: EntryReason[],
): Promise<UnitEntry[]> {
  const keys = entries.flatMap(({ condition }) => (condition === undefined ? [] : [condition.key]));
  await dryRun?.bringIdentified(importer, keys, reach);
  const matches = await importer.lookup.byIdentifier(client, scope, keys, reach);
  const found = Map.groupBy(matches, (match) => identifierText(importer.type, match));
  return entries.filter((entry) => {
    if (entry.condition === undefined) return false;
    const ids = new Set(found.get(identifierText(importer.type, entry.condition.key))?.map(({ id }) => id));
    if (ids.size > 1)
      rejected.push({
        entry,
        reason: 'Several records match the condition of this entry, but it must match one',
      });
    const [id] = ids;
    if (id !== undefined) pointAt(entry, id);
    return ids.size === 0;
  });
}

function pointAt(entry: UnitEntry, id: string): void {
  // A conditional create that finds another record leaves it as it is; a conditional update changes it.
  if (entry.condition?.kind === 'create' && id !== entry.target.id) entry.writes = false;
  entry.target.id = id;
}

/** Two entries of one Bundle under the same condition are the same record: the first one creates it. */
function redirectToFirst(conditional: readonly UnitEntry[]): void {
  const first = new Map<string, UnitEntry>();
  for (const entry of conditional) {
    if (!entry.writes || entry.condition === undefined) continue;
    const text = identifierText(entry.target.type, entry.condition.key);
    const before = first.get(text);
    if (before === undefined) first.set(text, entry);
    else pointAt(entry, before.target.id);
  }
}

/** Entries that change the record of an earlier one, because one of the two has a condition. */
function writtenTwice({ entries }: Unit, conditional: readonly UnitEntry[]): EntryReason[] {
  const nameOf = ({ target: { type, id } }: UnitEntry) => `${type}/${id}`;
  const found = new Set(conditional.filter(({ writes }) => writes).map(nameOf));
  const writing = entries.filter((entry) => entry.writes && found.has(nameOf(entry)));
  return [...Map.groupBy(writing, nameOf).values()].flatMap(([first, ...others]) =>
    others.map((entry) => ({
      entry,
      reason: `The entry is about the same record as entry ${first?.number}, because of a condition. Send one of them`,
    })),
  );
}
