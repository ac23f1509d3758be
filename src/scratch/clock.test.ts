import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createTestDatabase } from '../../test-support/database/database.ts';
import { createPool } from '../platform/db/database.ts';
import { openOrMakeDataKeys } from '../app/master-key/first-data-key.ts';
import { addMasterKey, finishRotation, cancelRotation, readRotation } from '../app/master-key/rotate-master-key.ts';
import { createMasterKey } from '../platform/crypto/master-key.ts';
const sourceOf = (bytes: Buffer) => { const key = createMasterKey(bytes); return { name: 'K', fixed: true, load: async () => key, remedy: async () => '' }; };
test('clock back', async () => {
  const database = await createTestDatabase();
  const owner = createPool({ url: database.adminUrl, max: 4, applicationName: 'test' }, () => undefined);
  try {
    const [a, b] = [sourceOf(randomBytes(32)), sourceOf(randomBytes(32))];
    await openOrMakeDataKeys(owner, a);
    await owner.query(`update data_key set added_at = now() + interval '1 day'`);
    const key = await b.load();
    console.log('a', (await a.load()).id, 'b', key.id);
    await addMasterKey(owner, a, { key, keep: async () => undefined });
    console.log(await readRotation(owner));
    console.log('cancel with the old key:', await cancelRotation(owner, a).catch((e) => e.message));
    console.log('finish with the new key:', await finishRotation(owner, b).catch((e) => e.message));
    console.log('finish with the old key:', await finishRotation(owner, a).then(() => 'done', (e) => e.message));
    console.log(await readRotation(owner));
  } finally { await owner.end(); await database.drop(); }
});
