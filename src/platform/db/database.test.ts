import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database.ts';

describe('a pool of the service', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('acts as the role of the service', async () => {
    const { rows } = await database.pool.query('select current_user as role');
    assert.deepEqual(rows, [{ role: 'interchange_service' }]);
  });
});
