/** Patient (https://hl7.org/fhir/R4/patient.html) as rows. */

import type { RecordRow } from '../../../clinical/description/describe.ts';
import { patientSearchKeys, sortName } from '../../../clinical/resources/search-key.ts';
import type { Identifier } from '../../../fhir/coded.ts';
import type { ContactPoint, HumanName } from '../../../fhir/person.ts';
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

export function patientFromFhir(patient: ElementReader, { id }: Pick<MapContext, 'id'>): RecordRow {
  const names = list(patient.children('name').map(humanName)) ?? [];
  const identifiers = list(patient.children('identifier').map(identifier)) ?? [];
  const telecoms = list(patient.children('telecom').map(contactPoint)) ?? [];
  // A choice that is given in two types is refused here.
  patient.choice('deceased');
  patient.choice('multipleBirth');
  return {
    id,
    values: {
      active: patient.boolean('active'),
      gender: patient.code('gender', GENDERS),
      birth_date: patient.date('birthDate'),
      deceased_boolean: patient.boolean('deceasedBoolean'),
      deceased_date_time: patient.dateTime('deceasedDateTime')?.text,
      marital_status: optional(patient.child('maritalStatus'), codeableConcept),
      multiple_birth_boolean: patient.boolean('multipleBirthBoolean'),
      multiple_birth_integer: patient.integer('multipleBirthInteger'),
      communication: list(patient.children('communication').map(communication)),
      contact: list(patient.children('contact').map(contact)),
      sort_name: sortName(names),
    },
    children: {
      patient_name: names.map(nameRow),
      patient_identifier: identifierRows(identifiers),
      patient_telecom: telecoms.map((telecom: ContactPoint, position) => ({ position, ...telecom })),
      patient_address: (list(patient.children('address').map(address)) ?? []).map(
        ({ postalCode, ...rest }, position) => ({ position, ...rest, postal_code: postalCode }),
      ),
      patient_search_key: patientSearchKeys({ names, identifiers, telecoms }).map(({ kind, key }) => ({
        kind,
        key,
      })),
    },
  };
}

function nameRow({ period: valid, ...name }: HumanName, position: number): Record<string, unknown> {
  return { position, ...name, period_start: valid?.start, period_end: valid?.end };
}

function communication(reader: ElementReader) {
  return compact({
    language: reader.required('language', optional(reader.child('language'), codeableConcept)),
    preferred: reader.boolean('preferred'),
  });
}

function contact(reader: ElementReader) {
  return compact({
    relationship: list(reader.children('relationship').map(codeableConcept)),
    name: optional(reader.child('name'), humanName),
    telecom: list(reader.children('telecom').map(contactPoint)),
    address: optional(reader.child('address'), address),
    gender: reader.code('gender', GENDERS),
    period: optional(reader.child('period'), period),
  });
}

/** Identifiers as rows, in their order. */
function identifierRows(identifiers: readonly Identifier[]): Record<string, unknown>[] {
  return identifiers.map(({ use, type, system, value, period }, position) => ({
    position,
    use,
    type,
    system,
    value,
    period_start: period?.start,
    period_end: period?.end,
  }));
}
