/** The words of `errors.ts` in French. */
import { RECORD_NAMES, type RecordName } from '../tenancy/record-names.ts';

export const french = {
  record_too_large: ({ record, maxMiB }: { record: RecordName; maxMiB: number }) =>
    `${RECORD_NAMES[record]} dépasse ${maxMiB} Mio, ce qui est trop pour une seule réponse. Prenez ses résultats dans le système d’origine.`,
};
