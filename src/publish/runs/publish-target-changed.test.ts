/** A target that its operator changes while a publish to it waits for another one. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { Registry } from 'prom-client';
import { startFhirServer } from '../../../test-support/fhir-server/start.ts';
import {
  createClinic,
  createTestPublisher,
  type PublishClinic,
  startPublishing,
  type TestPublisher,
} from '../../../test-support/publish/publish-records.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import {
  changeFhirServer,
  createFhirServer,
  removeFhirServer,
  switchFhirServer,
} from '../servers/manage-fhir-servers.ts';
import { giveLeaseBack, takeLease } from './lease.store.ts';

const { database, server } = await startPublishing('--no-integrity', '--no-client-ids');
const ELSEWHERE = 'http://127.0.0.1:9/fhir';

const SETTINGS = { base: server.base, idPolicy: 'server' } as const;

interface OpenedTarget {
  id: string;
  name: string;
  /** Undefined: the default one. */
  asked: string | undefined;
}

let clinic: PublishClinic;
beforeEach(async () => {
  clinic = await createClinic(database.pool, { results: 1 });
});

/** A publish that waits while `change` is done; how it ended, as what it is counted, and how many ids are recorded then. */
async function publishMeanwhile(
  change: (which: { name: string; organisationId: string }) => Promise<unknown>,
  open: (node: TestPublisher) => Promise<OpenedTarget> = async (node) => {
    const { id, name } = await node.addTarget(clinic, SETTINGS);
    return { id, name, asked: name };
  },
): Promise<{ code: string; statusCode: number; counted: string | undefined; recorded: number }> {
  const keys = createKeyRing(randomBytes(32));
  const registry = new Registry();
  let looks = 0;
  const clock = {
    nowMs: () => 0,
    async sleep() {
      looks += 1;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const node = createTestPublisher(database.pool, { clock }, { keys, metrics: { registry } });
  const { id, name, asked } = await open(node);
  const { organisationId } = clinic.scope;
  const records = [`Patient/${clinic.patientId}`] as const;
  const lease = {
    key: { organisationId, fhirServerId: id, records },
    token: '00000000-0000-4000-8000-000000000001',
  };
  await takeLease(database.pool, { ...lease, durationMs: 600_000 });
  const publish = node.publish(clinic, asked === undefined ? {} : { target: asked }).then(
    () => ({ code: 'done', statusCode: 200 }),
    (error: { code: string; statusCode: number }) => error,
  );
  await waitUntil(() => looks > 0);
  await change({ name, organisationId });
  await giveLeaseBack(database.pool, lease);
  const { code, statusCode } = await publish;
  const { rows } = await database.pool.query<{ recorded: number }>(
    'select count(*)::integer as recorded from publish_resource where target_id = $1 and server_id is not null',
    [id],
  );
  const [, counted] =
    /^interchange_publish_duration_seconds_count\{.*outcome="(\w+)"/m.exec(await registry.metrics()) ?? [];
  return { code, statusCode, counted, recorded: rows[0]?.recorded ?? -1 };
}

const deps = { db: database.pool, keys: createKeyRing(randomBytes(32)) };

test('that has another address by then is told to come again: no id of the old server is recorded [PUB-55]', async () => {
  const ended = await publishMeanwhile((which) =>
    changeFhirServer(deps, which, {
      settings: { base: ELSEWHERE },
      secret: undefined,
      makeDefault: false,
      ids: 'forget',
    }),
  );
  assert.deepEqual(ended, { code: 'target_changed', statusCode: 503, counted: 'overtaken', recorded: 0 });
  assert.equal((await server.state()).seen.length, 0);
});

test('that gets the address of another server while a publish sends: none of its ids is sent there [PUB-55]', async (t) => {
  const another = await startFhirServer('--no-integrity', '--no-client-ids');
  t.after(() => another.stop());
  const { addTarget, publish } = createTestPublisher(database.pool);
  const { name } = await addTarget(clinic, SETTINGS);
  const which = { name, organisationId: clinic.scope.organisationId };
  await server.script({ kind: 'hold', type: 'Observation' });
  const sending = publish(clinic, { target: name });
  await waitUntil(async () => (await server.state()).held === 1, 'a result is sent');
  const moving = { secret: undefined, makeDefault: false };
  await changeFhirServer(deps, which, { ...moving, settings: { base: another.base }, ids: 'forget' });
  await server.release();
  await sending;
  await publish(clinic, { target: name });
  const { seen } = await another.state();
  assert.deepEqual(
    seen.filter(({ method }) => method === 'PUT').map(({ path }) => path),
    [],
    'the ids of the first server are not sent to the second',
  );
  await changeFhirServer(deps, which, { ...moving, settings: { base: server.base }, ids: 'forget' });
  await changeFhirServer(deps, which, { ...moving, settings: { base: ELSEWHERE } });
});

test('that is disabled by then sends nothing [PUB-55]', async () => {
  const ended = await publishMeanwhile((which) =>
    switchFhirServer(deps, which, { enabled: false, now: new Date() }),
  );
  assert.deepEqual(ended, { code: 'target_disabled', statusCode: 503, counted: 'overtaken', recorded: 0 });
  assert.equal((await server.state()).seen.length, 0);
});

test('that is removed by then sends nothing [PUB-55]', async () => {
  const ended = await publishMeanwhile((which) => removeFhirServer(deps, which, new Date()));
  assert.deepEqual(ended, { code: 'target_changed', statusCode: 503, counted: 'overtaken', recorded: 0 });
  assert.equal((await server.state()).seen.length, 0);
});

test('that is as it was is published to', async () => {
  const { code, recorded } = await publishMeanwhile(async () => undefined);
  assert.deepEqual([code, recorded], ['done', 3]);
});

test('that is the default one of all organisations is published to, though the organisation has its own of that name', async () => {
  const { code, recorded } = await publishMeanwhile(
    async () => undefined,
    async (node) => {
      const { id, name } = await createFhirServer(deps, {
        organisationId: null,
        settings: { ...SETTINGS, name: 'national', auth: 'none' },
        secret: undefined,
        makeDefault: true,
      });
      const { organisationId } = clinic.scope;
      const first = await node.addTarget(clinic, { base: ELSEWHERE });
      await createFhirServer(deps, {
        organisationId,
        settings: { base: ELSEWHERE, name, auth: 'none' },
        secret: undefined,
        makeDefault: false,
      });
      await removeFhirServer(deps, { organisationId, name: first.name }, new Date());
      return { id, name, asked: undefined };
    },
  );
  assert.deepEqual([code, recorded], ['done', 3]);
});
