import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { createMasterKey, type MasterKeySource } from '../../platform/crypto/master-key.ts';
import { createPool, type Pool } from '../../platform/db/database.ts';
import { openOrMakeDataKeys } from './first-data-key.ts';
import { addMasterKey, cancelRotation, finishRotation, readRotation } from './rotate-master-key.ts';

let database: TestDatabase;
let owner: Pool;
before(async () => {
  database = await createTestDatabase();
  owner = createPool({ url: database.adminUrl, max: 4, applicationName: 'test' }, () => undefined);
});
after(async () => {
  await owner.end();
  await database.drop();
});

function newSource(): MasterKeySource {
  const key = createMasterKey(randomBytes(32));
  return { name: 'MASTER_KEY', fixed: true, load: async () => key, remedy: async () => '' };
}

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
