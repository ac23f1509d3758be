import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentedCalls } from '../../../test-support/http/documented-answers.ts';
import { createClinic, type PublishClinic } from '../../../test-support/publish/publish-records.ts';
import { type Answer, useEmptyApi } from '../../../test-support/service/api.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { putMapEntry } from '../maps/change-maps.ts';

const LOINC = 'http://loinc.org';
const LAB = 'urn:lab';

const api = await useEmptyApi();
const documented = await documentedCalls(api);
const here = await api.createTenant();
const elsewhere = { ...here, facilityId: await api.createFacility(here.organisationId) };
const account = await api.createAccount(here, { permissions: ['terminology.maps.read'] });

const map = (facilityId: string | null, localCode: string, localDisplay: string, target: [string, string]) =>
  putMapEntry(
    api.database.pool,
    { organisationId: here.organisationId, facilityId },
    {
      given: {
        localSystem: LAB,
        localCode,
        localDisplay,
        targetSystem: LOINC,
        targetCode: target[0],
        targetDisplay: target[1],
      },
      change: { now: new Date(), author: OPERATOR },
    },
  );
await map(elsewhere.facilityId, 'GLU', 'Glucose, fasting', ['15074-8', 'Glucose [Moles/volume] in Blood']);
await map(null, 'GL-1', 'Blood sugar', ['2345-7', 'Glucose [Mass/volume] in Serum or Plasma']);
await map(here.facilityId, 'NA', 'Sodium', ['2951-2', 'Sodium [Moles/volume] in Serum or Plasma']);

async function suggest(query: Record<string, string>, { token } = account): Promise<Answer> {
  const path = '/terminology/unmapped/suggestions';
  return documented('GET', path, await api.call(`${path}?${new URLSearchParams(query)}`, { token }));
}
const codesOf = ({ json }: Answer) => json.items.map((item: { targetCode: string }) => item.targetCode);

test('the same code elsewhere comes before a like name, each with why [ADM-65, ADM-66]', async () => {
  const answer = await suggest({ system: 'urn:other', code: 'GLU', display: 'Glucose' });
  assert.deepEqual(codesOf(answer), ['15074-8', '2345-7']);
  const [first, second] = answer.json.items;
  assert.deepEqual(first.why, [
    {
      reason: 'same-code',
      from: 'other-facility',
      localSystem: LAB,
      localCode: 'GLU',
      localDisplay: 'Glucose, fasting',
    },
  ]);
  assert.deepEqual([second.why[0].reason, second.why[0].from], ['like-name', 'organisation']);
  assert.ok(!answer.text.includes(elsewhere.facilityId));
});

test('the name with which a code was met is looked for; the unit tells apart [ADM-65]', async () => {
  await api.database.pool.query(
    `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place, local_display,
       met_count, first_met_at, last_met_at) values ($1, $2, '', 'X9', 'lab.result', 'SODIUM', 1, now(), now())`,
    [here.organisationId, here.facilityId],
  );
  const met = await suggest({ code: 'X9' });
  assert.deepEqual(codesOf(met), ['2951-2']);
  assert.deepEqual([met.json.items[0].why[0].reason, met.json.items[0].unitFits], ['same-name', null]);
  const inMoles = await suggest({ code: 'Z', display: 'glucose', unit: 'mmol/L' });
  assert.deepEqual(codesOf(inMoles), ['15074-8', '2345-7']);
  const inGrams = await suggest({ code: 'Z', display: 'glucose', unit: 'mg/dL' });
  assert.deepEqual(codesOf(inGrams), ['2345-7', '15074-8']);
  assert.deepEqual(
    inGrams.json.items.map(({ unitFits }: { unitFits: boolean }) => unitFits),
    [true, false],
  );
});

test('at most ten, and none for a name that nothing is like [ADM-65]', async () => {
  for (let n = 0; n < 12; n += 1)
    await api.database.pool.query(
      `insert into terminology_map (organisation_id, id, local_system, local_code, local_display, target_system, target_code,
         created_at, updated_at) values ($1, gen_random_uuid(), 'urn:many', $2, 'Chloride', 'urn:standard', $2, now(), now())`,
      [here.organisationId, `CL${n}`],
    );
  assert.equal((await suggest({ code: 'Q', display: 'Chloride' })).json.items.length, 10);
  assert.deepEqual((await suggest({ code: 'Q', display: '%_ the' })).json.items, []);
  assert.deepEqual((await suggest({ code: 'Q' })).json.items, []);
});

test('a map whose target says less than the local code, or something beside it, suggests nothing [ADM-65]', async () => {
  const meanings = ['narrower', 'specializes', 'inexact', 'relatedto', 'disjoint', 'wider'];
  for (const meaning of meanings)
    await api.database.pool.query(
      `insert into terminology_map (organisation_id, id, local_system, local_code, local_display, target_system,
         target_code, equivalence, created_at, updated_at)
       values ($1, gen_random_uuid(), 'urn:meaning', $2, 'Zinc', 'urn:standard', $2, $2, now(), now())`,
      [here.organisationId, meaning],
    );
  assert.deepEqual(codesOf(await suggest({ code: 'Q', display: 'Zinc' })), ['wider']);
});

test('nothing of another organisation, and not without the permission [ADM-65]', async () => {
  const stranger = await api.createAccount(await api.createTenant());
  assert.deepEqual((await suggest({ code: 'GLU', display: 'Glucose' }, stranger)).json.items, []);
  const powerless = await api.createAccount(here, { permissions: ['investigations.lab.list'] });
  assert.equal((await suggest({ code: 'GLU' }, powerless)).status, 403);
  assert.equal((await api.call('/terminology/unmapped/suggestions?code=GLU')).status, 401);
  assert.equal((await suggest({})).status, 400);
});

async function example(query: Record<string, string>, { token } = account): Promise<Answer> {
  const path = '/terminology/unmapped/example';
  return documented('GET', path, await api.call(`${path}?${new URLSearchParams(query)}`, { token }));
}

async function localResults(): Promise<PublishClinic> {
  const code = { coding: [{ system: 'urn:lab', code: 'CRE', display: 'Creatinine' }] };
  return createClinic(api.database.pool, {
    results: 2,
    scope: { ...here, timeZone: 'UTC' },
    changes: { observation: { code } },
  });
}

test('one real result shows what a map changes, and is logged [ADM-67]', async () => {
  const clinic = await localResults();
  const reader = await api.createAccount(here, {
    permissions: [
      'terminology.maps.manage',
      'investigations.lab.list',
      'patients.access-log.read',
      'patients.privacy.manage',
    ],
  });
  const codes = async () =>
    (await example({ system: LAB, code: 'CRE' }, reader)).json.items[0].resource.code.coding.map(
      ({ code }: { code: string }) => code,
    );
  const { json, status, text } = await example({ system: LAB, code: 'CRE' }, reader);
  assert.equal(status, 200, text);
  const [found] = json.items;
  assert.deepEqual([found.patientId, found.orderId], [clinic.patientId, clinic.orderId]);
  assert.equal(found.resource.id, clinic.observationIds[0]);
  assert.deepEqual(await codes(), ['CRE']);
  await map(here.facilityId, 'CRE', 'Creatinine', ['2160-0', 'Creatinine [Mass/volume] in Serum or Plasma']);
  assert.ok((await codes()).includes('2160-0'));
  const log = await api.call(`/patients/base/${clinic.patientId}/access-log?action=lab-result.read`, {
    token: reader.token,
  });
  assert.equal(log.json.items[0].resourceId, clinic.observationIds[0]);
  await api.call(`/patients/base/${clinic.patientId}/privacy`, {
    method: 'PUT',
    token: reader.token,
    body: { refusedPurposes: ['OPS'] },
  });
  assert.deepEqual((await example({ system: LAB, code: 'CRE' }, reader)).json.items, []);
  const other = { system: LAB, code: 'CRE', purposeOfUse: 'TREATMENT' };
  assert.equal((await example(other, reader)).json.items.length, 1);
  assert.equal((await example(other)).status, 403);
});

test('a result that has a standard code from its source is none that a map changes [ADM-67]', async () => {
  const place = { ...here, facilityId: await api.createFacility(here.organisationId) };
  const local = { system: LAB, code: 'UREA' };
  for (const system of [LOINC, 'http://terminology.hl7.org/CodeSystem/v2-0074'])
    await createClinic(api.database.pool, {
      scope: { ...place, timeZone: 'UTC' },
      changes: { observation: { code: { coding: [local, { system, code: '3094-0' }] } } },
    });
  const reader = await api.createAccount(place, {
    permissions: ['terminology.maps.read', 'investigations.lab.list'],
  });
  assert.deepEqual((await example(local, reader)).json.items, []);
  const clinic = await createClinic(api.database.pool, {
    scope: { ...place, timeZone: 'UTC' },
    changes: { observation: { code: { coding: [local, { system: 'urn:other', code: 'U' }] } } },
  });
  const { json } = await example(local, reader);
  assert.equal(json.items[0].resource.id, clinic.observationIds[0]);
});

test('a result of which a component has the code is an example of it [ADM-67]', async () => {
  const place = { ...here, facilityId: await api.createFacility(here.organisationId) };
  const own = { coding: [{ system: LOINC, code: '24323-8' }] };
  const component = [
    { code: { coding: [{ system: LAB, code: 'ALB' }] }, valueString: '40' },
    {
      code: {
        coding: [
          { system: LAB, code: 'ALP' },
          { system: LOINC, code: '6768-6' },
        ],
      },
      valueString: '80',
    },
  ];
  const clinic = await createClinic(api.database.pool, {
    scope: { ...place, timeZone: 'UTC' },
    changes: { observation: { code: own, component } },
  });
  const reader = await api.createAccount(place, {
    permissions: ['terminology.maps.read', 'investigations.lab.list'],
  });
  const { json } = await example({ system: LAB, code: 'ALB' }, reader);
  assert.equal(json.items[0]?.resource.id, clinic.observationIds[0]);
  assert.deepEqual((await example({ system: LAB, code: 'ALP' }, reader)).json.items, []);
});

test('no result of other places, of another system or of no code [ADM-67]', async () => {
  await localResults();
  const both = ['terminology.maps.read', 'investigations.lab.list'];
  const reader = await api.createAccount(here, { permissions: both });
  assert.deepEqual((await example({ code: 'CRE' }, reader)).json.items, []);
  for (const place of [elsewhere, await api.createTenant()]) {
    const other = await api.createAccount(place, { permissions: both });
    assert.deepEqual((await example({ system: LAB, code: 'CRE' }, other)).json.items, []);
  }
  const withoutLab = await api.createTenant({ modules: ['patients', 'encounters'] });
  const refused = await example({ system: LAB, code: 'CRE' }, await api.createAccount(withoutLab));
  assert.match(`${refused.status} ${refused.json.message}`, /^403 .*lab/);
  assert.equal((await example({}, reader)).status, 400);
  assert.equal((await example({ code: 'CRE', purposeOfUse: 'FUN' }, reader)).status, 400);
  assert.equal((await api.call('/terminology/unmapped/example?code=CRE')).status, 401);
  const powerless = await api.createAccount(here, { permissions: ['terminology.maps.read'] });
  assert.equal((await example({ system: LAB, code: 'CRE' }, powerless)).status, 403);
});
