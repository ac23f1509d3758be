/** What use cases refuse of terminology maps, and how it is worded. */
import { domainErrors } from '../platform/domain-error.ts';
import type { Words } from '../platform/words/words.ts';
import { french } from './errors.fr.ts';

/** `options` says what the command line adds. */
interface MapFileFault {
  fault: Words;
  options?: string;
}

export const terminologyError = domainErrors(
  {
    bad_map_entry: {
      status: 400,
      text: ({ fault }: { fault: Words }) => `The entry is refused: ${fault.en}.`,
      example: {
        fault: {
          en: 'target code is not a LOINC code: digits, a hyphen and a check digit, such as 718-7',
          fr: 'le code standard n’est pas un code LOINC : des chiffres, un trait d’union et un chiffre de contrôle, par exemple 718-7',
        },
      },
    },
    bad_map_file: {
      status: 400,
      text: ({ fault }: MapFileFault) => fault.en,
      command: ({ fault, options }: MapFileFault) =>
        options === undefined ? fault.en : `${fault.en} ${options}`,
      example: {
        fault: {
          en: 'The file is not UTF-8. Save it as UTF-8; FHIR JSON is always UTF-8.',
          fr: 'Le fichier n’est pas en UTF-8. Enregistrez-le en UTF-8 ; le JSON de FHIR est toujours en UTF-8.',
        },
      },
    },
    bad_request: {
      status: 400,
      exitCode: 2,
      text: ({ field, fault }: { field: string; fault: Words }) =>
        `The parameter ${field} is not valid: ${fault.en}.`,
      command: ({ field, fault }: { field: string; fault: Words }) => `${field} is not valid: ${fault.en}.`,
      example: {
        field: 'columns',
        fault: {
          en: 'each part must be <column>=<column of the file>, such as local_code=itemid, separated by commas',
          fr: 'chaque partie doit être <colonne>=<colonne du fichier>, par exemple local_code=itemid, séparée des autres par une virgule',
        },
      },
    },
    maps_changed: {
      status: 409,
      text: 'The maps were changed after the preview, or the preview is of another import. Nothing was changed. Look at the preview again.',
    },
    permission_missing: {
      status: 403,
      text: ({ permission }: { permission: string }) =>
        `This account may not change the map of the organisation, which applies at every facility: it may not use every facility and lacks the permission ${permission}. To change the map of one facility, send facilityId in the entry, or level=facility in the query.`,
      example: { permission: 'terminology.maps.organisation' },
    },
    not_found: {
      status: 404,
      text: 'The map entry was not found. Check localSystem, localCode and targetSystem. level=facility deletes the entry of the facility in x-facility-id. Without it, the entry of the organisation is deleted.',
    },
    export_overtaken: {
      text: 'The map was changed while it was exported: an entry now has an equivalence or a comment, and the file has no column for it. Export it again.',
    },
    bad_limit: {
      exitCode: 2,
      text: ({ field }: { field: string }) => `${field} must be a whole number from 1 to 1000.`,
    },
  },
  french,
);

/** The file as a whole cannot be read; nothing of it was imported. `fault` says why and what to do. */
export const badFile = (fault: Words, options?: { cause: unknown }) =>
  terminologyError('bad_map_file', { fault }, options);
