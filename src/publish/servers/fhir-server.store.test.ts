import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { SEALED_FHIR_SERVER_SECRETS } from './fhir-server.store.ts';
import { createFhirServer } from './manage-fhir-servers.ts';

test('a rotation of the master key finds every secret and can open it', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const [db, keys] = [database.pool, createKeyRing(randomBytes(32))];
  const settings = { name: 'a', base: 'https://fhir.example.org/r4', auth: 'bearer' as const };
  const { id } = await createFhirServer(
    { db, keys },
    { organisationId: null, settings, secret: 'token', makeDefault: false },
  );
  const [row, ...others] = await SEALED_FHIR_SERVER_SECRETS.list(db);
  assert.ok(row !== undefined && others.length === 0);
  assert.equal(row.id[0], id);
  assert.equal((await keys.open(row.sealedFor, row.sealed)).toString(), 'token');
});
