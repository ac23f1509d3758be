import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { serveFhir, type TestFhirServer } from '../../../test-support/fhir-server/start.ts';
import {
  contextOf,
  createClinic,
  createTestPublisher,
  type PublishClinic,
  vitalSetSource,
} from '../../../test-support/publish/publish-records.ts';
import { requireWhole } from '../../../test-support/publish/published.ts';
import type { NewFhirServer } from '../servers/manage-fhir-servers.ts';
import { PUBLISH } from '../servers/publish-settings.ts';

const NO_INTEGRITY = '--no-integrity';
/** Where the number of results does not matter: a panel, its member, and others. */
const FEW = 4;
const OF_SERVER = { idPolicy: 'server', referencePolicy: 'send' } as const;

const database = await createTestDatabase();
const open = await serveFhir(NO_INTEGRITY);
const strict = await serveFhir('--no-client-ids');
after(async () => {
  await open.stop();
  await strict.stop();
  await database.drop();
});

describe('publishing a laboratory order', () => {
  /** A clinic of its own, and a target for it at a server that holds nothing. */
  async function start(server: TestFhirServer, settings: Partial<NewFhirServer> = {}, results = FEW) {
    await server.reset();
    const clinic = await createClinic(database.pool, { results });
    const node = createTestPublisher(database.pool);
    const { id: fhirServerId } = await node.addTarget(clinic, { base: server.base, ...settings });
    const whole = () => requireWhole({ db: database.pool, server, clinic, fhirServerId });
    return { ...node, clinic, fhirServerId, whole };
  }

  test('client ids: PUT under our ids, the order first, the report last, all of it recorded [PUB-14, PUB-15, PUB-17, PUB-18, PUB-22, PUB-23, PUB-56]', async () => {
    const { clinic, publish, whole } = await start(open, {}, 20);
    await open.script({ kind: 'slow-after', type: 'Observation', times: 20, delayMs: 300 });
    const published = await publish(clinic, { correlationId: 'abc-1' });
    const { seen, maxInFlight, connections } = await open.state();
    assert.equal(published.length, 22);
    assert.deepEqual(published[0], {
      resourceType: 'ServiceRequest',
      localId: clinic.orderId,
      id: clinic.orderId,
      versionId: '1',
      method: 'PUT',
      status: 201,
      publishedAt: published[0]?.publishedAt,
    });
    assert.equal(seen.length, 22);
    assert.equal(seen[0]?.path, `ServiceRequest/${clinic.orderId}`);
    assert.equal(seen.at(-1)?.path, `DiagnosticReport/${clinic.reportId}`);
    for (const { method, headers } of seen) {
      assert.equal(method, 'PUT');
      assert.equal(headers['content-type'], 'application/json');
      assert.equal(headers['x-correlation-id'], 'abc-1');
      assert.match(headers['x-idempotency-key'] ?? '', /^[0-9a-f]{64}$/);
      assert.equal(headers['if-none-exist'], undefined);
    }
    assert.equal(new Set(seen.map(({ headers }) => headers['x-idempotency-key'])).size, 22);
    assert.equal(maxInFlight, 8);
    assert.ok(connections <= 8, `${connections} connections`);
    await whole();
  });

  test('digits of decimals arrive as they are', async () => {
    const { clinic, publish } = await start(open);
    await publish(clinic);
    const { seen } = await open.state();
    assert.ok(seen.some(({ body }) => body.includes('"value":123456.7890')));
  });

  test('the idempotency key is the SHA-256 over target, type, local id and content [PUB-16]', async () => {
    const { clinic, publish, fhirServerId } = await start(open, {}, 2);
    await publish(clinic);
    const { seen } = await open.state();
    assert.equal(seen.length, 4);
    for (const { path, headers, body } of seen) {
      const [type, id] = path.split('/');
      const expected = hash('sha256', `${fhirServerId}\n${type}\n${id}\n${body}`);
      assert.equal(headers['x-idempotency-key'], expected, path);
    }
  });

  test('publishing again updates the same resources [PUB-17]', async () => {
    const { clinic, publish, whole } = await start(open);
    await publish(clinic);
    const again = await publish(clinic);
    assert.ok(again.every(({ versionId, status }) => versionId === '2' && status === 200));
    await whole();
  });

  test('server ids: POST once with If-None-Exist, then PUT to the ids that were given [PUB-19, PUB-20, PUB-21]', async () => {
    const { clinic, publish, whole } = await start(strict, OF_SERVER);
    const first = await publish(clinic);
    const { seen } = await strict.state();
    assert.ok(
      seen.every(({ method, body }) => method === 'POST' && !/^\{"resourceType":"\w+","id"/.test(body)),
    );
    for (const { headers, body } of seen) {
      const condition = new URLSearchParams(headers['if-none-exist']).get('identifier');
      const { identifier } = JSON.parse(body) as { identifier: { system: string; value: string }[] };
      assert.ok(identifier.some(({ system, value }) => `${system}|${value}` === condition));
      assert.match(condition ?? '', new RegExp(`^urn:uuid:${clinic.scope.organisationId}\\|`));
    }
    assert.ok(first.every(({ id, localId, status }) => id !== localId && status === 201));
    await strict.script();
    const second = await publish(clinic);
    assert.deepEqual(
      second.map(({ localId, id, method }) => [localId, id, method]),
      first.map(({ localId, id }) => [localId, id, 'PUT']),
    );
    await whole();
  });

  test('send: what is referred to comes first, and every reference can be followed [PUB-25]', async () => {
    const { clinic, publish } = await start(strict, OF_SERVER);
    const types = (await publish(clinic)).map(({ resourceType }) => resourceType);
    assert.deepEqual([...new Set(types)].sort(), [
      'DiagnosticReport',
      'Encounter',
      'Observation',
      'Organization',
      'Patient',
      'Practitioner',
      'ServiceRequest',
    ]);
    assert.ok(types.indexOf('Encounter') > types.indexOf('Patient'));
    assert.ok(types.indexOf('ServiceRequest') > types.indexOf('Encounter'));
  });

  test('logical: Patient, Practitioner and Encounter are named by identifier, inner references stay [PUB-24]', async () => {
    const { clinic, publish } = await start(open, { referencePolicy: 'logical' });
    await publish(clinic);
    const { resources } = await open.state();
    const order = resources.find(({ resourceType }) => resourceType === 'ServiceRequest');
    const subject = order?.subject as { type: string; reference?: string; identifier: { value: string } };
    assert.equal(subject.type, 'Patient');
    assert.equal(subject.reference, undefined);
    assert.match(subject.identifier.value, /^PAT-/);
    const requester = order?.requester as { display: string; identifier: { value: string } };
    assert.equal(requester.display, 'Dr. Ada Brook');
    assert.match(requester.identifier.value, /^LIC-/);
    const result = resources.find(({ resourceType }) => resourceType === 'Observation');
    assert.deepEqual(result?.basedOn, [{ reference: `ServiceRequest/${clinic.orderId}` }]);
  });

  test('literal on a server that enforces references fails and says what to do [PUB-23]', async () => {
    const enforcing = await serveFhir();
    try {
      const clinic = await createClinic(database.pool);
      const { addTarget, publish } = createTestPublisher(database.pool);
      await addTarget(clinic, { base: enforcing.base });
      await assert.rejects(publish(clinic), (error: { statusCode: number; message: string }) => {
        assert.equal(error.statusCode, 502);
        assert.match(
          error.message,
          /ServiceRequest .* PUT answered 422 \(error not-found\) - .* use the reference policy send\./,
        );
        assert.match(error.message, /0 of 22 resources are stored/);
        return true;
      });
    } finally {
      await enforcing.stop();
    }
  });

  test('what changed or was entered in error is updated by the next publish [PUB-42]', async () => {
    const { clinic, publish, whole } = await start(strict, OF_SERVER);
    await publish(clinic);
    await clinic.change({ observation: { status: 'entered-in-error' }, report: { status: 'amended' } });
    await publish(clinic);
    const resources = await whole();
    const status = (type: string, localId: string) =>
      resources.find(
        ({ resourceType, identifier }) =>
          resourceType === type && identifier?.some(({ value }) => value === localId),
      )?.status;
    assert.equal(status('Observation', clinic.observationIds[0] ?? ''), 'entered-in-error');
    assert.equal(status('DiagnosticReport', clinic.reportId), 'amended');
  });

  for (const [policy, deleted] of [
    ['server', false],
    ['server', true],
    ['client', false],
  ] as const)
    test(`a resource that the target ${deleted ? 'deleted (410)' : 'lost (404)'} is written again, ids by ${policy} [PUB-39]`, async () => {
      const server = policy === 'server' ? strict : open;
      const { clinic, publish, whole } = await start(server, { ...OF_SERVER, idPolicy: policy });
      const first = await publish(clinic);
      const lost = first.find(({ resourceType }) => resourceType === 'ServiceRequest');
      await server.remove(`ServiceRequest/${lost?.id}`, { deleted });
      if (policy === 'server')
        await server.script({
          kind: 'status',
          type: 'ServiceRequest',
          method: 'PUT',
          status: deleted ? 410 : 404,
        });
      const second = await publish(clinic);
      const written = second.find(({ resourceType }) => resourceType === 'ServiceRequest');
      assert.equal(written?.status, 201);
      await whole();
    });

  test('a target that holds it already, made by someone else, is written over, not doubled', async () => {
    await strict.reset();
    const clinic = await createClinic(database.pool, { results: FEW });
    const { addTarget, publish } = createTestPublisher(database.pool);
    const settings = { base: strict.base, ...OF_SERVER } as const;
    await addTarget(clinic, settings);
    const first = await publish(clinic);
    // Another target on the same server: nothing is on record for it.
    const other = await addTarget(clinic, settings);
    await clinic.change({ report: { status: 'amended' } });
    const second = await publish(clinic, { target: other.name });
    assert.deepEqual(
      second.map(({ localId, id }) => [localId, id]),
      first.map(({ localId, id }) => [localId, id]),
    );
    const resources = await requireWhole({
      db: database.pool,
      server: strict,
      clinic,
      fhirServerId: other.id,
    });
    assert.equal(
      resources.find(({ resourceType }) => resourceType === 'DiagnosticReport')?.status,
      'amended',
    );
  });

  test('credentials are sent as the target is configured, and a refusal says so', async () => {
    const guarded = await serveFhir(NO_INTEGRITY, '--require', 'Bearer other');
    try {
      const clinic = await createClinic(database.pool, { results: 1 });
      const { addTarget, publish } = createTestPublisher(database.pool);
      await addTarget(clinic, { base: guarded.base });
      await assert.rejects(publish(clinic), /401 .*the target refuses our credentials/);
    } finally {
      await guarded.stop();
    }
  });

  test('the access is on record before anything is sent [PUB-49]', async () => {
    const { clinic, publish, entries } = await start(open, {}, 1);
    await publish(clinic, { purposeOfUse: 'TREATMENT' });
    assert.deepEqual(
      entries.map(({ action, resourceId, outcome, purposeOfUse }) => [
        action,
        resourceId,
        outcome,
        purposeOfUse,
      ]),
      [['lab-order.publish', clinic.orderId, 'allowed', 'TREATMENT']],
    );
  });

  test('nothing is sent when the access log cannot be written [PUB-49]', async () => {
    const { clinic, publish, entries } = await start(open, {}, 1);
    entries.push = () => {
      throw new Error('not written');
    };
    await assert.rejects(publish(clinic), /not written/);
    assert.equal((await open.state()).seen.length, 0);
  });

  test('two publishes at once, of two processes, double nothing: the second waits [PUB-33]', async () => {
    await strict.reset();
    const clinic: PublishClinic = await createClinic(database.pool, { results: FEW });
    const nodes = Array.from({ length: 4 }, () =>
      createTestPublisher(database.pool, { clock: PUBLISH.clock }),
    );
    const target = await nodes[0]?.addTarget(clinic, { base: strict.base, ...OF_SERVER });
    const all = await Promise.all(nodes.map(({ publish }) => publish(clinic)));
    const ids = all.map((published) => published.map(({ id }) => id));
    for (const other of ids) assert.deepEqual(other, ids[0]);
    await requireWhole({ db: database.pool, server: strict, clinic, fhirServerId: target?.id ?? '' });
  });

  test('patients who share a practitioner, published at once, make one practitioner', async () => {
    await strict.reset();
    const first = await createClinic(database.pool, { results: 2 });
    const { rows } = await database.pool.query('select name from practitioner where id = $1', [
      first.practitionerId,
    ]);
    assert.equal(rows.length, 1);
    const doctor = { resourceType: 'Practitioner', id: first.practitionerId, name: rows[0].name };
    const clinics = [first];
    for (let n = 0; n < 5; n += 1)
      clinics.push(
        await createClinic(database.pool, { results: 2, scope: first.scope, practitioner: doctor }),
      );
    const node = createTestPublisher(database.pool, { clock: PUBLISH.clock });
    const target = await node.addTarget(first, { base: strict.base, ...OF_SERVER });
    await Promise.all(clinics.map((clinic) => node.publish(clinic, { target: target.name })));
    const { resources } = await strict.state();
    assert.equal(resources.filter(({ resourceType }) => resourceType === 'Practitioner').length, 1);
    assert.equal(resources.filter(({ resourceType }) => resourceType === 'Patient').length, 6);
  });

  test('a result that is a vital sign too, published with its order and its set at once, is stored once', async () => {
    await strict.reset();
    const clinic = await createClinic(database.pool, { results: 1 });
    await clinic.change({
      observation: {
        category: [
          {
            coding: [
              { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' },
            ],
          },
        ],
        code: { coding: [{ system: 'http://loinc.org', code: '2708-6' }] },
        valueQuantity: { value: 97, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
      },
    });
    const { rows } = await database.pool.query('select id from vital_set where patient_id = $1', [
      clinic.patientId,
    ]);
    assert.equal(rows.length, 1);
    const node = createTestPublisher(database.pool, { clock: PUBLISH.clock });
    const settings = { base: strict.base, ...OF_SERVER } as const;
    const target = await node.addTarget(clinic, settings);
    const context = contextOf(clinic.scope, { purposeOfUse: 'OPS', correlationId: 'both' });
    await Promise.all([
      node.publish(clinic),
      node.publisher.publish(vitalSetSource(database.pool), { id: rows[0].id, target: undefined }, context),
    ]);
    await requireWhole({ db: database.pool, server: strict, clinic, fhirServerId: target.id });
  });
});
