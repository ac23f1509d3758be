/** Servers that lack one of the two guards against doubles (docs/adr/0050). */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import { serveFhir } from '../../../test-support/fhir-server/start.ts';
import { createClinic, createTestPublisher } from '../../../test-support/publish/publish-records.ts';
import { requireWhole } from '../../../test-support/publish/published.ts';
import { listenHere } from '../../../test-support/service/free-port.ts';

/** More than a target takes at once. */
const RESULTS = 10;
const STEPS = RESULTS + 2;
/** For what is not answered in time. Everything else has time, also on a machine that is busy. */
const SHORT_MS = 600;
const LONG_MS = 10_000;

const database = await useTestDatabase();
const clinic = await createClinic(database.pool, { results: RESULTS });

describe('servers that lack what guards against doubles', () => {
  for (const [option, name] of [
    ['--no-conditional-create', 'without conditional create, the search settles it'],
    ['--no-search', 'without search, conditional create settles it'],
  ] as const)
    test(name, async () => {
      const server = await serveFhir('--no-integrity', '--no-client-ids', option);
      try {
        for (const kind of ['drop-after', 'reset', 'wrong-json', 'slow-after'] as const)
          for (const step of [1, 7, STEPS]) {
            await server.reset();
            const { addTarget, publish } = createTestPublisher(database.pool);
            const target = await addTarget(clinic, {
              base: server.base,
              idPolicy: 'server',
              timeoutMs: kind === 'slow-after' ? SHORT_MS : LONG_MS,
            });
            await server.script({ kind, nth: step, delayMs: 2 * SHORT_MS });
            await publish(clinic, { target: target.name });
            await requireWhole({ db: database.pool, server, clinic, fhirServerId: target.id });
          }
      } finally {
        await server.stop();
      }
    });

  test('without conditional create, a create that is done late makes two: the one that was answered is written to from then on', async () => {
    const server = await serveFhir('--no-integrity', '--no-client-ids', '--no-conditional-create');
    try {
      const node = createTestPublisher(database.pool);
      // A busy machine stands still for less than a second.
      const timeoutMs = 4_000;
      const { name } = await node.addTarget(clinic, { base: server.base, idPolicy: 'server', timeoutMs });
      await server.script(
        // Done after it was given up, while the second is under way.
        { kind: 'slow', type: 'ServiceRequest', delayMs: timeoutMs + 1_000 },
        { kind: 'slow', type: 'ServiceRequest', delayMs: 2_000 },
      );
      const published = await node.publish(clinic, { target: name });
      const { resources } = await server.state();
      const orders = resources.filter(({ resourceType }) => resourceType === 'ServiceRequest');
      assert.equal(orders.length, 2);
      const [again] = await node.publish(clinic, { target: name });
      assert.deepEqual([again?.id, again?.method], [published[0]?.id, 'PUT']);
    } finally {
      await server.stop();
    }
  });

  /** Publishes to a server that answers like that, each of which fails with these words. Returns what they sent. */
  async function failedPublish(
    answers: (request: IncomingMessage, body: object) => [status: number, body: string],
    message: RegExp,
    times = 1,
  ): Promise<{ fhirServerId: string; sent: string[] }> {
    const sent: string[] = [];
    const server = createServer(async (request, response) => {
      sent.push(`${request.method} ${request.url?.split('?')[0]}`);
      const given = await text(request);
      const [status, body] = answers(request, given === '' ? {} : JSON.parse(given));
      response.writeHead(status).end(body);
    });
    const base = `http://127.0.0.1:${await listenHere(server)}`;
    try {
      const { addTarget, publish } = createTestPublisher(database.pool);
      const { id, name } = await addTarget(clinic, { base, idPolicy: 'server' });
      for (let time = 1; time <= times; time += 1)
        await assert.rejects(publish(clinic, { target: name }), { code: 'target_refused', message });
      return { fhirServerId: id, sent };
    } finally {
      server.close();
    }
  }

  test('a server that gives two records one id: the publish stops there, and what came before is on record [PUB-30]', async () => {
    const { fhirServerId } = await failedPublish(
      ({ method }, body) => [
        201,
        JSON.stringify({ ...(method === 'POST' ? body : { resourceType: 'Basic' }), id: 'same' }),
      ],
      /stopped at Observation \S+ the target gave it the id of the Observation \S+; ask its operator/,
    );
    const { rows } = await database.pool.query<{ resource_type: string }>(
      'select resource_type from publish_resource where target_id = $1 and server_id is not null order by 1',
      [fhirServerId],
    );
    assert.deepEqual(
      rows.map(({ resource_type }) => resource_type),
      ['Observation', 'ServiceRequest'],
    );
  });

  for (const [what, bodyOf] of [
    ['nothing', () => ''],
    ['an OperationOutcome', () => '{"resourceType":"OperationOutcome"}'],
    ['what it was sent', (body: object) => JSON.stringify(body)],
    ['an object that is no resource', () => '{}'],
    ['the id null', (body: object) => JSON.stringify({ ...body, id: null })],
  ] as const)
    for (const status of [201, 202])
      test(`a server that answers ${status} with ${what}, says no id and does not search gets one copy`, async () => {
        const { sent } = await failedPublish(
          ({ method }, body) => (method === 'POST' ? [status, bodyOf(body)] : [403, '']),
          /stopped at ServiceRequest \S+ POST answered 20[12] without an id - the target must say the id/,
        );
        assert.deepEqual(sent, ['POST /ServiceRequest', 'GET /ServiceRequest']);
      });

  test('a server that answers 200 with an error in an OperationOutcome has stored nothing', async () => {
    const error = JSON.stringify({
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'error', code: 'invalid' }],
    });
    const { sent } = await failedPublish(
      ({ method }, body) => [200, method === 'POST' ? JSON.stringify({ ...body, id: '7' }) : error],
      /stopped at ServiceRequest \S+ PUT answered 200 \(error invalid\)\. 0 of/,
    );
    assert.deepEqual(sent, ['POST /ServiceRequest', 'PUT /ServiceRequest/7']);
  });

  test('a create answered 201 with an error in an OperationOutcome: the message says the error, and asks for no id [PUB-29]', async () => {
    const error = JSON.stringify({
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'error', code: 'invalid' }],
    });
    const { sent } = await failedPublish(
      ({ method }) => (method === 'POST' ? [201, error] : [403, '']),
      /stopped at ServiceRequest \S+ POST answered 201 \(error invalid\)\. 0 of/,
    );
    assert.deepEqual(sent, ['POST /ServiceRequest', 'GET /ServiceRequest']);
  });

  test('a server that does not take the content type: the message says what to change', async () => {
    await failedPublish(
      () => [415, ''],
      /stopped at ServiceRequest \S+ POST answered 415 - .* content type: use application\/fhir\+json/,
    );
  });

  test('what may be there is searched for until the server answers, and is not created again', async () => {
    let kept: object = {};
    let searches = 0;
    const { sent } = await failedPublish(({ method }, body) => {
      if (method === 'PUT') return [422, ''];
      if (method === 'POST') {
        kept = { ...body, id: '7' };
        return [201, ''];
      }
      searches += 1;
      if (searches === 1) return [429, ''];
      return [
        200,
        JSON.stringify({ resourceType: 'Bundle', type: 'searchset', entry: [{ resource: kept }] }),
      ];
    }, /stopped at ServiceRequest \S+ PUT answered 422/);
    const path = 'ServiceRequest';
    assert.deepEqual(sent, [`POST /${path}`, `GET /${path}`, `GET /${path}`, `PUT /${path}/7`]);
  });

  test('a server that answers, and stores nothing, is not left alone for that [PUB-51]', async () => {
    const nothing = JSON.stringify({ resourceType: 'Bundle', type: 'searchset' });
    await failedPublish(
      ({ method, url }, body) => {
        if (method === 'POST') return [200, JSON.stringify({ ...body, id: '7' })];
        return method === 'GET' && url?.includes('?') ? [200, nothing] : [404, ''];
      },
      /stopped at ServiceRequest \S+ the target gives a different answer each time; ask its operator/,
      4,
    );
  });

  test('a server whose If-None-Exist finds a record of somebody else: it is not written over [PUB-41]', async () => {
    const stranger = { resourceType: 'ServiceRequest', id: '1', identifier: [{ system: 's', value: 'v' }] };
    const { sent } = await failedPublish(
      () => [200, JSON.stringify(stranger)],
      /stopped at ServiceRequest \S+ the target takes it for ServiceRequest 1, which is not ours; ask its operator/,
    );
    assert.deepEqual(sent, ['POST /ServiceRequest']);
  });
});
