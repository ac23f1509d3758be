import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, encounter, patient } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { OPERATOR } from '../../../tenancy/administration/author.ts';
import { putMapEntry } from '../../../terminology/maps/change-maps.ts';

const t = useImportTest();
const CLASSES = 'urn:example:classes';
const ACT_CODE = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';

test('a class of the source is taken as the one that a map leads to, and refused without a map [ENC-4, TERM-28]', async () => {
  const person = patient();
  const visits = [
    encounter(`Patient/${person.id}`, { class: { system: CLASSES, code: 'OPD', display: 'Outpatients' } }),
    encounter(`Patient/${person.id}`, { class: { code: 'EMER' } }),
  ] as const;
  const documents = [bundle([person, ...visits])];
  const { rejected } = await t.run(documents);
  assert.match(rejected[0]?.reason ?? '', /^Encounter\.class\.system is not http:/);

  const put = (targetSystem: string, targetCode: string) =>
    putMapEntry(
      t.database.pool,
      { organisationId: t.scope.organisationId, facilityId: null },
      {
        given: { localSystem: CLASSES, localCode: 'OPD', targetSystem, targetCode },
        change: { now: new Date('2026-01-02T03:04:05Z'), author: OPERATOR },
      },
    );
  await put('http://snomed.info/sct', '33022008');
  assert.equal((await t.run(documents)).rejected.length, 1);
  await put(ACT_CODE, 'AMB');
  assert.deepEqual((await t.run(documents)).rejected, []);
  const classes = async () =>
    Promise.all(visits.map(async (visit) => (await t.encounterRow(visit))?.class_code));
  assert.deepEqual(await classes(), ['AMB', 'EMER']);
  assert.deepEqual((await t.run(documents)).unchanged, { Encounter: 2, Patient: 1 });

  await put(ACT_CODE, 'SS');
  assert.deepEqual((await t.run(documents)).unchanged, { Encounter: 1, Patient: 1 });
  assert.deepEqual(await classes(), ['SS', 'EMER']);
});
