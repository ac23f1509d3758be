import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertEncounter, insertPatient } from '../../test-support/records/clinical-records.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';
import { createLoadReferenced } from '../app/load-referenced.ts';
import { OPERATOR } from '../tenancy/administration/author.ts';
import { putMapEntry } from '../terminology/maps/change-maps.ts';
import { type Participated, participations } from './encounter.fhir.ts';
import type { ParticipationDependencies } from './mapped-participations.ts';

const ROLES = 'urn:example:roles';
const PARTICIPATION_TYPE = 'http://terminology.hl7.org/CodeSystem/v3-ParticipationType';
const LOCAL = { code: 'LEAD', system: ROLES, display: 'Lead doctor' };
const ATTENDER = { system: PARTICIPATION_TYPE, code: 'ATND', display: 'attender' };
const change = { now: new Date('2026-01-02T03:04:05Z'), author: OPERATOR };

const t = await useTestApi({ permissions: ['encounters.access'] });

const typesOf = (encounter: object | undefined) =>
  participations(encounter as Participated).map(({ coding }) => coding);

test('a kind of participation is sent as the maps say, in a read, a search and a publish, and counted until they do [TERM-3, TERM-27, TERM-29]', async () => {
  const { pool } = t.api.database;
  const patientId = await insertPatient(pool, t.tenant);
  const [id, plain] = [
    await insertEncounter(pool, t.tenant, { patientId, start: '2024-01-31T10:00:00Z' }),
    await insertEncounter(pool, t.tenant, { patientId, start: '2024-01-30T10:00:00Z' }),
  ];
  for (const [encounterId, coding] of [
    [id, LOCAL],
    [plain, ATTENDER],
  ] as const)
    await pool.query(
      `insert into encounter_participant (organisation_id, facility_id, encounter_id, position, display, type)
       values ($1, $2, $3, 0, 'Dr. Ada', $4)`,
      [t.tenant.organisationId, t.tenant.facilityId, encounterId, JSON.stringify([{ coding: [coding] }])],
    );
  const path = '/encounters/fhir/Encounter';
  const read = (headers: Record<string, string> = {}) =>
    t.api.call(`${path}/${id}?purposeOfUse=OPS`, { token: t.account.token, headers });
  const search = async () =>
    (
      await t.api.call(`${path}?patient=${patientId}&purposeOfUse=OPS`, { token: t.account.token })
    ).json.entry.map(({ resource }: { resource: object }) => typesOf(resource));
  const counted: string[] = [];
  const unmapped: ParticipationDependencies['unmapped'] = {
    met: (_scope, place, codings) => counted.push(...[...codings].map(({ code }) => `${place} ${code}`)),
  };
  const publish = () =>
    createLoadReferenced(pool, unmapped)({ ...t.tenant, timeZone: 'UTC' }, [`Encounter/${id}`]);
  await publish();
  assert.deepEqual(counted.splice(0), ['encounter.participation LEAD']);
  const before = await read();
  assert.deepEqual(typesOf(before.json), [[LOCAL]]);
  assert.equal(before.headers.get('etag'), 'W/"1"');

  const given = {
    localSystem: ROLES,
    localCode: 'LEAD',
    targetSystem: PARTICIPATION_TYPE,
    targetCode: 'ATND',
    targetDisplay: 'The attending doctor',
  };
  await putMapEntry(pool, { organisationId: t.tenant.organisationId, facilityId: null }, { given, change });

  const mapped = await read({ 'if-none-match': 'W/"1"' });
  assert.deepEqual(typesOf(mapped.json), [[ATTENDER, LOCAL]]);
  assert.deepEqual({ ...mapped.json, participant: [] }, { ...before.json, participant: [] });
  assert.equal((await read({ 'if-none-match': mapped.headers.get('etag') ?? '' })).status, 304);
  assert.deepEqual(await search(), [[[ATTENDER, LOCAL]], [[ATTENDER]]]);
  const [published] = await publish();
  assert.deepEqual(typesOf(published?.resource), [[ATTENDER, LOCAL]]);
  assert.deepEqual(counted, []);
});
