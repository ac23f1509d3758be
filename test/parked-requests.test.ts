/** A request that is held back half way gains nothing: rights are looked at once its body is there. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, test } from 'node:test';
import { seedRecords } from '../test-support/records/seed-tenant.ts';
import { startTestApi, type TestApi } from '../test-support/service/api.ts';
import { waitForLock, waitUntil } from '../test-support/wait-until.ts';

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(async () => api?.close());

interface Parked {
  path: string;
  method: string;
  contentType: string;
  body: string;
}

const parked: Parked[] = [
  {
    path: '/encounters/fhir/Encounter/_search',
    method: 'POST',
    contentType: 'application/x-www-form-urlencoded',
    body: `patient=${randomUUID()}&purposeOfUse=TREATMENT`,
  },
  {
    path: `/patients/base/${randomUUID()}/privacy`,
    method: 'PUT',
    contentType: 'application/json',
    body: '{"refusedPurposes":[]}',
  },
  {
    path: '/imports/fhir',
    method: 'POST',
    contentType: 'application/json',
    body: '{"resourceType":"Patient","id":"parked"}',
  },
];

for (const { path, method, contentType, body } of parked)
  test(`${method} ${path.replaceAll(/[0-9a-f-]{36}/g, '<id>')}: a logout before the body arrives is 401 [ACC-18]`, async () => {
    const account = await api.createAccount(await api.createTenant());
    const held = request(api.baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${account.token}`,
        'content-type': contentType,
        'content-length': Buffer.byteLength(body),
      },
    });
    const answered = once(held, 'response');
    const begun = once(api.api.server.server, 'request');
    held.write(body.slice(0, 5));
    const [incoming] = (await begun) as [IncomingMessage];
    // The first check has passed once the service reads the body.
    await waitUntil(() => incoming.readableDidRead, 'the service reads the body');
    const logout = await api.call('/auth/logout', { method: 'POST', token: account.token });
    assert.equal(logout.status, 204);
    held.end(body.slice(5));
    const [response] = await answered;
    response.resume();
    assert.equal(response.statusCode, 401);
    const { rows } = await api.database.pool.query(
      'select count(*)::int as n from patient where organisation_id = $1',
      [account.organisationId],
    );
    assert.equal(rows[0]?.n, 0, 'nothing was written');
  });

const waiting = [
  {
    path: '/patients/base/patientId/privacy',
    method: 'PUT',
    body: { refusedPurposes: ['RESEARCH'] },
    table: 'patient',
  },
  {
    path: '/exchange/connections/connectionId',
    method: 'PATCH',
    body: { timeoutMs: 9_000 },
    table: 'exchange_connection',
  },
  { path: '/exchange/deliveries/replay', method: 'POST', body: {}, table: 'exchange_head' },
];
for (const { path, method, body, table } of waiting)
  test(`${method} ${path}: who was disabled while it waited for another change changes nothing [ACC-18]`, async () => {
    const { pool } = api.database;
    const tenant = await api.createTenant();
    const { patientId, connectionId } = await seedRecords(pool, tenant);
    const { token, userId } = await api.createAccount(tenant);
    const rows = async () => {
      const text = `select * from ${table} where organisation_id = $1`;
      return (await pool.query(text, [tenant.organisationId])).rows;
    };
    const before = await rows();
    const blocker = await pool.connect();
    try {
      await blocker.query('begin');
      await blocker.query(`select from ${table} where organisation_id = $1 for update`, [
        tenant.organisationId,
      ]);
      const address = path.replace('patientId', patientId).replace('connectionId', connectionId);
      const answer = api.call(address, { method, token, body });
      await waitForLock(pool);
      await pool.query('update account set disabled_at = now() where organisation_id = $1 and id = $2', [
        tenant.organisationId,
        userId,
      ]);
      await blocker.query('commit');
      assert.equal((await answer).status, 403);
    } finally {
      blocker.release();
    }
    assert.deepEqual(await rows(), before);
  });
