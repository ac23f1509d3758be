/** Practitioner (https://hl7.org/fhir/R4/practitioner.html). */
import type { CodeableConcept, Identifier, Period } from '../../fhir/coded.ts';
import { displayName, type HumanName } from '../../fhir/person.ts';
import {
  address,
  codeableConcept,
  compact,
  contactPoint,
  GENDERS,
  humanName,
  nonEmpty,
  optional,
  period,
  readIdentifier,
} from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { describeResource } from '../description/describe.ts';
import { directoryIdentifiers, sourceFacility } from '../description/directory.ts';
import { onlyStored } from '../description/element.ts';
import { boolean, code, date, jsonList } from '../description/kinds.ts';
import type { ReadContext } from '../description/read-context.ts';

export const PRACTITIONER = describeResource('Practitioner', {
  table: 'practitioner',
  reach: 'organisation',
  elements: {
    active: boolean('active'),
    gender: code('gender', GENDERS),
    birthDate: date('birth_date'),
    /** What references to the person say. */
    display: onlyStored(
      'display',
      'text',
      ({ values }) => displayName((values.name ?? []) as HumanName[]) ?? undefined,
    ),
    name: jsonList('name', humanName),
    telecom: jsonList('telecom', contactPoint),
    address: jsonList('address', address),
    // A code is 1..1.
    qualification: jsonList('qualification', qualification, (one) =>
      one.code === undefined ? undefined : one,
    ),
    identifier: directoryIdentifiers('Practitioner'),
    sourceFacilityId: sourceFacility(),
  },
  notKept: {
    photo: 'images are not held',
    communication: 'no column holds it yet',
  },
});

interface Qualification {
  identifier?: Identifier[];
  code?: CodeableConcept;
  period?: Period;
}

function qualification(reader: ElementReader, context: ReadContext): Qualification | undefined {
  const code = optional(reader.child('code'), codeableConcept);
  if (code === undefined) context.notKept(reader.path);
  return compact<Qualification>({
    identifier: nonEmpty(reader.children('identifier').map(readIdentifier)),
    code,
    period: optional(reader.child('period'), period),
  });
}
