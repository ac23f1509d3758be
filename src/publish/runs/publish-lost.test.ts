/** FHIR servers that say that something is gone, that have lost it, or that were reset (docs/adr/0050). */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import type { Fault } from '../../../test-support/fhir-server/faults.ts';
import { serveFhir, type TestFhirServer } from '../../../test-support/fhir-server/start.ts';
import {
  createClinic,
  createTestPublisher,
  type PublishClinic,
} from '../../../test-support/publish/publish-records.ts';
import { requireWhole } from '../../../test-support/publish/published.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { isShared } from '../plan/resource-types.ts';
import type { PublishedResource } from '../publish.schema.ts';
import type { NewFhirServer } from '../servers/manage-fhir-servers.ts';

/** With 2 results: ServiceRequest, two Observations, DiagnosticReport. */
const STEPS = 4;
const STRAY = [404, 409, 410, 412];

/** A record with an identifier of its own does not carry ours under our id. */
const IDENTIFIER = [{ system: 'urn:oid:1.2.3.4', value: 'R-1' }];

/** By their options: tests that need the same share one. */
const servers = new Map<string, Promise<TestFhirServer>>();
const database = await createTestDatabase();
after(async () => {
  for (const server of servers.values()) await (await server).stop();
  await database.drop();
});
const clinic = await createClinic(database.pool, { results: 2 });
await clinic.change({ report: { identifier: IDENTIFIER } });

describe('what a target does not have', () => {
  function start(...options: string[]): Promise<TestFhirServer> {
    const name = options.toSorted().join(' ');
    const server = servers.get(name) ?? serveFhir(...options);
    servers.set(name, server);
    return server;
  }

  async function fresh(server: TestFhirServer, settings: Partial<NewFhirServer>) {
    await server.reset();
    const node = createTestPublisher(database.pool);
    const { id, name } = await node.addTarget(clinic, { base: server.base, ...settings });
    const publish = (of: PublishClinic = clinic) => node.publish(of, { target: name });
    const whole = () => requireWhole({ db: database.pool, server, clinic, fhirServerId: id });
    return { publish, whole, fhirServerId: id };
  }

  const ofServer = { idPolicy: 'server', referencePolicy: 'send' } as const;

  for (const [name, settings, options] of [
    ['ids by client', {}, ['--no-integrity']],
    ['ids by client, without versions', {}, ['--no-integrity', '--no-versions']],
    ['ids by server', ofServer, ['--no-client-ids']],
    ['ids by server, without versions', ofServer, ['--no-client-ids', '--no-versions']],
    ['ids by server, without conditional create', ofServer, ['--no-client-ids', '--no-conditional-create']],
    ['ids by server, without search', ofServer, ['--no-client-ids', '--no-search']],
  ] as const)
    test(`one stray 404, 409, 410 or 412 on an update makes no double: ${name} [PUB-40]`, async () => {
      const server = await start(...options);
      const node = await fresh(server, settings);
      const first = await node.publish();
      // Without versions there was no condition that could have failed.
      const refused = name.includes('without versions') ? [409, 412] : [];
      const gotOver = STRAY.filter((status) => !refused.includes(status));
      for (const turn of gotOver.keys()) {
        await server.script(...strayForEach(first, [...gotOver.slice(turn), ...gotOver.slice(0, turn)]));
        assert.deepEqual(idsOf(await node.publish()), idsOf(first));
        await publishNext(server, node, turn % 2 === 0 ? 'amended' : 'final');
      }
      for (const status of refused) await requireRefused(server, node, { status, first });
    });

  const idsOf = (published: PublishedResource[]) => published.map(({ id }) => id);

  /** One stray answer to the first update of each, with another status for each. */
  function strayForEach(published: PublishedResource[], statuses: number[]): Fault[] {
    return published.map(({ resourceType, id }, index) => ({
      kind: 'status',
      status: statuses[index % statuses.length] ?? 404,
      key: `${resourceType}/${id}`,
    }));
  }

  async function requireRefused(
    server: TestFhirServer,
    node: Awaited<ReturnType<typeof fresh>>,
    { status, first }: { status: number; first: PublishedResource[] },
  ): Promise<void> {
    for (const [index, { resourceType }] of first.entries()) {
      await server.script({ kind: 'status', status, nth: index + 1 });
      // 409 may tell that a publish of another patient writes it in this moment.
      if (status === 409 && isShared(resourceType)) await node.publish();
      else await assert.rejects(node.publish(), new RegExp(`${status}`));
      await publishNext(server, node, index % 2 === 0 ? 'amended' : 'final');
    }
  }

  /** What changes after stray answers is written to the same resources. */
  async function publishNext(
    server: TestFhirServer,
    { publish, whole }: Awaited<ReturnType<typeof fresh>>,
    status: string,
  ): Promise<void> {
    await server.script();
    await clinic.change({ report: { identifier: IDENTIFIER, status } });
    await publish();
    await whole();
  }

  test('one stray 404 on a first publish: our ids all the same', async () => {
    const server = await start('--no-integrity');
    for (let step = 1; step <= STEPS; step += 1) {
      const { publish, whole } = await fresh(server, {});
      await server.script({ kind: 'status', status: 404, nth: step });
      const published = await publish();
      for (const { id, localId } of published) assert.equal(id, localId);
      await whole();
    }
  });

  for (const kind of ['Practitioner', 'Patient', 'ServiceRequest', 'Observation', 'DiagnosticReport'])
    for (const deleted of [false, true])
      test(`a ${kind} that a server with ids of its own ${deleted ? 'deleted' : 'lost'} is made again`, async () => {
        const server = await start('--no-client-ids', '--no-integrity');
        const { publish, whole } = await fresh(server, ofServer);
        const first = await publish();
        const gone = first.find(({ resourceType }) => resourceType === kind);
        await server.remove(`${kind}/${gone?.id}`, { deleted });
        await publish();
        await whole();
        assert.equal((await server.state()).resources.length, first.length);
      });

  test('what the target deleted under our id and does not take again is made under an id of its own', async () => {
    const server = await start('--no-integrity');
    const { publish, whole } = await fresh(server, {});
    await publish();
    const key = `DiagnosticReport/${clinic.reportId}`;
    await server.remove(key, { deleted: true });
    await server.script({ kind: 'status', status: 410, key, times: 1_000 });
    await publish();
    await whole();
    await publish();
    await whole();
  });

  for (const versions of [true, false])
    test(`a server that was reset and counts from 1 again: nobody is written over (${versions ? 'with' : 'without'} versions) [PUB-41]`, async () => {
      const server = await start(
        '--no-client-ids',
        '--sequential-ids',
        '--no-integrity',
        ...(versions ? [] : ['--no-versions']),
      );
      const other = await createClinic(database.pool, { results: 2, scope: clinic.scope });
      const { publish, fhirServerId } = await fresh(server, { idPolicy: 'server' });
      await publish();
      await publish(other);
      await server.reset();
      await publish(other);
      for (const next of [clinic, other]) {
        await publish(next);
        const { resources } = await server.state();
        assert.equal(resources.length, 2 * STEPS, 'nothing was written over');
      }
      const { resources } = await server.state();
      for (const [of, count] of [
        [clinic, STEPS],
        [other, STEPS],
      ] as const)
        assert.equal(
          resources.filter(
            ({ subject }) => (subject as { reference: string }).reference === `Patient/${of.patientId}`,
          ).length,
          count,
        );
      const { rows } = await database.pool.query(
        'select count(*)::int as rows, count(distinct (resource_type, server_id))::int as ids from publish_resource where target_id = $1',
        [fhirServerId],
      );
      assert.deepEqual(rows, [{ rows: 2 * STEPS, ids: 2 * STEPS }]);
    });

  test("a stranger's resource of that id is left alone [PUB-41]", async () => {
    const server = await start('--no-client-ids', '--no-integrity');
    const { publish } = await fresh(server, { idPolicy: 'server' });
    const first = await publish();
    const report = first.find(({ resourceType }) => resourceType === 'DiagnosticReport');
    const stranger = { resourceType: 'DiagnosticReport', id: report?.id ?? '', status: 'final' };
    await server.put(stranger);
    const second = await publish();
    const { resources } = await server.state();
    const reports = resources.filter(({ resourceType }) => resourceType === 'DiagnosticReport');
    assert.equal(reports.length, 2);
    assert.equal(reports.find(({ id }) => id === report?.id)?.identifier, undefined);
    assert.notEqual(second.at(-1)?.id, report?.id);
  });

  test('an update goes with the version that is on record; a first write with none', async () => {
    const server = await start('--no-integrity');
    const { publish } = await fresh(server, {});
    await publish();
    assert.ok((await server.state()).seen.every(({ headers }) => headers['if-match'] === undefined));
    await server.script();
    await publish();
    const { seen } = await server.state();
    assert.deepEqual(
      seen.map(({ method, headers }) => [method, headers['if-match']]),
      Array.from({ length: STEPS }, () => ['PUT', 'W/"1"']),
    );
  });

  test('a write that the target carries out after a newer one does not replace it [PUB-40]', async () => {
    const server = await start('--no-integrity');
    const { publish, whole } = await fresh(server, { timeoutMs: 400 });
    await publish();
    const key = `DiagnosticReport/${clinic.reportId}`;
    await clinic.change({ report: { status: 'final' } });
    await server.script({ kind: 'slow', key, delayMs: 1_200 });
    await publish();
    await clinic.change({ report: { status: 'entered-in-error' } });
    await publish();
    await waitUntil(async () => (await server.state()).late === 1, 'the older one is carried out');
    const resources = await whole();
    assert.equal(
      resources.find(({ resourceType }) => resourceType === 'DiagnosticReport')?.status,
      'entered-in-error',
    );
  });

  test('another id in the answer to a PUT than the one that was written to is a failure', async () => {
    const server = await start('--no-integrity');
    const { publish, whole } = await fresh(server, {});
    await server.script({ kind: 'other-id', type: 'DiagnosticReport' });
    await assert.rejects(publish(), /PUT answered 201 with another id than the one in the request/);
    await server.script();
    await publish();
    await whole();
  });

  for (const idPolicy of ['client', 'server'] as const)
    test(`a report with a large document whose answer was lost is found again (ids by ${idPolicy}) [PUB-30]`, async () => {
      const server = await start('--no-integrity');
      const { publish, whole } = await fresh(server, { idPolicy });
      // Of other answers at most 4 MiB are read.
      const data = Buffer.alloc(4 * 1024 ** 2).toString('base64');
      await clinic.change({ report: { presentedForm: [{ contentType: 'application/pdf', data }] } });
      // An id of ours is in doubt once there is a version.
      if (idPolicy === 'client') await publish();
      await server.script({ kind: 'drop-after', type: 'DiagnosticReport' });
      await publish();
      await whole();
    });
});
