/** `interchange target test --probe`: what is written, read and removed, and what that shows. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { serveFhir, type TestFhirServer } from '../../../test-support/fhir-server/start.ts';
import { runCommand } from '../../../test-support/service/command.ts';

const TOKEN = 'tok-of-the-probe';
const MASTER_KEY = randomBytes(32).toString('hex');

const database = await useTestDatabase();

describe('a probe of a target', () => {
  let server: TestFhirServer | undefined;
  let count = 0;
  afterEach(async () => {
    await server?.stop();
    server = undefined;
  });

  const run = (line: string, stdin = '') =>
    runCommand(['target', ...line.split(' ')], {
      env: { DATABASE_URL: database.url, MASTER_KEY },
      stdin,
    });

  /** A FHIR server for a server of these options. */
  async function start(options: string[], settings = ''): Promise<{ name: string; server: TestFhirServer }> {
    server = await serveFhir('--require', `Bearer ${TOKEN}`, ...options);
    count += 1;
    const name = `t${count}`;
    const line = `create --name ${name} --base ${server.base} --auth bearer --secret-stdin ${settings}`;
    const created = await run(line.trim(), TOKEN);
    assert.equal(created.code, 0, created.stderr);
    return { name, server };
  }
  async function check(name: string, ...options: string[]) {
    const { code, stdout, stderr } = await run(`test --name ${name} --json ${options.join(' ')}`.trim());
    return { code, stderr, ...JSON.parse(stdout) };
  }
  const methods = async (of: TestFhirServer) => (await of.state()).seen.map(({ method }) => method);

  test('without --probe nothing is written; what is not declared is advice [PUB-53]', async () => {
    const { name, server } = await start(['--no-declared-ids']);
    const { code, ok, faults, advice, probe } = await check(name);
    assert.deepEqual([code, ok, faults, probe], [0, true, [], undefined]);
    assert.match(advice.join('\n'), /does not declare that it accepts our ids .*--probe/);
    assert.deepEqual(await methods(server), ['GET']);
  });

  test('a server that takes our ids and does not say so: written, written again, read, removed [PUB-53]', async () => {
    const { name, server } = await start(['--no-declared-ids']);
    const { code, stderr, ok, faults, advice, probe } = await check(name, '--probe');
    assert.deepEqual([code, ok, faults], [0, true, []]);
    assert.deepEqual(await methods(server), ['GET', 'PUT', 'PUT', 'GET', 'DELETE']);
    assert.deepEqual((await server.state()).resources, []);
    const [, written] = (await server.state()).seen;
    const resource = JSON.parse(written?.body ?? '{}');
    assert.deepEqual(probe.resource, resource);
    assert.equal(resource.status, 'entered-in-error');
    assert.equal('subject' in resource, false);
    assert.ok(stderr.includes(JSON.stringify(resource)), 'said before');
    assert.deepEqual(probe.steps, [
      { step: 'write', path: `Observation/${resource.id}`, done: true },
      { step: 'write again', path: `Observation/${resource.id}`, done: true },
      { step: 'read', path: `Observation/${resource.id}`, done: true },
      { step: 'remove', path: `Observation/${resource.id}`, done: true },
    ]);
    assert.match(
      advice.join('\n'),
      /^ServiceRequest, Specimen, ImagingStudy, DiagnosticReport: .* The probe, an Observation, was taken\.$/m,
    );
  });

  test('a server that refuses our ids, declared or not: a fault with its words, and nothing is left', async () => {
    for (const options of [['--no-client-ids', '--no-declared-ids'], ['--no-client-ids']]) {
      const { name, server } = await start(options);
      const { code, ok, faults, probe } = await check(name, '--probe');
      assert.deepEqual([code, ok], [1, false]);
      assert.match(faults.join('\n'), /the server refuses the probe: PUT answered 405 .*id policy server/);
      assert.deepEqual(
        probe.steps.map(({ step, done }: { step: string; done: boolean }) => [step, done]),
        [['write', false]],
      );
      assert.deepEqual(await methods(server), ['GET', 'PUT']);
      await server.stop();
    }
    server = undefined;
  });

  test('ids by the server: created once, updated under the id that it gave, removed', async () => {
    const { name, server } = await start(['--no-client-ids'], '--id-policy server');
    const { code, ok } = await check(name, '--probe');
    assert.deepEqual([code, ok], [0, true]);
    assert.deepEqual(await methods(server), ['GET', 'POST', 'PUT', 'GET', 'DELETE']);
    assert.deepEqual((await server.state()).resources, []);
  });

  test('what was written is removed also when a later step fails', async () => {
    const { name, server } = await start([]);
    await server.script({ kind: 'status', method: 'PUT', nth: 2, status: 422 });
    const { code, faults, probe } = await check(name, '--probe');
    assert.equal(code, 1);
    assert.match(faults.join('\n'), /the server refuses the probe: PUT answered 422/);
    assert.equal(probe.steps.at(-1).step, 'remove');
    assert.deepEqual((await server.state()).resources, []);
  });

  test('a create whose answer was lost is looked for, and removed', async () => {
    const settings = '--id-policy server --timeout-ms 2000';
    const { name, server } = await start(['--no-client-ids'], settings);
    await server.script(
      { kind: 'hold', method: 'POST' },
      { kind: 'status', method: 'GET', type: 'Observation', status: 403, times: 1 },
      { kind: 'status', method: 'POST', status: 422, times: 10 },
    );
    const { code, probe } = await check(name, '--probe');
    assert.equal(code, 1);
    assert.equal(probe.removed, true);
    assert.deepEqual((await server.state()).resources, []);
  });

  test('what cannot be removed is said, with where it is', async () => {
    const { name, server } = await start(['--no-deletes']);
    const { code, ok, advice, probe } = await check(name, '--probe');
    assert.deepEqual([code, ok, probe.removed], [0, true, false]);
    const [left] = (await server.state()).resources;
    assert.match(
      advice.join('\n'),
      new RegExp(
        `could not be removed: DELETE answered 405.*Observation/${left?.id}.*Ask the operator of the server`,
      ),
    );
    const text = await run(`test --name ${name} --probe`);
    assert.match(text.stdout, /could not be removed/);
    assert.match(text.stderr, /is about to be written to http/);
  });

  test('a server whose /metadata cannot be read is not written to', async () => {
    const { name, server } = await start([]);
    await server.script({ kind: 'status', method: 'GET', type: 'metadata', status: 500 });
    const { code, faults, probe } = await check(name, '--probe');
    assert.deepEqual([code, probe], [1, null]);
    assert.match(faults.join('\n'), /no CapabilityStatement/);
    assert.deepEqual(await methods(server), ['GET']);
  });
});
