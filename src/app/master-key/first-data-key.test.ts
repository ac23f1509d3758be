import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { sourceOf } from '../../../test-support/sign-in/master-key.ts';
import { BY_OPERATOR } from '../../exchange/connections/connection.ts';
import { createConnection } from '../../exchange/connections/create-connection.ts';
import { WrongMasterKeyError } from '../../platform/crypto/data-keys.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../../platform/db/database.ts';
import { rotateSigningKey } from '../../sign-in/keys/rotate-signing-key.ts';
import { createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { openOrMakeDataKeys, refuseWrongMasterKey } from './first-data-key.ts';

const NOW = new Date('2026-03-01T12:00:00Z');

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

  test('is not made where a process worked before, whose keys are missing [OPS-15]', async () => {
    await rotateSigningKey({ db: database.pool, keys: createKeyRing(key) }, NOW);
    await assert.rejects(refuseWrongMasterKey(database.adminUrl, source), /its data keys are missing/);
    await assert.rejects(openOrMakeDataKeys(owner, source), WrongMasterKeyError);
    assert.deepEqual(await rows(), []);
  });

  test('is not made where a command sealed secrets before any process worked [OPS-15]', async () => {
    const { id: organisationId } = await createOrganisation(database.pool, { name: 'Clinic' });
    const making = {
      db: database.pool,
      keys: createKeyRing(key),
      publicBaseUrl: 'https://records.example/api/v1',
    };
    await createConnection(
      { ...making, now: NOW, author: BY_OPERATOR },
      { organisationId },
      { name: 'National', address: 'https://exchange.example', clientId: 'clinic', facilityIds: null },
    );
    await assert.rejects(refuseWrongMasterKey(database.adminUrl, source), /its data keys are missing/);
    await assert.rejects(openOrMakeDataKeys(owner, source), WrongMasterKeyError);
    assert.deepEqual(await rows(), []);
  });

  test('is asked for before the schema is there', async () => {
    await owner.query('drop schema public cascade');
    await refuseWrongMasterKey(database.adminUrl, source);
  });
});
