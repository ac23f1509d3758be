import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import {
  bundle,
  conditionalCreate,
  encounter,
  NUMBER,
  patient,
  type Resource,
} from '../../../test-support/records/clinic.ts';
import { lines } from '../../../test-support/records/import.ts';
import { type Answer, useEmptyApi } from '../../../test-support/service/api.ts';
import { waitForLock, waitUntil } from '../../../test-support/wait-until.ts';

const LIMIT = 200_000;
const NDJSON = { type: 'application/fhir+ndjson' };

const t = await useEmptyApi({ env: { IMPORT_MAX_BYTES: String(LIMIT) } });
const account = await t.createAccount(await t.createTenant(), { permissions: ['records.import'] });

interface SendOptions {
  token?: string;
  type?: string;
  headers?: Record<string, string>;
  query?: string;
}

const send = (body: object | string | Uint8Array, options: SendOptions = {}): Promise<Answer> =>
  t.call(`/imports/fhir${options.query ?? ''}`, {
    method: 'POST',
    token: options.token ?? account.token,
    headers: { 'content-type': options.type ?? 'application/fhir+json', ...options.headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
const visits = () => {
  const someone = patient();
  return { someone, file: bundle([someone, encounter(`urn:uuid:${String(someone.id)}`)]) };
};
const logOf = async (someone: Resource) =>
  (
    await t.database.pool.query({
      text: `select action, resource_type, resource_id, purpose_of_use, outcome, account_id, facility_id, correlation_id
        from access_log where patient_id = $1`,
      values: [someone.id],
    })
  ).rows;

test('a Bundle is taken, and entered in the log of each patient before the answer [IN-1, IN-26]', async () => {
  const { someone, file } = visits();
  const answer = await send(file, { headers: { 'x-correlation-id': 'import-1' } });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, {
    files: 1,
    bundles: 1,
    resources: { Encounter: 1, Patient: 1 },
    notTaken: {},
    rejected: [],
    rejectedCount: 0,
    unchanged: {},
    older: [],
    olderCount: 0,
    notices: [],
    noticeCount: 0,
    notShown: {},
    notKept: [],
    unresolved: [],
  });
  assert.deepEqual(await logOf(someone), [
    {
      action: 'record.import',
      resource_type: 'Patient',
      resource_id: someone.id,
      purpose_of_use: 'OPS',
      outcome: 'allowed',
      account_id: account.userId,
      facility_id: account.facilityId,
      correlation_id: 'import-1',
    },
  ]);
  assert.deepEqual((await send(file)).json.unchanged, { Encounter: 1, Patient: 1 });
});

test('a dry run answers what the import would, says so, and keeps nothing [IN-24]', async () => {
  const { someone, file } = visits();
  const body = lines([file, bundle([{ ...patient(), gender: 'wrong' }])]);
  const kept = async () =>
    (
      await t.database.pool.query({
        text: `select 'patients' as of, count(*)::int from patient
          union all select 'visits', count(*)::int from encounter
          union all select 'logged', count(*)::int from access_log
          order by 1`,
      })
    ).rows;
  const options = { type: 'application/fhir+ndjson' };
  const before = await kept();
  const dry = await send(body, { ...options, query: '?dryRun=true' });
  assert.equal(dry.status, 200, dry.text);
  assert.equal(dry.json.dryRun, true);
  assert.deepEqual(await kept(), before);
  assert.deepEqual(await logOf(someone), []);
  for (const query of ['?dryRun=', '?dryRun=yes', '?dryRun=1', '?dryRun=true&dryRun=false']) {
    assert.equal((await send(body, { ...options, query })).status, 400, query);
    assert.deepEqual(await kept(), before, query);
  }
  const real = await send(body, { ...options, query: '?dryRun=false' });
  const { dryRun: _, ...said } = dry.json;
  assert.deepEqual(real.json, said);
  assert.deepEqual(real.json.resources, { Encounter: 1, Patient: 1 });
  assert.equal(real.json.rejectedCount, 1);
  assert.equal((await logOf(someone)).length, 1);
});

test('the access log is written before the change commits [IN-26]', async () => {
  const { someone, file } = visits();
  const stored = async () =>
    (await t.database.pool.query('select id from patient where id = $1', [someone.id])).rows.length;
  const owner = await t.database.connectOwner();
  await owner.query('begin');
  await owner.query('lock table access_log_writer in share mode');
  const sent = send(file);
  await waitForLock(t.database.pool, { relation: 'access_log_writer' });
  assert.equal(await stored(), 0);
  await owner.query('rollback');
  await owner.end();
  assert.equal((await sent).status, 200);
  assert.equal(await stored(), 1);
});

test('one that meets others at the same records time after time is 503, and taken when it is sent again', async (context) => {
  const owner = new pg.Client({ connectionString: t.database.url });
  context.after(() => owner.end());
  await owner.connect();
  // No pause between the tries.
  context.mock.method(Math, 'random', () => 0);
  const { someone, file } = visits();
  const query = `?importId=${randomUUID()}`;
  for (const state of ['40P01', '40001']) {
    await owner.query(`create function meets() returns trigger language plpgsql as
      $$ begin raise exception using errcode = '${state}'; end $$`);
    await owner.query('create trigger meets before insert on patient for each row execute function meets()');
    const refused = await send(file, { query });
    await owner.query('drop function meets cascade');
    assert.equal(refused.status, 503, state);
    assert.match(String(refused.headers.get('retry-after')), /^\d+$/);
  }
  const { status, json } = await send(file, { query });
  assert.equal(status, 200);
  assert.deepEqual(json.resources, { Encounter: 1, Patient: 1 });
  assert.equal((await logOf(someone)).length > 0, true);
});

test('every media type, plain and gzip; encounters alone are entered in the log too', async () => {
  const someone = patient();
  const one = lines([someone]);
  for (const type of [
    'application/fhir+json',
    'application/json; charset=utf-8',
    'application/fhir+ndjson',
    'application/ndjson',
    'application/x-ndjson',
    'application/gzip',
    'application/x-gzip',
  ])
    for (const [body, headers] of [
      [one, {}],
      [gzipSync(one), {}],
      [gzipSync(one), { 'content-encoding': 'gzip' }],
    ] as const)
      assert.deepEqual((await send(body, { type, headers })).json.resources, { Patient: 1 }, type);
  const before = (await logOf(someone)).length;
  await send(encounter(`Patient/${String(someone.id)}`));
  assert.equal((await logOf(someone)).length, before + 1);
});

test('the log of each patient whom a record is about, or was about before, says so, also where nothing is written [LOG-7, IN-26]', async () => {
  const [one, other] = [patient(), patient()];
  const subject = { reference: `Patient/${String(one.id)}` };
  const identifier = [{ system: NUMBER, value: randomUUID() }];
  const result = { resourceType: 'Observation', id: randomUUID(), identifier, status: 'final', subject };
  const known = { ...result, code: { text: 'HIV' }, valueString: 'positive', meta: { versionId: '5' } };
  const visit = encounter(subject.reference);
  const { rejected } = (await send(lines([one, other, visit, known]), NDJSON)).json;
  assert.deepEqual(rejected, []);
  const entriesOf = async (body: object, about: readonly Resource[]) => {
    const before = await Promise.all(about.map(logOf));
    const answer = await send(body);
    assert.deepEqual([answer.status, answer.json.rejected], [200, []]);
    const after = await Promise.all(about.map(logOf));
    return after.map(({ length }, index) => length - (before[index]?.length ?? 0));
  };
  const older = { ...known, valueString: 'negative', meta: { versionId: '4' } };
  const found = bundle([conditionalCreate({ ...known, id: randomUUID() })]);
  for (const body of [visit, known, older, found])
    assert.deepEqual(await entriesOf(body, [one]), [1], JSON.stringify(body));
  const moved = { subject: { reference: `Patient/${String(other.id)}` } };
  for (const body of [
    { ...known, ...moved, meta: { versionId: '6' } },
    { ...visit, ...moved },
  ])
    assert.deepEqual(await entriesOf(body, [one, other]), [1, 1], JSON.stringify(body));
});

test('the log of each patient who is stored says whom a dry run told of [LOG-7, IN-24]', async () => {
  const [stored, waited, fresh] = [patient(), patient(), patient()];
  const visit = encounter(`Patient/${String(stored.id)}`);
  const doctor = { resourceType: 'Practitioner', id: randomUUID(), name: [{ family: 'Okafor' }] };
  const individual = { reference: `Practitioner/${doctor.id}` };
  const waits = { ...encounter(`Patient/${String(waited.id)}`), participant: [{ individual }] };
  assert.deepEqual((await send(lines([stored, waited, visit, waits]), NDJSON)).json.rejectedCount, 0);
  const told = async (...bodies: object[]) => {
    const { status, json } = await send(lines(bodies), { ...NDJSON, query: '?dryRun=true' });
    assert.deepEqual([status, json.rejected], [200, []]);
    return json;
  };
  const { unchanged } = await told(visit, fresh, encounter(`Patient/${String(fresh.id)}`));
  assert.deepEqual(unchanged, { Encounter: 1 });
  await told(doctor, visit);
  const checks = async (someone: Resource) =>
    (await logOf(someone)).filter(({ action }) => action === 'record.import-dry-run').length;
  assert.deepEqual(await Promise.all([stored, waited, fresh].map(checks)), [2, 1, 0]);
});

test('what is rejected is listed, and the answer is 200 [IN-23]', async () => {
  const good = patient();
  const answer = await send(lines([patient({ gender: 'x' }), good]), { type: 'application/fhir+ndjson' });
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json.resources, { Patient: 1 });
  assert.deepEqual(answer.json.rejected, [
    {
      file: 'body',
      entry: 1,
      resourceType: 'Patient',
      reason: 'Patient.gender is not one of male, female, other, unknown',
    },
  ]);
  assert.equal((await logOf(good)).length, 1);
});

const NEITHER =
  'The content is neither JSON nor gzip with JSON in it. Send FHIR as JSON in UTF-8, as it is or compressed with gzip.';

const NO_ENTRY =
  'The content is a Bundle without an entry list, and has an element that FHIR does not define. Rename the list of its resources to entry.';
const bundleOf = (name: string) =>
  JSON.stringify({ resourceType: 'Bundle', type: 'collection', [name]: [{ resource: patient() }] });

test('a Bundle may be empty, and have all that a Bundle has', async () => {
  const elements = { id: 'b1', _type: { id: 't' }, timestamp: '2026-01-10T11:00:00Z', total: 0, link: [] };
  const answer = await send(JSON.stringify({ resourceType: 'Bundle', type: 'searchset', ...elements }));
  assert.deepEqual([answer.status, answer.json.rejectedCount], [200, 0]);
});

test('a body that is no FHIR at all is 400', async () => {
  for (const [body, message] of [
    ['', 'The content is empty.'],
    ['notes', 'The content is not valid JSON.'],
    [`${'n'.repeat(261)}é`, 'The content is not valid JSON.'],
    ['<Bundle/>', 'The content is XML or HTML. Send FHIR as JSON.'],
    ['{"a":1}', 'The content is JSON, but not FHIR: resourceType is missing or is not a FHIR resource type.'],
    [
      '{"resourceType":"Organisation"}',
      'The content is JSON, but not FHIR: resourceType is not a resource type of FHIR R4. Did you mean Organization?',
    ],
    [gzipSync('a,b,c,d,e\n'.repeat(60_000)), 'The content is not valid JSON.'],
    [
      gzipSync('{}').subarray(0, 12),
      'The content is gzip that breaks off. Nothing of it was taken. Copy or download it again.',
    ],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'The content is not valid UTF-8. Convert it to UTF-8.'],
    ...['entyr', 'Entry', 'entries'].map((name) => [bundleOf(name), NO_ENTRY] as const),
    [deflateSync('{}'), NEITHER],
    [gzipSync(deflateSync('{}')), NEITHER],
    [Buffer.from([0x00, 0xff, 0x80]), NEITHER],
  ] as const) {
    const answer = await send(body);
    assert.deepEqual(answer.json, { statusCode: 400, message, error: 'Bad Request' });
  }
});

test('a Bundle that cannot be read to its end is 400, and nothing of it is taken [IN-56]', async () => {
  const { someone, file } = visits();
  const whole = JSON.stringify(file);
  for (const [body, message] of [
    [
      whole.slice(0, whole.length / 2),
      'The content (at entry 1) ends in the middle of its entries. Nothing of it was taken.',
    ],
    [
      whole.slice(0, -20),
      'The content (at entry 2) ends in the middle of its entries. Nothing of it was taken.',
    ],
    [whole.slice(0, -1), 'The content is not valid JSON: it breaks off. Nothing of it was taken.'],
    [whole.replace('}},{', '}}{'), 'The content (at entry 1) has no comma after this entry.'],
  ] as const) {
    for (const query of ['?dryRun=true', '']) {
      const { status, json } = await send(body, { query });
      assert.deepEqual([status, json.message], [400, message]);
    }
  }
  assert.deepEqual(await logOf(someone), []);
});

test('of NDJSON that breaks off the complete lines are taken [IN-56]', async () => {
  const [first, second] = [patient(), patient()];
  const { status, json } = await send(lines([first, second]).slice(0, -20), NDJSON);
  assert.deepEqual([status, json.resources], [200, { Patient: 1 }]);
  assert.deepEqual(json.rejected, [
    { file: 'body', entry: 2, reason: 'The line is not valid JSON: it breaks off' },
  ]);
  assert.deepEqual([(await logOf(first)).length, (await logOf(second)).length], [1, 0]);
});

test('other media types and encodings are 415', async () => {
  for (const [type, headers, taken] of [
    ['text/plain', {}, null],
    ['application/fhir+xml', {}, null],
    // Says which ones are taken (RFC 9110, section 15.5.16).
    ['application/json', { 'content-encoding': 'br' }, 'gzip, identity'],
  ] as const) {
    const answer = await send('{}', { type, headers });
    assert.deepEqual([answer.status, answer.json.error], [415, 'Unsupported Media Type']);
    assert.equal(answer.headers.get('accept-encoding'), taken);
  }
  assert.equal(
    (await send('{}', { type: 'text/plain' })).json.message,
    'This call does not accept that content type. Send application/fhir+json, application/json, application/fhir+ndjson, application/ndjson, application/x-ndjson, application/gzip, application/x-gzip.',
  );
});

test('a body of another FHIR release is 415 [IN-1]', async () => {
  const statusOf = async (version: string) =>
    (await send('{"resourceType":"Patient"}', { type: `application/fhir+json; fhirVersion=${version}` }))
      .status;
  for (const version of ['5.0', '"3.0"']) assert.equal(await statusOf(version), 415, version);
  for (const version of ['4.0', '"4.0"', '4.0.1']) assert.equal(await statusOf(version), 200, version);
});

test('a body past the limit is 413, also when it does not say its length [HTTP-16, IN-28]', async () => {
  const large = `{"resourceType":"Patient","text":"${'x'.repeat(LIMIT)}"}`;
  assert.equal((await send(large)).status, 413);
  assert.equal((await sendChunked(Buffer.from(large))).statusCode, 413);
  assert.equal((await sendChunked(gzipSync(randomBytes(LIMIT)))).statusCode, 413);
  // The limit is on what is sent: a small gzip body may hold more.
  const { someone, file } = visits();
  const padded = gzipSync(JSON.stringify({ ...file, meta: { tag: [{ display: 'x'.repeat(LIMIT) }] } }));
  assert.equal((await send(padded)).status, 200);
  assert.equal((await logOf(someone)).length, 1);
});

/** A call whose body is still to be written. */
function openUpload(): ClientRequest {
  const call = request(`${t.baseUrl}/imports/fhir`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${account.token}`,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    },
  });
  call.on('error', () => undefined);
  return call;
}

test('a body that is refused before its end closes the connection: what is left of it is not read [IN-28]', async () => {
  const broken = Buffer.concat([Buffer.from([0x1f, 0x8b]), randomBytes(LIMIT / 2)]);
  const bomb = gzipSync(Buffer.alloc(100 * 1_048_576));
  for (const body of [broken, bomb]) {
    const { statusCode, headers } = await sendChunked(body);
    assert.deepEqual([statusCode, headers.connection], [400, 'close']);
  }
});

async function sendChunked(body: Buffer): Promise<IncomingMessage> {
  const call = openUpload();
  for (let at = 0; at < body.length; at += 10_000) call.write(body.subarray(at, at + 10_000));
  call.end();
  const [response] = await once(call, 'response');
  response.resume();
  return response;
}

test('the permission and the module are needed, and records go to the facility of the call [IN-1]', async () => {
  const { file } = visits();
  const without = await t.createAccount(account, { permissions: ['patients.patients.write'] });
  assert.equal((await send(file, { token: without.token })).status, 403);
  const off = await t.createAccount(await t.createTenant({ modules: ['encounters'] }), {
    permissions: ['records.import'],
  });
  assert.equal((await send(file, { token: off.token })).status, 403);
  assert.equal((await t.call('/imports/fhir', { method: 'POST', body: file })).status, 401);
  const other = await t.createFacility(account.organisationId);
  const both = await t.createAccount(account, {
    permissions: ['records.import'],
    facilityIds: [account.facilityId, other],
  });
  const { someone, file: another } = visits();
  assert.equal((await send(another, { token: both.token, headers: { 'x-facility-id': other } })).status, 200);
  const { rows } = await t.database.pool.query('select facility_id from encounter where patient_id = $1', [
    someone.id,
  ]);
  assert.deepEqual(rows, [{ facility_id: other }]);
});

test('reasons and logs carry no values [IN-25]', async () => {
  const answer = await send(
    lines([patient({ gender: 'SECRET', name: [{ family: 'Unheard' }] }), encounter('Patient/SECRET')]),
  );
  assert.equal(answer.json.rejectedCount, 2);
  assert.doesNotMatch(answer.text, /SECRET|Unheard/);
  assert.doesNotMatch(t.logs(), /SECRET|Unheard/);
});

test('a caller that goes away in the middle of its body leaves nothing behind', async () => {
  const { someone, file } = visits();
  const call = openUpload();
  const part = JSON.stringify(file).slice(0, -20);
  const begun = once(t.api.server.server, 'request');
  call.write(part);
  const [{ socket }] = await begun;
  await waitUntil(() => socket.bytesRead > part.length, 'the part has arrived');
  call.destroy();
  assert.equal((await send(patient())).status, 200);
  const { rows } = await t.database.pool.query('select id from patient where id = $1', [someone.id]);
  assert.deepEqual(rows, []);
});
