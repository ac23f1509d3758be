/** The import of a map file, and its dry run, which tells what would change and keeps nothing. */

import type { Answer } from '../../../api/answer.ts';
import { answered, api } from '../../../api/api.ts';
import type { Level } from '../draft.ts';

export type MapImportReport = Answer<'/terminology/maps/import', 'post'>;

export type EntryChange = NonNullable<MapImportReport['changes']>[number];
export type EntryContent = EntryChange['after'];

interface ImportOptions {
  level: Level;
  dryRun: boolean;
  /** Of the dry run that is on the page: the import does that, or nothing. */
  preview?: string;
  columns?: string;
  localSystem?: string;
  targetSystem?: string;
}

type MediaType = 'text/csv' | 'application/fhir+json';

export function importMap(
  content: Blob | string,
  mediaType: MediaType,
  { columns, localSystem, targetSystem, preview, ...options }: ImportOptions,
): Promise<MapImportReport> {
  return answered(
    api.POST('/terminology/maps/import', {
      params: {
        query: {
          ...options,
          preview,
          columns: columns || undefined,
          localSystem: localSystem || undefined,
          targetSystem: targetSystem || undefined,
        },
      },
      headers: { 'content-type': mediaType },
      body: content as never,
      bodySerializer: (body: unknown) => body as string,
    }),
  );
}
