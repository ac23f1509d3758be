/** Records that change while they are published: what is sent, and by whom (docs/adr/0070). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { withStatement } from '../../../test-support/database/watched-pool.ts';
import {
  createClinic,
  createTestPublisher,
  startPublishing,
  type TestPublisher,
} from '../../../test-support/publish/publish-records.ts';
import { importJson } from '../../../test-support/records/import-files.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { LOINC } from '../../terminology/lookup/code-systems.ts';
import { putMapEntry } from '../../terminology/maps/change-maps.ts';
import { PUBLISH } from '../servers/publish-settings.ts';

const { database, server } = await startPublishing('--no-integrity');

describe('records that change meanwhile', () => {
  const seen = async (type: string) =>
    (await server.state()).seen.filter(({ path }) => path.startsWith(type)).length;
  const outcomes = async (fhirServerId: string) => {
    const { rows } = await database.pool.query<{ outcome: string }>(
      'select outcome from publish_run where target_id = $1 order by begun_at',
      [fhirServerId],
    );
    return rows.map(({ outcome }) => outcome);
  };

  for (const idPolicy of ['client', 'server'] as const)
    test(`a second publish waits for the first, whose patient it no longer is (${idPolicy} ids) [PUB-35, PUB-36]`, async () => {
      const { pool } = database;
      const clinic = await createClinic(pool, { results: 2 });
      const { addTarget, publish } = createTestPublisher(pool, { clock: PUBLISH.clock });
      const target = await addTarget(clinic, { base: server.base, idPolicy });
      await server.script({ kind: 'slow', type: 'Observation', delayMs: 600 });
      const first = publish(clinic, { target: target.name });
      await waitUntil(async () => (await seen('Observation')) > 0);
      const patientId = randomUUID();
      await clinic.change({ patientId });
      const second = publish(clinic, { target: target.name });
      await waitUntil(async () => (await outcomes(target.id)).length > 1);
      assert.equal((await outcomes(target.id))[0], 'done', 'the second began when the first had ended');
      await first;
      await second;
      const { resources } = await server.state();
      assert.deepEqual(
        resources.map(({ resourceType, subject }) => [
          resourceType,
          (subject as { reference: string }).reference,
        ]),
        ['ServiceRequest', 'Observation', 'Observation', 'DiagnosticReport'].map((type) => [
          type,
          `Patient/${patientId}`,
        ]),
      );
      assert.deepEqual(await outcomes(target.id), ['done', 'done']);
    });

  test('a publish of a made-up order that another one replaces is to be sent again, and goes to that one [IN-38]', async () => {
    const { pool } = database;
    const clinic = await createClinic(pool);
    const id = randomUUID();
    const system = 'http://terminology.hl7.org/CodeSystem/observation-category';
    const category = { coding: [{ system, code: 'laboratory' }] };
    const take = async (...resources: object[]) => {
      const documents = resources.map((one) => JSON.stringify(one));
      assert.deepEqual((await importJson(pool, clinic.scope, ...documents)).rejected, []);
    };
    const shared = {
      status: 'final',
      code: { text: 'K' },
      subject: { reference: `Patient/${clinic.patientId}` },
    };
    const result = { ...shared, resourceType: 'Observation', id, category: [category] };
    await take(result);
    const { rows } = await pool.query<{ order_id: string }>(
      'select order_id from observation where organisation_id = $1 and id = $2',
      [clinic.scope.organisationId, id],
    );
    const madeUp = { ...clinic, orderId: rows[0]?.order_id ?? '' };
    const order = {
      ...shared,
      resourceType: 'ServiceRequest',
      id: randomUUID(),
      status: 'active',
      intent: 'order',
    };
    const { addTarget, publish } = createTestPublisher(
      withStatement(pool, 'publish-run-begin', () =>
        take(order, { ...result, basedOn: [{ reference: `ServiceRequest/${order.id}` }] }),
      ),
    );
    await addTarget(clinic, { base: server.base, allowLocalCodes: true });
    await assert.rejects(publish(madeUp), { code: 'order_replaced' });
    assert.deepEqual(
      (await publish(madeUp)).map(({ localId }) => localId),
      [order.id, id],
    );
  });

  describe('a result that is given to the order of another patient', () => {
    /** While the write of `during` is not answered, a result moves, and the order that it goes to is published to its end. */
    async function moveResult(during: 'ServiceRequest' | 'Observation', { isKnown }: { isKnown: boolean }) {
      const { pool } = database;
      const from = await createClinic(pool, { results: 2 });
      const to = await createClinic(pool, { results: 1, scope: from.scope });
      const [node, other] = [1, 2].map(() => createTestPublisher(pool, { clock: PUBLISH.clock })) as [
        TestPublisher,
        TestPublisher,
      ];
      const { name: target } = await node.addTarget(from, { base: server.base, maxInFlight: 1 });
      if (isKnown) await node.publish(from, { target });
      const [key, id = ''] = from.observationIds;
      await server.script({
        kind: 'hold',
        ...(during === 'Observation' ? { key: `Observation/${key}` } : { type: during }),
      });
      const refused = assert.rejects(node.publish(from, { target }), { code: 'part_moved', statusCode: 409 });
      await waitUntil(async () => (await server.state()).held === 1);
      await to.change({ observation: { id } });
      await other.publish(to, { target });
      await server.release();
      await refused;
      const { resources } = await server.state();
      const stored = resources.find((one) => one.id === id);
      assert.deepEqual(stored?.subject, { reference: `Patient/${to.patientId}` });
      const again = await node.publish(from, { target });
      assert.equal(
        again.some(({ localId }) => localId === id),
        false,
      );
    }

    test('is not sent as it was before any more [PUB-35, PUB-60]', () =>
      moveResult('ServiceRequest', { isKnown: false }));

    test('is not written over the version that the other publish has stored [PUB-35, PUB-60]', () =>
      moveResult('Observation', { isKnown: true }));
  });

  test('many publishes of a few orders that move between patients all end', async () => {
    const { pool } = database;
    const clinic = await createClinic(pool, { results: 1 });
    const { addTarget, publish } = createTestPublisher(pool, { clock: PUBLISH.clock });
    const target = await addTarget(clinic, { base: server.base });
    const other = await createClinic(pool, { results: 1, scope: clinic.scope });
    const patients = [clinic.patientId, other.patientId];
    const work = patients.map(async (_, n) => {
      for (let round = 0; round < 4; round += 1) {
        await publish(n === 0 ? clinic : other, { target: target.name }).catch(
          ({ code }: { code?: string }) => assert.equal(code, 'patient_changed'),
        );
      }
    });
    const moving = (async () => {
      for (let round = 0; round < 4; round += 1)
        await clinic.change({ patientId: patients[round % 2] ?? clinic.patientId });
    })();
    await Promise.all([...work, moving]);
    assert.equal((await outcomes(target.id)).includes('running'), false);
    const { rowCount } = await pool.query(
      'select 1 from publish_lease where target_id = $1 and leased_until > clock_timestamp()',
      [target.id],
    );
    assert.equal(rowCount, 0, 'every lease was given back');
  });

  test('what another publish has sent as a newer map codes it is not written over as it was before [PUB-35]', async () => {
    const { pool } = database;
    const local = { system: 'urn:lab', code: 'K' };
    const clinic = await createClinic(pool, {
      results: 1,
      changes: { observation: { code: { coding: [local] } } },
    });
    const scope = { ...clinic.scope, facilityId: null };
    const change = { now: new Date(), author: OPERATOR };
    const mapTo = (targetCode: string) =>
      putMapEntry(pool, scope, {
        given: { localSystem: local.system, localCode: local.code, targetSystem: LOINC, targetCode },
        change,
      });
    await mapTo('2823-3');
    const fast = createTestPublisher(pool);
    const target = await fast.addTarget(clinic, { base: server.base });
    const { publish } = createTestPublisher(
      withStatement(pool, 'publish-lease-take', async () => {
        await mapTo('2951-2');
        await fast.publish(clinic, { target: target.name });
      }),
    );
    await publish(clinic, { target: target.name });
    const sent = (await server.state()).resources.find(({ resourceType }) => resourceType === 'Observation');
    assert.deepEqual(sent?.code, { coding: [{ system: LOINC, code: '2951-2' }, local] });
  });

  for (const references of ['send', 'logical'] as const)
    test(`what is referred to is as it was under the lease, not before it (${references}) [PUB-35]`, async () => {
      const { pool } = database;
      const clinic = await createClinic(pool, { results: 1 });
      const fast = createTestPublisher(pool);
      const target = await fast.addTarget(clinic, { base: server.base, referencePolicy: references });
      const number = 'changed-number';
      const { publish } = createTestPublisher(
        withStatement(pool, 'publish-lease-take', async () => {
          await clinic.change({
            patient: {
              gender: 'other',
              identifier: [{ use: 'official', system: 'urn:oid:1.2.3', value: number }],
            },
          });
          await fast.publish(clinic, { target: target.name });
        }),
      );
      await publish(clinic, { target: target.name });
      const { resources } = await server.state();
      const sent = resources.find(({ resourceType }) => resourceType === 'Patient');
      const order = resources.find(({ resourceType }) => resourceType === 'ServiceRequest');
      if (references === 'send') assert.equal(sent?.gender, 'other');
      else assert.match(JSON.stringify(order?.subject), new RegExp(number));
    });
});
