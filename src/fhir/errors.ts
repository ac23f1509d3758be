/** What the FHIR boundary refuses, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import { french } from './errors.fr.ts';

export const fhirError = domainErrors(
  {
    not_acceptable: {
      status: 406,
      text: 'This call answers with application/fhir+json only. Send Accept: application/fhir+json, or _format=json.',
    },
    fhir_release: {
      status: 415,
      text: 'The content type names another FHIR release. This call takes FHIR R4. Send R4 with fhirVersion=4.0, or leave fhirVersion out.',
    },
  },
  french,
);
