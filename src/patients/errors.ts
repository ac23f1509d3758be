/** What a patient search refuses, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import { french } from './errors.fr.ts';

export const patientError = domainErrors(
  {
    search_too_long: {
      status: 400,
      text: ({ maxWords }: { maxWords: number }) => `search has more than ${maxWords} words. Send fewer.`,
      example: { maxWords: 8 },
    },
  },
  french,
);
