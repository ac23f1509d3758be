/** `kill -9` of the publishing process between a write and the recording of its id. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { startFhirServer, type TestFhirServer } from '../../../test-support/fhir-server/start.ts';
import {
  createClinic,
  createTestPublisher,
  type PublishClinic,
} from '../../../test-support/publish/publish-records.ts';
import { requireWhole } from '../../../test-support/publish/published.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { listPublicationPage, listRuns } from '../history/publications.store.ts';
import { PUBLISH } from '../servers/publish-settings.ts';

const PROGRAM = fileURLToPath(new URL('../../../test-support/publish/publish-program.ts', import.meta.url));
/** More than a target takes at once. */
const RESULTS = 10;
const STEPS = RESULTS + 2;
/** Time enough for a process that is busy: a request, and a lease. */
const TIMEOUT_MS = 3_000;
const PUBLISH_LEASE = { marginMs: 3_000, waitMs: 30_000 };

describe('a publishing process that is killed', () => {
  let database: TestDatabase;
  let clinic: PublishClinic;
  const servers: TestFhirServer[] = [];
  before(async () => {
    database = await createTestDatabase();
    clinic = await createClinic(database.pool, { results: RESULTS });
  });
  after(async () => {
    for (const server of servers) await server.stop();
    await database.drop();
  });

  for (const [idPolicy, options, steps] of [
    ['client', [], [1, 9, STEPS]],
    ['server', ['--no-client-ids'], [1, 9, STEPS]],
    ['server', ['--no-client-ids', '--no-conditional-create'], [9]],
    ['server', ['--no-client-ids', '--no-search'], [9]],
  ] as const)
    test(`ids by ${idPolicy} ${options.join(' ')}: the next publish settles what was in doubt, and it is told as interrupted [PUB-31, PUB-45, ADM-43]`, async () => {
      const server = await startFhirServer('--no-integrity', ...options);
      servers.push(server);
      for (const step of steps) {
        await server.reset();
        const node = createTestPublisher(database.pool, { clock: PUBLISH.clock, lease: PUBLISH_LEASE });
        const settings = { base: server.base, idPolicy, timeoutMs: TIMEOUT_MS };
        const target = await node.addTarget(clinic, settings);
        await server.script({ kind: 'hold', nth: step });
        const child = startProgram({ url: database.url, target: target.name });
        await waitUntil(async () => (await server.state()).held === 1);
        assert.deepEqual(await outcomes(target.name), ['running']);
        child.kill('SIGKILL');
        await once(child, 'exit');
        // Once the lease ends by itself; after that the test does not wait for it.
        if (step > 1)
          await database.pool.query('update publish_lease set leased_until = now() where target_id = $1', [
            target.id,
          ]);
        if (step > 1) assert.deepEqual(await outcomes(target.name), ['interrupted']);
        await server.script();
        const published = await node.publish(clinic, { target: target.name });
        assert.equal(published.length, STEPS);
        await requireWhole({ db: database.pool, server, clinic, fhirServerId: target.id });
        const { rows } = await database.pool.query(
          'select outcome from publish_run where target_id = $1 order by begun_at',
          [target.id],
        );
        assert.deepEqual(
          rows.map(({ outcome }) => outcome),
          ['interrupted', 'done'],
        );
      }
    });

  /** Of the publishes to a target that have no end yet, as both lists of them tell. */
  async function outcomes(target: string): Promise<string[]> {
    const { scope, orderId } = clinic;
    const subject = { kind: 'lab-order', id: orderId } as const;
    const ofRecord = await listRuns(database.pool, scope, { subject, limit: 100 });
    const ofTarget = ofRecord.filter((run) => run.target === target);
    assert.ok(ofTarget.every(({ finishedAt }) => finishedAt === null));
    const told = ofTarget.map(({ outcome }) => outcome);
    for (const state of new Set(told)) {
      const found = await listPublicationPage(database.pool, scope, {
        filter: { target, state },
        limit: 100,
      });
      assert.deepEqual(
        found.map((run) => run.state),
        told.filter((outcome) => outcome === state),
      );
    }
    return told;
  }

  function startProgram({ url, target }: { url: string; target: string }): ChildProcess {
    const { organisationId, facilityId } = clinic.scope;
    const given = { url, target, organisationId, facilityId, orderId: clinic.orderId, lease: PUBLISH_LEASE };
    return fork(PROGRAM, [JSON.stringify(given)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  }
});
