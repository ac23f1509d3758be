/** A header that can have one value only is refused when it comes twice: nobody knows which one a proxy believed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exchangeBytes, type RawAnswer, type RawRequest, sendRaw } from '../test-support/http/raw-http.ts';
import { rawSampleRequest } from '../test-support/http/route-requests.ts';
import { seedRecords } from '../test-support/records/seed-tenant.ts';
import { useTestApi } from '../test-support/service/use-api.ts';

const { api, tenant, account } = await useTestApi();
const seeds = await seedRecords(api.database.pool, tenant);
const port = Number(new URL(api.origin).port);

describe('a header that comes twice', () => {
  const send = (request: RawRequest): Promise<RawAnswer> => sendRaw(port, request);

  /** A good request of each route, and of paths that are no route of the API. */
  function* requests(): Generator<RawRequest> {
    for (const entry of api.api.routes) yield rawSampleRequest(entry, seeds, account.token);
    for (const target of [
      '/nope',
      '/api/v1/nope',
      '/healthz',
      '/readyz',
      '/api/v1/docs',
      '/api/v1/docs/json',
      // Not percent-encoded UTF-8.
      '/api/v1/%zz',
    ])
      yield { method: 'GET', target, headers: { authorization: `Bearer ${account.token}` } };
  }

  function isRefused({ status, headers, body }: RawAnswer, name: string, where: string): void {
    assert.equal(status, 400, `${where}: ${status} ${body}`);
    const document = JSON.parse(body.toString());
    assert.deepEqual(Object.keys(document), ['statusCode', 'message', 'error']);
    assert.match(document.message, new RegExp(`header ${name} `, 'i'));
    assert.match(headers['content-type'] ?? '', /^application\/json/);
    assert.ok(headers['x-correlation-id']);
  }

  test('is 400 on every route, known or not, when it is Authorization, whichever comes first [HTTP-20]', async () => {
    const good = `Bearer ${account.token}`;
    for (const request of requests())
      for (const authorization of [
        [good, 'Bearer other'],
        ['Bearer other', good],
        [good, good],
      ]) {
        const answer = await send({ ...request, headers: { ...request.headers, authorization } });
        isRefused(answer, 'Authorization', `${request.method} ${request.target}`);
      }
  });

  test('is 400 on every route when it is Host or Content-Type, the same value twice too [HTTP-20]', async () => {
    for (const request of requests()) {
      const where = `${request.method} ${request.target}`;
      for (const host of [
        ['localhost', 'other'],
        ['localhost', 'localhost'],
      ])
        isRefused(await send({ ...request, headers: { ...request.headers, host } }), 'Host', where);
      const types = ['application/json', 'text/csv'];
      const answer = await send({ ...request, headers: { ...request.headers, 'content-type': types } });
      isRefused(answer, 'Content-Type', where);
    }
  });

  test('is 400 when it frames the body', async () => {
    const post = { method: 'POST', target: '/api/v1/auth/verify' };
    for (const headers of [
      { 'transfer-encoding': ['chunked', 'chunked'] },
      { 'transfer-encoding': ['gzip', 'chunked', 'gzip'] },
      { 'transfer-encoding': 'chunked', 'content-length': ['2', '2'] },
    ])
      assert.equal((await send({ ...post, headers, body: Buffer.from('{}') })).status, 400);
    const lengths =
      'POST /api/v1/auth/verify HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{} ';
    const [answer] = await exchangeBytes(port, Buffer.from(lengths));
    assert.equal(answer?.status, 400);
  });

  test('is 400 after the token when it names the organisation or the facility', async () => {
    const target = '/api/v1/patients/base';
    const authorization = `Bearer ${account.token}`;
    const ids = { 'x-org-id': tenant.organisationId, 'x-facility-id': tenant.facilityId };
    for (const [name, id] of Object.entries(ids)) {
      const doubled = { [name]: [id, id] };
      const answer = await send({ method: 'GET', target, headers: { authorization, ...doubled } });
      assert.equal(answer.status, 400);
      assert.match(
        JSON.parse(answer.body.toString()).message,
        new RegExp(`^The header ${name} was sent more than once`),
      );
      assert.equal((await send({ method: 'GET', target, headers: doubled })).status, 401);
    }
  });

  test('is 401 when it is the signature of a callback', async () => {
    const target = `/api/v1/exchange/connections/${seeds.connectionId}/callback`;
    const headers = { 'content-type': 'application/json', 'x-signature': ['a'.repeat(64), 'a'.repeat(64)] };
    assert.equal((await send({ method: 'POST', target, headers, body: Buffer.from('{}') })).status, 401);
  });

  test('counts as one list where HTTP says so, and as none where it is a correlation id', async () => {
    const read = await api.call(`/encounters/fhir/Encounter/${seeds.encounterId}?purposeOfUse=TREATMENT`, {
      token: account.token,
    });
    const answer = await send({
      method: 'GET',
      target: `/api/v1/encounters/fhir/Encounter/${seeds.encounterId}?purposeOfUse=TREATMENT`,
      headers: {
        authorization: `Bearer ${account.token}`,
        'if-none-match': ['"other"', read.headers.get('etag') ?? ''],
        'x-correlation-id': ['first', 'second'],
      },
    });
    assert.equal(answer.status, 304);
    assert.match(answer.headers['x-correlation-id'] ?? '', /^[0-9a-f-]{36}$/);
  });
});
