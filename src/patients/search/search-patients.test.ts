import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { insertPatient, registerPatient } from '../../../test-support/records/clinical-records.ts';
import { importJson } from '../../../test-support/records/import-files.ts';
import type { Tenant } from '../../../test-support/service/api.ts';
import { useTestApi } from '../../../test-support/service/use-api.ts';

/** Ids by given name. */
const ids: Record<string, string> = {};

const { api, tenant, account } = await useTestApi({ permissions: ['patients.patients.list'] });
const { pool } = api.database;
ids.Ada = await insertPatient(pool, tenant, {
  names: [
    { use: 'official', family: 'Öz-Berg', given: ['Ada', 'Marie'], prefix: ['Dr.'] },
    { use: 'maiden', family: "O'Neil" },
  ],
  identifiers: [{ system: 'urn:mrn', value: 'MRN-0042' }],
  telecoms: [
    { system: 'phone', value: '+49 (30) 555-01' },
    { system: 'email', value: 'Ada@Example.org' },
  ],
  gender: 'female',
  birthDate: '1980-02-29',
});
ids.Adam = await insertPatient(pool, tenant, { names: [{ family: 'Smith', given: ['Adam'] }] });
ids.Zoe = await insertPatient(pool, tenant, { names: [{ family: 'Smith', given: ['Zoë'] }] });
ids.Wild = await insertPatient(pool, tenant, { names: [{ family: '100%_\\', given: ['Wild'] }] });
ids.Shy = await insertPatient(pool, tenant, {
  names: [{ family: 'Smith', given: ['Shy'] }],
  refusedPurposes: ['OPS'],
});

const call = (query: Record<string, string> | [string, string][], token = account.token) =>
  api.call(`/patients/base?${new URLSearchParams(query)}`, { token });
const found = async (search: string) =>
  (await call({ search })).json.items.map((item: { id: string }) => item.id);

test('a patient is listed as a summary [PAT-1]', async () => {
  const answer = await call({ search: 'mrn-0042' });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.deepEqual(answer.json, {
    items: [
      {
        id: ids.Ada,
        name: 'Dr. Ada Marie Öz-Berg',
        gender: 'female',
        birthDate: '1980-02-29',
        deceased: false,
        replacedBy: null,
        replaces: [],
        identifiers: [{ system: 'urn:mrn', value: 'MRN-0042' }],
      },
    ],
    nextCursor: null,
  });
});

test('every word must start a part of the name; an identifier, phone or email must be whole [PAT-2]', async () => {
  const expected: [search: string, found: (string | undefined)[]][] = [
    ['ad', [ids.Ada, ids.Adam]],
    ['AD smi', [ids.Adam]],
    ['smith zoe', [ids.Zoe]],
    ['ZOË', [ids.Zoe]],
    ['oz-b', [ids.Ada]],
    ['berg ada', [ids.Ada]],
    ['oneil', [ids.Ada]],
    ["o'neil marie", [ids.Ada]],
    ['mith', []],
    ['ada zoe', []],
    ['mrn-0042', [ids.Ada]],
    ['mrn-004', []],
    ['0042', []],
    ['4930 555 01', [ids.Ada]],
    ['555', []],
    ['ADA@example.ORG', [ids.Ada]],
    ['ada@example', []],
    ['100%', [ids.Wild]],
    ['%', []],
    ['_', []],
    ['100%_\\', [ids.Wild]],
    ["'; drop table patient; --", []],
  ];
  for (const [search, patients] of expected) assert.deepEqual(await found(search), patients, search);
});

test('a patient whose name is longer than a key is imported, and found [PAT-2]', async () => {
  const place = await api.createTenant();
  const { token } = await api.createAccount(place);
  const [id, search] = [randomUUID(), `a${'𠮷'.repeat(150)}`];
  const text = JSON.stringify({ resourceType: 'Patient', id, name: [{ family: search }] });
  const { rejected } = await importJson(api.database.pool, place, text);
  assert.deepEqual(rejected, []);
  const { items } = (await call({ search }, token)).json;
  assert.deepEqual([items.length, items[0]?.id], [1, id]);
});

describe('a page of very large patients is shorter, and its cursor leads to the others', () => {
  async function listed(makeLarge: (place: Tenant, token: string) => Promise<unknown>, search?: string) {
    const place = await api.createTenant();
    const { token } = await api.createAccount(place);
    for (let count = 0; count < 5; count += 1)
      await insertPatient(api.database.pool, place, { names: [{ family: 'Large' }] });
    await makeLarge(place, token);
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await call(
        { ...(search && { search }), ...(cursor === '' ? {} : { cursor }), limit: '100' },
        token,
      );
      pages.push(json.items.map(({ id }: { id: string }) => id));
      cursor = json.nextCursor;
    }
    assert.equal(new Set(pages.flat()).size, 5);
    return pages.map(({ length }) => length);
  }

  for (const search of [undefined, 'lar']) {
    test(`whose texts are kept; search: ${search} [PAT-4, PAT-14]`, async () => {
      const lengths = await listed(async ({ organisationId }, token) => {
        await call({}, token);
        await api.database.pool.query({
          text: `
            update patient
            set rendered = replace(rendered, '"Large"', '"Large' || repeat('x', 5 * 1024 * 1024) || '"')
            where organisation_id = $1`,
          values: [organisationId],
        });
      }, search);
      assert.deepEqual(lengths, [2, 2, 1]);
    });

    test(`that nobody has read yet; search: ${search} [PAT-4, PAT-14]`, async () => {
      const lengths = await listed(async ({ organisationId }) => {
        await api.database.pool.query({
          text: `
            update patient_name
            set family = family || repeat('x', 512 * 1024)
            where organisation_id = $1`,
          values: [organisationId],
        });
      }, search);
      assert.deepEqual(lengths, [2, 2, 1]);
    });
  }
});

test('without search every patient is listed, by name, page by page [PAT-4]', async () => {
  const all: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { json } = await call({ limit: '1', ...(cursor === '' ? {} : { cursor }) });
    assert.equal(json.items.length, 1);
    all.push(json.items[0].id);
    cursor = json.nextCursor;
  }
  assert.deepEqual(all, [ids.Wild, ids.Ada, ids.Adam, ids.Zoe]);
  assert.deepEqual((await call({ search: '  ', limit: '100' })).json.items.length, 4);
});

test('patients of one name are paged once each [PAT-4]', async () => {
  const other = await api.createTenant();
  const there = await api.createAccount(other);
  const same = await Promise.all(
    Array.from({ length: 7 }, () =>
      insertPatient(api.database.pool, other, { names: [{ family: 'Same', given: ['Same'] }] }),
    ),
  );
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const query: Record<string, string> = {
      search: 'same',
      limit: '3',
      ...(cursor === '' ? {} : { cursor }),
    };
    const { json } = await call(query, there.token);
    seen.push(...json.items.map((item: { id: string }) => item.id));
    cursor = json.nextCursor;
  }
  assert.deepEqual(seen, same.toSorted());
});

test('a phone number is found as it was written, in any number of groups [PAT-2]', async () => {
  const other = await api.createTenant();
  const { token } = await api.createAccount(other);
  for (const [written, typed] of [
    ['tel:+49-30-555-0277', '+49 30 5550277'],
    ['555-2234 x12', '555-2234 x12'],
    ['0800777456', '0 8 0 0 7 7 7 4 5 6'],
    ['٠٨٠٣ ٥٥٥ ٠١١٢', '0803 555 0112'],
  ] as const) {
    const telecoms = [{ system: 'phone', value: written }];
    const id = await insertPatient(api.database.pool, other, { telecoms });
    for (const search of [written, typed]) {
      const { items } = (await call({ search }, token)).json;
      assert.deepEqual(
        items?.map((item: { id: string }) => item.id),
        [id],
        search,
      );
    }
  }
});

test('a search of signs alone finds nobody', async () => {
  for (const search of ["'", '´', '`', '%CC%81', "''"]) {
    const answer = await api.call(`/patients/base?search=${search}`, { token: account.token });
    assert.deepEqual([answer.status, answer.json], [200, { items: [], nextCursor: null }], search);
  }
});

test('patients whose privacy refuses the purpose are left out, and pages stay full [PAT-5]', async () => {
  const list = async (purposeOfUse: string) =>
    (await call({ search: 'smith', purposeOfUse, limit: '2' })).json.items.map(
      (item: { id: string }) => item.id,
    );
  assert.deepEqual(await list('OPS'), [ids.Adam, ids.Zoe]);
  assert.deepEqual(await list('TREATMENT'), [ids.Adam, ids.Shy]);
});

test('each patient shown is in the access log, with the purpose, OPS by default [LOG-2]', async () => {
  const patient = await insertPatient(api.database.pool, tenant, { names: [{ family: 'Logged' }] });
  await call({ search: 'logged' });
  await call({ search: 'logged', purposeOfUse: 'PAYMENT' });
  const { rows } = await api.database.pool.query(
    `select action, resource_type, resource_id, purpose_of_use, outcome
     from access_log where patient_id = $1 order by occurred_at, sequence`,
    [patient],
  );
  const entry = {
    action: 'patient.list',
    resource_type: 'Patient',
    resource_id: patient,
    outcome: 'allowed',
  };
  assert.deepEqual(rows, [
    { ...entry, purpose_of_use: 'OPS' },
    { ...entry, purpose_of_use: 'PAYMENT' },
  ]);
});

test('other facilities and tenants are not seen [ACC-3]', async () => {
  const facilityId = await api.createFacility(tenant.organisationId);
  const elsewhere = await api.createAccount({ ...tenant, facilityId });
  assert.deepEqual((await call({}, elsewhere.token)).json, { items: [], nextCursor: null });
  await registerPatient(api.database.pool, { ...tenant, facilityId }, ids.Zoe ?? '');
  const { items } = (await call({ search: 'smith' }, elsewhere.token)).json;
  assert.deepEqual(
    items.map((item: { id: string }) => item.id),
    [ids.Zoe],
  );
  const stranger = await api.createAccount(await api.createTenant());
  assert.deepEqual((await call({ search: 'mrn-0042' }, stranger.token)).json.items, []);
});

test('a cursor is good for its own search and facility only', async () => {
  const cursor = (await call({ search: 'smith', limit: '1' })).json.nextCursor;
  assert.equal((await call({ search: ' SMITH ', cursor, limit: '50' })).status, 200);
  const facilityId = await api.createFacility(tenant.organisationId);
  const elsewhere = await api.createAccount({ ...tenant, facilityId });
  assert.equal((await call({ search: 'smi', cursor })).status, 400);
  assert.equal((await call({ cursor })).status, 400);
  assert.equal((await call({ search: 'smith', cursor }, elsewhere.token)).status, 400);
  assert.equal((await call({ search: 'smith', cursor: `${cursor}A` })).status, 400);
});

test('faulty parameters are 400, a missing permission or module 403, a missing token 401 [PAT-1]', async () => {
  const faulty: ([string, string][] | Record<string, string>)[] = [
    { limit: '0' },
    { limit: '101' },
    { limit: 'all' },
    { purposeOfUse: 'CURIOSITY' },
    { search: 'x'.repeat(201) },
    { search: 'a b c d e f g h i' },
    [
      ['search', 'a'],
      ['search', 'b'],
    ],
  ];
  for (const query of faulty) assert.equal((await call(query)).status, 400, JSON.stringify(query));
  const other = await api.createAccount(tenant, { permissions: ['patients.patients.get'] });
  assert.equal((await call({}, other.token)).status, 403);
  const closed = await api.createFacility(tenant.organisationId, { modules: ['encounters'] });
  const there = await api.createAccount({ ...tenant, facilityId: closed });
  assert.equal((await call({}, there.token)).status, 403);
  assert.equal((await api.call(`/patients/base?search=${randomUUID()}`)).status, 401);
});
