import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { importClinical, importJson } from '../../test-support/records/import-files.ts';
import type { Answer, Json } from '../../test-support/service/api.ts';
import { useTestApi } from '../../test-support/service/use-api.ts';

const PATIENT = '7b000000-0000-4000-8000-000000000001';
const ORDER = '7b000000-0000-4000-8000-000000000010';
const REPORT = '7b000000-0000-4000-8000-000000000030';
const PATH = `/investigations/lab/orders/${ORDER}/clinical/fhir`;

const LOINC = 'http://loinc.org';

/** A JSON list as a list. */
const list = (json: Json | undefined): Json[] => json ?? [];

const { api, tenant, account } = await useTestApi();
await importClinical(api.database.pool, tenant, 'laboratory.json', 'imaging.json');

describe('GET /investigations/lab/orders/<id>/clinical/fhir', () => {
  const get = (path = PATH, caller = account, headers: Record<string, string> = {}): Promise<Answer> =>
    api.call(path, { token: caller.token, headers });

  test('answers the order, one Observation per result in the order of the report, and the report [FETCH-1, FETCH-4, FETCH-6, FETCH-10, FETCH-11, FETCH-14, FETCH-15, FETCH-16]', async () => {
    const { status, headers, json } = await get();
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual(Object.keys(json), ['orderId', 'bundle', 'orders', 'observations', 'reports']);
    assert.equal(json.orderId, ORDER);
    assert.deepEqual(
      list(json.observations).map(({ localId }) => localId.slice(-2)),
      ['26', '21', '22', '23', '24', '25'],
    );
    assert.deepEqual(
      list(json.orders).map(({ resource, ...summary }) => summary),
      [
        {
          localId: ORDER,
          resourceType: 'ServiceRequest',
          status: 'completed',
          code: 'SEPSIS',
          codeSystem: 'https://hospital.example/tests',
        },
      ],
    );
    assert.deepEqual(
      list(json.reports).map(({ resource, ...summary }) => summary),
      [{ localId: REPORT, resourceType: 'DiagnosticReport', conclusion: 'Blood culture positive.' }],
    );
  });

  test('codes results with LOINC where there is one, and times them in UTC [FETCH-11, FETCH-12, TERM-1]', async () => {
    const { json } = await get();
    const summaries = list(json.observations).map(({ localId, resourceType, resource, ...summary }) => [
      localId.slice(-2),
      resourceType,
      ...Object.values(summary),
    ]);
    assert.deepEqual(summaries, [
      ['26', 'Observation', '2708-6', LOINC, '2024-03-05T07:50:00.000Z'],
      ['21', 'Observation', '2951-2', LOINC, '2024-03-05T07:50:00.000Z'],
      ['22', 'Observation', 'CRP', 'https://hospital.example/tests', '2024-03-05T07:50:00.000Z'],
      ['23', 'Observation', '600-7', LOINC, '2024-03-05T00:00:00.000Z', '2024-03-05'],
      ['24', 'Observation', 'Serology, sent out', '2024-03-05T07:50:00.500Z'],
      ['25', 'Observation', '24336-0', LOINC, '2024-03-05T07:50:00.000Z'],
    ]);
  });

  test('the bundle is a collection of the same resources, with absolute and unique addresses [FETCH-5]', async () => {
    const { json } = await get();
    const { bundle } = json;
    assert.deepEqual(Object.keys(bundle), ['resourceType', 'type', 'entry']);
    assert.equal(bundle.type, 'collection');
    const listed = [...list(json.orders), ...list(json.observations), ...list(json.reports)].map(
      ({ resource }) => resource,
    );
    assert.deepEqual(
      list(bundle.entry).map(({ resource }) => resource),
      listed,
    );
    const urls = list(bundle.entry).map(({ fullUrl }) => fullUrl);
    assert.equal(new Set(urls).size, urls.length);
    for (const { fullUrl, resource } of list(bundle.entry))
      assert.equal(fullUrl, `${api.baseUrl}/fhir/${resource.resourceType}/${resource.id}`);
  });

  test('keeps digits, comparators, ranges and documents', async () => {
    const { text, json } = await get();
    for (const digits of ['140.0,', '145.00,', '7.40,', '96.50,'])
      assert.ok(text.includes(`"value":${digits}`), `${digits} is lost`);
    const crp = json.observations[2]?.resource;
    assert.equal(crp?.valueQuantity?.comparator, '<');
    const [pdf] = json.reports[0]?.resource?.presentedForm ?? [];
    assert.equal(pdf?.data, 'JVBERi0xLjQKJSBub3RoaW5nIHRvIHNlZSBoZXJlCg==');
  });

  test('an order made up for a lone result is fetched like any other', async () => {
    const list = await get(`/investigations/lab/orders?patient=${PATIENT}`);
    const [, lone] = list.json.items;
    const { status, json } = await get(`/investigations/lab/orders/${lone?.orderId}/clinical/fhir`);
    assert.equal(status, 200);
    const [order] = json.orders;
    assert.equal(order?.status, 'completed');
    assert.equal(order?.code, '4548-4');
    assert.equal(order?.resource?.intent, 'order');
    assert.deepEqual(json.reports, []);
    assert.deepEqual(json.observations[0]?.resource?.basedOn, [
      { reference: `ServiceRequest/${lone?.orderId}` },
    ]);
  });

  test('a terminology map shows in the next fetch on every node, standard code first, local kept [TERM-3, TERM-4]', async () => {
    const node = await api.addNode();
    assert.equal((await get()).json.observations[2]?.code, 'CRP');
    const put = await api.call('/terminology/maps', {
      method: 'PUT',
      token: account.token,
      body: {
        localSystem: 'https://hospital.example/tests',
        localCode: 'CRP',
        targetSystem: 'http://loinc.org',
        targetCode: '1988-5',
        targetDisplay: 'C reactive protein [Mass/volume] in Serum or Plasma',
      },
    });
    assert.ok(put.status < 300, put.text);
    for (const { call } of [api, node]) {
      const { json } = await call(PATH, { token: account.token });
      assert.equal(json.observations[2]?.code, '1988-5');
      assert.deepEqual(
        list(json.observations[2]?.resource?.code?.coding).map(({ code }) => code),
        ['1988-5', 'CRP'],
      );
    }
  });

  test('a changed result shows in the next fetch [FETCH-22]', async () => {
    const before = await get();
    assert.equal(before.json.observations[4]?.resource?.status, 'registered');
    const changed = {
      resourceType: 'Observation',
      id: '7b000000-0000-4000-8000-000000000024',
      status: 'final',
      category: before.json.observations[4]?.resource?.category,
      code: { text: 'Serology, sent out' },
      subject: { reference: `Patient/${PATIENT}` },
      effectiveDateTime: '2024-03-05T08:50:00.5+01:00',
      valueString: 'negative',
    };
    await importJson(api.database.pool, tenant, JSON.stringify(changed));
    const { json } = await get();
    assert.equal(json.observations[4]?.resource?.status, 'final');
    assert.equal(json.observations[4]?.resource?.valueString, 'negative');
    assert.equal(json.observations[4]?.resource?.dataAbsentReason, undefined);
  });

  test('a month has no occurredAt and no orderedAt: it would be an instant of another month elsewhere [FETCH-13]', async () => {
    const facilityId = await api.createFacility(tenant.organisationId, {
      timeZone: 'Africa/Lagos',
    });
    const lagos = { ...tenant, facilityId };
    const someone = { resourceType: 'Patient', id: '7b100000-0000-4000-8000-000000000001' };
    const result = (end: string, elements: object) => ({
      resourceType: 'Observation',
      id: `7b100000-0000-4000-8000-0000000000${end}`,
      status: 'final',
      code: { coding: [{ system: LOINC, code: '2951-2' }] },
      subject: { reference: `Patient/${someone.id}` },
      valueString: 'x',
      ...elements,
    });
    const results = [
      result('11', { effectiveDateTime: '2024-03' }),
      result('12', { effectiveDateTime: '2024-03-01' }),
      result('13', {}),
    ];
    const order = {
      resourceType: 'ServiceRequest',
      id: '7b100000-0000-4000-8000-000000000010',
      status: 'completed',
      intent: 'order',
      subject: { reference: `Patient/${someone.id}` },
      authoredOn: '2024-03',
    };
    const report = {
      resourceType: 'DiagnosticReport',
      id: '7b100000-0000-4000-8000-000000000020',
      basedOn: [{ reference: `ServiceRequest/${order.id}` }],
      status: 'final',
      code: { text: 'Panel' },
      subject: { reference: `Patient/${someone.id}` },
      result: results.map(({ id }) => ({ reference: `Observation/${id}` })),
    };
    const entry = [someone, order, ...results, report].map((resource) => ({ resource }));
    const document = { resourceType: 'Bundle', type: 'collection', entry };
    await importJson(api.database.pool, lagos, JSON.stringify(document));
    const caller = await api.createAccount(lagos);
    const [listed] = (await get(`/investigations/lab/orders?patient=${someone.id}`, caller)).json.items;
    assert.deepEqual([listed.orderId, listed.orderedAt, listed.orderedOn], [order.id, null, '2024-03']);
    const { json } = await get(`/investigations/lab/orders/${order.id}/clinical/fhir`, caller);
    assert.deepEqual(
      list(json.observations).map(({ resource, localId, resourceType, ...summary }) => summary),
      [
        { code: '2951-2', codeSystem: LOINC, occurredOn: '2024-03' },
        {
          code: '2951-2',
          codeSystem: LOINC,
          occurredAt: '2024-02-29T23:00:00.000Z',
          occurredOn: '2024-03-01',
        },
        { code: '2951-2', codeSystem: LOINC },
      ],
    );
  });

  test('is traced in the access log with the purpose, OPS when none is named [LOG-2]', async () => {
    await get(`${PATH}?purposeOfUse=TREATMENT`);
    await get();
    await get(`/investigations/lab/orders?patient=${PATIENT}`);
    const { rows } = await api.database.pool.query({
      text: `select action, resource_id, purpose_of_use, outcome from access_log
        where organisation_id = $1 and patient_id = $2 order by occurred_at desc, sequence desc limit 3`,
      values: [tenant.organisationId, PATIENT],
    });
    const entry = { action: 'lab-order.read', resource_id: ORDER, outcome: 'allowed' };
    assert.deepEqual(rows, [
      { action: 'lab-order.list', resource_id: null, outcome: 'allowed', purpose_of_use: 'OPS' },
      { ...entry, purpose_of_use: 'OPS' },
      { ...entry, purpose_of_use: 'TREATMENT' },
    ]);
  });

  test('403 for a purpose that the patient refuses, in the fetch and in the list; others are let through [LOG-4]', async () => {
    const set = (purposes: string[]) =>
      api.database.pool.query({
        text: 'update patient set refused_purposes = $3 where organisation_id = $1 and id = $2',
        values: [tenant.organisationId, PATIENT, purposes],
      });
    await set(['RESEARCH']);
    assert.equal((await get(`${PATH}?purposeOfUse=RESEARCH`)).status, 403);
    assert.equal(
      (await get(`/investigations/lab/orders?patient=${PATIENT}&purposeOfUse=RESEARCH`)).status,
      403,
    );
    assert.equal((await get()).status, 200);
    await set([]);
  });

  test('400 for a purpose, limit or cursor that is none [FETCH-21, LOG-1]', async () => {
    assert.equal((await get(`${PATH}?purposeOfUse=FUN`)).status, 400);
    for (const query of ['', 'limit=0', 'limit=101', 'limit=x', 'cursor=nonsense'])
      assert.equal(
        (await get(`/investigations/lab/orders?patient=${query === '' ? '' : PATIENT}&${query}`)).status,
        400,
        query,
      );
    assert.equal((await get('/investigations/lab/orders')).status, 400);
  });

  test('401 without a token', async () => {
    assert.equal((await api.call(PATH)).status, 401);
  });

  test('403 without the permission, and without the module [FETCH-1]', async () => {
    const reader = await api.createAccount(tenant, {
      permissions: ['investigations.imaging.list'],
    });
    assert.equal((await get(PATH, reader)).status, 403);
    const bare = await api.createFacility(tenant.organisationId, { modules: ['imaging'] });
    const there = await api.createAccount({ ...tenant, facilityId: bare });
    assert.equal((await get(PATH, there)).status, 403);
  });

  test('404 for an unknown id, a malformed one, an imaging order, and one of another tenant or facility [ACC-3]', async () => {
    const imaging = '7c000000-0000-4000-8000-000000000010';
    for (const id of ['7b000000-0000-4000-8000-0000000000ff', 'x', imaging])
      assert.equal((await get(`/investigations/lab/orders/${id}/clinical/fhir`)).status, 404);
    const otherTenant = await api.createAccount(await api.createTenant());
    assert.equal((await get(PATH, otherTenant)).status, 404);
    assert.equal((await get(`/investigations/lab/orders?patient=${PATIENT}`, otherTenant)).status, 404);
    const facilityId = await api.createFacility(tenant.organisationId);
    const otherFacility = await api.createAccount({ ...tenant, facilityId });
    assert.equal((await get(PATH, otherFacility)).status, 404);
  });
});
