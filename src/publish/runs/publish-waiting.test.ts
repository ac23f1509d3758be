/** Publishes that wait for one another: what that costs, who is woken, and how many may. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { watchPool } from '../../../test-support/database/watched-pool.ts';
import {
  contextOf,
  createClinic,
  createTestClock,
  createTestPublisher,
  labOrderSource,
  startPublishing,
} from '../../../test-support/publish/publish-records.ts';
import { answered } from '../../../test-support/service/worded-errors.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { unauthorized } from '../../platform/http/errors.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { tenancyError } from '../../tenancy/errors.ts';
import { PUBLISH } from '../servers/publish-settings.ts';
import { giveLeaseBack, type LeaseKey, takeLease } from './lease.store.ts';
import { type PublishLease, withLease } from './lease.ts';
import { createWaiting } from './waiting.ts';

/** Time that passes only when the test says so. */
function createHeldClock() {
  let nowMs = 0;
  const sleeping = new Set<{ untilMs: number; wake: () => void }>();
  return {
    nowMs: () => nowMs,
    sleep: (ms: number) => new Promise<void>((wake) => void sleeping.add({ untilMs: nowMs + ms, wake })),
    sleepers: () => sleeping.size,
    pass(ms: number) {
      nowMs += ms;
      for (const one of sleeping)
        if (one.untilMs <= nowMs) {
          sleeping.delete(one);
          one.wake();
        }
    },
  };
}

/** Longer than any wait between two looks. */
const A_WHILE_MS = 2_000;

const { database, server } = await startPublishing('--no-integrity');
const clinic = await createClinic(database.pool, { results: 1 });

describe('publishes that wait', () => {
  /** A FHIR server whose lease somebody else has, another process say, until it is given back. */
  async function targetInUse(
    addTarget: ReturnType<typeof createTestPublisher>['addTarget'],
    { patientId } = clinic,
  ) {
    const target = await addTarget(clinic, { base: server.base });
    const { organisationId } = clinic.scope;
    const records = [`Patient/${patientId}`] as const;
    const [key, token] = [{ organisationId, fhirServerId: target.id, records }, randomUUID()];
    await takeLease(database.pool, { key, token, durationMs: 600_000 });
    return { target: target.name, giveBack: () => giveLeaseBack(database.pool, { key, token }) };
  }

  test('however many wait in a process, one of them asks the database, about once a second', async () => {
    const waiting = 30;
    const clock = createHeldClock();
    const { db, statements } = watchPool(database.pool);
    const node = createTestPublisher(db, { clock, waitingPerAccount: waiting });
    const { target, giveBack } = await targetInUse(node.addTarget);
    const publishes = Array.from({ length: waiting }, () => node.publish(clinic, { target }));
    await waitUntil(() => clock.sleepers() === waiting);
    for (let round = 0; round < 10; round += 1) {
      const before = statements.length;
      clock.pass(A_WHILE_MS);
      await waitUntil(() => clock.sleepers() === waiting);
      assert.deepEqual(statements.slice(before), ['publish-lease-take']);
    }
    const before = statements.length;
    await giveBack();
    clock.pass(A_WHILE_MS);
    for (const published of await Promise.all(publishes)) assert.equal(published.length, 3);
    const begun = statements.slice(before).filter((name) => name === 'publish-lease-take');
    assert.equal(begun.length, waiting, 'each asked once, when its turn had come');
  });

  test('a lease is of its records at one FHIR server: others are free meanwhile [PUB-33]', async () => {
    const { addTarget } = createTestPublisher(database.pool);
    const [one, other] = [
      await addTarget(clinic, { base: server.base }),
      await addTarget(clinic, { base: server.base }),
    ];
    const { organisationId } = clinic.scope;
    const isTaken = ({ id: fhirServerId }: { id: string }, patientId: string) =>
      takeLease(database.pool, {
        key: { organisationId, fhirServerId, records: [`Patient/${patientId}`] },
        token: randomUUID(),
        durationMs: 600_000,
      });
    const patient = randomUUID();
    assert.deepEqual([await isTaken(one, patient), await isTaken(one, patient)], [true, false]);
    assert.equal(await isTaken(other, patient), true, 'another FHIR server');
    assert.equal(await isTaken(one, randomUUID()), true, 'another patient');
  });

  test('of a lease of several records all are taken or none: the rest is free again for others [PUB-33]', async () => {
    const { id: fhirServerId } = await createTestPublisher(database.pool).addTarget(clinic, {
      base: server.base,
    });
    const [first, second] = [
      `Patient/0${randomUUID().slice(1)}`,
      `Patient/f${randomUUID().slice(1)}`,
    ] as const;
    const wanted = (...records: LeaseKey['records']) => ({
      key: { organisationId: clinic.scope.organisationId, fhirServerId, records },
      token: randomUUID(),
      durationMs: 600_000,
    });
    const isTaken = await callDuring(database.pool, {
      change: (client) => takeLease(client, wanted(second)),
      call: () => takeLease(database.pool, wanted(first, second)),
    });
    assert.equal(isTaken, false);
    assert.equal(await takeLease(database.pool, wanted(first)), true);
  });

  test('under a lease that ran out no request begins until it is renewed, and none under a lost one [PUB-32]', async () => {
    const { id: fhirServerId } = await createTestPublisher(database.pool).addTarget(clinic, {
      base: server.base,
    });
    let aheadMs = 0;
    const deps = {
      db: database.pool,
      settings: { clock: createTestClock(), lease: { ...PUBLISH.lease, marginMs: 2_000 } },
      server: { timeoutMs: 30_000 },
      waiting: createWaiting(1),
      now: () => new Date(Date.now() + aheadMs),
    };
    const key = {
      organisationId: clinic.scope.organisationId,
      fhirServerId,
      records: [`Patient/${randomUUID()}`] as const,
    };
    const work = async (lease: PublishLease) => {
      const isHeld = () => {
        try {
          lease.requireHeld();
          return true;
        } catch (error) {
          assert.equal((error as { code: string }).code, 'publish_overtaken');
          return false;
        }
      };
      await waitUntil(isHeld, 'it is held');
      aheadMs = 2_500;
      assert.equal(isHeld(), false, 'a request may outlast it');
      await waitUntil(isHeld, 'it is renewed');
      const lost = 'update publish_lease set token = $2 where target_id = $1';
      await database.pool.query(lost, [fhirServerId, randomUUID()]);
      await waitUntil(() => !isHeld(), 'it is lost');
    };
    await withLease(deps, key, { work });
  });

  test('a lease of another process is asked for after 0.1 s, then after twice as long each time, up to 1 s', async () => {
    const clock = createTestClock();
    const node = createTestPublisher(database.pool, { clock });
    const { target, giveBack } = await targetInUse(node.addTarget);
    await assert.rejects(node.publish(clinic, { target }), { statusCode: 503 });
    await giveBack();
    assert.ok(clock.sleptMs.length > 30, 'a minute of looks');
    for (const [look, sleptMs] of clock.sleptMs.entries()) {
      const delayMs = Math.min(1_000, 100 * 2 ** look);
      assert.ok(sleptMs >= delayMs / 2 && sleptMs <= 1.5 * delayMs, `look ${look}: ${sleptMs} ms`);
    }
  });

  test('who waits is woken when the publish before it ends, not by a clock', async () => {
    const node = createTestPublisher(database.pool, { clock: createHeldClock() });
    const { name: target } = await node.addTarget(clinic, { base: server.base });
    await server.script({ kind: 'slow', type: 'ServiceRequest', delayMs: 200 });
    const first = node.publish(clinic, { target });
    await waitUntil(async () => (await server.state()).seen.length > 0);
    const others = [node.publish(clinic, { target }), node.publish(clinic, { target })];
    for (const published of await Promise.all([first, ...others])) assert.equal(published.length, 3);
    const versions = (await server.state()).resources.map(({ meta }) => meta?.versionId);
    assert.deepEqual(versions, ['3', '3', '3']);
  });

  test('a publish that fails wakes the next one too', async () => {
    const node = createTestPublisher(database.pool, { clock: createHeldClock() });
    const { name: target } = await node.addTarget(clinic, { base: server.base });
    await server.script(
      { kind: 'slow', type: 'ServiceRequest', delayMs: 200 },
      { kind: 'status', type: 'Observation', status: 422 },
    );
    const refused = assert.rejects(node.publish(clinic, { target }), /422/);
    await waitUntil(async () => (await server.state()).seen.length > 0);
    const second = node.publish(clinic, { target });
    await refused;
    assert.equal((await second).length, 3);
  });

  test('each waits a minute at most, whoever is before it [PUB-37]', async () => {
    const clock = createHeldClock();
    const node = createTestPublisher(database.pool, { clock });
    const { target } = await targetInUse(node.addTarget);
    const waiting = [node.publish(clinic, { target }), node.publish(clinic, { target })];
    const ended = Promise.allSettled(waiting);
    await waitUntil(() => clock.sleepers() === 2);
    clock.pass(60_000);
    for (const one of await ended) {
      assert.equal(one.status, 'rejected');
      assert.equal(one.reason.code, 'publish_busy');
    }
  });

  test('a caller who lost the right while the publish waited is refused, and nothing is sent [PUB-58]', async () => {
    const clock = createHeldClock();
    const node = createTestPublisher(database.pool, { clock });
    const { target, giveBack } = await targetInUse(node.addTarget);
    let isAllowed = true;
    const context = {
      ...contextOf(clinic.scope, { purposeOfUse: 'OPS', correlationId: randomUUID() }),
      async stillAllowed() {
        if (!isAllowed) throw tenancyError('module_disabled', { module: 'publish' });
      },
    };
    const source = labOrderSource(database.pool);
    const publish = node.publisher.publish(source, { id: clinic.orderId, target }, context);
    const refused = assert.rejects(publish, { code: 'module_disabled' });
    await waitUntil(() => clock.sleepers() === 1);
    isAllowed = false;
    await giveBack();
    clock.pass(A_WHILE_MS);
    await refused;
    assert.equal((await server.state()).seen.length, 0);
  });

  test('a patient who refuses, or to whom the order is given, while a publish waits is asked and logged, and nothing is sent [PUB-49, PUB-36]', async () => {
    const here = await createClinic(database.pool, { results: 1, scope: clinic.scope });
    const [{ patientId }, other] = [here, randomUUID()];
    const refuse = () =>
      database.pool.query(`update patient set refused_purposes = '{OPS}' where id = $1`, [patientId]);
    for (const [change, code, logged] of [
      [refuse, 'purpose_refused', [patientId, 'refused']],
      [() => here.change({ patientId: other }), 'patient_changed', [other, 'allowed']],
    ] as const) {
      await database.pool.query(`update patient set refused_purposes = '{}' where id = $1`, [patientId]);
      const clock = createHeldClock();
      const node = createTestPublisher(database.pool, { clock });
      const { target, giveBack } = await targetInUse(node.addTarget, here);
      const refused = assert.rejects(node.publish(here, { target }), { code });
      await waitUntil(() => clock.sleepers() === 1);
      await change();
      await giveBack();
      clock.pass(A_WHILE_MS);
      await refused;
      const entries = node.entries.map((one) => [one.patientId, one.outcome]);
      assert.deepEqual(entries, [[patientId, 'allowed'], logged]);
      assert.equal((await server.state()).seen.length, 0);
    }
  });

  /** A publish that waits in its middle, for a record that patients share. What it is refused with, and what it has sent. */
  async function refusedInTheMiddle(lose: (patientId: string) => Promise<Error | undefined>) {
    const clinic = await createClinic(database.pool, { results: 1 });
    const clock = createHeldClock();
    const node = createTestPublisher(database.pool, { clock });
    const policies = { idPolicy: 'server', referencePolicy: 'send' } as const;
    const target = await node.addTarget(clinic, { base: server.base, ...policies });
    const { organisationId } = clinic.scope;
    const records = [`Organization/${clinic.hospital.id}`] as const;
    const [key, token] = [{ organisationId, fhirServerId: target.id, records }, randomUUID()];
    await takeLease(database.pool, { key, token, durationMs: 600_000 });
    let lost: Error | undefined;
    const context = {
      ...contextOf(clinic.scope, { purposeOfUse: 'OPS', correlationId: randomUUID() }),
      async stillAllowed() {
        if (lost !== undefined) throw lost;
      },
    };
    const source = labOrderSource(database.pool);
    const publish = node.publisher.publish(source, { id: clinic.orderId, target: target.name }, context);
    const refused = publish.then(
      () => assert.fail('it was not refused'),
      (error: Error & { code: string }) => error,
    );
    await waitUntil(async () => clock.sleepers() === 1 && (await server.state()).resources.length === 2);
    lost = await lose(clinic.patientId);
    await giveLeaseBack(database.pool, { key, token });
    clock.pass(A_WHILE_MS);
    const { code, message } = await refused;
    const { rows } = await database.pool.query('select failure from publish_run where target_id = $1', [
      target.id,
    ]);
    assert.deepEqual(rows, [{ failure: message }], 'the history says it too');
    const { seen } = await server.state();
    return {
      code,
      sent: seen.map(({ path }) => path).sort(),
      outcomes: node.entries.map((one) => one.outcome),
    };
  }
  const BEFORE = ['Patient', 'Practitioner'];

  test('a caller who loses the right while a publish waits in its middle sends nothing more [PUB-59]', async () => {
    const lost = tenancyError('module_disabled', { module: 'publish' });
    const { code, sent } = await refusedInTheMiddle(async () => lost);
    assert.deepEqual({ code, sent }, { code: 'module_disabled', sent: BEFORE });
  });

  test('a caller whose session ends while a publish waits in its middle sends nothing more [PUB-59]', async () => {
    const words = { en: 'The session has ended.', fr: 'La session est terminée.' };
    const lost = unauthorized(words, 'session_ended', 'Bearer');
    const { code, sent } = await refusedInTheMiddle(async () => lost);
    assert.deepEqual({ code, sent }, { code: 'session_ended', sent: BEFORE });
  });

  test('of a patient who refuses the purpose while a publish waits in its middle nothing more is sent [PUB-59]', async () => {
    const refusal = await refusedInTheMiddle(async (patientId) => {
      const values = [patientId, ['OPS']];
      await database.pool.query('update patient set refused_purposes = $2 where id = $1', values);
      return undefined;
    });
    const outcomes = ['allowed', 'refused'];
    assert.deepEqual(refusal, { code: 'purpose_refused', sent: BEFORE, outcomes });
  });

  test('an account may let so many publishes wait; one more is 503, and others are not kept out [PUB-38]', async () => {
    const clock = createHeldClock();
    const node = createTestPublisher(database.pool, { clock, waitingPerAccount: 2 });
    const { target, giveBack } = await targetInUse(node.addTarget);
    const publish = (accountId: string) => {
      const context = contextOf(clinic.scope, { purposeOfUse: 'OPS', correlationId: randomUUID() });
      const caller = { ...context.caller, accountId } as FacilityContext['caller'];
      const source = labOrderSource(database.pool);
      return answered(() =>
        node.publisher.publish(source, { id: clinic.orderId, target }, { ...context, caller }),
      );
    };
    const [busy, quiet] = [randomUUID(), randomUUID()];
    const waiting = [publish(busy), publish(busy)];
    await waitUntil(() => clock.sleepers() === 2);
    await assert.rejects(publish(busy), (error: { statusCode: number; message: string; headers: object }) => {
      assert.equal(error.statusCode, 503);
      assert.match(error.message, /^2 publishes of this account are waiting .* Wait for their answers/);
      assert.deepEqual(error.headers, { 'retry-after': '10' });
      return true;
    });
    waiting.push(publish(quiet));
    await waitUntil(() => clock.sleepers() === 3);
    await giveBack();
    clock.pass(A_WHILE_MS);
    await Promise.all(waiting);
    const later = await publish(busy);
    assert.equal(later.published.length, 3, 'nobody is counted who does not wait any more');
  });
});
