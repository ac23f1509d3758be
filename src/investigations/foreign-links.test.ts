/** Which references are looked at, so that none leads to a record of another patient. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReadContext } from '../clinical/description/read-context.ts';
import { DIAGNOSTIC_REPORT } from '../clinical/resources/diagnostic-report.fhir.ts';
import { ENCOUNTER } from '../clinical/resources/encounter.fhir.ts';
import { IMAGING_STUDY } from '../clinical/resources/imaging-study.fhir.ts';
import { OBSERVATION } from '../clinical/resources/observation.fhir.ts';
import { SERVICE_REQUEST } from '../clinical/resources/service-request.fhir.ts';
import { SPECIMEN } from '../clinical/resources/specimen.fhir.ts';
import { ElementReader } from '../fhir/reading/element-reader.ts';
import { foreignLinksAmong, type LinkingRecord } from './foreign-links.store.ts';

/** Of each type whose records belong to a patient: its kind, and the least that an import takes. */
const TYPES = {
  Encounter: {
    kind: 'encounters',
    description: ENCOUNTER,
    least: { status: 'finished', class: { code: 'AMB' } },
  },
  ServiceRequest: {
    kind: 'orders',
    description: SERVICE_REQUEST,
    least: { status: 'active', intent: 'order' },
  },
  Observation: { kind: 'observations', description: OBSERVATION, least: { status: 'final' } },
  DiagnosticReport: { kind: 'reports', description: DIAGNOSTIC_REPORT, least: { status: 'final' } },
  ImagingStudy: { kind: 'studies', description: IMAGING_STUDY, least: { status: 'available' } },
  Specimen: { kind: 'specimens', description: SPECIMEN, least: { status: 'available' } },
} as const;
type PatientType = keyof typeof TYPES;

/** FHIR has it for what is observed in place of the subject, such as a child that is not born yet. */
const MAY_LEAVE = ['Observation.focus'];

/** The record as it is stored, in which the element `to.name` refers to `to.type`; notes what each element may refer to. */
function read(
  type: PatientType,
  to?: { name: string; type: string },
  note: (name: string, types: readonly string[]) => void = () => undefined,
): LinkingRecord {
  const { description, least } = TYPES[type];
  const resource = { resourceType: type, code: { text: 'Test' }, ...least };
  const asked = (name: string, types: readonly string[]) => {
    note(name, types);
    return name === to?.name ? { target: { type: to.type, id: 'target' }, display: undefined } : undefined;
  };
  const context: ReadContext = {
    id: 'source',
    scope: { facilityId: 'facility', timeZone: 'UTC' },
    hasOwnId: false,
    requiredReference: () => ({ type: 'Patient', id: 'own patient' }),
    reference: (_, name, types) => asked(name, types),
    references: (_, name, types) => [asked(name, types) ?? []].flat(),
    notKept: () => undefined,
  };
  return description.read(ElementReader.of(resource, 'UTC'), context);
}

for (const type of Object.keys(TYPES) as PatientType[])
  test(`each reference of ${type} to a record of a patient is looked at [IN-20]`, () => {
    const references: { name: string; type: PatientType }[] = [];
    read(type, undefined, (name, types) =>
      references.push(
        ...types.filter((one) => one in TYPES).map((one) => ({ name, type: one as PatientType })),
      ),
    );
    assert.ok(references.length > 0);
    const unseen = references.filter((to) => {
      const target = { id: 'target', values: { patient_id: 'another patient' }, children: {} };
      const records = {
        encounters: [],
        orders: [],
        observations: [],
        reports: [],
        studies: [],
        specimens: [],
      };
      const links = foreignLinksAmong({
        ...records,
        [TYPES[to.type].kind]: [target],
        [TYPES[type].kind]: type === to.type ? [target, read(type, to)] : [read(type, to)],
      });
      return !links.some(({ element, ids }) => element === to.name && ids.includes('source'));
    });
    assert.deepEqual(
      unseen.map(({ name }) => `${type}.${name}`).filter((path) => !MAY_LEAVE.includes(path)),
      [],
    );
  });
