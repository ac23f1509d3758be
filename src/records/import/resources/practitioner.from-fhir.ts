/** Practitioner (https://hl7.org/fhir/R4/practitioner.html) as rows. */

import type { RecordRow } from '../../../clinical/description/describe.ts';
import { displayName } from '../../../fhir/person.ts';
import {
  address,
  codeableConcept,
  compact,
  contactPoint,
  GENDERS,
  humanName,
  identifier,
  list,
  optional,
  period,
} from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import type { MapContext } from '../map/resource-importer.ts';
import { identifierRows } from '../write/directory-identifiers.ts';

export function practitionerFromFhir(practitioner: ElementReader, { id }: Pick<MapContext, 'id'>): RecordRow {
  const names = list(practitioner.children('name').map(humanName));
  return {
    id,
    values: {
      active: practitioner.boolean('active'),
      gender: practitioner.code('gender', GENDERS),
      birth_date: practitioner.date('birthDate'),
      display: displayName(names ?? []) ?? undefined,
      name: names,
      telecom: list(practitioner.children('telecom').map(contactPoint)),
      address: list(practitioner.children('address').map(address)),
      qualification: list(practitioner.children('qualification').map(qualification)),
    },
    children: {
      directory_identifier: identifierRows(list(practitioner.children('identifier').map(identifier)) ?? []),
    },
  };
}

function qualification(reader: ElementReader) {
  return compact({
    identifier: list(reader.children('identifier').map(identifier)),
    code: optional(reader.child('code'), codeableConcept),
    period: optional(reader.child('period'), period),
  });
}
