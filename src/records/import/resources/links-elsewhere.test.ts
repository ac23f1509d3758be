/** Links of patients whom facilities share: each facility finds its own patients, and none ends what another one brought. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { countWaiting, waitUntil } from '../../../../test-support/wait-until.ts';
import { transaction } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { ImportDependencies } from '../import-records.ts';

const t = await useImportTest();

const MRN = 'https://hospital.example/mrn';
const person = (id: string, more: object = {}) => ({
  resourceType: 'Patient',
  id,
  identifier: [{ system: MRN, value: `N-${id}` }],
  name: [{ family: 'Okafor' }],
  ...more,
});
const replaces = (other: object) => ({ link: [{ other, type: 'replaces' }] });

const linksOf = (id: string) =>
  t.rows(
    'select other_id, other_display, type from patient_link where organisation_id = $1 and patient_id = $2 order by position',
    [t.scope.organisationId, id],
  );

/** Imports at a facility; answers the patients that changed. */
async function send(scope: FacilityScope, documents: object[], dryRun = false) {
  const changed: string[] = [];
  const onPatientsChanged: ImportDependencies['onPatientsChanged'] = async (_client, _scope, patients) => {
    changed.push(...patients.map(({ patientId }) => patientId));
  };
  const { unchanged } = await t.run(documents, { scope, dryRun, deps: { onPatientsChanged } });
  return { unchanged, changed };
}

for (const [how, otherOf] of [
  ['by id', (id: string) => ({ reference: `Patient/${id}` })],
  [
    'by a versioned address',
    (id: string) => ({ reference: `https://mpi.example/fhir/Patient/${id}/_history/2` }),
  ],
  [
    'by identifier',
    (id: string) => ({ identifier: { system: MRN, value: `N-${id}` }, display: 'The old record' }),
  ],
] as const)
  test(`a merge that one facility knows outlives an import of another that has only the survivor, ${how} [PAT-10]`, async () => {
    const [old, survivor] = [randomUUID(), randomUUID()];
    const other = await t.createFacility(t.scope.organisationId);
    const merged = person(survivor, replaces(otherOf(old)));
    await send(t.scope, [person(old), merged]);
    const links = await linksOf(survivor);
    assert.equal(links[0]?.other_id, old);
    assert.deepEqual((await send(other, [merged])).changed, [survivor], 'it is registered there');
    assert.deepEqual(await linksOf(survivor), links);
    for (const scope of [t.scope, other])
      for (const dryRun of [true, false])
        assert.deepEqual(await send(scope, [merged], dryRun), { unchanged: { Patient: 1 }, changed: [] });
  });

test('a merge that a facility is about to write outlives an import of another that waits for it [PAT-10]', async () => {
  const [old, survivor] = [randomUUID(), randomUUID()];
  const other = await t.createFacility(t.scope.organisationId);
  for (const scope of [t.scope, other]) await send(scope, [person(survivor)]);
  await send(t.scope, [person(old)]);
  const merged = person(survivor, replaces({ reference: `Patient/${old}` }));
  const both: Promise<unknown>[] = [];
  await transaction(t.database.pool, async (holder) => {
    await holder.query('select from patient where organisation_id = $1 and id = $2 for update', [
      t.scope.organisationId,
      survivor,
    ]);
    for (const scope of [t.scope, other]) {
      both.push(send(scope, [merged]));
      await waitUntil(async () => (await countWaiting(t.database.pool)) === both.length);
    }
  });
  await Promise.all(both);
  assert.equal((await linksOf(survivor))[0]?.other_id, old);
});

test('a newer version of another facility keeps the links that it has, and ends those that it has not [PAT-10]', async () => {
  const [old, older, survivor] = [randomUUID(), randomUUID(), randomUUID()];
  const other = await t.createFacility(t.scope.organisationId);
  const to = (id: string) => ({ other: { reference: `Patient/${id}` }, type: 'replaces' });
  await send(t.scope, [person(old), person(older), person(survivor, { link: [to(old), to(older)] })]);
  const stranger = randomUUID();
  const newer = person(survivor, { gender: 'female', link: [to(stranger), to(older)] });
  const kept = [
    { other_id: null, other_display: `Patient/${stranger}`, type: 'replaces' },
    { other_id: older, other_display: null, type: 'replaces' },
  ];
  assert.deepEqual((await send(other, [newer], true)).unchanged, {});
  assert.equal((await linksOf(survivor))[0]?.other_id, old, 'a dry run changes nothing');
  await send(other, [newer]);
  assert.deepEqual(await linksOf(survivor), kept);
  await send(other, [person(survivor, { gender: 'female' })]);
  assert.deepEqual(await linksOf(survivor), []);
});

test('a link of another kind to the same patient is not the stored one', async () => {
  const [old, survivor] = [randomUUID(), randomUUID()];
  const other = await t.createFacility(t.scope.organisationId);
  await send(t.scope, [person(old), person(survivor, replaces({ reference: `Patient/${old}` }))]);
  await send(other, [
    person(survivor, { link: [{ other: { reference: `Patient/${old}` }, type: 'seealso' }] }),
  ]);
  assert.deepEqual(await linksOf(survivor), [
    { other_id: null, other_display: `Patient/${old}`, type: 'seealso' },
  ]);
});

test('the link is joined when the other patient comes to that facility, too', async () => {
  const [old, survivor] = [randomUUID(), randomUUID()];
  const other = await t.createFacility(t.scope.organisationId);
  const merged = person(survivor, replaces({ reference: `Patient/${old}` }));
  await send(t.scope, [person(old), merged]);
  await send(other, [merged]);
  const waiting = () =>
    t.rows('select from waiting_record where facility_id = $1 and id = $2', [other.facilityId, survivor]);
  assert.equal((await waiting()).length, 1);
  const { changed } = await send(other, [person(old)]);
  assert.deepEqual(new Set(changed), new Set([old, survivor]), 'exchanges are told of both');
  assert.deepEqual([(await waiting()).length, (await linksOf(survivor))[0]?.other_id], [0, old]);
});
