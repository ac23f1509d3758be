import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundle, encounter, patient } from '../../../../test-support/records/clinic.ts';
import { countsOf, lines, useImportTest } from '../../../../test-support/records/import.ts';
import { OPERATOR } from '../../../tenancy/administration/author.ts';
import { putMapEntry } from '../../../terminology/maps/change-maps.ts';

const t = await useImportTest();
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
  const taken = await t.run(documents);
  assert.deepEqual(taken.rejected, []);
  // As with a status of a visit under way: the source's own code is not kept.
  assert.deepEqual(countsOf(taken.notKept), { 'Encounter.class': 1 });
  const classes = async () =>
    Promise.all(visits.map(async (visit) => (await t.encounterRow(visit))?.class_code));
  assert.deepEqual(await classes(), ['AMB', 'EMER']);
  assert.deepEqual((await t.run(documents)).unchanged, { Encounter: 2, Patient: 1 });

  await put(ACT_CODE, 'SS');
  assert.deepEqual((await t.run(documents)).unchanged, { Encounter: 1, Patient: 1 });
  assert.deepEqual(await classes(), ['SS', 'EMER']);
});

for (const [name, system, code, refusal] of [
  [
    'of SNOMED CT',
    'http://snomed.info/sct',
    '371883000',
    /no terminology map leads from its code to one of that system/,
  ],
  ['without a system', undefined, 'POLI', /class\.system is missing, and the code is not one of AMB/],
] as const)
  test(`a class ${name} is taken by a map, too [TERM-28]`, async () => {
    const scope = await t.createOrganisation();
    const visit = encounter('Patient/p', { class: { system, code } });
    const documents = [bundle([patient({ id: 'p' }), visit])];
    assert.match((await t.run(documents, { scope })).rejected[0]?.reason ?? '', refusal);
    await putMapEntry(
      t.database.pool,
      { organisationId: scope.organisationId, facilityId: null },
      {
        given: { localSystem: system ?? null, localCode: code, targetSystem: ACT_CODE, targetCode: 'AMB' },
        change: { now: new Date('2026-01-02T03:04:05Z'), author: OPERATOR },
      },
    );
    assert.deepEqual((await t.run(documents, { scope })).rejected, []);
  });

test('what else a class of the source has is refused and counted as without a map, and by its name [IN-32, TERM-28]', async () => {
  const scope = await t.createOrganisation();
  await putMapEntry(
    t.database.pool,
    { organisationId: scope.organisationId, facilityId: null },
    {
      given: { localSystem: CLASSES, localCode: 'OPD', targetSystem: ACT_CODE, targetCode: 'AMB' },
      change: { now: new Date('2026-01-02T03:04:05Z'), author: OPERATOR },
    },
  );
  const person = patient();
  const visit = (own: object) =>
    encounter(`Patient/${person.id}`, { class: { system: CLASSES, code: 'OPD', ...own } });
  const extension = [{ url: 'urn:example:note', valueString: 'noted' }];
  const { rejected, notKept } = await t.run(
    [
      lines([
        person,
        visit({ extension, version: '2' }),
        visit({ modifierExtension: extension }),
        visit({ system: `${CLASSES}\0` }),
      ]),
    ],
    { scope },
  );
  assert.deepEqual(countsOf(notKept), {
    'Encounter.class': 1,
    'Encounter.class.extension': 1,
    'Encounter.class.version': 1,
  });
  assert.deepEqual(
    rejected.map(({ entry, reason }) => [entry, reason.split(' ')[0]]),
    [
      [3, 'Encounter.class.modifierExtension'],
      [4, 'Encounter.class.system'],
    ],
  );
});
