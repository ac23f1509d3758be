import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { findFhirServer, SEALED_FHIR_SERVER_SECRETS } from './fhir-server.store.ts';
import { changeFhirServer, createFhirServer, removeFhirServer } from './manage-fhir-servers.ts';

test('a rotation of the master key finds every secret, where there is one, and can open it', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const [db, keys] = [database.pool, createKeyRing(randomBytes(32))];
  const settings = { name: 'a', base: 'https://fhir.example.org/r4', auth: 'bearer' as const };
  const { id } = await createFhirServer(
    { db, keys },
    { organisationId: null, settings, secret: 'token', makeDefault: false },
  );
  const open = { ...settings, name: 'b', auth: 'none' as const };
  await createFhirServer(
    { db, keys },
    { organisationId: null, settings: open, secret: undefined, makeDefault: false },
  );
  const [row, ...others] = await SEALED_FHIR_SERVER_SECRETS.list(db);
  assert.ok(row !== undefined && others.length === 0);
  assert.equal(row.id[0], id);
  assert.equal((await keys.open(row.sealedFor, row.sealed)).toString(), 'token');
});

test('a server that was removed is not found, by its name or as the default, and one of the same name is', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const deps = { db: database.pool, keys: createKeyRing(randomBytes(32)) };
  const settings = { name: 'a', base: 'https://fhir.example.org/r4', auth: 'none' as const };
  const organisationId = randomUUID();
  const add = (of: string | null = null) =>
    createFhirServer(deps, { organisationId: of, settings, secret: undefined, makeDefault: true });
  const found = async () => {
    const find = (name: string | null) => findFhirServer(deps.db, { organisationId }, name);
    const servers = [await find('a'), await find(null)];
    return servers.map((server) => server?.id);
  };
  const { id: first } = await add();
  assert.deepEqual(await found(), [first, first]);
  await removeFhirServer(deps, { organisationId: null, name: 'a' }, new Date());
  assert.deepEqual(await found(), [undefined, undefined]);
  const { id: second } = await add();
  assert.deepEqual(await found(), [second, second]);
  await deps.db.query('insert into organisation (id, name) values ($1, $2)', [organisationId, 'O']);
  const { id: own } = await add(organisationId);
  assert.deepEqual(await found(), [own, own], 'that of the organisation comes first');
  settings.name = 'b';
  const { id: next } = await add(organisationId);
  assert.deepEqual(await found(), [own, next], 'the new default');
});

test('a secret goes with its authentication: another one needs its own, or none [PUB-52]', async (t) => {
  const database = await createTestDatabase();
  t.after(() => database.drop());
  const deps = { db: database.pool, keys: createKeyRing(randomBytes(32)) };
  const name = { organisationId: null, name: 'a' };
  const settings = { name: 'a', base: 'https://fhir.example.org/r4', auth: 'none' as const };
  await createFhirServer(deps, { ...name, settings, secret: undefined, makeDefault: false });
  const change = (auth: 'none' | 'bearer', secret?: string) =>
    changeFhirServer(deps, name, { settings: { auth }, secret, makeDefault: false });
  const secrets = async () => {
    const rows = await SEALED_FHIR_SERVER_SECRETS.list(deps.db);
    return Promise.all(
      rows.map(async ({ sealedFor, sealed }) => (await deps.keys.open(sealedFor, sealed)).toString()),
    );
  };
  await assert.rejects(change('bearer'));
  await change('bearer', 'token');
  await change('bearer');
  assert.deepEqual(await secrets(), ['token']);
  await change('bearer', 'another');
  assert.deepEqual(await secrets(), ['another']);
  await change('none');
  assert.deepEqual(await secrets(), []);
});
