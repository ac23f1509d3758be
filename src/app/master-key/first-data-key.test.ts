import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { runCommand } from '../../../test-support/service/command.ts';
import { WrongMasterKeyError } from '../../platform/crypto/data-keys.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createMasterKey } from '../../platform/crypto/master-key.ts';
import { createPool, type Pool } from '../../platform/db/database.ts';
import { createAccessLogWriter } from '../../privacy/access-log/access-log.writer.ts';
import { rotateSigningKey } from '../../sign-in/keys/rotate-signing-key.ts';
import { createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { openOrMakeDataKeys, refuseWrongMasterKey } from './first-data-key.ts';
import { openServiceKeys } from './service-keys.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

function sourceOf(bytes: Buffer) {
  const key = createMasterKey(bytes);
  return { name: 'MASTER_KEY', fixed: true, load: async () => key, remedy: async () => 'Give that key.' };
}

describe('the first data key', () => {
  let database: TestDatabase;
  let owner: Pool;
  const key = randomBytes(32);
  const source = sourceOf(key);
  const others = sourceOf(randomBytes(32));

  beforeEach(async () => {
    database = await createTestDatabase();
    owner = createPool({ url: database.adminUrl, max: 4, applicationName: 'test' }, () => undefined);
  });
  afterEach(async () => {
    await owner.end();
    await database.drop();
  });

  const rows = async () => (await owner.query('select number, master_key_id from data_key')).rows;

  test('of a new database is random, and binds it to the key', async () => {
    await refuseWrongMasterKey(database.adminUrl, source);
    assert.deepEqual(await rows(), [], 'looking writes nothing');
    const { dataKeys } = await openOrMakeDataKeys(owner, source);
    assert.notDeepEqual(dataKeys, [key]);
    assert.deepEqual((await openOrMakeDataKeys(owner, source)).dataKeys, dataKeys);
    await assert.rejects(refuseWrongMasterKey(database.adminUrl, others), WrongMasterKeyError);
    await assert.rejects(openOrMakeDataKeys(owner, others), WrongMasterKeyError);
    assert.equal((await rows()).length, 1);
  });

  test('is made once, however many processes begin, and for one of two keys', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => openOrMakeDataKeys(owner, index % 2 === 0 ? source : others)),
    );
    const made = outcomes.filter(({ status }) => status === 'fulfilled');
    assert.equal(made.length, 4);
    assert.equal((await rows()).length, 1);
  });

  test('of a database of before is the master key, and everything goes on as it was', async () => {
    const direct = createKeyRing(key);
    await createOrganisation(database.pool, { name: 'Clinic' });
    await rotateSigningKey({ db: database.pool, keys: direct }, NOW);
    await logSomething(direct.derive('access-log'));
    const refused = /MASTER_KEY is key .* opens only 0 of the 2 sealed secrets and chains/;
    await assert.rejects(refuseWrongMasterKey(database.adminUrl, others), refused);
    await assert.rejects(openOrMakeDataKeys(owner, others), refused);
    assert.deepEqual(await rows(), []);

    const keys = await openServiceKeys(database.adminUrl, source);
    assert.deepEqual(keys.derive('decoy'), direct.derive('decoy'));
    assert.deepEqual(await keys.deriveAll(owner, 'access-log'), [direct.derive('access-log')]);
    await keys.close();
    const env = { DATABASE_URL: database.url, MASTER_KEY: key.toString('hex') };
    const stdin = randomBytes(32).toString('hex');
    for (const args of [['--new-key-stdin'], ['--finish']]) {
      if (args[0] === '--finish') env.MASTER_KEY = stdin;
      const { code, stderr } = await runCommand(['master-key', 'rotate', ...args], { env, stdin });
      assert.equal(code, 0, stderr);
    }
    const rotated = await openServiceKeys(database.adminUrl, sourceOf(Buffer.from(stdin, 'hex')));
    assert.deepEqual(rotated.derive('decoy'), direct.derive('decoy'));
    const [newest, oldest] = await rotated.deriveAll(owner, 'access-log');
    assert.notDeepEqual(newest, oldest);
    assert.deepEqual(oldest, direct.derive('access-log'));
    await rotated.close();
    const verified = await runCommand(['access-log', 'verify', '--json'], { env });
    assert.deepEqual(JSON.parse(verified.stdout).faults, []);
  });

  test('is that of the key that sealed more, where another one once wrote too', async () => {
    await rotateSigningKey({ db: database.pool, keys: createKeyRing(key) }, NOW);
    await logSomething(createKeyRing(key).derive('access-log'));
    const { bytes } = await others.load();
    await rotateSigningKey({ db: database.pool, keys: createKeyRing(bytes) }, NOW);
    await assert.rejects(
      openOrMakeDataKeys(owner, others),
      /opens only 1 of the 3 sealed secrets and chains/,
    );
    assert.deepEqual((await openOrMakeDataKeys(owner, source)).dataKeys, [key]);
  });

  test('is asked for before the schema is there', async () => {
    await owner.query('drop schema public cascade');
    await refuseWrongMasterKey(database.adminUrl, source);
  });

  async function logSomething(chainKey: Buffer): Promise<void> {
    const writer = createAccessLogWriter({
      pool: database.pool,
      chainKey: async () => chainKey,
      now: () => NOW,
      onError: (error) => assert.fail(error),
    });
    const id = '5d3c8a52-6f0e-4a55-8f5c-1f1f6a1f2b3c';
    await writer.record([
      {
        organisationId: id,
        facilityId: id,
        patientId: id,
        accountId: id,
        action: 'patient.read',
        resourceType: 'Patient',
        resourceId: id,
        purposeOfUse: 'OPS',
        outcome: 'allowed',
        correlationId: 'x',
      },
    ]);
    await writer.close();
  }
});
