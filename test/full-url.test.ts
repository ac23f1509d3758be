/** `fullUrl` of a fetched Bundle: absolute, unique, ends in the id, resolves references, and leads to the resource. */
import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { importClinical, importJson } from '../test-support/records/import-files.ts';
import type { Json } from '../test-support/service/api.ts';
import { useTestApi } from '../test-support/service/use-api.ts';

const FETCHES = [
  { list: '/investigations/lab/orders', permission: 'investigations.lab.list', id: 'orderId' },
  { list: '/investigations/imaging/orders', permission: 'investigations.imaging.list', id: 'orderId' },
  { list: '/encounters/vitals', permission: 'encounters.vitals.read', id: 'vitalSetId' },
] as const;

const { api, tenant, account } = await useTestApi();
await importClinical(api.database.pool, tenant, 'imaging.json', 'laboratory.json', 'vital-signs.json');
const { rows } = await api.database.pool.query<{ id: string }>({
  text: 'select id from patient where organisation_id = $1',
  values: [tenant.organisationId],
});
const bundles: { permission: string; path: string; bundle: Json }[] = [];
for (const { list, permission, id } of FETCHES)
  for (const { id: patient } of rows) {
    const { json } = await api.call(`${list}?patient=${patient}&limit=100`, { token: account.token });
    for (const item of json.items) {
      const path = `${list}/${item[id]}/clinical/fhir`;
      const { json: fetched } = await api.call(path, { token: account.token });
      bundles.push({ permission, path, bundle: fetched.bundle });
    }
  }
for (const { permission } of FETCHES) assert.ok(bundles.some((one) => one.permission === permission));

describe('fullUrl', () => {
  test('is absolute, without version, unique, ends in type and id, and resolves references to other entries [HTTP-22, FETCH-17]', () => {
    let resolved = 0;
    for (const { bundle } of bundles) {
      const urls: string[] = bundle.entry.map((entry: Json) => entry.fullUrl);
      assert.equal(new Set(urls).size, urls.length);
      for (const { fullUrl, resource } of bundle.entry) {
        assert.equal(fullUrl, `${api.baseUrl}/fhir/${resource.resourceType}/${resource.id}`);
        const own = new Set(bundle.entry.map((e: Json) => `${e.resource.resourceType}/${e.resource.id}`));
        for (const reference of [
          ...(resource.basedOn ?? []),
          ...(resource.result ?? []),
          ...(resource.imagingStudy ?? []),
        ]) {
          if (!own.has(reference.reference)) continue;
          assert.ok(urls.includes(new URL(`../${reference.reference}`, fullUrl).href));
          resolved += 1;
        }
      }
    }
    assert.ok(resolved > 3);
  });

  test('leads to the same resource, digit for digit, for a caller who may fetch the Bundle [FETCH-18]', async () => {
    const types = new Set<string>();
    for (const { permission } of FETCHES) {
      const { token } = await api.createAccount(tenant, { permissions: [permission] });
      for (const { path, bundle } of bundles.filter((one) => one.permission === permission)) {
        const whole = await api.call(path, { token });
        for (const { fullUrl, resource } of bundle.entry) {
          const { status, text, headers } = await api.call(fullUrl, { token });
          assert.equal(status, 200, text);
          assert.match(headers.get('content-type') ?? '', /^application\/fhir\+json/);
          assert.deepEqual(JSON.parse(text), resource);
          assert.ok(whole.text.includes(text), 'the same text');
          types.add(resource.resourceType);
        }
      }
    }
    assert.deepEqual([...types].sort(), [
      'DiagnosticReport',
      'ImagingStudy',
      'Observation',
      'ServiceRequest',
    ]);
  });

  test('is answered without what else the Bundle has being parsed [FETCH-24]', async () => {
    const parse = mock.method(JSON, 'parse');
    const { bundle } =
      bundles.toSorted((a, b) => b.bundle.entry.length - a.bundle.entry.length)[0] ?? assert.fail();
    for (const { fullUrl } of bundle.entry) {
      const text = await (
        await fetch(fullUrl, { headers: { authorization: `Bearer ${account.token}` } })
      ).text();
      const longest = Math.max(...parse.mock.calls.map(({ arguments: [json] }) => String(json).length));
      parse.mock.resetCalls();
      assert.ok(longest <= Math.max(text.length, 2_000), `${longest} characters for ${text.length}`);
    }
    parse.mock.restore();
  });

  test('leads to what an order of another kind shows too, for who may fetch that order only [FETCH-18]', async () => {
    const here = await api.createTenant();
    const subject = { reference: 'Patient/p' };
    const category = (system: string, code: string) => [
      { coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }] },
    ];
    const result = {
      ...{ resourceType: 'Observation', id: 'o', status: 'final', subject, valueString: '61' },
      ...{ code: { text: 'eGFR' }, category: category('observation-category', 'laboratory') },
    };
    const report = (kind: string, issued: string) => ({
      ...{
        resourceType: 'DiagnosticReport',
        id: kind,
        status: 'final',
        subject,
        code: { text: kind },
        issued,
      },
      category: category('v2-0074', kind),
      result: [{ reference: 'Observation/o' }],
      specimen: [{ reference: 'Specimen/s' }],
    });
    const records = [
      { resourceType: 'Patient', id: 'p' },
      { resourceType: 'Specimen', id: 's', subject },
      result,
      report('LAB', '2024-03-01T10:00:00Z'),
      report('RAD', '2024-03-02T10:00:00Z'),
    ];
    const { rejected } = await importJson(
      api.database.pool,
      here,
      ...records.map((one) => JSON.stringify(one)),
    );
    assert.deepEqual(rejected, []);
    const patient = (
      await api.database.pool.query<{ id: string }>({
        text: 'select id from patient where organisation_id = $1',
        values: [here.organisationId],
      })
    ).rows[0]?.id;
    for (const { list, permission } of FETCHES.slice(0, 2)) {
      const { token } = await api.createAccount(here, { permissions: [permission] });
      const { json: page } = await api.call(`${list}?patient=${patient}`, { token });
      const { json } = await api.call(`${list}/${page.items[0].orderId}/clinical/fhir`, { token });
      const shown = json.bundle.entry.map(({ resource }: Json) => resource.resourceType).sort();
      assert.deepEqual(shown, ['DiagnosticReport', 'Observation', 'ServiceRequest', 'Specimen']);
      for (const { fullUrl, resource } of json.bundle.entry)
        assert.deepEqual((await api.call(fullUrl, { token })).json, resource, permission);
    }
  });

  test('is 404 for a caller who may fetch other kinds only, and says no more than of an unknown id [FETCH-19]', async () => {
    const { token } = await api.createAccount(tenant, { permissions: ['investigations.imaging.list'] });
    for (const { bundle } of bundles.filter(({ permission }) => permission === 'investigations.lab.list'))
      for (const { fullUrl, resource } of bundle.entry) {
        const answer = await api.call(fullUrl, { token });
        assert.equal(answer.status, 404, fullUrl);
        const unknown = await api.call(
          `/fhir/${resource.resourceType}/00000000-0000-4000-8000-000000000000`,
          {
            token,
          },
        );
        assert.equal(answer.json.message, unknown.json.message);
      }
  });

  test('is 403 where no module that its permissions need is on, and another one on is enough', async () => {
    const permissions = ['investigations.lab.list', 'encounters.vitals.read'];
    const bare = await api.createTenant({ modules: ['imaging', 'patients'] });
    const refused = await api.createAccount(bare, { permissions });
    const path = '/fhir/Observation/00000000-0000-4000-8000-000000000000';
    const answer = await api.call(path, { token: refused.token });
    assert.equal(answer.status, 403);
    assert.match(answer.json.message, /module lab/);
    const vitals = await api.createTenant({ modules: ['vitals'] });
    const { token } = await api.createAccount(vitals, { permissions });
    assert.equal((await api.call(path, { token })).status, 404);
  });

  test('is 404 where the module of its own kind is off, though that of another kind is on [FETCH-19]', async () => {
    const { bundle } =
      bundles.find(({ permission }) => permission === 'investigations.lab.list') ?? assert.fail();
    const { fullUrl } =
      bundle.entry.find(({ resource }: { resource: { resourceType: string } }) => {
        return resource.resourceType === 'ServiceRequest';
      }) ?? assert.fail();
    const permissions = ['investigations.lab.list', 'investigations.imaging.list'];
    const switchLab = (text: string) =>
      api.database.pool.query(text, [tenant.organisationId, tenant.facilityId]);
    await switchLab(
      `delete from facility_module where organisation_id = $1 and facility_id = $2 and module = 'lab'`,
    );
    const { token } = await api.createAccount(tenant, { permissions });
    assert.equal((await api.call(fullUrl, { token })).status, 404);
    await switchLab(
      `insert into facility_module (organisation_id, facility_id, module) values ($1, $2, 'lab')`,
    );
    const again = await api.createAccount(tenant, { permissions });
    assert.equal((await api.call(fullUrl, { token: again.token })).status, 200);
  });

  test('is written to the access log as the fetch that it comes from', async () => {
    const { path, bundle } =
      bundles.find(({ permission }) => permission === 'investigations.lab.list') ?? assert.fail();
    const reader = await api.createAccount(tenant, { permissions: ['investigations.lab.list'] });
    await api.call(`${bundle.entry.at(-1).fullUrl}?purposeOfUse=PAYMENT`, { token: reader.token });
    const { rows } = await api.database.pool.query({
      text: 'select action, resource_id, purpose_of_use, outcome from access_log where account_id = $1',
      values: [reader.userId],
    });
    const orderId = path.split('/')[4];
    assert.deepEqual(rows, [
      {
        action: 'lab-order.read',
        resource_id: orderId,
        purpose_of_use: 'PAYMENT',
        outcome: 'allowed',
      },
    ]);
  });
});
