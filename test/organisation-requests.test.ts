/** One organisation whose part of the database does not answer: its callers are asked to come again, the others are served. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ONE_FAILS, prepareFaults } from '../test-support/database/failing-organisation.ts';
import { sampleBundle } from '../test-support/records/sample-bundle.ts';
import { type SeededRecords, seedRecords } from '../test-support/records/seed-tenant.ts';
import { type Answer, type TestAccount, useEmptyApi } from '../test-support/service/api.ts';
import { waitUntil } from '../test-support/wait-until.ts';

interface Organisation {
  account: TestAccount;
  seeds: SeededRecords;
}

let failing: Organisation;
let well: Organisation;

const api = await useEmptyApi({ env: { DATABASE_STATEMENT_SECONDS: '0' } });
const faults = await prepareFaults(api.database);
beforeEach(async () => {
  [failing, well] = await Promise.all([createOrganisation(), createOrganisation()]);
});
afterEach(() => faults.mend(failing.account.organisationId));

async function createOrganisation(): Promise<Organisation> {
  const tenant = await api.createTenant();
  return {
    account: await api.createAccount(tenant),
    seeds: await seedRecords(api.database.pool, tenant),
  };
}

const CALLS: Record<string, (organisation: Organisation) => Promise<Answer>> = {
  'reading an encounter': ({ account: { token }, seeds }) =>
    api.call(`/encounters/fhir/Encounter/${seeds.encounterId}?purposeOfUse=TREATMENT`, { token }),
  'reading a patient': ({ account: { token }, seeds }) =>
    api.call(`/patients/base/${seeds.patientId}`, { token }),
  'searching patients': ({ account: { token } }) => api.call('/patients/base?search=a', { token }),
  'importing a Bundle': ({ account: { token } }) =>
    api.call('/imports/fhir', { method: 'POST', token, body: sampleBundle() }),
  'changing privacy': ({ account: { token }, seeds }) =>
    api.call(`/patients/base/${seeds.patientId}/privacy`, {
      method: 'PUT',
      token,
      body: { refusedPurposes: [] },
    }),
};

describe('requests while the database refuses one organisation', ONE_FAILS, () => {
  for (const [what, call] of Object.entries(CALLS))
    test(`${what} of that organisation is 503 with retry-after, of another as ever, also at once [OPS-30]`, async () => {
      await faults.fail(failing.account.organisationId);
      const [refused, served] = await Promise.all([call(failing), call(well)]);
      assert.equal(refused.status, 503, refused.text);
      assert.ok(Number(refused.headers.get('retry-after')) > 0);
      assert.equal(served.status, 200, served.text);
      await faults.mend(failing.account.organisationId);
      assert.equal((await call(failing)).status, 200);
    });

  test('reads that arrive together share no answer with those of that organisation [OPS-30]', async () => {
    for (const what of ['reading an encounter', 'reading a patient']) {
      const read = CALLS[what] as (organisation: Organisation) => Promise<Answer>;
      // Who calls is known from here on, so that the calls below meet in one round trip.
      await Promise.all([read(failing), read(well)]);
      await faults.fail(failing.account.organisationId);
      for (let round = 0; round < 10; round += 1) {
        const [refused, ...others] = await Promise.all([
          read(failing),
          read(well),
          read(failing),
          read(well),
        ]);
        assert.deepEqual(
          [refused, ...others].map(({ status }) => status),
          [503, 200, 503, 200],
        );
      }
      await faults.mend(failing.account.organisationId);
    }
  });

  test('what cannot be logged is not released; others are logged and released [LOG-20, LOG-10]', async () => {
    const read = CALLS['reading an encounter'] as (organisation: Organisation) => Promise<Answer>;
    await faults.fail(failing.account.organisationId, 'access_log');
    const { organisationId } = failing.account;
    for (let round = 0; round < 5; round += 1) {
      const [refused, ...served] = await Promise.all([read(failing), read(well), read(failing), read(well)]);
      assert.equal(refused.status, 503);
      assert.match(refused.json.message, /access log could not be written/);
      for (const answer of served.filter((_, index) => index !== 1)) assert.equal(answer.status, 200);
    }
    assert.deepEqual(api.runtime.work.failing().get('access-log'), [organisationId]);
    const { rows: writers } = await api.database.pool.query('select from access_log_writer');
    assert.ok(writers.length <= 4, `${writers.length} chains: a refusal begins none`);
    await faults.mend(organisationId);
    assert.equal((await read(failing)).status, 200);
    assert.equal(api.runtime.work.failing().get('access-log'), undefined);
  });

  test('one that hangs is named, and keeps the connection that listens only until it failed [LOG-20]', async () => {
    const read = CALLS['reading an encounter'] as (organisation: Organisation) => Promise<Answer>;
    assert.equal((await read(failing)).status, 200);
    const { organisationId } = failing.account;
    await faults.hang(organisationId, 'access_log');
    assert.equal((await read(failing)).status, 503);
    assert.deepEqual(api.runtime.work.failing().get('access-log'), [organisationId]);
    assert.equal(api.runtime.live.up, true);
    const refused = read(failing);
    await waitUntil(async () => (await faults.hanging()).length > 0, 'it hangs again');
    assert.deepEqual(await faults.hanging(), ['interchange access log']);
    assert.equal((await read(well)).status, 200);
    assert.equal((await refused).status, 503);
    await faults.mend(organisationId);
    assert.equal((await read(failing)).status, 200);
  });

  test('the process stays ready, and says how many organisations which work fails for [OPS-30]', async () => {
    const ready = async () => {
      const answer = await fetch(`${api.origin}/readyz`);
      return { status: answer.status, body: (await answer.json()) as { failing?: unknown } };
    };
    assert.equal((await ready()).body.failing, undefined);
    const { organisationId } = failing.account;
    await faults.fail(organisationId, 'access_log');
    await CALLS['reading an encounter']?.(failing);
    const { status, body } = await ready();
    assert.deepEqual([status, body.failing], [200, { 'access-log': 1 }]);
    const metrics = await (await fetch(`${api.origin}/metrics`)).text();
    assert.ok(
      metrics.includes(
        `interchange_organisation_work_failing{work="access-log",organisation="${organisationId}"} 1`,
      ),
    );
    await faults.mend(organisationId);
    await CALLS['reading an encounter']?.(failing);
    await waitUntil(async () => (await ready()).body.failing === undefined, 'nothing fails any more');
  });
});
