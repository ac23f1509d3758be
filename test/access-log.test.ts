/** No trace, no data: every route that shows patient data writes the access log first. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { SERVICE_ROLE } from '../src/platform/db/migrate.ts';
import { allChainKeys } from '../src/privacy/access-log/access-log-keys.ts';
import { verifyAccessLog } from '../src/privacy/verification/verify-access-log.ts';
import {
  addressOf,
  LOCAL_CODE,
  type RegisteredRoute,
  sampleRequest,
} from '../test-support/http/route-requests.ts';
import { MARKS, seedRecords } from '../test-support/records/seed-tenant.ts';
import type { Answer } from '../test-support/service/api.ts';
import { useTestApi } from '../test-support/service/use-api.ts';
import { waitUntil } from '../test-support/wait-until.ts';

const { api, tenant, account } = await useTestApi();
const seeds = await seedRecords(api.database.pool, tenant);
await insertResult(LOCAL_CODE);
const owner = await api.database.connectOwner();

/** With a code that no map has. */
async function insertResult(code: string): Promise<void> {
  const { organisationId, facilityId } = tenant;
  await api.database.pool.query({
    text: `
      insert into observation (organisation_id, facility_id, id, order_id, patient_id, kind, vital_sign, status, code,
        content_digest)
      values ($1, $2, $3, $4, $5, 'laboratory', false, 'final', $6, $7)`,
    values: [
      organisationId,
      facilityId,
      randomUUID(),
      seeds.labOrderId,
      seeds.patientId,
      { coding: [{ code }] },
      Buffer.alloc(32),
    ],
  });
}

describe('the access log of every route that shows patient data', () => {
  const shown = () =>
    api.api.routes.filter(
      ({ method, route: { access, schemas } }) =>
        (method === 'GET' || schemas.bodyMode === 'form') &&
        access.kind === 'facility' &&
        access.purposeOfUse !== 'none',
    );

  function call(entry: RegisteredRoute, correlationId: string): Promise<Answer> {
    const sample = sampleRequest(entry, seeds);
    return api.call(api.origin + addressOf(sample), {
      method: sample.method,
      token: account.token,
      headers: { ...sample.headers, 'x-correlation-id': correlationId },
      ...(sample.body === undefined ? {} : { body: sample.body }),
    });
  }

  async function entries(correlationId: string) {
    const { rows } = await api.database.pool.query(
      'select * from access_log where organisation_id = $1 and correlation_id = $2',
      [tenant.organisationId, correlationId],
    );
    return rows;
  }

  test('has who, where, whom, why and what, once the answer is there [LOG-7, LOG-8]', async () => {
    assert.ok(shown().length > 0);
    for (const entry of shown()) {
      const correlationId = `trace-${randomUUID()}`;
      const { status, text, headers } = await call(entry, correlationId);
      assert.equal(status, 200, `${entry.path}: ${text}`);
      assert.equal(headers.get('x-correlation-id'), correlationId);
      const rows = await entries(correlationId);
      assert.ok(rows.length >= 1, `${entry.method} ${entry.path} left no trace`);
      for (const row of rows) {
        assert.equal(row.facility_id, tenant.facilityId);
        assert.equal(row.account_id, account.userId);
        assert.equal(row.patient_id, seeds.patientId);
        assert.equal(row.purpose_of_use, 'TREATMENT');
        assert.equal(row.outcome, 'allowed');
        assert.match(row.action, /^[a-z-]+(\.[a-z-]+)+$/);
      }
    }
  });

  test('cannot be written: 503, and nothing of the patient leaves [LOG-10]', async () => {
    await owner.query(`revoke insert on access_log from ${SERVICE_ROLE}`);
    try {
      for (const entry of shown()) {
        const correlationId = `lost-${randomUUID()}`;
        const { status, text, headers, json } = await call(entry, correlationId);
        assert.equal(status, 503, `${entry.path}: ${text}`);
        assert.ok(Number(headers.get('retry-after')) > 0);
        assert.deepEqual(Object.keys(json), ['statusCode', 'message', 'error']);
        for (const secret of [...Object.values(MARKS), ...Object.values(seeds)])
          assert.ok(!text.includes(secret));
        assert.deepEqual(await entries(correlationId), []);
      }
    } finally {
      await owner.query(`grant insert on access_log to ${SERVICE_ROLE}`);
    }
    for (const entry of shown()) assert.equal((await call(entry, randomUUID())).status, 200);
  });

  test('shares statements between calls that wait together [LOG-11]', async (context) => {
    const read = shown().find(({ path }) => path.endsWith('/Encounter/:encounterId'));
    assert.ok(read);
    const { accessLogEntries, accessLogGroups } = api.runtime.metrics;
    const total = async (counter: typeof accessLogGroups) => (await counter.get()).values[0]?.value ?? 0;
    const [entriesBefore, groupsBefore] = [await total(accessLogEntries), await total(accessLogGroups)];
    const record = context.mock.method(api.runtime.accessLog, 'record');
    await owner.query('begin; lock table access_log in share mode');
    const calls = Promise.all(Array.from({ length: 200 }, () => call(read, randomUUID())));
    await waitUntil(() => record.mock.callCount() === 200, 'every call waits for its entry');
    await owner.query('rollback');
    const answers = await calls;
    assert.ok(answers.every(({ status }) => status === 200));
    const written = (await total(accessLogEntries)) - entriesBefore;
    const groups = (await total(accessLogGroups)) - groupsBefore;
    assert.equal(written, 200);
    assert.ok(groups <= 100, `${groups} statements for 200 calls`);
  });

  test('is whole after all of this', async () => {
    const result = await verifyAccessLog(api.database.pool, (db) => allChainKeys(api.keys, db));
    assert.deepEqual(result.faults, []);
  });
});
