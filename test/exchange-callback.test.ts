/** Callbacks of an exchange over real HTTP. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { after, beforeEach, describe, test } from 'node:test';
import { updateConnection } from '../src/exchange/connections/connection.store.ts';
import type { CreatedConnection } from '../src/exchange/connections/create-connection.ts';
import { rotateSecret } from '../src/exchange/connections/rotate-secret.ts';
import { connect, insertPatients, queue, rename } from '../test-support/exchange/exchange-records.ts';
import { documentedCalls } from '../test-support/http/documented-answers.ts';
import { type Answer, startTestApi, type Tenant, type TestAccount } from '../test-support/service/api.ts';

const api = await startTestApi();
after(() => api.close());
const documented = await documentedCalls(api);

let tenant: Tenant;
let account: TestAccount;
let connection: CreatedConnection;
let patientId: string;
let deliveryId: string;

beforeEach(async () => {
  tenant = await api.createTenant();
  account = await api.createAccount(tenant);
  connection = await connect({ pool: api.database.pool, keys: api.keys }, tenant, {
    address: 'https://hie.example.org/in',
  });
  [patientId = ''] = await insertPatients(api.database.pool, tenant, 1);
  deliveryId = await deliver([patientId]);
});

const pool = () => api.database.pool;

/** Queue patients and return the newest delivery's id. */
async function deliver(ids: string[]): Promise<string> {
  await queue(pool(), tenant, ids);
  const { rows } = await pool().query<{ id: string }>(
    'select id from exchange_delivery where organisation_id = $1 order by id desc limit 1',
    [tenant.organisationId],
  );
  return rows[0]?.id ?? '';
}

const sign = (body: string | Uint8Array, secret = connection.callbackSecret) =>
  createHmac('sha256', secret).update(body).digest('hex');

/** Every answer must be one that the OpenAPI document describes. */
async function callback(
  body: unknown,
  {
    headers = {},
    id = connection.id,
    signature,
  }: { headers?: Record<string, string>; id?: string; signature?: string | null } = {},
): Promise<Answer> {
  const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const signed = signature === undefined ? sign(bytes) : signature;
  const path = `/exchange/connections/${id}/callback`;
  const answer = await api.call(path, {
    method: 'POST',
    body: bytes,
    headers: {
      'content-type': 'application/json',
      ...(signed === null ? {} : { 'x-signature': signed }),
      ...headers,
    },
  });
  return documented('POST', path, answer);
}

const accepted = (assignedId = 'HIE-1', more: object = {}) => ({
  deliveryId,
  status: 'accepted',
  assignedId,
  ...more,
});
async function counts() {
  const { rows } = await pool().query<{ callbacks: number; ids: number }>(
    `select (select count(*) from exchange_callback where organisation_id = $1) as callbacks,
       (select count(*) from patient_assigned_identifier where organisation_id = $1) as ids`,
    [tenant.organisationId],
  );
  return [rows[0]?.callbacks, rows[0]?.ids];
}
async function fhirPatient(id = patientId) {
  return (await api.call(`/patients/base/${id}/clinical/fhir`, { token: account.token })).json;
}

describe('callback', () => {
  test('records the assigned id on the patient, as an identifier of the FHIR Patient and for search [PAT-8, EXC-34]', async () => {
    const before = await fhirPatient();
    const answer = await callback(accepted('HIE-77', { message: 'welcome' }));
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.json, { deliveryId, status: 'accepted', assignedId: 'HIE-77' });
    const after = await fhirPatient();
    assert.deepEqual(after.identifier.at(-1), {
      system: `urn:uuid:${connection.id}`,
      value: 'HIE-77',
      assigner: { display: 'Test exchange' },
    });
    assert.equal(after.identifier.length, before.identifier.length + 1);
    assert.notEqual(after.meta.versionId, before.meta.versionId);
    const found = await api.call('/patients/base?search=hie-77', { token: account.token });
    assert.deepEqual(
      found.json.items.map((item: { id: string }) => item.id),
      [patientId],
    );
  });

  test('causes no delivery: an assigned id is not a change of the patient [EXC-44]', async () => {
    await callback(accepted());
    assert.equal(await queue(pool(), tenant, [patientId], 'updated'), 0);
    assert.equal(await rename(pool(), tenant, [patientId], 'New'), 1);
    const { rows } = await pool().query<{ body: string }>(
      'select body from exchange_delivery where organisation_id = $1 order by id desc limit 1',
      [tenant.organisationId],
    );
    assert.match(rows[0]?.body ?? '', /"value":"HIE-1"/);
  });

  test('is refused like any other when the stored secret cannot be read', async () => {
    await pool().query(
      `update exchange_secret set sealed = $2 where connection_id = $1 and direction = 'callback'`,
      [connection.id, Buffer.alloc(64)],
    );
    const answer = await callback(accepted());
    assert.equal(answer.status, 401, answer.text);
  });

  test('takes the digest with and without sha256=, in either case [EXC-35]', async () => {
    for (const [index, prefix] of ['sha256=', ''].entries()) {
      const body = JSON.stringify(accepted('HIE-1', { message: `m${index}` }));
      assert.equal((await callback(body, { signature: prefix + sign(body) })).status, 200);
      assert.equal((await callback(body, { signature: prefix + sign(body).toUpperCase() })).status, 200);
    }
  });

  test('answers a repeat of the same bytes as the first time and changes nothing, also at once [EXC-41]', async () => {
    const body = JSON.stringify(accepted());
    const answers = await Promise.all(Array.from({ length: 8 }, () => callback(body)));
    answers.push(await callback(body));
    assert.deepEqual(
      [...new Set(answers.map(({ status, text }) => `${status} ${text}`))],
      [`200 ${answers[0]?.text}`],
    );
    assert.deepEqual(await counts(), [1, 1]);
    const version = (await fhirPatient()).meta.versionId;
    await callback(body);
    assert.equal((await fhirPatient()).meta.versionId, version);
  });

  test('takes ids in either case, and answers with them as they are stored [EXC-35, EXC-41]', async () => {
    const body = JSON.stringify({ ...accepted(), deliveryId: deliveryId.toUpperCase() });
    for (const id of [connection.id, connection.id.toUpperCase()]) {
      const { status, json } = await callback(body, { id });
      assert.deepEqual([status, json], [200, { deliveryId, status: 'accepted', assignedId: 'HIE-1' }], id);
    }
    assert.deepEqual(await counts(), [1, 1]);
  });

  test('records a rejection and leaves the patient as it is [EXC-34, EXC-43]', async () => {
    const answer = await callback({ deliveryId, status: 'rejected', message: 'no such district' });
    assert.deepEqual(
      [answer.status, answer.json],
      [200, { deliveryId, status: 'rejected', assignedId: null }],
    );
    assert.deepEqual(await counts(), [1, 0]);
    const listed = await api.call(`/exchange/deliveries/${deliveryId}`, { token: account.token });
    assert.deepEqual(listed.json.confirmation, { status: 'rejected', assignedId: null });
  });

  test('answers 409 to another id, keeps it for review and overwrites nothing [EXC-40]', async () => {
    await callback(accepted('HIE-1'));
    const second = JSON.stringify(accepted('HIE-2'));
    for (let time = 0; time < 2; time += 1) {
      const answer = await callback(second);
      assert.equal(answer.status, 409);
      assert.deepEqual(Object.keys(answer.json).sort(), ['error', 'message', 'statusCode']);
      assert.ok(!answer.text.includes('HIE-'));
    }
    assert.equal((await fhirPatient()).identifier.at(-1).value, 'HIE-1');
    const review = await api.call('/exchange/callbacks?outcome=conflict', { token: account.token });
    assert.deepEqual(
      review.json.items.map((item: { assignedId: string; deliveryId: string }) => [
        item.assignedId,
        item.deliveryId,
      ]),
      [['HIE-2', deliveryId]],
    );
    const { patientId } = review.json.items[0];
    const { rows } = await pool().query(
      `select outcome, purpose_of_use from access_log
       where organisation_id = $1 and patient_id = $2 and action = 'callback.list'`,
      [tenant.organisationId, patientId],
    );
    assert.deepEqual(rows, [{ outcome: 'allowed', purpose_of_use: 'OPS' }]);
    for (const [status, count] of Object.entries({ accepted: 2, rejected: 0 })) {
      const list = await api.call(`/exchange/callbacks?status=${status}`, { token: account.token });
      assert.equal(list.json.items.length, count, status);
    }
    await pool().query(
      `update patient set refused_purposes = '{PAYMENT}' where organisation_id = $1 and id = $2`,
      [tenant.organisationId, patientId],
    );
    const hidden = await api.call('/exchange/callbacks?purposeOfUse=PAYMENT', { token: account.token });
    assert.deepEqual(
      [hidden.json.items[0].patientId, hidden.json.items[0].assignedId, hidden.json.items[0].message],
      [null, null, null],
    );
    assert.ok(!hidden.text.includes(patientId) && !hidden.text.includes('HIE-'));
    assert.equal(
      (await callback(accepted('HIE-1', { message: 'again' }))).status,
      200,
      'the same id is no conflict',
    );
  });

  test('takes one of two ids that race [EXC-40]', async () => {
    const answers = await Promise.all(['A', 'B', 'C', 'D'].map((id) => callback(accepted(id))));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    assert.deepEqual(await counts(), [4, 1]);
  });

  test('answers 404 to a delivery that is not of this connection [EXC-39]', async () => {
    const other = await connect({ pool: pool(), keys: api.keys }, tenant, {
      address: 'https://hie.example.org/2',
    });
    const body = JSON.stringify(accepted());
    const foreign = await callback(body, { id: other.id, signature: sign(body, other.callbackSecret) });
    const unknown = await callback({ ...accepted(), deliveryId: crypto.randomUUID() });
    const malformed = await callback({ ...accepted(), deliveryId: 'nonsense' });
    assert.deepEqual([foreign.status, unknown.status, malformed.status], [404, 404, 404]);
    assert.equal(foreign.text, unknown.text);
    // An exchange sends no facility headers, and is not told of them.
    assert.match(unknown.json.message, /deliveryId/);
    assert.doesNotMatch(unknown.json.message, /header|facility/i);
    assert.deepEqual(await counts(), [0, 0]);
  });

  test('answers 400 to what is signed and not a callback [EXC-38]', async () => {
    const bad = [
      '',
      'no json',
      '[]',
      '{}',
      'null',
      '"text"',
      JSON.stringify({ deliveryId, status: 'accepted' }),
      JSON.stringify({ deliveryId, status: 'maybe', assignedId: '1' }),
      JSON.stringify({ status: 'accepted', assignedId: '1' }),
      JSON.stringify({ deliveryId, status: 'accepted', assignedId: '' }),
      JSON.stringify({ deliveryId, status: 'accepted', assignedId: 7 }),
      JSON.stringify({ deliveryId, status: 'accepted', assignedId: 'x'.repeat(257) }),
      JSON.stringify({ deliveryId, status: 'accepted', assignedId: 'a\0b' }),
      JSON.stringify({ deliveryId, status: 'rejected', message: 7 }),
    ];
    for (const body of bad) {
      const answer = await callback(body);
      assert.equal(answer.status, 400, body);
      assert.equal(answer.json.statusCode, 400);
    }
    assert.equal((await callback(Buffer.from([0x7b, 0xff, 0x7d]))).status, 400);
    const long = await callback(
      JSON.stringify({ deliveryId, status: 'rejected', message: 'x'.repeat(4_001) }),
    );
    assert.equal(long.status, 400);
    assert.match(long.json.message, /a message of at most 4000/);
    assert.deepEqual(await counts(), [0, 0]);
  });

  test('takes no assigned id that nobody could see or type', async () => {
    for (const id of [
      ' ',
      '\t',
      '\u00a0',
      '\u200b',
      'a\nb',
      'a\u001b[2J',
      'a\u0007',
      'a\u2028b',
      'a\u0085b',
    ]) {
      const answer = await callback(accepted(id));
      assert.equal(answer.status, 400, JSON.stringify(id));
      assert.equal((await callback({ deliveryId, status: 'rejected', assignedId: id })).status, 400);
    }
    assert.deepEqual(await counts(), [0, 0]);
    assert.equal((await callback(accepted('№ 12/é 3'))).status, 200);
  });

  test('answers 413 past 256 KiB and takes what is just below [HTTP-16, EXC-42]', async () => {
    const padded = (size: number) => {
      const body = JSON.stringify(accepted());
      return body + ' '.repeat(size - body.length);
    };
    assert.equal((await callback(padded(262_144))).status, 200);
    assert.equal((await callback(padded(262_145))).status, 413);
  });
});

describe('callback signature', () => {
  test('refuses everything unauthenticated with one and the same 401 [EXC-36, EXC-37, EXC-52, SEC-18]', async () => {
    const body = JSON.stringify(accepted());
    const good = sign(body);
    const other = await connect({ pool: pool(), keys: api.keys }, tenant, {
      address: 'https://hie.example.org/2',
    });
    const disabled = await connect({ pool: pool(), keys: api.keys }, tenant, {
      address: 'https://hie.example.org/3',
    });
    await updateConnection(pool(), { ...tenant, connectionId: disabled.id }, { disabled: true });
    const bare = await connect({ pool: pool(), keys: api.keys }, tenant, {
      address: 'https://hie.example.org/4',
    });
    await pool().query('delete from exchange_secret where organisation_id = $1 and connection_id = $2', [
      tenant.organisationId,
      bare.id,
    ]);
    const before = await refusals();
    const answers = await Promise.all([
      callback(body, { signature: null }),
      callback(body, { signature: '' }),
      callback(body, { signature: 'nonsense' }),
      callback(body, { signature: '0'.repeat(64) }),
      callback(body, { signature: sign(`${body} `) }),
      callback(body, { signature: good.slice(1) }),
      callback(body, { signature: `sha1=${good}` }),
      callback(body, { signature: `${good}, ${good}` }),
      callback(body, { signature: sign(body, other.callbackSecret) }),
      callback(body, { signature: sign(body, connection.outboundSecret) }),
      callback(body, { id: crypto.randomUUID() }),
      callback(body, { id: 'not-a-uuid' }),
      callback(body, { id: other.id }),
      callback(body, { id: disabled.id, signature: sign(body, disabled.callbackSecret) }),
      callback(body, { id: bare.id, signature: sign(body, bare.callbackSecret) }),
      callback('not json', { signature: good }),
      callback(body, { signature: null, headers: { authorization: `Bearer ${account.token}` } }),
      callback(`${body} `, { signature: good }),
      callback(JSON.stringify(JSON.parse(body), null, 1), { signature: good }),
    ]);
    const [first] = answers;
    assert.deepEqual(first?.json, { statusCode: 401, message: first?.json.message, error: 'Unauthorized' });
    for (const [index, answer] of answers.entries()) {
      assert.equal(answer.status, 401, `case ${index}`);
      assert.equal(answer.text, first?.text, `case ${index}`);
    }
    assert.deepEqual(await counts(), [0, 0]);
    assert.equal((await refusals()) - before, answers.length, 'and each is counted');
  });

  const refusals = async () => {
    const text = await api.runtime.metrics.registry.metrics();
    return Number(/^interchange_exchange_callbacks_total\{status="401"\} (\d+)/m.exec(text)?.[1] ?? 0);
  };

  test('refuses a header that is sent twice [EXC-37]', async () => {
    const body = JSON.stringify(accepted());
    const status = await new Promise<number>((resolve, reject) => {
      const sending = request(
        `${api.baseUrl}/exchange/connections/${connection.id}/callback`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-signature': [sign(body), sign(body)] },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      sending.on('error', reject);
      sending.end(body);
    });
    assert.equal(status, 401);
  });

  test('reads the header that was agreed for the connection [EXC-35]', async () => {
    const own = await connect({ pool: pool(), keys: api.keys }, tenant, {
      address: 'https://hie.example.org/5',
      callbackHeader: 'x-hub-signature-256',
    });
    const [id = ''] = await insertPatients(pool(), tenant, 1);
    await queue(pool(), tenant, [id]);
    const { rows } = await pool().query<{ id: string }>(
      'select id from exchange_delivery where connection_id = $1',
      [own.id],
    );
    const body = JSON.stringify({ ...accepted(), deliveryId: rows[0]?.id });
    const signature = sign(body, own.callbackSecret);
    assert.equal((await callback(body, { id: own.id, signature })).status, 401, 'not in the default header');
    const headers = { 'x-hub-signature-256': `sha256=${signature}` };
    assert.equal((await callback(body, { id: own.id, signature: null, headers })).status, 200);
  });

  test('takes the old and the new secret until the overlap ends [EXC-46]', async () => {
    const key = { organisationId: tenant.organisationId, connectionId: connection.id };
    const { now } = api.clock;
    const rotated = await rotateSecret({ db: pool(), keys: api.keys, now, publicBaseUrl: api.baseUrl }, key, {
      overlapSeconds: 3_600,
    });
    const statuses = async (message: string) => {
      const body = JSON.stringify(accepted('HIE-1', { message }));
      const answers = await Promise.all([
        callback(body),
        callback(body, { signature: sign(body, rotated?.callbackSecret) }),
      ]);
      return answers.map(({ status }) => status);
    };
    assert.deepEqual(await statuses('at once'), [200, 200]);
    api.clock.now = new Date(now.getTime() + 3_599_000);
    assert.deepEqual(await statuses('just before'), [200, 200]);
    api.clock.now = new Date(now.getTime() + 3_600_000);
    assert.deepEqual(await statuses('after'), [401, 200]);
    api.clock.now = now;
  });

  test('notes what the secret was last used for [EXC-48]', async () => {
    await callback(accepted());
    const shown = await api.call(`/exchange/connections/${connection.id}`, { token: account.token });
    const secret = shown.json.secrets.find((one: { direction: string }) => one.direction === 'callback');
    assert.equal(secret.lastUsedFor, `callback ${deliveryId}`);
    assert.equal(secret.lastUsedAt, api.clock.now.toISOString());
  });
});
