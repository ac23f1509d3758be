import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import type { ResourceKey } from '../plan/content.fhir.ts';
import { createFhirServer } from '../servers/manage-fhir-servers.ts';
import { findRecorded, hasRecordedIds, type RecordedAt, recordStored } from './resource.store.ts';

const database = await useTestDatabase();

test('an id on record is of one type and one id of ours, at one target [PUB-34]', async () => {
  const db = database.pool;
  const scope = await createPlace(db);
  const addTarget = () =>
    createFhirServer(
      { db, keys: createKeyRing(randomBytes(32)) },
      {
        organisationId: scope.organisationId,
        settings: { name: randomUUID(), base: 'https://fhir.example.org/r4', auth: 'none' },
        secret: undefined,
        makeDefault: false,
      },
    );
  const [one, other] = [await addTarget(), await addTarget()];
  const id = randomUUID();
  const [patient, encounter, another] = [
    `Patient/${id}`,
    `Encounter/${id}`,
    `Encounter/${randomUUID()}`,
  ] as const;
  const record = (server: RecordedAt, key: ResourceKey, serverId: string) =>
    recordStored(db, scope, {
      server,
      stored: [
        {
          key,
          serverId,
          versionId: '1',
          contentHash: '00',
          method: 'POST',
          status: 201,
          publishedAt: new Date(),
          chainId: randomUUID(),
        },
      ],
    });
  const recorded = async (server: RecordedAt) => {
    const found = await findRecorded(db, scope, { server, keys: [patient, encounter, another] });
    return Object.fromEntries(found.map(({ key, serverId }) => [key, serverId]));
  };
  await record(one, patient, '1');
  await record(one, another, '1');
  assert.deepEqual(await recorded(one), { [patient]: '1', [another]: '1' }, 'servers number each type');
  assert.equal(await hasRecordedIds(db, scope, other), false);
  await record(other, encounter, '1');
  assert.deepEqual(await recorded(one), { [patient]: '1', [another]: '1' }, 'as another server does');
  await record(one, encounter, '1');
  assert.deepEqual(await recorded(one), { [patient]: '1', [another]: null, [encounter]: '1' }, 'given anew');
  assert.deepEqual(await recorded(other), { [encounter]: '1' });
});
