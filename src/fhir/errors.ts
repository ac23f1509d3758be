/** What the FHIR boundary refuses, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import { french } from './errors.fr.ts';

export const fhirError = domainErrors(
  {
    not_acceptable: {
      status: 406,
      text: 'This call answers with application/fhir+json only. Send Accept: application/fhir+json, or _format=json.',
    },
  },
  french,
);
