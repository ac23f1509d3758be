/** What use cases refuse of terminology maps, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';

export const terminologyError = domainErrors({
  bad_map_entry: {
    status: 400,
    text: ({ fault }: { fault: string }) => `The entry is refused: ${fault}.`,
    example: { fault: 'target code is not a LOINC code: digits, a hyphen and a check digit, such as 718-7' },
  },
  bad_map_file: {
    status: 400,
    text: ({ fault }: { fault: string }) => fault,
    example: { fault: 'The file is not UTF-8. Save it as UTF-8; FHIR JSON is always UTF-8.' },
  },
  bad_request: {
    status: 400,
    exitCode: 2,
    text: ({ field, fault }: { field: string; fault: string }) =>
      `The parameter ${field} is not valid: ${fault}.`,
    command: ({ field, fault }: { field: string; fault: string }) => `${field} is not valid: ${fault}.`,
    example: {
      field: 'columns',
      fault:
        'each part must be <column>=<column of the file>, such as local_code=itemid, separated by commas',
    },
  },
  permission_missing: {
    status: 403,
    text: ({ permission }: { permission: string }) =>
      `This account may not change the map of the organisation, which applies at every facility: it may not use every facility and lacks the permission ${permission}. To change the map of one facility, send facilityId in the entry, or level=facility in the query.`,
    example: { permission: 'terminology.maps.organisation' },
  },
  bad_limit: {
    exitCode: 2,
    text: ({ field }: { field: string }) => `${field} must be a whole number from 1 to 1000.`,
  },
});

/** The file as a whole cannot be read; nothing of it was imported. `fault` says why and what to do. */
export const badFile = (fault: string, options?: { cause: unknown }) =>
  terminologyError('bad_map_file', { fault }, options);
