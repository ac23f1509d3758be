/** What an Encounter search refuses, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import { french } from './errors.fr.ts';

export const encounterError = domainErrors(
  {
    bad_status_system: {
      status: 400,
      text: ({ system }: { system: string }) => `status has an unknown system. Use ${system} or no system.`,
      example: { system: 'http://hl7.org/fhir/encounter-status' },
    },
    two_patients: { status: 400, text: 'patient and subject name different patients. Send one of them.' },
    several_ids: { status: 400, text: '_id has more than one id. Send one request for each Encounter.' },
    modifier: {
      status: 400,
      text: ({ parameter }: { parameter: string }) =>
        `${parameter} has a modifier, the part after its colon. This search knows no modifiers. Send ${parameter} alone.`,
      example: { parameter: 'status' },
    },
    bad_date: {
      status: 400,
      text: ({ part }: { part: 'prefix' | 'date' }) =>
        part === 'prefix'
          ? 'date has an unknown prefix. Use ge, le, eq or no prefix.'
          : 'date must be a date that exists, as YYYY, YYYY-MM or YYYY-MM-DD, or a date-time with a zone (a + in it sent as %2B), after the prefix ge, le, eq or none.',
      example: { part: 'prefix' },
    },
  },
  french,
);
