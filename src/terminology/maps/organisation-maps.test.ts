/** Who may change the map of a whole organisation, against the running API. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { entry, HEADER, LOINC, useTerminologyCalls } from '../../../test-support/http/terminology-calls.ts';
import type { TestAccount, TestApi } from '../../../test-support/service/api.ts';
import { waitForLock } from '../../../test-support/wait-until.ts';
import { lockMaps } from './map.store.ts';

const MANAGE = 'terminology.maps.manage';
const key = `localSystem=urn:lab&localCode=HGB&targetSystem=${LOINC}`;
const csv = `${HEADER}\nurn:lab,HGB,,${LOINC},20509-6,\n`;
const conceptMap = {
  resourceType: 'ConceptMap',
  group: [
    {
      source: 'urn:lab',
      target: LOINC,
      element: [{ code: 'HGB', target: [{ code: '20509-6', equivalence: 'equivalent' }] }],
    },
  ],
};

/** `calls.manager` may use both facilities. */
const calls = useTerminologyCalls();
/** May use the sister facility only. */
let limited: TestAccount;
beforeEach(async () => {
  const atSister = { ...calls.tenant, facilityId: calls.sisterFacilityId };
  limited = await calls.api.createAccount(atSister, { permissions: [MANAGE] });
});

/** Every call that writes a map: of the organisation, or with `facility` of the facility of the call. */
const WRITES: [name: string, write: (account: TestAccount, level: string) => ReturnType<TestApi['call']>][] =
  [
    [
      'PUT',
      ({ token, facilityId }, level) =>
        calls.api.call('/terminology/maps', {
          method: 'PUT',
          token,
          body: { ...entry, targetCode: '20509-6', ...(level === 'facility' ? { facilityId } : {}) },
        }),
    ],
    [
      'DELETE',
      ({ token }, level) =>
        calls.api.call(`/terminology/maps?${key}&level=${level}`, { method: 'DELETE', token }),
    ],
    [
      'import of CSV',
      ({ token }, level) =>
        calls.api.call(`/terminology/maps/import?level=${level}`, {
          token,
          headers: { 'content-type': 'text/csv' },
          body: csv,
        }),
    ],
    [
      'import of a ConceptMap',
      ({ token }, level) =>
        calls.api.call(`/terminology/maps/import?level=${level}`, { token, body: conceptMap }),
    ],
    [
      'dry run of an import',
      ({ token }, level) =>
        calls.api.call(`/terminology/maps/import?level=${level}&dryRun=true`, { token, body: conceptMap }),
    ],
  ];

const put = (account: TestAccount, body: object = entry) =>
  calls.api.call('/terminology/maps', { method: 'PUT', token: account.token, body });
const codeAt = async (facilityId: string) => {
  const headers = { 'x-facility-id': facilityId };
  const path = '/terminology/maps/$translate?system=urn:lab&code=HGB';
  const { json } = await calls.api.call(path, { token: calls.manager.token, headers });
  return json.parameter[1]?.part?.[1]?.valueCoding.code;
};

for (const [name, write] of WRITES) {
  test(`${name}: refused for the organisation to an account of one facility; its own map is its own [TERM-7]`, async () => {
    assert.equal((await put(calls.manager)).status, 201);
    const refused = await write(limited, 'organisation');
    assert.equal(refused.status, 403, refused.text);
    assert.match(refused.json.message, /every facility.*terminology\.maps\.organisation/);
    assert.match(refused.json.message, /facilityId.*level=facility/);
    assert.equal(await codeAt(calls.tenant.facilityId), '718-7');
    assert.equal(await codeAt(calls.sisterFacilityId), '718-7');

    assert.equal((await put(limited, { ...entry, facilityId: calls.sisterFacilityId })).status, 201);
    assert.ok((await write(limited, 'facility')).status < 300);
    assert.equal(await codeAt(calls.tenant.facilityId), '718-7', 'the other facility answers as before');
  });

  test(`${name}: taken from an account of one facility whose role may change the organisation's map [TERM-7]`, async () => {
    const permissions = [MANAGE, 'terminology.maps.organisation'];
    const appointed = await calls.api.createAccount(calls.tenant, { permissions });
    assert.equal((await put(appointed)).status, 201);
    const taken = await write(appointed, 'organisation');
    assert.ok(taken.status < 300, taken.text);
  });
}

test('terminology.maps.organisation alone changes nothing', async () => {
  const account = await calls.api.createAccount(calls.tenant, {
    permissions: ['terminology.maps.organisation'],
  });
  assert.equal((await put(account)).status, 403);
});

test('a facility that is added takes the right from who may not use it', async () => {
  assert.equal((await put(calls.manager)).status, 201);
  await calls.api.createFacility(calls.tenant.organisationId);
  assert.equal((await put(calls.manager, { ...entry, targetCode: '20509-6' })).status, 403);
});

const takenFrom: Record<string, { text: string; values: () => unknown[]; levels?: readonly string[] }> = {
  'a facility': {
    text: 'delete from account_facility where organisation_id = $1 and account_id = $2 and facility_id <> $3',
    values: () => [calls.tenant.organisationId, calls.manager.userId, calls.tenant.facilityId],
    levels: ['organisation'],
  },
  'the facility of the call': {
    text: 'delete from account_facility where organisation_id = $1 and account_id = $2 and facility_id = $3',
    values: () => [calls.tenant.organisationId, calls.manager.userId, calls.tenant.facilityId],
  },
  'the account': {
    text: 'update account set disabled_at = now() where organisation_id = $1 and id = $2',
    values: () => [calls.tenant.organisationId, calls.manager.userId],
  },
  'the permission': {
    text: `update role r set permissions = '{}' from account a
      where r.organisation_id = $1 and a.organisation_id = $1 and a.id = $2 and r.id = a.role_id`,
    values: () => [calls.tenant.organisationId, calls.manager.userId],
  },
  'the session': {
    text: `update session set revoked_at = now(), revoked_reason = 'logout'
      where organisation_id = $1 and account_id = $2`,
    values: () => [calls.tenant.organisationId, calls.manager.userId],
  },
};
for (const [what, { text, values, levels = ['organisation', 'facility'] }] of Object.entries(takenFrom))
  for (const level of levels)
    for (const [name, write] of WRITES)
      test(`a right that is lost while the change waits for another one is not used: ${what}, ${name}, ${level} [TERM-7]`, async () => {
        for (const facilityId of [null, calls.manager.facilityId])
          assert.equal((await put(calls.manager, { ...entry, facilityId })).status, 201);
        const { pool } = calls.api.database;
        const { status } = await callDuring(pool, {
          change: (client) => lockMaps(client, calls.tenant, 1_000),
          call: () => write(calls.manager, level),
          meanwhile: () => pool.query({ text, values: values() }),
        });
        const isSignedIn = what !== 'the account' && what !== 'the session';
        assert.equal(status, isSignedIn ? 403 : 401);
        const { rows } = await pool.query(
          'select distinct target_code from terminology_map where organisation_id = $1',
          [calls.tenant.organisationId],
        );
        assert.deepEqual(rows, [{ target_code: '718-7' }]);
      });

test('changes that wait for a long one leave connections to everybody else [TERM-26]', async () => {
  const { pool } = calls.api.database;
  const other = await calls.api.createAccount(await calls.api.createTenant());
  const blocker = await pool.connect();
  try {
    await blocker.query('begin');
    await lockMaps(blocker, calls.tenant, 1_000);
    let answered = 0;
    // More than the process has connections.
    const waiting = Array.from({ length: 15 }, async (_, n) => {
      const { status } = await put(calls.manager, { ...entry, localCode: `C${n}` });
      answered += 1;
      return status;
    });
    await waitForLock(pool);
    for (let n = 0; n < 5; n += 1) {
      const { status } = await calls.api.call('/patients/base', { token: other.token });
      assert.deepEqual([status, answered], [200, 0]);
    }
    await blocker.query('commit');
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set([201]));
  } finally {
    blocker.release();
  }
});
