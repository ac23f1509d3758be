/** What a fetch of clinical records refuses, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import type { RecordName } from '../tenancy/record-names.ts';
import { french } from './errors.fr.ts';

export const clinicalError = domainErrors(
  {
    record_too_large: {
      status: 422,
      text: ({ record, maxMiB }: { record: RecordName; maxMiB: number }) =>
        `${record} is larger than ${maxMiB} MiB, which is too much for one answer. Get its results from the source system.`,
      example: { record: 'The laboratory order', maxMiB: 24 },
    },
  },
  french,
);
