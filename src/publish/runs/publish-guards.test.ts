/** Time, order and what happens around a publish: retries, the breaker, leases, records that change meanwhile. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { watchPool, withStatement } from '../../../test-support/database/watched-pool.ts';
import {
  createClinic,
  createTestClock,
  createTestPublisher,
  startPublishing,
} from '../../../test-support/publish/publish-records.ts';
import { requireWhole } from '../../../test-support/publish/published.ts';
import { waitForLock, waitUntil } from '../../../test-support/wait-until.ts';
import { findRecorded, recordStored } from '../send/resource.store.ts';
import { PUBLISH } from '../servers/publish-settings.ts';
import { giveLeaseBack, takeLease } from './lease.store.ts';
import { type PublishLease, withLease } from './lease.ts';
import { createWaiting } from './waiting.ts';

const { database, server } = await startPublishing('--no-integrity');
const clinic = await createClinic(database.pool, { results: 2 });

describe('around a publish', () => {
  const leaseKey = (fhirServerId: string) => ({
    organisationId: clinic.scope.organisationId,
    fhirServerId,
    records: [`Patient/${clinic.patientId}`] as const,
  });

  test('a server that is down is tried for 30 seconds, with growing waits, and no longer [PUB-26]', async () => {
    const clock = createTestClock();
    const { addTarget, publish } = createTestPublisher(database.pool, {
      clock,
      retry: { ...PUBLISH.retry, random: () => 0 },
    });
    const target = await addTarget(clinic, { base: 'http://127.0.0.1:9/fhir' });
    await assert.rejects(
      publish(clinic, { target: target.name }),
      (error: { statusCode: number; message: string }) => {
        assert.equal(error.statusCode, 502);
        assert.match(
          error.message,
          /ServiceRequest .* PUT was not answered \(ECONNREFUSED\) - nothing listens there: check .*\. 0 of 4/,
        );
        return true;
      },
    );
    assert.deepEqual(clock.sleptMs.slice(0, 7), [125, 250, 500, 1_000, 2_000, 4_000, 4_000]);
    assert.ok(clock.nowMs() <= 30_000 && clock.nowMs() > 25_000, `${clock.nowMs()} ms`);
  });

  test('a publish that takes long still tries again what fails late', async () => {
    const clock = createTestClock();
    const { addTarget, publish } = createTestPublisher(database.pool, { clock });
    const target = await addTarget(clinic, { base: server.base });
    await server.script(
      { kind: 'status', type: 'ServiceRequest', status: 503, headers: { 'retry-after': '14' } },
      { kind: 'status', type: 'DiagnosticReport', status: 503, headers: { 'retry-after': '14' } },
    );
    assert.equal((await publish(clinic, { target: target.name })).length, 4);
    assert.deepEqual(clock.sleptMs, [14_000, 14_000]);
  });

  test('all resources of a publish have 30 seconds together to be tried again [PUB-26]', async () => {
    const clock = createTestClock();
    const { addTarget, publish } = createTestPublisher(database.pool, { clock });
    const target = await addTarget(clinic, { base: server.base });
    await server.script(
      { kind: 'status', type: 'ServiceRequest', status: 503, headers: { 'retry-after': '20' } },
      { kind: 'status', type: 'DiagnosticReport', status: 503, headers: { 'retry-after': '20' } },
    );
    await assert.rejects(publish(clinic, { target: target.name }), /DiagnosticReport .* 503.* 3 of 4/);
    assert.deepEqual(clock.sleptMs, [20_000]);
  });

  test('a target that hangs: the time of the request under way counts, and shortens the next one', async () => {
    const [timeoutMs, budgetMs] = [200, 350];
    const { addTarget, publish } = createTestPublisher(database.pool, {
      clock: PUBLISH.clock,
      retry: { ...PUBLISH.retry, budgetMs, firstMs: 10, random: () => 0 },
    });
    const target = await addTarget(clinic, { base: server.base, timeoutMs });
    await server.script({ kind: 'hold', type: 'ServiceRequest', times: 100 });
    await assert.rejects(publish(clinic, { target: target.name }), /not answered \(TIMEOUT\)\. 0 of 4/);
    const { seen } = await server.state();
    // 200 ms, a pause, and the rest: there is no time for a third.
    assert.ok(seen.length <= 2, `${seen.length} requests`);
  });

  // A request that had its whole time-out would outlive the test.
  test('what is tried again has what is left of the time, not its whole time-out [PUB-26]', {
    timeout: 60_000,
  }, async () => {
    const { addTarget, publish } = createTestPublisher(database.pool, {
      clock: PUBLISH.clock,
      retry: { ...PUBLISH.retry, budgetMs: 3_000, firstMs: 10, random: () => 0 },
    });
    const target = await addTarget(clinic, { base: server.base, timeoutMs: 120_000 });
    await server.script(
      { kind: 'status', type: 'ServiceRequest', status: 503 },
      { kind: 'hold', type: 'ServiceRequest' },
    );
    await assert.rejects(publish(clinic, { target: target.name }), /not answered \(TIMEOUT\)\. 0 of 4/);
  });

  test('retry-after is waited for [PUB-27]', async () => {
    const clock = createTestClock();
    const { addTarget, publish } = createTestPublisher(database.pool, { clock });
    const target = await addTarget(clinic, { base: server.base });
    await server.script({
      kind: 'status',
      type: 'ServiceRequest',
      status: 429,
      headers: { 'retry-after': '7' },
    });
    await publish(clinic, { target: target.name });
    assert.deepEqual(clock.sleptMs, [7_000]);
  });

  test('a target that did not answer is left alone also by publishes that waited meanwhile [PUB-51]', async () => {
    const node = createTestPublisher(database.pool, {
      clock: PUBLISH.clock,
      retry: { ...PUBLISH.retry, budgetMs: 20, firstMs: 5 },
    });
    await node.addTarget(clinic, { base: server.base });
    await server.script({ kind: 'drop', times: 10_000 });
    const ended = await Promise.allSettled(Array.from({ length: 5 }, () => node.publish(clinic)));
    const codes = ended.map((one) => one.status === 'rejected' && one.reason.code);
    assert.deepEqual(codes.toSorted(), [
      'circuit_open',
      'circuit_open',
      ...Array(3).fill('target_unavailable'),
    ]);
  });

  test('a target that never answers is left alone after three publishes, then tried by one [PUB-51]', async () => {
    const clock = createTestClock();
    const { addTarget, publish } = createTestPublisher(database.pool, { clock });
    const target = await addTarget(clinic, { base: server.base });
    const down = { kind: 'drop', times: 10_000 } as const;
    await server.script(down);
    for (let n = 0; n < 3; n += 1)
      await assert.rejects(publish(clinic, { target: target.name }), /not answered/);
    await server.script(down);
    await assert.rejects(
      publish(clinic, { target: target.name }),
      (error: { statusCode: number; headers: object }) => {
        assert.equal(error.statusCode, 502);
        assert.deepEqual(error.headers, { 'retry-after': '15' });
        return true;
      },
    );
    assert.equal((await server.state()).seen.length, 0);
    await server.script();
    await clock.sleep(15_000);
    assert.equal((await publish(clinic, { target: target.name })).length, 4);
  });

  test('the publish that tries it again is let through, also when it waited for another one first [PUB-51]', async () => {
    const clock = createTestClock();
    const { addTarget, publish } = createTestPublisher(database.pool, { clock });
    const target = await addTarget(clinic, { base: server.base });
    await server.script({ kind: 'drop', times: 10_000 });
    for (let n = 0; n < 3; n += 1)
      await assert.rejects(publish(clinic, { target: target.name }), /not answered/);
    await server.script();
    await clock.sleep(15_000);
    // In another process, which does not tell this one how the target is.
    const [key, token] = [leaseKey(target.id), randomUUID()];
    await takeLease(database.pool, { key, token, durationMs: 60_000 });
    const { sleep } = clock;
    clock.sleep = async function (ms) {
      await giveLeaseBack(database.pool, { key, token });
      await sleep.call(this, ms);
    };
    assert.equal((await publish(clinic, { target: target.name })).length, 4);
  });

  test('one order that the target fails on does not close it to the others [PUB-51]', async () => {
    const { addTarget, publish } = createTestPublisher(database.pool);
    const target = await addTarget(clinic, { base: server.base });
    const other = await createClinic(database.pool, { results: 1, scope: clinic.scope });
    const key = `Observation/${clinic.observationIds[0]}`;
    for (const status of [500, 503]) {
      await server.script({ kind: 'status', key, status, times: 10_000 });
      for (let n = 0; n < 4; n += 1)
        await assert.rejects(publish(clinic, { target: target.name }), new RegExp(`PUT answered ${status}`));
      assert.equal((await publish(other, { target: target.name })).length, 3);
    }
  });

  test('who waits for another publish sends what the record is by then [PUB-35]', async () => {
    const { db, statements } = watchPool(database.pool);
    const { addTarget, publish } = createTestPublisher(db, { clock: PUBLISH.clock });
    const target = await addTarget(clinic, { base: server.base });
    const [key, token] = [leaseKey(target.id), randomUUID()];
    await takeLease(database.pool, { key, token, durationMs: 60_000 });
    const publishing = publish(clinic, { target: target.name });
    const asked = () => statements.filter((name) => name === 'publish-lease-take').length;
    await waitUntil(() => asked() >= 2, 'it found the lease taken');
    await clinic.change({ report: { status: 'amended' } });
    assert.equal((await server.state()).seen.length, 0);
    await giveLeaseBack(database.pool, { key, token });
    await publishing;
    const { resources } = await server.state();
    assert.equal(
      resources.find(({ resourceType }) => resourceType === 'DiagnosticReport')?.status,
      'amended',
    );
    await clinic.change({});
  });

  for (const [how, durationMs] of [
    ['was given back', 20_000],
    ['had run out', 0],
  ] as const)
    test(`who takes a lease that ${how} sees what its holder recorded in the moment before`, async () => {
      const { pool } = database;
      const node = createTestPublisher(pool);
      const target = await node.addTarget(clinic, { base: server.base });
      const [key, token] = [leaseKey(target.id), randomUUID()];
      const resource = `ServiceRequest/${clinic.orderId}` as const;
      await takeLease(pool, { key, token, durationMs });
      const holder = await pool.connect();
      await holder.query('begin');
      const stored = {
        key: resource,
        serverId: 'given',
        versionId: '1',
        contentHash: 'ab',
        method: 'POST' as const,
        status: 201,
        publishedAt: new Date(),
        chainId: randomUUID(),
      };
      await recordStored(holder, clinic.scope, { server: target, stored: [stored] });
      await giveLeaseBack(holder, { key, token });
      const next = { key, token: randomUUID(), durationMs: 20_000 };
      const taking = takeLease(pool, next);
      if (durationMs === 0) await waitForLock(pool);
      else await taking;
      await holder.query('commit');
      holder.release();
      // What began before the end of the holder may not know of it, and is refused.
      assert.equal((await taking) || (await takeLease(pool, next)), true);
      const recorded = await findRecorded(pool, clinic.scope, { server: target, keys: [resource] });
      assert.deepEqual(
        recorded.map(({ serverId, contentHash }) => [serverId, contentHash]),
        [['given', 'ab']],
      );
    });

  test('a lease that is never given back is waited for as long as it lasts, then for 503 [PUB-37]', async () => {
    const clock = createTestClock();
    const { addTarget, publish } = createTestPublisher(database.pool, { clock });
    const target = await addTarget(clinic, { base: server.base });
    await takeLease(database.pool, {
      key: leaseKey(target.id),
      token: randomUUID(),
      durationMs: 60_000,
    });
    await assert.rejects(publish(clinic, { target: target.name }), (error: { statusCode: number }) => {
      assert.equal(error.statusCode, 503);
      return true;
    });
    assert.ok(clock.nowMs() >= 60_000);
    assert.equal((await server.state()).seen.length, 0);
  });

  /** A publisher to a FHIR server at which somebody else creates the practitioner of the clinic. */
  async function practitionerInUse() {
    const clock = createTestClock();
    const { addTarget, publish } = createTestPublisher(database.pool, { clock });
    const base = server.base;
    const target = await addTarget(clinic, { base, idPolicy: 'server', referencePolicy: 'send' });
    const record = `Practitioner/${clinic.practitionerId}` as const;
    const key = { ...leaseKey(target.id), records: [record] };
    await takeLease(database.pool, { key, token: randomUUID(), durationMs: 60_000 });
    return { clock, publish: () => publish(clinic, { target: target.name }) };
  }

  test('who waits for a record that patients share is told so', async () => {
    const { publish } = await practitionerInUse();
    await assert.rejects(
      publish(),
      /Another publish of the Practitioner that this record shares with others is running/,
    );
  });

  test('nobody waits on for a shared record once the publish has failed', async () => {
    const { publish, clock } = await practitionerInUse();
    await server.script({ kind: 'status', type: 'Organization', status: 422 });
    const { sleep } = clock;
    // Time goes on no faster than the server answers.
    clock.sleep = async function (ms) {
      await waitUntil(async () =>
        (await server.state()).seen.some(({ path }) => path.includes('Organization')),
      );
      await sleep.call(this, ms);
    };
    await assert.rejects(publish(), /Organization .* 422/);
    assert.ok(clock.nowMs() < 50_000, `${clock.nowMs()} ms`);
  });

  test('an end that cannot be written down is logged, and the answer stays what it was', async () => {
    const lines: Record<string, unknown>[] = [];
    const line = (fields: object) => void lines.push({ ...fields });
    const log = { debug: line, info: line, warn: line, error: line };
    const failing = withStatement(database.pool, 'publish-run-end', () =>
      Promise.reject(Object.assign(new Error('gone'), { code: '57P01' })),
    );
    const { addTarget, publish } = createTestPublisher(failing, {}, { log });
    const target = await addTarget(clinic, { base: server.base });
    await server.script({ kind: 'status', type: 'Observation', status: 422 });
    await assert.rejects(publish(clinic, { target: target.name }), /422/);
    const [{ event, targetId, errorCode } = {}] = lines.filter(({ event }) => event === 'publish.unrecorded');
    assert.deepEqual([event, targetId, errorCode], ['publish.unrecorded', target.id, '57P01']);
  });

  test('a publish that lost its lease sends nothing more [PUB-32]', async () => {
    const key = leaseKey(randomUUID());
    const { db, statements } = watchPool(database.pool);
    const options = {
      db,
      settings: { clock: PUBLISH.clock, lease: { marginMs: 2_000, waitMs: 1_000 } },
      server: { timeoutMs: 60_000 },
      waiting: createWaiting(1),
      now: () => new Date(),
    };
    const held = async (lease: PublishLease) => {
      lease.requireHeld();
      await database.pool.query('update publish_lease set token = $1 where target_id = $2', [
        randomUUID(),
        key.fhirServerId,
      ]);
      const { length } = statements;
      await waitUntil(() => statements.length >= length + 2, 'the lease was to be renewed, and once more');
      assert.throws(() => lease.requireHeld(), /may have taken over\. What was stored is recorded/);
    };
    await withLease(options, key, { work: held });
    const { rowCount } = await database.pool.query('select 1 from publish_lease where target_id = $1', [
      key.fhirServerId,
    ]);
    assert.equal(rowCount, 1, 'the lease of the other is left alone');
  });

  test('nothing is sent under a lease that ended while the machine was suspended [PUB-32]', async () => {
    const options = {
      db: database.pool,
      settings: { clock: PUBLISH.clock, lease: { marginMs: 60_000, waitMs: 1_000 } },
      server: { timeoutMs: 1_000 },
      waiting: createWaiting(1),
      now: () => new Date(Date.now() + asleepMs),
    };
    let asleepMs = 0;
    const held = async (lease: PublishLease) => {
      lease.requireHeld();
      asleepMs = 600_000;
      assert.throws(() => lease.requireHeld(), /or the machine was suspended, .* may have taken over/);
    };
    await withLease(options, leaseKey(randomUUID()), { work: held });
  });

  test('a write that waited for its turn does not begin once the lease is lost [PUB-32]', async () => {
    const { db, statements } = watchPool(database.pool);
    const { addTarget, publish } = createTestPublisher(db, {
      clock: PUBLISH.clock,
      // Longer than a busy machine stands still.
      lease: { marginMs: 2_000, waitMs: 1_000 },
    });
    const target = await addTarget(clinic, { base: server.base, maxInFlight: 1, timeoutMs: 60_000 });
    await server.script({ kind: 'hold', type: 'Observation' });
    const refused = assert.rejects(publish(clinic, { target: target.name }), /may have taken over/);
    const observations = async () =>
      (await server.state()).seen.filter(({ path }) => path.startsWith('Observation/')).length;
    await waitUntil(async () => (await observations()) > 0, 'a result is being sent');
    await database.pool.query('update publish_lease set token = $1 where target_id = $2', [
      randomUUID(),
      target.id,
    ]);
    const renewals = () => statements.filter((name) => name === 'publish-lease-renew').length;
    const before = renewals();
    await waitUntil(() => renewals() >= before + 2, 'the lease was to be renewed, and once more');
    await server.release();
    await refused;
    assert.equal(await observations(), 1, 'the second was not sent');
  });

  test('a write that waited for its turn does not begin once another has failed [PUB-32]', async () => {
    const { addTarget, publish } = createTestPublisher(database.pool);
    const target = await addTarget(clinic, { base: server.base, maxInFlight: 1 });
    await server.script({ kind: 'status', type: 'Observation', status: 422 });
    await assert.rejects(publish(clinic, { target: target.name }), /1 of 4 resources/);
    assert.equal((await server.state()).seen.length, 2, 'the order and one result');
  });

  test('a write that waits to be tried again keeps nobody waiting once another has failed [PUB-32]', async () => {
    let sleepers = 0;
    const clock = {
      ...createTestClock(),
      async sleep(_ms: number, wake?: AbortSignal) {
        sleepers += 1;
        if (sleepers === 1) await new Promise((woken) => wake?.addEventListener('abort', woken));
      },
    };
    const { addTarget, publish } = createTestPublisher(database.pool, { clock });
    const target = await addTarget(clinic, { base: server.base });
    await server.script(
      { kind: 'status', type: 'Observation', status: 503, times: 2 },
      { kind: 'status', type: 'Observation', status: 422 },
    );
    await assert.rejects(publish(clinic, { target: target.name }), /PUT answered 422/);
    assert.equal(sleepers, 2);
  });

  test('a lease is renewed for as long as the work goes on', async () => {
    const key = leaseKey(randomUUID());
    const settings = { clock: PUBLISH.clock, lease: { marginMs: 2_000, waitMs: 1_000 } };
    const waiting = createWaiting(1);
    const options = {
      db: database.pool,
      settings,
      server: { timeoutMs: 50 },
      waiting,
      now: () => new Date(),
    };
    /** The end of the lease; nothing before the given time. */
    const until = async (after = '-infinity') => {
      const { rows } = await database.pool.query<{ until: string }>(
        `select leased_until::text as until from publish_lease
         where target_id = $1 and $2::timestamptz < clock_timestamp()`,
        [key.fhirServerId, after],
      );
      return rows.map(({ until }) => until);
    };
    const held = async (lease: PublishLease) => {
      const [first] = await until();
      await waitUntil(async () => (await until(first)).length > 0, 'the lease was to end');
      lease.requireHeld();
      const taken = await takeLease(database.pool, { key, token: randomUUID(), durationMs: 1_000 });
      assert.equal(taken, false);
    };
    await withLease(options, key, { work: held });
    assert.equal(await takeLease(database.pool, { key, token: randomUUID(), durationMs: 1_000 }), true);
  });

  test('a try that goes on and stores nothing is not gone on with: the next sends everything', async () => {
    const { addTarget, publish } = createTestPublisher(database.pool);
    const target = await addTarget(clinic, { base: server.base });
    const refuse = { kind: 'status', type: 'DiagnosticReport', status: 422 } as const;
    await server.script(refuse);
    await assert.rejects(publish(clinic, { target: target.name }), /3 of 4/);
    // The server loses what it had: going on meets a refusal for ever.
    await server.script(refuse);
    await assert.rejects(publish(clinic, { target: target.name }), /3 of 4/);
    assert.equal((await server.state()).seen.length, 1, 'it went on');
    await server.script();
    await publish(clinic, { target: target.name });
    await requireWhole({ db: database.pool, server, clinic, fhirServerId: target.id });
  });

  test('after an hour everything is sent again', async () => {
    const { addTarget, publish } = createTestPublisher(database.pool);
    const target = await addTarget(clinic, { base: server.base });
    await server.script({ kind: 'status', type: 'DiagnosticReport', status: 422 });
    await assert.rejects(publish(clinic, { target: target.name }));
    await database.pool.query(
      `update publish_run
       set started_at = (started_at at time zone 'UTC' - interval '61 minutes') at time zone 'UTC'
       where target_id = $1`,
      [target.id],
    );
    await server.script();
    await publish(clinic, { target: target.name });
    assert.equal((await server.state()).seen.length, 4);
  });

  test('redirects are not followed [SEC-26]', async () => {
    const { addTarget, publish } = createTestPublisher(database.pool);
    const target = await addTarget(clinic, { base: server.base });
    const location = `${server.base}/elsewhere`;
    await server.script({ kind: 'status', status: 308, headers: { location } });
    await assert.rejects(publish(clinic, { target: target.name }), /308 .*redirects are not followed/);
    assert.equal((await server.state()).seen.length, 1);
  });
});
