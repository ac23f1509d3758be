import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fhirFaults } from '../../test-support/fhir/fhir-validator.ts';
import {
  insertEncounter,
  insertPatient,
  registerPatient,
} from '../../test-support/records/clinical-records.ts';
import { useEmptyApi } from '../../test-support/service/api.ts';
import { ENCOUNTER_MAPPING } from './encounter.fhir.ts';

const api = await useEmptyApi();
const tenant = await api.createTenant({ timeZone: 'Europe/Berlin' });
const account = await api.createAccount(tenant, { permissions: ['encounters.fhir.encounter.search'] });
const patientId = await insertPatient(api.database.pool, tenant);
const insert = (id: string, start: string, status = 'finished') =>
  insertEncounter(api.database.pool, tenant, { patientId, id, start, end: start, status });
/** Newest first; the last two start together. */
const encounterIds: string[] = [
  await insert(randomUUID(), '2024-05-01T10:00:00Z', 'planned'),
  await insert(randomUUID(), '2024-04-01T10:00:00Z'),
  await insert(`f${randomUUID().slice(1)}`, '2024-03-01T10:00:00Z'),
  await insert(`0${randomUUID().slice(1)}`, '2024-03-01T10:00:00Z'),
];

type Query = Record<string, string> | [string, string][];
const COLLECTION = '/encounters/fhir/Encounter';

const search = (query: Query, token = account.token) =>
  api.call(`${COLLECTION}?${new URLSearchParams(query)}`, { token });
const searchOf = (query: Record<string, string> = {}) =>
  search({ patient: patientId, purposeOfUse: 'TREATMENT', ...query });

interface Bundle {
  link: { relation: string; url: string }[];
  entry?: { fullUrl: string; resource: { id: string }; search: unknown }[];
}
const ids = (bundle: Bundle) => (bundle.entry ?? []).map(({ resource }) => resource.id);
const link = (bundle: Bundle, relation: string) => bundle.link.find((one) => one.relation === relation)?.url;

const logged = async (ofPatient: string) =>
  (
    await api.database.pool.query(
      `select action, resource_type, resource_id, purpose_of_use, outcome
       from access_log where patient_id = $1 order by occurred_at, sequence`,
      [ofPatient],
    )
  ).rows;

test('a search is a searchset, newest first, with self, full URLs and no total [ENC-2, ENC-25, ENC-26]', async () => {
  const answer = await searchOf();
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  const bundle = answer.json;
  assert.deepEqual(Object.keys(bundle).sort(), ['entry', 'link', 'resourceType', 'type']);
  assert.deepEqual(fhirFaults(bundle), []);
  assert.equal(bundle.resourceType, 'Bundle');
  assert.equal(bundle.type, 'searchset');
  assert.deepEqual(ids(bundle), encounterIds);
  assert.deepEqual(bundle.link, [
    {
      relation: 'self',
      url: `${api.baseUrl}${COLLECTION}?patient=${patientId}&purposeOfUse=TREATMENT&_count=20`,
    },
  ]);
  for (const entry of bundle.entry) {
    assert.equal(entry.fullUrl, `${api.baseUrl}${COLLECTION}/${entry.resource.id}`);
    assert.deepEqual(entry.search, { mode: 'match' });
    assert.equal(entry.resource.resourceType, 'Encounter');
    assert.equal(entry.resource.subject.reference, `Patient/${patientId}`);
  }
});

test('next links lead through every page, with the parameters that were understood [HTTP-11, ENC-23]', async () => {
  const first = await searchOf({
    patient: `Patient/${patientId}`,
    _count: '3',
    colour: 'blue',
    date: 'ge2024',
  });
  assert.deepEqual(ids(first.json), encounterIds.slice(0, 3));
  const next = new URL(link(first.json, 'next') ?? '');
  assert.deepEqual([...next.searchParams.keys()], ['patient', 'purposeOfUse', 'date', '_count', 'cursor']);
  const second = await api.call(next.href, { token: account.token });
  assert.equal(second.status, 200);
  assert.deepEqual(ids(second.json), encounterIds.slice(3));
  assert.equal(link(second.json, 'self'), next.href);
  assert.equal(link(second.json, 'next'), undefined);
});

test('a page has 20 encounters where the caller asks for no number [ENC-20]', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  for (let day = 1; day <= 21; day += 1)
    await insertEncounter(api.database.pool, tenant, {
      patientId: patient,
      start: `2024-05-${String(day).padStart(2, '0')}T10:00:00Z`,
    });
  const bundle = (await search({ patient, purposeOfUse: 'TREATMENT' })).json;
  assert.equal(ids(bundle).length, 20);
  assert.equal(new URL(link(bundle, 'next') ?? '').searchParams.get('_count'), '20');
});

test('a page of very large encounters is shorter, and its next link leads to the others [ENC-24, ENC-40]', async () => {
  const { pool } = api.database;
  const ofLarge = await insertPatient(pool, tenant);
  for (let count = 0; count < 5; count += 1) await insertEncounter(pool, tenant, { patientId: ofLarge });
  await pool.query({
    text: `
      update encounter
      set rendered = '"status":"finished","text":"' || repeat('x', 9 * 1024 * 1024) || '"}',
        rendered_version = version,
        rendered_mapping = $2
      where patient_id = $1`,
    values: [ofLarge, ENCOUNTER_MAPPING],
  });
  const found: string[][] = [];
  let { json } = await searchOf({ patient: ofLarge, _count: '100' });
  for (;;) {
    found.push(ids(json));
    const next = link(json, 'next');
    if (next === undefined) break;
    ({ json } = await api.call(next, { token: account.token }));
  }
  assert.deepEqual(
    found.map(({ length }) => length),
    [2, 2, 1],
  );
  assert.equal(new Set(found.flat()).size, 5);
});

test('a full last page has no next link [ENC-23]', async () => {
  const bundle = (await searchOf({ _count: '4' })).json;
  assert.equal(bundle.entry.length, 4);
  assert.equal(link(bundle, 'next'), undefined);
});

test('an empty result has no entry [ENC-26]', async () => {
  const bundle = (await searchOf({ status: 'cancelled' })).json;
  assert.deepEqual(Object.keys(bundle).sort(), ['link', 'resourceType', 'type']);
});

test('status and date filter, dates in the time zone of the facility [ENC-16]', async () => {
  assert.deepEqual(ids((await searchOf({ status: 'planned' })).json), encounterIds.slice(0, 1));
  assert.deepEqual(ids((await searchOf({ date: '2024-04' })).json), encounterIds.slice(1, 2));
  const both = await search([
    ['patient', patientId],
    ['purposeOfUse', 'OPS'],
    ['date', 'ge2024-03-15'],
    ['date', 'le2024-04-15'],
  ]);
  assert.deepEqual(ids(both.json), encounterIds.slice(1, 2));
  const patient = await insertPatient(api.database.pool, tenant);
  const late = { patientId: patient, start: '2024-06-30T22:30:00Z', end: '2024-06-30T22:45:00Z' };
  const id = await insertEncounter(api.database.pool, tenant, late);
  const day = (date: string) => search({ patient, purposeOfUse: 'OPS', date });
  assert.deepEqual(ids((await day('2024-07-01')).json), [id], 'it is half past midnight in Berlin');
  assert.deepEqual(ids((await day('2024-06-30')).json), []);
});

const faults: [string, Query][] = [
  ['patient missing', { purposeOfUse: 'OPS' }],
  ['patient empty', { patient: '', purposeOfUse: 'OPS' }],
  ['purposeOfUse missing', { patient: randomUUID() }],
  ['purposeOfUse unknown', { patient: randomUUID(), purposeOfUse: 'treatment' }],
  ['status unknown', { patient: randomUUID(), purposeOfUse: 'OPS', status: 'completed' }],
  ['date unknown prefix', { patient: randomUUID(), purposeOfUse: 'OPS', date: 'gt2024' }],
  ['date no date', { patient: randomUUID(), purposeOfUse: 'OPS', date: '2024-02-30' }],
  ['_count 0', { patient: randomUUID(), purposeOfUse: 'OPS', _count: '0' }],
  ['_count 101', { patient: randomUUID(), purposeOfUse: 'OPS', _count: '101' }],
  ['_count 2.5', { patient: randomUUID(), purposeOfUse: 'OPS', _count: '2.5' }],
  ['_count ten', { patient: randomUUID(), purposeOfUse: 'OPS', _count: 'ten' }],
  ['_count empty', { patient: randomUUID(), purposeOfUse: 'OPS', _count: '' }],
  ['cursor broken', { patient: randomUUID(), purposeOfUse: 'OPS', cursor: 'AAAA' }],
  [
    'patient twice',
    [
      ['patient', randomUUID()],
      ['patient', randomUUID()],
      ['purposeOfUse', 'OPS'],
    ],
  ],
  [
    'status twice',
    [
      ['patient', randomUUID()],
      ['purposeOfUse', 'OPS'],
      ['status', 'planned'],
      ['status', 'planned'],
    ],
  ],
  [
    'three dates',
    [
      ['patient', randomUUID()],
      ['purposeOfUse', 'OPS'],
      ['date', '2024'],
      ['date', '2024'],
      ['date', '2024'],
    ],
  ],
];
for (const [fault, query] of faults)
  test(`${fault}: 400 that names the parameter [ENC-10, ENC-12, ENC-20]`, async () => {
    const answer = await search(query);
    assert.equal(answer.status, 400);
    assert.deepEqual(Object.keys(answer.json), ['statusCode', 'message', 'error']);
    const name = fault === 'three dates' ? 'date' : fault.split(' ')[0];
    assert.ok(answer.json.message.includes(name), answer.json.message);
  });

test('what is wrong with a count or an empty patient is told in words [ENC-20]', async () => {
  for (const _count of ['0', '101', 'ten', ''])
    assert.equal((await searchOf({ _count })).json.message, '_count must be an integer from 1 to 100.');
  assert.equal((await searchOf({ patient: '' })).json.message, 'patient must not be empty.');
});

test('an unknown status is told the five that there are [ENC-13]', async () => {
  const { json } = await searchOf({ status: 'completed' });
  assert.equal(
    json.message,
    'status must be one of planned, in-progress, finished, cancelled, entered-in-error.',
  );
});

test('a modifier of a parameter is refused, and not left out: the search would find more than it asks for [ENC-39]', async () => {
  for (const [name, value] of [
    ['status:not', 'planned'],
    ['date:missing', 'false'],
    ['_id:not', randomUUID()],
    ['subject:Patient', patientId],
    ['purposeOfUse:not', 'TREATMENT'],
  ] as const) {
    const [parameter] = name.split(':');
    const message = `${parameter} has a modifier, the part after its colon. This search knows no modifiers. Send ${parameter} alone.`;
    const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    const body = new URLSearchParams({ [name]: value }).toString();
    const address = `${COLLECTION}/_search?patient=${patientId}&purposeOfUse=OPS`;
    for (const answer of [
      await searchOf({ [name]: value }),
      await api.call(address, { ...form, token: account.token, body }),
    ])
      assert.deepEqual([answer.status, answer.json.message], [400, message], name);
  }
});

test('unknown parameters are an error when the caller asks for strictness [HTTP-11]', async () => {
  const preferring = async (prefer: string) =>
    (
      await api.call(`${COLLECTION}?patient=${patientId}&purposeOfUse=OPS&colour=blue`, {
        token: account.token,
        headers: { prefer },
      })
    ).status;
  assert.equal(await preferring('handling=strict'), 400);
  assert.equal(await preferring('return=minimal, Handling = "strict"'), 400);
  assert.equal(await preferring('handling=lenient'), 200);
  // The first counts (RFC 7240, section 2).
  assert.equal(await preferring('handling=strict, handling=lenient'), 400);
  assert.equal(await preferring('handling=lenient, handling=strict'), 200);
});

test('parameters of FHIR that the search does not have are unknown ones too, and the interface says so [HTTP-11, ENC-26]', async () => {
  const given = [
    '_summary=count',
    '_total=accurate',
    '_sort=date',
    '_elements=id',
    '_include=Encounter:subject',
  ];
  const path = `${COLLECTION}?patient=${patientId}&purposeOfUse=OPS`;
  const { token } = account;
  const { link: links, ...plain } = (await api.call(path, { token })).json;
  for (const one of given) {
    const { status, json } = await api.call(`${path}&${one}`, { token });
    assert.deepEqual([status, json], [200, { ...plain, link: links }], one);
    const strict = await api.call(`${path}&${one}`, { token, headers: { prefer: 'handling=strict' } });
    assert.equal(strict.status, 400, one);
  }
  const { json } = await api.call('/encounters/fhir/metadata');
  assert.match(json.rest[0].resource[0].documentation, /_summary, _sort and _include, are ignored/);
});

test('a cursor is good for its own patient, filters, facility and tenant only; the page size may change [ENC-27]', async () => {
  const cursorOf = (bundle: Bundle) => new URL(link(bundle, 'next') ?? '').searchParams.get('cursor') ?? '';
  const cursor = cursorOf((await searchOf({ _count: '1' })).json);
  const facilityId = await api.createFacility(tenant.organisationId, { timeZone: 'Europe/Berlin' });
  await registerPatient(api.database.pool, { ...tenant, facilityId }, patientId);
  const elsewhere = await api.createAccount({ ...tenant, facilityId });
  const another = await insertPatient(api.database.pool, tenant);
  const query = { patient: patientId, purposeOfUse: 'OPS', cursor };
  assert.deepEqual(ids((await search({ ...query, _count: '2' })).json), encounterIds.slice(1, 3));
  const foreign = [
    await search({ ...query, patient: another }),
    await search({ ...query, status: 'finished' }),
    await search({ ...query, date: 'ge2000' }),
    await search(query, elsewhere.token),
    await search({ ...query, cursor: cursor.slice(0, -2) }),
    await search({ ...query, cursor: `${cursor}=` }),
    await search({ ...query, cursor: '' }),
  ];
  for (const answer of foreign) {
    assert.equal(answer.status, 400);
    assert.match(answer.json.message, /cursor/);
  }
});

test('an unknown patient, a malformed id, another facility and another tenant are one 404 [ENC-29]', async () => {
  const facilityId = await api.createFacility(tenant.organisationId);
  const elsewhere = await api.createAccount({ ...tenant, facilityId });
  const stranger = await api.createAccount(await api.createTenant());
  const query = { patient: patientId, purposeOfUse: 'OPS' };
  const answers = [
    await search({ ...query, patient: randomUUID() }),
    await search({ ...query, patient: 'Patient/smith' }),
    await search({ ...query, patient: `Practitioner/${patientId}` }),
    await search(query, elsewhere.token),
    await search(query, stranger.token),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.json, answers[0]?.json);
  }
});

test('encounters of the same patient at another facility stay there', async () => {
  const facilityId = await api.createFacility(tenant.organisationId);
  const patient = await insertPatient(api.database.pool, tenant);
  await registerPatient(api.database.pool, { ...tenant, facilityId }, patient);
  const here = await insertEncounter(api.database.pool, tenant, { patientId: patient });
  const there = await insertEncounter(api.database.pool, { ...tenant, facilityId }, { patientId: patient });
  const both = await api.createAccount(tenant, { facilityIds: [tenant.facilityId, facilityId] });
  const query = new URLSearchParams({ patient, purposeOfUse: 'OPS' });
  const at = async (facility: string) =>
    ids(
      (
        await api.call(`${COLLECTION}?${query}`, {
          token: both.token,
          headers: { 'x-facility-id': facility },
        })
      ).json,
    );
  assert.deepEqual(await at(tenant.facilityId), [here]);
  assert.deepEqual(await at(facilityId), [there]);
});

test('without a token 401; without the permission or the module 403 [ENC-30]', async () => {
  const query = `?patient=${patientId}&purposeOfUse=OPS`;
  assert.equal((await api.call(COLLECTION + query)).status, 401);
  const reader = await api.createAccount(tenant, { permissions: ['encounters.fhir.encounter.read'] });
  assert.equal((await api.call(COLLECTION + query, { token: reader.token })).status, 403);
  const wide = await api.createAccount(tenant, { permissions: ['encounters.access'] });
  assert.equal((await api.call(COLLECTION + query, { token: wide.token })).status, 200);
  const closed = await api.createFacility(tenant.organisationId, { modules: ['patients'] });
  const there = await api.createAccount({ ...tenant, facilityId: closed });
  assert.equal((await api.call(COLLECTION + query, { token: there.token })).status, 403);
});

test('every page is checked and logged anew [ENC-28]', async () => {
  const patient = await insertPatient(api.database.pool, tenant);
  for (const start of ['2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z'])
    await insertEncounter(api.database.pool, tenant, { patientId: patient, start });
  const first = await search({ patient, purposeOfUse: 'RESEARCH', _count: '1' });
  assert.equal(first.status, 200);
  await api.database.pool.query(
    `update patient set refused_purposes = '{RESEARCH}' where organisation_id = $1 and id = $2`,
    [tenant.organisationId, patient],
  );
  const second = await api.call(link(first.json, 'next') ?? '', { token: account.token });
  assert.equal(second.status, 403);
  assert.equal(second.json.entry, undefined);
  const entry = { action: 'encounter.search', resource_type: 'Encounter', resource_id: null };
  assert.deepEqual(await logged(patient), [
    { ...entry, purpose_of_use: 'RESEARCH', outcome: 'allowed' },
    { ...entry, purpose_of_use: 'RESEARCH', outcome: 'refused' },
  ]);
});

test('_search takes the parameters as a form, alone or beside the query [ENC-33]', async () => {
  const post = (body: string, query = '', type = 'application/x-www-form-urlencoded') =>
    api.call(`${COLLECTION}/_search${query}`, {
      method: 'POST',
      token: account.token,
      headers: { 'content-type': type },
      body,
    });
  const answer = await post(`patient=Patient%2F${patientId}&purposeOfUse=OPS&_count=3`);
  assert.equal(answer.status, 200);
  assert.deepEqual(ids(answer.json), encounterIds.slice(0, 3));
  const next = await api.call(link(answer.json, 'next') ?? '', { token: account.token });
  assert.deepEqual(ids(next.json), encounterIds.slice(3), 'the next link is a GET');
  const split = await post(`patient=${patientId}`, '?purposeOfUse=OPS&_count=1');
  assert.deepEqual(ids(split.json), encounterIds.slice(0, 1));
  const dates = await post('date=le2024-04-15', `?patient=${patientId}&purposeOfUse=OPS&date=ge2024-03-15`);
  assert.deepEqual(ids(dates.json), encounterIds.slice(1, 2));
  const twice = await post(`patient=${patientId}&purposeOfUse=OPS`, `?patient=${patientId}`);
  assert.equal(twice.status, 400);
  assert.equal((await post('purposeOfUse=OPS')).status, 400);
  assert.equal((await post(`patient=${patientId}`)).status, 400);
  assert.equal((await post(`{"patient":"${patientId}"}`, '', 'application/json')).status, 415);
});

test('_search takes its parameters from the address alone, without a body [ENC-33]', async () => {
  const path = `${COLLECTION}/_search?patient=${patientId}&purposeOfUse=OPS&_count=1`;
  for (const more of [{}, { body: '' }, { body: '', headers: { 'content-type': 'application/json' } }]) {
    const answer = await api.call(path, { method: 'POST', token: account.token, ...more });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(ids(answer.json), encounterIds.slice(0, 1));
  }
  const bytes = new TextEncoder().encode('date=le2024-04-15');
  const untyped = await api.call(path, { method: 'POST', token: account.token, body: bytes });
  assert.equal(untyped.status, 415);
});

test('other media types are 406 [ENC-35]', async () => {
  const answer = await api.call(`${COLLECTION}?patient=${patientId}&purposeOfUse=OPS`, {
    token: account.token,
    headers: { accept: 'application/fhir+xml' },
  });
  assert.equal(answer.status, 406);
  assert.equal((await searchOf({ _format: 'xml' })).status, 406);
  const json = await searchOf({ _format: 'json', _count: '1' });
  assert.equal(new URL(link(json.json, 'next') ?? '').searchParams.get('_format'), 'json');
});

test('a status is understood as a token, with the system of its codes or none [ENC-13]', async () => {
  const plain = await searchOf({ status: 'planned' });
  for (const status of ['|planned', 'http://hl7.org/fhir/encounter-status|planned']) {
    const { status: code, json } = await searchOf({ status });
    assert.equal(code, 200, status);
    assert.deepEqual(json, plain.json, 'the self link has the status as understood');
  }
  for (const status of [
    '|done',
    'planned|',
    '|',
    'http://hl7.org/fhir/encounter-status|',
    'http://example.org|planned',
    '|planned|planned',
    'planned,finished',
  ]) {
    const { status: code, json } = await searchOf({ status });
    assert.equal(code, 400, status);
    assert.match(json.message, /^status /);
  }
});

test('a parameter that is missing and was misspelt is named, with the name that was meant [HTTP-4]', async () => {
  const { status, json } = await search({ patient: patientId, purposeofUse: 'TREATMENT', other: 'x' });
  assert.deepEqual(
    [status, json.message],
    [400, 'The query parameter purposeofUse is unknown. Did you mean purposeOfUse?'],
  );
});

test('subject is another name of patient; two patients are refused [ENC-11]', async () => {
  const query = { purposeOfUse: 'TREATMENT', _count: '2' };
  const plain = await search({ patient: patientId, ...query });
  const strict = { token: account.token, headers: { prefer: 'handling=strict' } };
  for (const given of [
    { subject: patientId },
    { subject: `Patient/${patientId}` },
    { subject: `Patient/${patientId}`, patient: patientId.toUpperCase() },
  ]) {
    const parameters = new URLSearchParams(Object.entries({ ...given, ...query }));
    const { status, json } = await api.call(`${COLLECTION}?${parameters}`, strict);
    assert.equal(status, 200);
    assert.deepEqual(ids(json), ids(plain.json));
    assert.equal(link(json, 'self'), link(plain.json, 'self'));
  }
  const other = await search({ patient: patientId, subject: randomUUID(), ...query });
  assert.equal(other.status, 400);
  assert.match(other.json.message, /patient and subject/);
  assert.equal((await search(query)).json.message, 'patient is missing.');
  assert.equal((await search({ subject: '', ...query })).status, 400);
});

test('_id finds one encounter of the patient, together with the other filters [ENC-21]', async () => {
  const [newest = '', second = ''] = encounterIds;
  for (const id of [second, second.toUpperCase()]) {
    const { json } = await searchOf({ _id: id });
    assert.deepEqual(ids(json), [second]);
    assert.match(link(json, 'self') ?? '', new RegExp(`_id=${second}`));
  }
  assert.deepEqual(ids((await searchOf({ _id: second, status: 'finished', date: '2024-04' })).json), [
    second,
  ]);
  assert.deepEqual(ids((await searchOf({ _id: second, status: 'planned' })).json), []);
  assert.deepEqual(ids((await searchOf({ _id: newest, date: '2024-04' })).json), []);
  const stranger = await insertPatient(api.database.pool, tenant);
  const theirs = await insertEncounter(api.database.pool, tenant, { patientId: stranger });
  for (const id of [theirs, randomUUID(), 'nonsense']) {
    const { status, json } = await searchOf({ _id: id });
    assert.equal(status, 200);
    assert.deepEqual(ids(json), []);
  }
  for (const id of ['', `${newest},${second}`]) assert.equal((await searchOf({ _id: id })).status, 400);
});

test('a cursor is bound to _id [ENC-27]', async () => {
  const first = await searchOf({ _count: '1' });
  const cursor = new URL(link(first.json, 'next') ?? '').searchParams.get('cursor') ?? '';
  assert.equal((await searchOf({ cursor })).status, 200);
  const other = await searchOf({ cursor, _id: encounterIds[1] ?? '' });
  assert.equal(other.status, 400);
  assert.match(other.json.message, /cursor/);
});

test('application/json+fhir is understood, in Accept and in _format', async () => {
  const target = `${COLLECTION}?patient=${patientId}&purposeOfUse=TREATMENT`;
  const accept = 'application/json+fhir';
  for (const [query, headers] of [
    ['', { accept }],
    ['&_format=application/json%2Bfhir', { accept: 'text/html' }],
    ['&_format=application/json+fhir', {}],
  ] as const) {
    const answer = await api.call(target + query, { token: account.token, headers });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
  }
});
