/** Round trips that calls share: one statement for each organisation, because a query names one (src/tenancy/scope.ts). */
import { type BatchOptions, createBatcher } from '../../platform/db/batch.ts';
import type { OrganisationScope } from '../scope.ts';

interface Scoped {
  readonly scope: OrganisationScope;
}

interface OrganisationBatchOptions<Key, Value> extends Omit<BatchOptions<Key, Value>, 'load'> {
  /** Answers for keys of one organisation, in their order. */
  load: (organisationId: string, keys: readonly Key[]) => Promise<Value[]>;
}

export function createOrganisationBatcher<Key extends Scoped, Value>(
  options: OrganisationBatchOptions<Key, Value>,
): (key: Key) => Promise<Value> {
  return createBatcher<Key, Value>({ ...options, load: (keys) => loadByOrganisation(keys, options.load) });
}

async function loadByOrganisation<Key extends Scoped, Value>(
  keys: readonly Key[],
  load: (organisationId: string, keys: readonly Key[]) => Promise<Value[]>,
): Promise<Value[]> {
  const places = Map.groupBy(keys.keys(), (index) => keys[index]?.scope.organisationId ?? '');
  const values = new Array<Value>(keys.length);
  await Promise.all(
    Array.from(places, async ([organisationId, indexes]) => {
      const loaded = await load(
        organisationId,
        indexes.map((index) => keys[index] as Key),
      );
      indexes.forEach((index, place) => {
        values[index] = loaded[place] as Value;
      });
    }),
  );
  return values;
}
