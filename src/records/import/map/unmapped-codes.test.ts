import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { bundle, encounter, patient, type Resource } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';

const t = await useImportTest();

const LOCAL = { system: 'http://hospital.example/lab', code: 'HGB', display: 'Haemoglobin' };
const LOINC = { system: 'http://loinc.org', code: '718-7' };
const PRESSURE = { system: 'http://hospital.example/vitals', code: 'BP' };
const category = (code: string) => [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code }] },
];

function records(): Resource[] {
  const someone = patient();
  const shared = { id: randomUUID(), subject: { reference: `urn:uuid:${String(someone.id)}` } };
  const observation = {
    ...shared,
    resourceType: 'Observation',
    status: 'final',
    category: category('laboratory'),
    effectiveDateTime: '2026-01-02T03:04:05Z',
  };
  return [
    someone,
    { ...observation, id: randomUUID(), code: { coding: [LOCAL] }, valueString: 'a' },
    { ...observation, id: randomUUID(), code: { coding: [LOCAL] }, valueString: 'b' },
    { ...observation, id: randomUUID(), code: { coding: [LOCAL, LOINC] }, valueString: 'c' },
    {
      ...observation,
      id: randomUUID(),
      category: category('vital-signs'),
      code: { coding: [{ ...LOINC, code: '85354-9' }] },
      component: [{ code: { coding: [PRESSURE] }, valueQuantity: { value: 120, unit: 'mmHg' } }],
    },
    {
      ...shared,
      resourceType: 'DiagnosticReport',
      status: 'final',
      category: category('laboratory'),
      code: { coding: [LOCAL] },
    },
    {
      ...shared,
      id: randomUUID(),
      resourceType: 'ServiceRequest',
      status: 'active',
      intent: 'order',
      category: category('imaging'),
      code: { coding: [LOCAL] },
    },
  ];
}

const counted = (scope: { organisationId: string }) =>
  t.rows(
    `select local_code, place, met_count::int as count from terminology_unmapped where organisation_id = $1 order by place`,
    [scope.organisationId],
  );

test('an import counts the local codes of what it wrote; the same again, and a dry run, count nothing [TERM-17]', async () => {
  const document = bundle(records());
  await t.run([document], { dryRun: true });
  assert.deepEqual(await counted(t.scope), []);
  const report = await t.run([document]);
  assert.deepEqual(report.rejected, []);
  const expected = [
    { local_code: 'HGB', place: 'imaging.order', count: 1 },
    { local_code: 'HGB', place: 'lab.report', count: 1 },
    { local_code: 'HGB', place: 'lab.result', count: 2 },
    { local_code: 'BP', place: 'vitals.sign', count: 1 },
  ];
  assert.deepEqual(await counted(t.scope), expected);
  await t.run([document]);
  assert.deepEqual(await counted(t.scope), expected);
});

test('an import counts local kinds of participation, and not those of HL7 [TERM-17, TERM-29]', async () => {
  const scope = await t.createOrganisation();
  const person = patient();
  const type = (system: string, code: string) => [{ coding: [{ system, code }] }];
  const visit = encounter(`Patient/${person.id}`, {
    participant: [
      { type: type('http://hospital.example/roles', 'LEAD') },
      { type: type('http://terminology.hl7.org/CodeSystem/v3-ParticipationType', 'ATND') },
      { individual: { display: 'Dr. Ada' } },
    ],
  });
  const report = await t.run([bundle([person, visit])], { scope });
  assert.deepEqual(report.rejected, []);
  assert.deepEqual(await counted(scope), [
    { local_code: 'LEAD', place: 'encounter.participation', count: 1 },
  ]);
});

test('a Bundle that is rejected counts nothing', async () => {
  const scope = await t.createOrganisation();
  const broken = records();
  broken.push({ resourceType: 'Observation', id: randomUUID(), status: 'nonsense' });
  const report = await t.run([bundle(broken)], { scope });
  assert.ok(report.rejectedCount > 0);
  assert.deepEqual(await counted(scope), []);
});

test('observations of a category that never goes out by itself are not counted, all others are', async () => {
  const scope = await t.createOrganisation();
  const [someone = patient(), result = patient()] = records();
  const of = (code: string, more: object): Resource => ({
    ...result,
    id: randomUUID(),
    code: { coding: [{ ...LOCAL, code }] },
    ...more,
  });
  const report = await t.run(
    [
      bundle([
        someone,
        of('SMOKER', { category: category('social-history') }),
        of('ECG', { category: category('procedure') }),
        of('LV-EF', { category: category('imaging') }),
        of('LISTED', { category: undefined }),
        of('BOTH', { category: [...category('exam'), ...category('laboratory')] }),
      ]),
    ],
    { scope },
  );
  assert.deepEqual(report.rejected, []);
  assert.deepEqual(
    (await counted(scope)).toSorted((a, b) => String(a.local_code).localeCompare(String(b.local_code))),
    ['BOTH', 'ECG', 'LISTED'].map((local_code) => ({ local_code, place: 'lab.result', count: 1 })),
  );
});
