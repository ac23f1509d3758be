/** FHIR clients see why: errors below /encounters/fhir are OperationOutcomes for those who ask for FHIR by name. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { fhirFaults } from '../test-support/fhir/fhir-validator.ts';
import { insertEncounter, insertPatient } from '../test-support/records/clinical-records.ts';
import { type Answer, type CallOptions, useEmptyApi } from '../test-support/service/api.ts';

const FHIR = 'application/fhir+json';
const BASE = '/encounters/fhir';

const api = await useEmptyApi();
const tenant = await api.createTenant();
const { token } = await api.createAccount(tenant, { permissions: ['encounters.access'] });
const patientId = await insertPatient(api.database.pool, tenant, { refusedPurposes: ['RESEARCH'] });
const start = '2026-01-10T08:00:00Z';
const encounterId = await insertEncounter(api.database.pool, tenant, { patientId, start });
const search = `${BASE}/Encounter?patient=${patientId}&purposeOfUse=TREATMENT`;
const read = `${BASE}/Encounter/${encounterId}`;

interface Case {
  path: string;
  status: number;
  code: string;
  options?: CallOptions;
}

function cases(): Case[] {
  const form = 'application/x-www-form-urlencoded';
  const post = (contentType: string, body: string) => ({
    method: 'POST',
    token,
    headers: { 'content-type': contentType },
    body,
  });
  return [
    { path: `${BASE}/Encounter`, status: 400, code: 'invalid' },
    { path: `${search}&status=done`, status: 400, code: 'invalid' },
    { path: `${search}&date=ne2024`, status: 400, code: 'invalid' },
    { path: `${search}&x=%ff`, status: 400, code: 'invalid' },
    { path: `${BASE}/Encounter/%ff`, status: 400, code: 'invalid' },
    { path: search, status: 401, code: 'login', options: {} },
    { path: `${search.replace('TREATMENT', 'RESEARCH')}`, status: 403, code: 'forbidden' },
    { path: `${BASE}/Encounter/${randomUUID()}?purposeOfUse=OPS`, status: 404, code: 'not-found' },
    { path: `${BASE}/Encounter/nonsense?purposeOfUse=OPS`, status: 404, code: 'not-found' },
    { path: `${BASE}/Patient/1`, status: 404, code: 'not-found' },
    { path: BASE, status: 404, code: 'not-found' },
    { path: read, status: 405, code: 'not-supported', options: { method: 'DELETE', token } },
    { path: `${search}&_format=xml`, status: 406, code: 'not-supported' },
    {
      path: `${BASE}/Encounter/_search`,
      status: 413,
      code: 'too-long',
      options: post(form, `patient=${'x'.repeat(70_000)}`),
    },
    {
      path: `${BASE}/Encounter/_search`,
      status: 415,
      code: 'not-supported',
      options: post('application/json', '{}'),
    },
  ];
}

const ask = ({ path, options = { token } }: Case, accept: string) =>
  api.call(path, { ...options, headers: { ...options.headers, accept } });

function isOutcome({ json, headers }: Answer, status: number, code: string, where: string): void {
  assert.equal(headers.get('content-type'), 'application/fhir+json; charset=utf-8', where);
  assert.equal(json.statusCode, status);
  const { statusCode, message, error, ...outcome } = json;
  assert.ok(message && error, where);
  assert.deepEqual(outcome, {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', code, diagnostics: message }],
  });
  assert.deepEqual(fhirFaults(outcome), []);
}

function isPlain({ json, headers }: Answer, status: number, where: string): void {
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', where);
  assert.deepEqual(Object.keys(json), ['statusCode', 'message', 'error'], where);
  assert.equal(json.statusCode, status, where);
}

describe('an error below /encounters/fhir', () => {
  test('is an OperationOutcome, with the members of the error shape, where Accept names FHIR JSON [HTTP-6]', async () => {
    const accepts = [FHIR, `text/html, Application/FHIR+JSON;q=0.5, */*`, 'application/json+fhir'];
    for (const one of cases())
      for (const accept of accepts) {
        const answer = await ask(one, accept);
        assert.equal(answer.status, one.status, `${one.path}: ${answer.text}`);
        isOutcome(answer, one.status, one.code, one.path);
      }
    isOutcome(
      await ask({ path: search, status: 406, code: '' }, `${FHIR};fhirVersion=3.0`),
      406,
      'not-supported',
      '',
    );
  });

  test('is the plain shape for everyone else [HTTP-6]', async () => {
    for (const one of cases())
      for (const accept of ['*/*', 'application/json', 'application/*', `${FHIR};q=0, */*`]) {
        if (one.status === 406 && accept.startsWith(FHIR)) continue;
        const answer = await ask(one, accept);
        if (answer.status === 406 && accept.startsWith(FHIR)) continue;
        isPlain(answer, one.status, `${one.path} ${accept}`);
      }
  });

  test('has the headers of the plain one', async () => {
    const refused = await api.call(search, { headers: { accept: FHIR } });
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
    assert.equal(refused.headers.get('cache-control'), 'no-store');
    assert.ok(refused.headers.get('x-correlation-id'));
    const method = await api.call(read, { method: 'PUT', headers: { accept: FHIR } });
    assert.equal(method.headers.get('allow'), 'GET, HEAD');
  });

  test('of an unknown path says where resources are, and so does one where FHIR clients look for them', async () => {
    const id = randomUUID();
    const unknown = [
      BASE,
      `${BASE}/encounter?patient=${id}`,
      `${BASE}/Patient/${id}`,
      `${BASE}/Encounter/${id}/_history`,
      '/fhir',
      '/fhir/metadata',
      '/fhir/encounter',
      `/FHIR/Patient/${id}`,
      '/fhir/Observation?patient=1',
      '/metadata',
      `/Patient/${id}`,
      '/Encounter?patient=1',
      '/ServiceRequest',
      `${api.origin}/metadata`,
      `${api.origin}/fhir/Patient`,
      `${api.origin}/API/v1/fhir/Patient/${id}`,
      '/ENCOUNTERS/FHIR/Encounter',
    ];
    const said = new Set<string>();
    for (const path of unknown) {
      const { status, json } = await api.call(path, { token, headers: { accept: FHIR } });
      assert.deepEqual([status, json.issue?.[0].diagnostics ?? json.message], [404, json.message], path);
      said.add(json.message);
    }
    const [message = ''] = said;
    assert.equal(said.size, 1, 'nothing of what was sent');
    const known = new Set(api.api.routes.map(({ path }) => path.replaceAll(/:\w+/g, '<id>')));
    const named = [...message.matchAll(/(?<= )\/(?!api)[\w/<>]+/g)].map(([path]) => `/api/v1${path}`);
    assert.equal(named.length, 8);
    for (const path of named) assert.ok(known.has(path), path);
    for (const [, type] of [...known].join('\n').matchAll(/^\/api\/v1\/fhir\/(\w+)\//gm))
      assert.match(message, new RegExp(`\\b${type}\\b`));
    const other = await api.call('/fhirs', { headers: { accept: FHIR } });
    assert.match(other.json.message, /^There is no such path\. Every path is listed/);
  });

  test('is plain on every other path [HTTP-6]', async () => {
    for (const path of [
      '/encounters/fhirs',
      '/patients/base',
      '/nope',
      '/encounters/vitals',
      `/fhir/Observation/${randomUUID()}`,
    ]) {
      const answer = await api.call(path, { headers: { accept: FHIR } });
      isPlain(answer, answer.status, path);
    }
  });

  test('is an OperationOutcome when the service fails, too', async () => {
    const owner = await api.database.connectOwner();
    const failing = async (table: string, status: number, code: string) => {
      await owner.query(`alter table ${table} rename to away`);
      try {
        isOutcome(await ask({ path: search, status, code }, FHIR), status, code, table);
      } finally {
        await owner.query(`alter table away rename to ${table}`);
      }
    };
    try {
      await failing('access_log', 503, 'transient');
      await failing('encounter', 500, 'exception');
    } finally {
      await owner.end();
    }
  });
});
