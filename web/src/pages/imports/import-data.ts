/** Imports as the service keeps them. Those that run are read again every second. Contract: WEB-65. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Item } from '../../api/answer.ts';
import { answered, api } from '../../api/api.ts';
import { queries } from '../../app/queries.ts';
import { BY_ITSELF, useWatch } from '../../app/watch.ts';
import type { Tone } from '../../blocks/values/status-badge.tsx';

export type Import = Item<'/imports'>;

export const IMPORT_TONES: Record<Import['state'], Tone> = {
  running: 'running',
  finished: 'good',
  rejected: 'warning',
  failed: 'bad',
};
/** `incomplete`: something of it was rejected, or it failed. */
export const FILTERS = [...Object.keys(IMPORT_TONES), 'incomplete'] as (Import['state'] | 'incomplete')[];

/** The service writes the progress once a second. */
const WATCH_MS = 1_000;

function readImport(importId: string, headers = {}) {
  return queryOptions({
    queryKey: ['imports', 'one', importId],
    queryFn: () => answered(api.GET('/imports/{importId}', { params: { path: { importId } }, headers })),
    staleTime: 0,
  });
}

/** One import, followed while it runs. */
export function useImport(importId: string) {
  const query = useQuery(readImport(importId));
  useWatch({
    isOn: query.data?.state === 'running',
    error: query.error,
    everyMs: WATCH_MS,
    read: () => queries.fetchQuery(readImport(importId, BY_ITSELF)),
  });
  return query;
}

/** Those under way. One that has just been sent is not there yet, so it is looked for, not asked for by its id. */
export const readRunning = queryOptions({
  queryKey: ['imports', 'running'],
  queryFn: () => answered(api.GET('/imports', { params: { query: { state: 'running', limit: 100 } } })),
  staleTime: 0,
  refetchInterval: WATCH_MS,
  retry: false,
});
