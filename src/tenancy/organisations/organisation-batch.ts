/**
 * Round trips that calls of one organisation share: a query names one (src/tenancy/scope.ts). What fails or waits for one
 * organisation fails and waits for no other. Contract: OPS-30.
 */
import {
  type BatchOptions,
  type BatchValues,
  createBatcher,
  type EarlyAnswer,
} from '../../platform/db/batch.ts';
import type { OrganisationScope } from '../scope.ts';

interface Scoped {
  readonly scope: OrganisationScope;
}

interface OrganisationBatchOptions<Key, Value> extends Omit<BatchOptions<Key, Value>, 'load'> {
  /** As the one of {@link BatchOptions}, for keys of one organisation. */
  load: (
    organisationId: string,
    keys: readonly Key[],
    answer: EarlyAnswer<Value>,
  ) => Promise<BatchValues<Value>>;
}

interface OrganisationBatcher<Key, Value> {
  ask: (key: Key) => Promise<Value>;
  waiting: number;
}

export function createOrganisationBatcher<Key extends Scoped, Value>(
  options: OrganisationBatchOptions<Key, Value>,
): (key: Key) => Promise<Value> {
  /** Of organisations that wait for an answer. */
  const batchers = new Map<string, OrganisationBatcher<Key, Value>>();

  function batcherOf(organisationId: string): OrganisationBatcher<Key, Value> {
    const found = batchers.get(organisationId);
    if (found !== undefined) return found;
    const load: BatchOptions<Key, Value>['load'] = (keys, answer) =>
      options.load(organisationId, keys, answer);
    const made = { ask: createBatcher<Key, Value>({ ...options, load }), waiting: 0 };
    batchers.set(organisationId, made);
    return made;
  }

  return async (key) => {
    const { organisationId } = key.scope;
    const batcher = batcherOf(organisationId);
    batcher.waiting += 1;
    try {
      return await batcher.ask(key);
    } finally {
      batcher.waiting -= 1;
      if (batcher.waiting === 0) batchers.delete(organisationId);
    }
  };
}
