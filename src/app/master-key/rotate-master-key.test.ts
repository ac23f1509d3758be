import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { sourceOf } from '../../../test-support/sign-in/master-key.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../../platform/db/database.ts';
import { allChainKeys, RESTORES_NAME } from '../../privacy/access-log/access-log-keys.ts';
import { insertRestore } from '../../privacy/verification/restore.store.ts';
import { verifyAccessLog } from '../../privacy/verification/verify-access-log.ts';
import { markRestored } from '../backup/mark-restored.ts';
import { openOrMakeDataKeys } from './first-data-key.ts';
import { addMasterKey, cancelRotation, finishRotation, readRotation } from './rotate-master-key.ts';
import { openServiceKeys } from './service-keys.ts';

let database: TestDatabase;
let owner: Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool({ url: database.adminUrl, max: 4, applicationName: 'test' }, () => undefined);
});
afterEach(async () => {
  await owner.end();
  await database.drop();
});

const newSource = () => sourceOf(randomBytes(32));

test('which of two master keys is the newer one is known though the clock of the database was set back [OPS-16]', async () => {
  const [old, next] = [newSource(), newSource()];
  const [oldKey, key] = [await old.load(), await next.load()];
  const add = () => addMasterKey(owner, old, { key, keep: async () => undefined });
  await openOrMakeDataKeys(owner, old);
  await owner.query(`update data_key set added_at = now() + interval '1 day'`);

  assert.deepEqual((await add()).masterKeyIds, [key.id, oldKey.id]);
  await assert.rejects(finishRotation(owner, old), { code: 'old_key_configured' });
  await assert.rejects(cancelRotation(owner, next), { code: 'new_key_configured' });
  await cancelRotation(owner, old);
  assert.deepEqual((await readRotation(owner)).masterKeyIds, [oldKey.id]);

  await add();
  await finishRotation(owner, next);
  assert.deepEqual((await readRotation(owner)).masterKeyIds, [key.id]);
});

test('an old master key says of no database that the operator put it back [LOG-16]', async () => {
  const [old, next] = [newSource(), newSource()];
  const { dataKeys } = await openOrMakeDataKeys(owner, old);
  const keys = await openServiceKeys(database.adminUrl, old);
  const { restoredAt } = await markRestored(owner, keys, { backupTakenAt: null, dryRun: false });
  await keys.close();
  await addMasterKey(owner, old, { key: await next.load(), keep: async () => undefined });
  const resealed = await finishRotation(owner, next);
  assert.deepEqual(
    resealed.filter(({ name }) => name === RESTORES_NAME),
    [{ name: RESTORES_NAME, resealed: 1, unreadable: 0 }],
  );

  const verify = async () => {
    const renewed = await openServiceKeys(database.adminUrl, next);
    return verifyAccessLog(owner, (on) => allChainKeys(renewed, on)).finally(renewed.close);
  };
  assert.equal((await verify()).ok, true);
  const forged = { id: randomUUID(), restoredAt: new Date(), backupTakenAt: null };
  const [oldKey] = await allChainKeys(createKeyRing(dataKeys[0]), owner);
  await insertRestore(owner, oldKey, forged);
  const { restores, faults } = await verify();
  assert.deepEqual(
    restores.map((restore) => restore.restoredAt),
    [restoredAt],
  );
  assert.match(String(faults[0]?.reason), /written by somebody else/);
});
