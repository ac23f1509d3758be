/** Verification of the access log while the database refuses one organisation: everything else is checked. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { allChainKeys } from '../src/privacy/access-log/access-log-keys.ts';
import { verifyAccessLog } from '../src/privacy/verification/verify-access-log.ts';
import { ONE_FAILS, prepareFaults } from '../test-support/database/failing-organisation.ts';
import { accessEntry } from '../test-support/records/access-entry.ts';
import { type Tenant, useEmptyApi } from '../test-support/service/api.ts';
import { runCommand } from '../test-support/service/command.ts';

const api = await useEmptyApi();
const faults = await prepareFaults(api.database);

describe('verification of the access log by organisation', ONE_FAILS, () => {
  let tenants: Tenant[];
  before(async () => {
    tenants = await Promise.all([api.createTenant(), api.createTenant(), api.createTenant()]);
    // One chain with entries of all three, in turns; the middle one has both ends.
    for (const index of [1, 0, 1, 2, 1, 0, 2, 1])
      await api.runtime.accessLog.record([accessEntry(tenants[index]), accessEntry(tenants[index])]);
  });
  const verify = () => verifyAccessLog(api.database.pool, (on) => allChainKeys(api.keys, on));
  const run = () => runCommand(['access-log', 'verify', '--json'], { env: api.env });

  test('finds chains whole that go through several organisations [LOG-15]', async () => {
    const { ok, writers, entries } = await verify();
    assert.deepEqual({ ok, writers, entries }, { ok: true, writers: 1, entries: 16 });
  });

  test('says which organisation it could not read and how much that is, and checks the rest [LOG-21]', async () => {
    const [, unread] = tenants as [Tenant, Tenant];
    await faults.fail(unread.organisationId, 'access_log');
    const { ok, faults: found, organisationsUnread, entriesUnread, entries } = await verify();
    assert.deepEqual(
      { ok, found, organisationsUnread, entriesUnread, entries },
      { ok: false, found: [], organisationsUnread: [unread.organisationId], entriesUnread: 8, entries: 8 },
    );
    const { code, stdout } = await run();
    assert.equal(code, 1);
    assert.deepEqual(JSON.parse(stdout).organisationsUnread, [unread.organisationId]);
    await faults.mend(unread.organisationId);
    assert.equal((await run()).code, 0);
  });

  test('finds what was changed in the others meanwhile [LOG-21]', async () => {
    const [changed, unread] = tenants as [Tenant, Tenant];
    await faults.fail(unread.organisationId, 'access_log');
    const set = (action: string) =>
      api.runtime.owner.query(
        'update access_log set action = $2 where organisation_id = $1 and sequence = 4',
        [changed.organisationId, action],
      );
    await set('encounter.search');
    const result = await verify();
    assert.deepEqual(
      result.faults.map(({ sequence, reason }) => ({ sequence, reason })),
      [{ sequence: 4, reason: 'an entry was changed' }],
    );
    await set('encounter.read');
    await faults.mend(unread.organisationId);
    assert.equal((await verify()).ok, true);
  });

  test('reads chains that are longer than a page, in their order [LOG-15]', async () => {
    const many = (tenant: Tenant | undefined) => Array.from({ length: 2_000 }, () => accessEntry(tenant));
    for (let round = 0; round < 4; round += 1)
      for (const tenant of tenants) await api.runtime.accessLog.record(many(tenant));
    const before = await verify();
    assert.deepEqual([before.ok, before.entries], [true, 24_016]);
    await api.runtime.owner.query('delete from access_log where sequence = 20000');
    const { faults: found } = await verify();
    assert.deepEqual(
      found.map(({ sequence, reason }) => ({ sequence, reason })),
      [{ sequence: 20_000, reason: 'an entry was removed' }],
    );
  });
});
