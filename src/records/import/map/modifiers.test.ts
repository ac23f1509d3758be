/** Resources whose meaning an element that is not understood may change (https://hl7.org/fhir/R4/extensibility.html). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  bundle,
  encounter,
  organization,
  patient,
  practitioner,
  type Resource,
} from '../../../../test-support/records/clinic.ts';
import { EMPTY_REPORT, lines, useImportTest } from '../../../../test-support/records/import.ts';

const t = await useImportTest();

const NEGATION = 'https://clinic.example/negation';
const MODIFIER = { modifierExtension: [{ url: NEGATION, valueBoolean: true }] };
const RULES = { implicitRules: 'https://clinic.example/rules' };
const REASON =
  'is not understood, and may change what the rest means. Send the resource without it, or ask the operator to add its URL to IMPORT_UNDERSTOOD_EXTENSIONS.';

const someone = patient();
const subject = { reference: `Patient/${someone.id}` };
const CODE = { coding: [{ system: 'http://loinc.org', code: '718-7' }] };
const of = (resourceType: string, elements: object): Resource => ({
  resourceType,
  id: randomUUID(),
  subject,
  ...elements,
});
const observation = (elements: object) => of('Observation', { status: 'final', code: CODE, ...elements });
const report = (elements: object) => of('DiagnosticReport', { status: 'final', code: CODE, ...elements });
const order = (elements: object) =>
  of('ServiceRequest', { status: 'active', intent: 'order', code: CODE, ...elements });
const study = (elements: object) => of('ImagingStudy', { status: 'available', ...elements });
const visit = (elements: object) => encounter(String(subject.reference), elements);

/** A resource, and the element that it is refused for. */
const REFUSED: [Resource, string][] = [
  [patient(MODIFIER), 'Patient.modifierExtension'],
  [patient(RULES), 'Patient.implicitRules'],
  [patient({ contact: [{ gender: 'male', ...MODIFIER }] }), 'Patient.contact.modifierExtension'],
  [patient({ link: [{ ...MODIFIER }] }), 'Patient.link.modifierExtension'],
  [patient({ modifierExtension: [] }), 'Patient.modifierExtension'],
  [patient({ modifierExtension: null }), 'Patient.modifierExtension'],
  [practitioner(MODIFIER), 'Practitioner.modifierExtension'],
  [
    practitioner({ qualification: [{ code: CODE, ...MODIFIER }] }),
    'Practitioner.qualification.modifierExtension',
  ],
  [organization(MODIFIER), 'Organization.modifierExtension'],
  [organization({ contact: [{ ...MODIFIER }] }), 'Organization.contact.modifierExtension'],
  [of('Location', { subject: undefined, ...RULES }), 'Location.implicitRules'],
  [
    of('Location', { subject: undefined, position: { longitude: 1, latitude: 1, ...MODIFIER } }),
    'Location.position.modifierExtension',
  ],
  [visit(MODIFIER), 'Encounter.modifierExtension'],
  [visit({ participant: [{ ...MODIFIER }] }), 'Encounter.participant.modifierExtension'],
  [visit({ hospitalization: { ...MODIFIER } }), 'Encounter.hospitalization.modifierExtension'],
  [order(MODIFIER), 'ServiceRequest.modifierExtension'],
  [order(RULES), 'ServiceRequest.implicitRules'],
  [observation(MODIFIER), 'Observation.modifierExtension'],
  [observation({ component: [{ code: CODE, ...MODIFIER }] }), 'Observation.component.modifierExtension'],
  [
    observation({ component: [{ code: CODE, referenceRange: [{ text: '1-2', ...MODIFIER }] }] }),
    'Observation.component.referenceRange.modifierExtension',
  ],
  [report(MODIFIER), 'DiagnosticReport.modifierExtension'],
  [
    report({ contained: [{ resourceType: 'Practitioner', id: 'p', ...RULES }] }),
    'DiagnosticReport.contained.implicitRules',
  ],
  [study(MODIFIER), 'ImagingStudy.modifierExtension'],
  [
    study({
      series: [
        {
          uid: '1.2.3',
          modality: { code: 'CT' },
          instance: [{ uid: '1.2.3.4', sopClass: { code: 'urn:oid:1.2' }, ...MODIFIER }],
        },
      ],
    }),
    'ImagingStudy.series.instance.modifierExtension',
  ],
];

test('a name with a letter that is written as an escape is refused too [IN-32]', async () => {
  const escaped = [patient(MODIFIER), patient(RULES)].map((resource) =>
    JSON.stringify(resource).replace('Extension', 'E\\u0078tension').replace('Rules', '\\u0052ules'),
  );
  for (const [index, name] of ['modifierExtension', 'implicitRules'].entries()) {
    const { rejected } = await t.run([escaped[index] ?? '']);
    assert.equal(rejected[0]?.reason, `Patient.${name} ${REASON}`);
  }
});

test('a resource with a modifier extension or implicit rules is refused, by the path of the element [IN-32]', async () => {
  await t.run([someone]);
  const file = lines(REFUSED.map(([resource]) => resource));
  assert.deepEqual(await t.run([file]), {
    ...EMPTY_REPORT,
    files: 1,
    rejected: REFUSED.map(([{ resourceType }, path], index) => ({
      file: '0.json',
      entry: index + 1,
      resourceType,
      reason: `${path} ${REASON}`,
    })),
    rejectedCount: REFUSED.length,
  });
});

test('its Bundle is refused whole; one that is of a type that is not taken is only counted [IN-32]', async () => {
  const other = patient();
  const [bad] = REFUSED.map(([resource]) => resource);
  const refused = await t.run([bundle([other, bad as Resource])]);
  assert.deepEqual(refused.rejected, [
    { file: '0.json', entry: 2, resourceType: 'Patient', reason: `Patient.modifierExtension ${REASON}` },
  ]);
  assert.deepEqual(refused.resources, {});
  const counted = await t.run([bundle([other, { resourceType: 'Claim', id: 'c', ...MODIFIER }])]);
  assert.deepEqual(
    [counted.rejected, counted.resources, counted.notTaken],
    [[], { Patient: 1 }, { Claim: 1 }],
  );
});

test('a Bundle whose own elements change the meaning is refused [IN-32]', async () => {
  const whole = { ...bundle([patient()]), ...RULES };
  const inEntry = bundle([{ resource: patient(), ...MODIFIER }]);
  assert.deepEqual((await t.run([whole, inEntry])).rejected, [
    { file: '0.json', entry: null, reason: `Bundle.implicitRules ${REASON}` },
    { file: '1.json', entry: 1, resourceType: 'Patient', reason: `Bundle.entry.modifierExtension ${REASON}` },
  ]);
  assert.deepEqual((await t.run([lines([patient(), whole])])).rejected, [
    { file: '0.json', entry: 2, reason: `Bundle.implicitRules ${REASON}` },
  ]);
});

test('what the operator names as understood is taken without it, and counted as not kept [IN-32]', async () => {
  const deps = { understoodExtensions: [NEGATION, RULES.implicitRules] };
  const taken = await t.run([patient({ ...MODIFIER, ...RULES })], { deps });
  assert.deepEqual(
    [taken.rejected, taken.resources, taken.notKept.map(({ element }) => element)],
    [[], { Patient: 1 }, ['Patient.implicitRules', 'Patient.modifierExtension']],
  );
  const two = patient({
    modifierExtension: [...MODIFIER.modifierExtension, { url: 'https://other.example' }],
  });
  assert.equal((await t.run([two], { deps })).rejectedCount, 1);
});
