import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Registry } from 'prom-client';
import {
  createClinic,
  createTestClock,
  createTestPublisher,
  startPublishing,
} from '../../../test-support/publish/publish-records.ts';

const { database, server } = await startPublishing('--no-integrity');
const clinic = await createClinic(database.pool, { results: 1 });

describe('metrics of publishing', () => {
  async function start() {
    const registry = new Registry();
    const clock = createTestClock();
    const node = createTestPublisher(database.pool, { clock }, { metrics: { registry } });
    const { name } = await node.addTarget(clinic, { base: server.base });
    const labels = `organisation="${clinic.scope.organisationId}",target="${name}"`;
    /** The value of a line; undefined when there is none. */
    const value = async (metric: string, outcome?: string): Promise<number | undefined> => {
      const wanted = `${metric}{${labels}${outcome === undefined ? '' : `,outcome="${outcome}"`}} `;
      const line = (await registry.metrics()).split('\n').find((text) => text.startsWith(wanted));
      return line === undefined ? undefined : Number(line.slice(wanted.length));
    };
    return { publish: () => node.publish(clinic, { target: name }), value, clock, registry };
  }
  const PUBLISHES = 'interchange_publish_duration_seconds_count';
  const REQUESTS = 'interchange_publish_request_duration_seconds_count';
  const PUBLISH_BREAKER = 'interchange_publish_circuit_open';

  test('requests and publishes by target and outcome, with their durations [PUB-57]', async () => {
    const { publish, value } = await start();
    await server.script({ kind: 'status', status: 503, type: 'Observation' });
    await publish();
    await publish();
    await server.script({ kind: 'status', status: 422, type: 'Observation' });
    await assert.rejects(publish());
    assert.equal(await value(PUBLISHES, 'done'), 2);
    assert.equal(await value(PUBLISHES, 'refused'), 1);
    assert.equal(await value(REQUESTS, '201'), 3);
    assert.equal(await value(REQUESTS, '503'), 1);
    assert.equal(await value(REQUESTS, '422'), 1);
    assert.ok(((await value('interchange_publish_duration_seconds_sum', 'done')) ?? 0) > 0);
    assert.equal(await value(PUBLISH_BREAKER), 0);
  });

  test('statuses that nobody knows are one line', async () => {
    const { publish, value, registry } = await start();
    for (let status = 430; status < 440; status += 1) {
      await server.script({ kind: 'status', status });
      await assert.rejects(publish());
    }
    assert.equal(await value(REQUESTS, 'other'), 10);
    assert.doesNotMatch(await registry.metrics(), /outcome="43\d"/);
  });

  test('the circuit of a target that does not answer [PUB-57]', async () => {
    const { publish, value, clock, registry } = await start();
    await server.script({ kind: 'drop', times: 10_000 });
    for (let n = 0; n < 3; n += 1) await assert.rejects(publish());
    assert.equal(await value(PUBLISH_BREAKER), 1);
    await assert.rejects(publish());
    assert.equal(await value(PUBLISHES, 'unavailable'), 3);
    assert.equal(await value(PUBLISHES, 'circuit_open'), 1);
    assert.ok(((await value(REQUESTS, 'unanswered')) ?? 0) > 3);
    await server.script();
    await clock.sleep(15_000);
    assert.equal(await value(PUBLISH_BREAKER), 0, 'the next publish may try');
    await publish();
    assert.equal(await value(PUBLISH_BREAKER), 0);
    const all = await registry.getMetricsAsJSON();
    assert.equal(all.find(({ name }) => name === PUBLISH_BREAKER)?.aggregator, 'max');
  });
});
