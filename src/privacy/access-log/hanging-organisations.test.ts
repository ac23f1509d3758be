import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { ONE_FAILS, prepareFaults } from '../../../test-support/database/failing-organisation.ts';
import { watchPool } from '../../../test-support/database/watched-pool.ts';
import { accessEntry } from '../../../test-support/records/access-entry.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createPool } from '../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../platform/db/migrate.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import type { AccessEntry } from './access-log.ts';
import { createAccessLogWriter, MAX_CHAINS } from './access-log.writer.ts';

const KEY = randomBytes(32);
const ORGANISATION = randomUUID();
const NOW = new Date('2026-03-15T12:00:00.123Z');

const database = await useTestDatabase();
const faults = await prepareFaults(database);

describe('the access log while organisations hang', ONE_FAILS, () => {
  test('is written for the others, also when more hang than have turns at once [LOG-20]', async () => {
    const pool = createPool(
      { url: database.url, max: MAX_CHAINS, applicationName: 'writer', role: SERVICE_ROLE },
      () => undefined,
    );
    const work = createWorkWatch().of('access-log');
    const own = createAccessLogWriter({
      pool,
      chainKey: async () => KEY,
      now: () => NOW,
      onError: () => undefined,
      work,
    });
    const hung = Array.from({ length: 5 }, () => randomUUID());
    for (const organisationId of hung) await faults.hang(organisationId, 'access_log');
    let refusals = 0;
    const refused = Promise.all(
      hung.map(async (organisationId) => {
        await assert.rejects(own.record([entry({ organisationId })]));
        refusals += 1;
      }),
    );
    await own.record([entry()]);
    assert.equal(refusals, 0, 'while the others wait');
    await waitUntil(async () => (await faults.hanging()).length >= hung.length - 1, 'all but one hang');
    // Those that hang are cancelled, so that the last one has its turn, and hangs too.
    await faults.mend(randomUUID());
    const allButOne = hung.length - 1;
    await waitUntil(
      async () => refusals === hung.length || (refusals === allButOne && (await faults.hanging()).length > 0),
      'the last one hangs',
    );
    await waitUntil(async () => {
      for (const organisationId of hung) await faults.mend(organisationId);
      return (await faults.hanging()).length === 0;
    }, 'what hangs is cancelled');
    await refused;
    assert.deepEqual(
      hung.map((organisationId) => work.isFailing(organisationId)),
      hung.map(() => true),
    );
    await own.close();
    await pool.end();
  });

  test('those that it failed for leave the first chain to the others [LOG-20]', async () => {
    const pool = createPool(
      { url: database.url, max: MAX_CHAINS, applicationName: 'writer', role: SERVICE_ROLE },
      () => undefined,
    );
    const shared = watchPool(database.pool);
    const work = createWorkWatch().of('access-log');
    const own = createAccessLogWriter({
      pool,
      connection: () => shared.db,
      chainKey: async () => KEY,
      now: () => NOW,
      onError: () => undefined,
      work,
    });
    // More than there are chains.
    const hung = Array.from({ length: MAX_CHAINS + 1 }, () => randomUUID());
    for (const organisationId of hung) {
      await faults.fail(organisationId, 'access_log');
      await assert.rejects(own.record([entry({ organisationId })]));
      await faults.mend(organisationId);
      await faults.hang(organisationId, 'access_log');
    }
    let ended = 0;
    const count = () => {
      ended += 1;
    };
    const calls = hung.map((organisationId) => own.record([entry({ organisationId })]).then(count, count));
    await waitUntil(async () => (await faults.hanging()).length > 0, 'one of them hangs');
    // The first one of an organisation is written apart; what the first chain writes may share.
    while (ended === 0 && shared.statements.length === 0) await own.record([entry()]);
    assert.deepEqual([ended, shared.statements.length], [0, 1]);
    await waitUntil(async () => {
      for (const organisationId of hung) await faults.mend(organisationId);
      return ended === hung.length;
    }, 'what hangs is cancelled');
    await Promise.all(calls);
    await own.close();
    await pool.end();
  });
});

function entry(changes: Partial<AccessEntry> = {}): AccessEntry {
  return accessEntry({ organisationId: ORGANISATION, ...changes });
}
