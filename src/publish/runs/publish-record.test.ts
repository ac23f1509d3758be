/** What a publish writes down of what it stored, when the database fails or others write at once. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { withStatement } from '../../../test-support/database/watched-pool.ts';
import {
  createClinic,
  createTestPublisher,
  startPublishing,
} from '../../../test-support/publish/publish-records.ts';
import { requireWhole } from '../../../test-support/publish/published.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createFacility } from '../../tenancy/organisations/facilities.ts';
import { findRecorded, recordStored, type StoredResource } from '../send/resource.store.ts';
import { beginRun, type SubjectKind } from './run.store.ts';

const { database, server } = await startPublishing('--no-integrity', '--no-client-ids');
const clinic = await createClinic(database.pool, { results: 2 });

/** The database, whose n-th statement of that name fails. */
const failing = (name: string, { nth = 1, code = '' }: { nth?: number; code?: string }) =>
  withStatement(
    database.pool,
    name,
    () => Promise.reject(Object.assign(new Error('scripted'), { code })),
    nth,
  );

describe('the record of a publish', () => {
  test('is ended by the next one of the same record at the same target, and by no other', async () => {
    const { addTarget } = createTestPublisher(database.pool);
    const targets = [
      await addTarget(clinic, { base: server.base }),
      await addTarget(clinic, { base: server.base }),
    ];
    const [fhirServerId = '', elsewhere = ''] = targets.map(({ id }) => id);
    const subject = { kind: 'lab-order' as SubjectKind, id: clinic.orderId };
    const at = { scope: clinic.scope, subject, fhirServerId };
    const { organisationId } = clinic.scope;
    const { id: facilityId } = await createFacility(database.pool, { organisationId, name: 'Other' });
    const begin = async ({ scope, subject, fhirServerId }: typeof at) => {
      const purposeOfUse = 'OPS' as const;
      const [id, accountId, startedAt] = [randomUUID(), randomUUID(), new Date()];
      const run = { id, fhirServerId, accountId, purposeOfUse, correlationId: 'test', startedAt };
      await beginRun(database.pool, scope, { subject, run, since: new Date(0) });
      return id;
    };
    const id = await begin(at);
    const outcome = async () =>
      (await database.pool.query('select outcome from publish_run where id = $1', [id])).rows[0]?.outcome;
    for (const other of [
      { ...at, fhirServerId: elsewhere },
      { ...at, subject: { ...subject, id: randomUUID() } },
      { ...at, subject: { ...subject, kind: 'imaging-order' as const } },
      { ...at, scope: { ...clinic.scope, facilityId } },
    ]) {
      await begin(other);
      assert.equal(await outcome(), 'running', JSON.stringify(other));
    }
    await begin(at);
    assert.equal(await outcome(), 'interrupted');
  });
});

describe('the record of what a target holds', () => {
  test('what was stored before the database failed is on record once the lease is given back, and stays [PUB-30]', async () => {
    const { addTarget, publish } = createTestPublisher(failing('publish-resource-note-creates', { nth: 2 }));
    const target = await addTarget(clinic, { base: server.base, idPolicy: 'server' });
    await assert.rejects(publish(clinic, { target: target.name }), /scripted/);
    const order = async () => {
      const key = `ServiceRequest/${clinic.orderId}` as const;
      const [row] = await findRecorded(database.pool, clinic.scope, { server: target, keys: [key] });
      return [row?.serverId === null, row?.versionId];
    };
    assert.deepEqual(await order(), [false, '1']);
    await publish(clinic, { target: target.name });
    await publish(clinic, { target: target.name });
    const { pool } = database;
    await waitUntil(() => pool.idleCount === pool.totalCount, 'nothing is being written');
    assert.deepEqual(await order(), [false, '2'], 'nothing came after');
    await requireWhole({ db: database.pool, server, clinic, fhirServerId: target.id });
  });

  const stored = (id: string, serverId: string): StoredResource => ({
    key: `Practitioner/${id}`,
    serverId,
    versionId: '1',
    contentHash: 'ab',
    method: 'POST',
    status: 201,
    publishedAt: new Date(),
    chainId: randomUUID(),
  });

  test('publishes that record what they share at the same time do not wait for each other in a circle', async () => {
    const at = { id: randomUUID(), idsGeneration: 1 };
    const shared = Array.from({ length: 400 }, () => stored(randomUUID(), randomUUID()));
    const rounds = Array.from({ length: 30 }, async (_, n) => {
      const inOrder = n % 2 === 0 ? shared : shared.toReversed();
      await recordStored(database.pool, clinic.scope, { server: at, stored: inOrder });
    });
    await Promise.all(rounds);
    const { rows } = await database.pool.query(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    assert.equal(rows[0].deadlocks, 0);
  });

  test('a statement that was given up for another is done again', async () => {
    const pool = failing('publish-resource-record', { code: '40P01' });
    const id = randomUUID();
    const at = { id: randomUUID(), idsGeneration: 1 };
    await recordStored(pool, clinic.scope, { server: at, stored: [stored(id, 'given')] });
    const [row] = await findRecorded(database.pool, clinic.scope, {
      server: at,
      keys: [`Practitioner/${id}`],
    });
    assert.equal(row?.serverId, 'given');
  });

  test('an id that the target gives anew is taken from whoever had it, and from nobody else', async () => {
    const [fhirServerId, elsewhere] = [randomUUID(), randomUUID()];
    const [first, second, other] = [randomUUID(), randomUUID(), randomUUID()];
    const record = (target: string, ...given: StoredResource[]) =>
      recordStored(database.pool, clinic.scope, { server: { id: target, idsGeneration: 1 }, stored: given });
    await record(elsewhere, stored(first, '1'));
    const place = `Location/${randomUUID()}` as const;
    await record(fhirServerId, stored(first, '1'), stored(other, '2'), { ...stored(other, '1'), key: place });
    await record(fhirServerId, stored(second, '1'));
    const ids = async (target: string) => {
      const keys = [first, second, other].map((id) => `Practitioner/${id}` as const);
      const found = await findRecorded(database.pool, clinic.scope, {
        server: { id: target, idsGeneration: 1 },
        keys,
      });
      return found.map(({ key, serverId }) => [key, serverId]);
    };
    assert.deepEqual(await ids(fhirServerId), [
      [`Practitioner/${first}`, null],
      [`Practitioner/${second}`, '1'],
      [`Practitioner/${other}`, '2'],
    ]);
    assert.deepEqual(await ids(elsewhere), [[`Practitioner/${first}`, '1']]);
    const at = { id: fhirServerId, idsGeneration: 1 };
    const [ofPlace] = await findRecorded(database.pool, clinic.scope, { server: at, keys: [place] });
    assert.equal(ofPlace?.serverId, '1', 'types have ids of their own');
  });

  test('a publish that records of the server before changes nothing that is recorded of the new one [PUB-55]', async () => {
    const id = randomUUID();
    const [own, other] = [randomUUID(), randomUUID()];
    const record = (idsGeneration: number, ...given: StoredResource[]) =>
      recordStored(database.pool, clinic.scope, { server: { id, idsGeneration }, stored: given });
    await record(2, stored(own, '1'));
    await record(1, stored(own, '7'), stored(other, '1'));
    const keys = [own, other].map((one) => `Practitioner/${one}` as const);
    const found = await findRecorded(database.pool, clinic.scope, { server: { id, idsGeneration: 2 }, keys });
    assert.deepEqual(
      found.map(({ key, serverId }) => [key, serverId]),
      [
        [`Practitioner/${own}`, '1'],
        [`Practitioner/${other}`, null],
      ],
    );
  });
});
