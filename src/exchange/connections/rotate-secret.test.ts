/** Which secret signs, from the rotation until the new one is in use (docs/adr/0088). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import {
  connect,
  insertPatients,
  type Place,
  QUICK,
  queue,
} from '../../../test-support/exchange/exchange-records.ts';
import { startExchange, type TestExchange } from '../../../test-support/exchange/exchange-server.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { createLog } from '../../platform/log/log.ts';
import { createWorkWatch } from '../../tenancy/organisations/organisation-work.ts';
import { createDeliveryWorker, type DeliveryWorker } from '../worker/delivery-worker.ts';
import type { CreatedConnection } from './connection.schema.ts';
import { lockConnection } from './connection.store.ts';
import { activateSecret, rotateSecret, type SecretRotation } from './rotate-secret.ts';

const keys = createKeyRing(randomBytes(32));
const HOUR_MS = 3_600_000;
let exchange: TestExchange;
let place: Place;
let connection: CreatedConnection;
let worker: DeliveryWorker;
/** Of the worker: how far its clock has gone on. */
let aheadMs: number;

const database = await useTestDatabase();
beforeEach(async () => {
  place = await createPlace(database.pool);
  exchange = await startExchange();
  connection = await connect({ pool: database.pool, keys }, place, { address: exchange.url });
  aheadMs = 0;
  worker = createDeliveryWorker({
    db: database.pool,
    work: createWorkWatch().of('deliveries'),
    keys,
    log: createLog('silent'),
    now: clock,
    settings: QUICK,
    accessLog: { record: async () => undefined },
    onAttempt: () => undefined,
  });
  worker.start();
});
afterEach(async () => {
  await worker.stop();
  await exchange.close();
});

const clock = () => new Date(Date.now() + aheadMs);
const key = () => ({ organisationId: place.organisationId, connectionId: connection.id });
const deps = () => ({ db: database.pool, keys, now: new Date(), publicBaseUrl: 'http://localhost/api/v1' });
async function rotate(rotation: Partial<SecretRotation> = {}) {
  const rotated = await rotateSecret(deps(), key(), { overlapSeconds: 86_400, ...rotation });
  assert.ok(rotated);
  return rotated;
}
const inAnHour = () => new Date(Date.now() + HOUR_MS);

/** Deliver one patient to an exchange that has these secrets; what it found of the signature. */
async function deliver(...secrets: (string | undefined)[]): Promise<string | undefined> {
  exchange.trust = { clientId: 'test-client', secrets: secrets.map((one) => one ?? ''), now: clock };
  const count = exchange.arrivals.length + 1;
  await queue(database.pool, place, await insertPatients(database.pool, place, 1));
  await exchange.waitFor(count);
  return exchange.arrivals.at(-1)?.verdict;
}

/** A connection that holds the lock of the exchange's: changes wait for it. */
async function holdConnection() {
  const holder = await database.pool.connect();
  await holder.query('begin');
  await lockConnection(holder, key());
  const isTrue = async (condition: string, values: unknown[] = []) =>
    (await holder.query(`select where ${condition}`, values)).rowCount === 1;
  const blocked =
    'exists (select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid)))';
  const somebodyWaits = () => waitUntil(() => isTrue(blocked), 'it waits for its turn');
  return { holder, isTrue, somebodyWaits };
}

async function secrets() {
  const { rows } = await database.pool.query<{ waits: boolean; ended: boolean; open: boolean }>(
    `select active_from = 'infinity' as waits, good_until is null as open, good_until <= now() as ended
     from exchange_secret where organisation_id = $1 and direction = 'outbound' order by active_from`,
    [place.organisationId],
  );
  return rows.map(({ waits, open, ended }) => (waits ? 'waits' : open ? 'signs' : ended ? 'ended' : 'ends'));
}

describe('a rotation of the outbound secret', () => {
  test('leaves the old one signing, however long, until the new one is activated [EXC-46]', async () => {
    const { outboundSecret, outboundActiveFrom } = await rotate({ overlapSeconds: 60 });
    assert.equal(outboundActiveFrom, null);
    assert.equal(
      await deliver(connection.outboundSecret),
      'valid',
      'an exchange without the new one loses nothing',
    );
    aheadMs = 48 * HOUR_MS;
    assert.equal(await deliver(connection.outboundSecret), 'valid');
    assert.deepEqual(await secrets(), ['signs', 'waits']);
    await activateSecret(database.pool, key());
    assert.equal(await deliver(outboundSecret), 'valid', 'from the next request on');
    assert.deepEqual(await secrets(), ['ended', 'signs']);
    await assert.rejects(activateSecret(database.pool, key()), { code: 'no_waiting_secret' });
  });

  test('switches by itself at the time that was given, with nothing loaded anew [EXC-46]', async () => {
    const { outboundSecret, outboundActiveFrom } = await rotate({ activate: inAnHour() });
    assert.ok(outboundActiveFrom);
    assert.equal(await deliver(connection.outboundSecret), 'valid');
    aheadMs = HOUR_MS - 60_000;
    assert.equal(await deliver(connection.outboundSecret), 'valid', 'a minute before');
    aheadMs = HOUR_MS + 1_000;
    assert.equal(await deliver(outboundSecret), 'valid', 'a second after');
  });

  test('switches at once after a leak: when told to, and when the old ones end at once [EXC-47]', async () => {
    const first = await rotate({ activate: 'now' });
    assert.equal(await deliver(first.outboundSecret), 'valid');
    const second = await rotate({ overlapSeconds: 0 });
    assert.equal(await deliver(second.outboundSecret), 'valid');
    assert.deepEqual(await secrets(), ['ended', 'ended', 'signs']);
  });

  test('has what waits for its next try tried at once, and so has the activation', async () => {
    const waits = async (count: number) => {
      exchange.behave = () => ({ status: 503, headers: { 'retry-after': '3600' } });
      await queue(database.pool, place, await insertPatients(database.pool, place, 1));
      await exchange.waitFor(count);
      const waiting = `select from exchange_head
        where organisation_id = $1 and attempts = 1 and due_at > now() + interval '1 minute'`;
      await waitUntil(
        async () => (await database.pool.query(waiting, [place.organisationId])).rowCount === 1,
        'it waits',
      );
      exchange.behave = () => ({ status: 200, body: '{}' });
    };
    await waits(1);
    await rotate({ activate: 'now' });
    await exchange.waitFor(2);
    await waits(3);
    await rotate();
    await activateSecret(database.pool, key());
    await exchange.waitFor(4);
  });

  test('can be activated before its time', async () => {
    const { outboundSecret } = await rotate({ activate: inAnHour() });
    await activateSecret(database.pool, key());
    assert.equal(await deliver(outboundSecret), 'valid');
  });

  test('takes the place of one that waits, and says so', async () => {
    const never = await rotate({ activate: inAnHour() });
    assert.equal(never.discardedWaiting, undefined);
    const { outboundSecret, discardedWaiting } = await rotate();
    assert.equal(discardedWaiting, true);
    assert.deepEqual(await secrets(), ['signs', 'waits']);
    aheadMs = HOUR_MS + 1_000;
    assert.equal(await deliver(connection.outboundSecret), 'valid', 'not the one that was discarded');
    await activateSecret(database.pool, key());
    assert.equal(await deliver(outboundSecret), 'valid');
    const callbackOnly = await rotate({ direction: 'callback' });
    assert.equal(callbackOnly.outboundActiveFrom, undefined);
    assert.equal(callbackOnly.discardedWaiting, undefined);
  });

  test('touches no secret of another connection, and its activation none of callbacks [EXC-46]', async () => {
    const other = await connect({ pool: database.pool, keys }, place, { address: exchange.url });
    const theirs = { ...key(), connectionId: other.id };
    await rotateSecret(deps(), theirs, { overlapSeconds: 86_400 });
    const standing = async (of: string, what: string) => {
      const { rows } = await database.pool.query(
        `select id, active_from, good_until from exchange_secret where connection_id = $1 and ${what} order by id`,
        [of],
      );
      return rows;
    };
    const before = await standing(other.id, 'true');
    await rotate({ activate: 'now' });
    assert.equal((await standing(connection.id, `direction = 'outbound' and good_until is null`)).length, 1);
    await rotate();
    assert.deepEqual(await standing(other.id, 'true'), before);
    const callbacks = await standing(connection.id, `direction = 'callback'`);
    await activateSecret(database.pool, key());
    assert.deepEqual(await standing(other.id, 'true'), before);
    assert.deepEqual(await standing(connection.id, `direction = 'callback'`), callbacks);
  });

  test('leaves one that began to sign while this rotation waited for its turn [EXC-46]', async () => {
    const first = await rotate({ activate: new Date(Date.now() + 1_000) });
    const { holder, isTrue, somebodyWaits } = await holdConnection();
    const rotating = rotate();
    await somebodyWaits();
    await waitUntil(() => isTrue('clock_timestamp() > $1', [first.outboundActiveFrom]), 'the first signs');
    await holder.query('rollback');
    holder.release();
    const second = await rotating;
    assert.equal(second.discardedWaiting, undefined);
    assert.deepEqual(await secrets(), ['ended', 'signs', 'waits']);
    assert.equal(await deliver(first.outboundSecret), 'valid');
  });

  test('is activated once: also where another call did it while this one waited for its turn [EXC-46]', async () => {
    await rotate();
    const { holder, somebodyWaits } = await holdConnection();
    const activating = activateSecret(database.pool, key());
    await somebodyWaits();
    await holder.query({
      text: `update exchange_secret set active_from = date_trunc('milliseconds', clock_timestamp())
             where organisation_id = $1 and active_from = 'infinity'`,
      values: [place.organisationId],
    });
    await holder.query('commit');
    holder.release();
    await assert.rejects(activating, { code: 'no_waiting_secret' });
  });

  test('refuses times that cannot be', async () => {
    const refused = async (rotation: Partial<SecretRotation>, message: RegExp) => {
      await assert.rejects(rotate(rotation), (error) => {
        assert.ok(error instanceof DomainError && error.code === 'bad_connection_setting');
        assert.match(error.message, message);
        return true;
      });
    };
    await refused({ activate: new Date(clock().getTime() - 1) }, /in the future/);
    await refused({ activate: new Date(Date.now() + 91 * 24 * HOUR_MS) }, /90 days/);
    await refused({ activate: 'now', direction: 'callback' }, /outbound/);
    assert.deepEqual(await secrets(), ['signs']);
  });
});
