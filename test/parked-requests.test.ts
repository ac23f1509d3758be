/** A request that is held back half way gains nothing: rights are looked at once its body is there. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { changeAccount } from '../src/sign-in/administration/change-account.ts';
import { OPERATOR } from '../src/tenancy/administration/author.ts';
import { callDuring } from '../test-support/call-during.ts';
import { seedRecords } from '../test-support/records/seed-tenant.ts';
import { useEmptyApi } from '../test-support/service/api.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const api = await useEmptyApi();

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

/** The status of a request of which the service has read a first part when `meanwhile` is done. The rest follows then. */
async function statusOf(
  { path, method, contentType, body }: Parked,
  token: string,
  meanwhile: () => Promise<unknown>,
): Promise<number | undefined> {
  const held = request(api.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
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
  await meanwhile();
  held.end(body.slice(5));
  const [response] = await answered;
  response.resume();
  return response.statusCode;
}

for (const call of parked)
  test(`${call.method} ${call.path.replaceAll(/[0-9a-f-]{36}/g, '<id>')}: a logout before the body arrives is 401 [ACC-18]`, async () => {
    const account = await api.createAccount(await api.createTenant());
    const status = await statusOf(call, account.token, async () => {
      const logout = await api.call('/auth/logout', { method: 'POST', token: account.token });
      assert.equal(logout.status, 204);
    });
    assert.equal(status, 401);
    const { rows } = await api.database.pool.query(
      'select count(*)::int as n from patient where organisation_id = $1',
      [account.organisationId],
    );
    assert.equal(rows[0]?.n, 0, 'nothing was written');
  });

for (const isLost of [true, false])
  test(`an import whose facility is ${isLost ? 'taken away' : 'no more the default one'} before the body arrives ${isLost ? 'is 403' : 'goes into it'} [ACC-18]`, async () => {
    const { pool } = api.database;
    const { organisationId, facilityId } = await api.createTenant();
    const other = await api.createFacility(organisationId);
    const { token, userId: accountId } = await api.createAccount(
      { organisationId, facilityId },
      { facilityIds: [facilityId, other] },
    );
    const call = {
      path: '/imports/fhir',
      method: 'POST',
      contentType: 'application/json',
      body: '{"resourceType":"Patient","id":"parked","name":[{"family":"Okafor"}]}',
    };
    const status = await statusOf(call, token, () =>
      changeAccount(pool, {
        key: { organisationId, accountId },
        author: OPERATOR,
        changes: { facilityIds: isLost ? [other] : [other, facilityId] },
      }),
    );
    assert.equal(status, isLost ? 403 : 200);
    const { rows } = await pool.query(
      'select facility_id from patient_registration where organisation_id = $1',
      [organisationId],
    );
    assert.deepEqual(rows, isLost ? [] : [{ facility_id: facilityId }]);
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
const taken = [
  {
    lost: 'whose account was disabled',
    status: 401,
    text: 'update account set disabled_at = now() where organisation_id = $1 and id = $2',
  },
  {
    lost: 'whose module was switched off',
    status: 403,
    text: `
      delete from facility_module m
      using account_facility f
      where m.organisation_id = $1
        and f.organisation_id = $1
        and f.account_id = $2
        and m.facility_id = f.facility_id`,
  },
];
for (const { path, method, body, table } of waiting)
  for (const { lost, status, text: take } of taken)
    test(`${method} ${path}: who waited for another change, and ${lost} meanwhile, changes nothing [ACC-18]`, async () => {
      const { pool } = api.database;
      const tenant = await api.createTenant();
      const { patientId, connectionId } = await seedRecords(pool, tenant);
      const { token, userId } = await api.createAccount(tenant);
      const rows = async () => {
        const text = `select * from ${table} where organisation_id = $1`;
        return (await pool.query(text, [tenant.organisationId])).rows;
      };
      const before = await rows();
      const address = path.replace('patientId', patientId).replace('connectionId', connectionId);
      const answer = await callDuring(pool, {
        change: (client) =>
          client.query(`select from ${table} where organisation_id = $1 for update`, [tenant.organisationId]),
        call: () => api.call(address, { method, token, body }),
        meanwhile: () => pool.query(take, [tenant.organisationId, userId]),
      });
      assert.equal(answer.status, status);
      assert.deepEqual(await rows(), before);
    });
