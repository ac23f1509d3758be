/** What holds for every path alike: where it lies, the correlation id of its answers, and calls of other web pages. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sendRaw } from '../test-support/http/raw-http.ts';
import { rawSampleRequest } from '../test-support/http/route-requests.ts';
import { seedRecords } from '../test-support/records/seed-tenant.ts';
import { useEmptyApi } from '../test-support/service/api.ts';

const FORGED = 'forged.example.net';
const ELSEWHERE = 'https://elsewhere.example.org';
/** The public keys, whose address no version changes, and the page of a setup link. */
const OUTSIDE_THE_VERSION = /^\/(\.well-known\/jwks\.json|console(\/|$))/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const api = await useEmptyApi();

describe('every path', () => {
  test('lies below the version prefix [HTTP-1]', () => {
    assert.equal(new URL(api.baseUrl).pathname, '/api/v1');
    const outside = api.api.routes.map(({ path }) => path).filter((path) => !path.startsWith('/api/v1/'));
    assert.deepEqual(
      outside.filter((path) => !OUTSIDE_THE_VERSION.test(path)),
      [],
    );
    assert.ok(outside.length < api.api.routes.length);
  });

  test('allows no call of a page of another origin [HTTP-28]', async () => {
    const tenant = await api.createTenant();
    const seeds = await seedRecords(api.database.pool, tenant);
    const { token } = await api.createAccount(tenant);
    const asked = { origin: ELSEWHERE, 'access-control-request-method': 'GET' };
    for (const entry of api.api.routes) {
      const { method, target, headers, body } = rawSampleRequest(entry, seeds, token);
      const url = api.origin + target;
      const answers = [
        await api.call(url, { method, headers: { ...headers, origin: ELSEWHERE }, body }),
        await api.call(url, { method: 'OPTIONS', headers: asked }),
      ];
      for (const answer of answers)
        for (const [name] of answer.headers)
          assert.doesNotMatch(name, /^access-control-/, `${method} ${entry.path}`);
      assert.ok((answers[1]?.status ?? 0) >= 400, `${entry.path} answers a preflight`);
    }
  });

  test('makes its links from the public address, whatever the request says of hosts [HTTP-22]', async () => {
    const tenant = await api.createTenant();
    const seeds = await seedRecords(api.database.pool, tenant);
    const { token } = await api.createAccount(tenant);
    const port = Number(new URL(api.origin).port);
    let links = 0;
    for (const entry of api.api.routes.filter(({ method }) => method === 'GET')) {
      const request = rawSampleRequest(entry, seeds, token);
      const hosts = { host: FORGED, 'x-forwarded-host': FORGED, forwarded: `host=${FORGED}` };
      const { body } = await sendRaw(port, { ...request, headers: { ...request.headers, ...hosts } });
      assert.ok(!body.includes(FORGED), entry.path);
      if (body.includes(`"${api.baseUrl}/`)) links += 1;
    }
    assert.ok(links > 3, 'there are links');
  });

  test('answers with the correlation id of its caller, or with a new one where that is none [HTTP-7]', async () => {
    const answered = async (path: string, given?: string) => {
      const headers: Record<string, string> = given === undefined ? {} : { 'x-correlation-id': given };
      return (await api.call(path, { headers })).headers.get('x-correlation-id') ?? '';
    };
    for (const path of ['/encounters/fhir/metadata', '/encounters/fhir/Encounter', '/nope']) {
      for (const good of ['a', 'Az09._-', 'x'.repeat(128)]) assert.equal(await answered(path, good), good);
      for (const bad of [undefined, '', 'x'.repeat(129), 'a b', 'a/b', 'a,b', 'ä'])
        assert.match(await answered(path, bad), UUID, `${path} ${bad}`);
      assert.notEqual(await answered(path), await answered(path));
    }
  });
});
