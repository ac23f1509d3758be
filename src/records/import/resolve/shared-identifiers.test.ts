/** Identifiers that several records have. Two patients of one facility who share one are both taken, and named. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { callDuring } from '../../../../test-support/call-during.ts';
import {
  bundle,
  encounter,
  NUMBER,
  organization,
  patient,
  practitioner,
  type Resource,
} from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { importText } from '../import-report.ts';

const t = await useImportTest();

const numbered = (value: string, changes: Partial<Resource> = {}) =>
  patient({ identifier: [{ system: NUMBER, value }], ...changes });
const REASON =
  'has an identifier, with the same system, that another patient of this facility has. Both were taken. If they are one person, merge them in the source; else correct the identifier';

test('the same identifier on two patients is named, on the second and in one Bundle on both [IN-36]', async () => {
  await t.run([numbered('1')]);
  const second = await t.run([numbered('1'), numbered('2')]);
  assert.deepEqual(second.resources, { Patient: 2 });
  assert.deepEqual(second.notices, [{ file: '0.json', entry: 1, resourceType: 'Patient', reason: REASON }]);
  assert.match(
    importText(second),
    /^notices {4}1, taken: look at these\n {2}0\.json, entry 1 \(Patient\): has an/m,
  );
  const both = await t.run([bundle([numbered('3'), numbered('3')])]);
  assert.deepEqual(
    both.notices.map(({ entry }) => entry),
    [1, 2],
  );
  assert.equal(both.noticeCount, 2);
});

test('a dry run says the same [IN-24, IN-36]', async () => {
  const records = [numbered('10'), numbered('10')];
  const dry = await t.run(records, { dryRun: true });
  assert.equal(dry.noticeCount, 1);
  assert.deepEqual(dry, await t.run(records));
});

test('another system, another facility, a missing system and linked patients are no matter [IN-36]', async () => {
  await t.run([numbered('20')]);
  const elsewhere = await t.createFacility(t.scope.organisationId);
  assert.equal((await t.run([numbered('20')], { scope: elsewhere })).noticeCount, 0);
  const others = [
    patient({ identifier: [{ system: `${NUMBER}/other`, value: '20' }] }),
    patient({ identifier: [{ value: '20' }] }),
    patient({ identifier: [{ value: '20' }] }),
  ];
  assert.equal((await t.run(others)).noticeCount, 0);
  const one = numbered('21');
  const two = numbered('21', { link: [{ other: { reference: `Patient/${one.id}` }, type: 'replaces' }] });
  assert.equal((await t.run([bundle([one, two])])).noticeCount, 0);
});

test('an identifier of records of two types means the first type that the element allows, whatever was asked before', async () => {
  const identifier = [{ system: NUMBER, value: 'shared' }];
  const [key] = identifier;
  const [doctor, clinic, someone] = [practitioner({ identifier }), organization({ identifier }), patient()];
  await t.run([bundle([doctor, clinic, someone])]);
  const subject = { reference: `Patient/${someone.id}` };
  const visit = encounter(String(subject.reference), { serviceProvider: { identifier: key } });
  const result = (id: string): Resource => ({
    resourceType: 'Observation',
    id,
    status: 'final',
    code: { text: 'Potassium' },
    subject,
    performer: [{ identifier: key }],
  });
  const [alone, beside] = [randomUUID(), randomUUID()];
  await t.run([bundle([result(alone)])]);
  await t.run([bundle([visit, result(beside)])]);
  const performers = await t.rows('select performer from observation where id = any($1)', [[alone, beside]]);
  assert.equal(performers.length, 2);
  assert.deepEqual(performers[0], performers[1]);
  assert.match(JSON.stringify(performers), new RegExp(String(doctor.id)));
});

test('two patients whom an import takes at the same time, by two workers, are named [IN-36]', async () => {
  const { noticeCount } = await t.run([numbered('30'), numbered('30')], { workers: 2 });
  assert.ok(noticeCount > 0);
});

test('a patient who comes while another import has not committed yet is named by the one that commits last [IN-36]', async () => {
  const somebody = patient();
  const visit = encounter(`Patient/${somebody.id}`);
  await t.run([bundle([somebody, visit])]);
  const { notices } = await callDuring(t.database.pool, {
    change: (client) =>
      client.query('select from encounter where organisation_id = $1 and id = $2 for update', [
        t.scope.organisationId,
        visit.id,
      ]),
    call: () => t.run([bundle([numbered('40'), { ...visit, status: 'cancelled' }])]),
    meanwhile: async () =>
      assert.equal((await t.run([numbered('40')])).noticeCount, 0, 'it sees no other yet'),
  });
  assert.deepEqual(notices, [{ file: '0.json', entry: 1, resourceType: 'Patient', reason: REASON }]);
});
