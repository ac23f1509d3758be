/** The way in of the console: every route by cookie alone, for pages of the console alone, at no other address. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAnswerCheck } from '../test-support/http/documented-answers.ts';
import { sendRaw } from '../test-support/http/raw-http.ts';
import { addressOf, type RegisteredRoute, sampleRequest } from '../test-support/http/route-requests.ts';
import { seedRecords } from '../test-support/records/seed-tenant.ts';
import { useEmptyApi } from '../test-support/service/api.ts';
import { openBrowser, signInAtConsole } from '../test-support/service/console.ts';

const api = await useEmptyApi();
const isDocumented = createAnswerCheck((await api.call('/docs/json')).json);
const tenant = await api.createTenant();
const seeds = await seedRecords(api.database.pool, tenant);
const account = await api.createAccount(tenant, { userType: 'STAFF' });
const browser = await signInAtConsole(api, account);

describe('the entrance of the console', () => {
  const shared = () =>
    api.api.routes.filter(({ path, route }) => path.startsWith('/api/v1/') && route.access.kind !== 'open');
  const open = () =>
    api.api.routes.filter(({ path, route }) => path.startsWith('/api/v1/') && route.access.kind === 'open');
  const own = () => api.api.consoleRoutes;

  /** The sample request of a route, with the path that it has at the console. */
  function sample(entry: RegisteredRoute) {
    const request = sampleRequest(entry, seeds);
    const { method, headers, body } = request;
    const path = addressOf(request).replace(/^\/(api\/v1|console\/api)/, '');
    return { path, options: { method, headers, ...(body === undefined ? {} : { body }) } };
  }

  async function walk(entries: RegisteredRoute[], visit: (entry: RegisteredRoute) => Promise<void>) {
    assert.ok(entries.length > 0);
    const failures: string[] = [];
    for (const entry of entries)
      await visit(entry).catch((error: Error) =>
        failures.push(`${entry.method} ${entry.path}: ${error.message}`),
      );
    assert.deepEqual(failures, []);
  }

  test('answers every call of the API to a cookie, and tells no token from none [SIGN-IN-52]', async () => {
    await walk(shared(), async (entry) => {
      const { path, options } = sample(entry);
      const client = entry.route.access.kind === 'session' ? await signInAtConsole(api, account) : browser;
      const answer = await client.call(path, { ...options, token: 'nonsense' });
      assert.ok(![401, 403, 404].includes(answer.status), `${answer.status} ${answer.text}`);
      const headers = { ...options.headers, authorization: `Bearer ${account.token}` };
      const refused = await openBrowser(api).call(path, { ...options, headers });
      assert.equal(refused.status, 401, refused.text);
    });
  });

  test('opens nothing at /api/v1 [SIGN-IN-52]', async () => {
    await walk(shared(), async (entry) => {
      const { path, options } = sample(entry);
      const headers = { ...options.headers, cookie: browser.cookie ?? '', 'x-interchange-console': '1' };
      const refused = await api.call(path, { ...options, headers });
      assert.equal(refused.status, 401, refused.text);
      assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
    });
  });

  test('refuses calls of other pages, of whatever route, before it looks who calls [SIGN-IN-55]', async () => {
    await walk([...shared(), ...own()], async (entry) => {
      const { path, options } = sample(entry);
      for (const client of [browser, openBrowser(api)])
        for (const site of ['cross-site', 'same-site', 'none', '']) {
          const headers = { ...options.headers, 'sec-fetch-site': site };
          const answer = await client.call(path, { ...options, headers });
          assert.equal(answer.status, 403, `${site} ${answer.text}`);
          assert.match(answer.json.message, /another site/);
        }
      if (entry.method === 'GET') return;
      for (const value of ['', '0', '1, 1', 'background']) {
        const headers = { ...options.headers, 'x-interchange-console': value };
        const answer = await browser.call(path, { ...options, headers });
        assert.match(`${answer.status} ${answer.json.message}`, /^403 .*x-interchange-console/);
      }
    });
    assert.equal((await browser.call('/session')).status, 200, 'and nothing was done');
  });

  test('answers nobody without a session but who signs in [SIGN-IN-56]', async () => {
    await walk(open(), async (entry) => {
      const { path, options } = sample(entry);
      for (const client of [browser, openBrowser(api)])
        assert.equal((await client.call(path, options)).status, 404);
    });
    for (const path of ['/docs', '/docs/json', '/docs/', '/nothing'])
      assert.equal((await browser.call(path)).status, 404, path);
    const others = own().filter(({ method, path }) => method !== 'POST' || path !== '/console/api/session');
    await walk(others, async (entry) => {
      const { path, options } = sample(entry);
      const headers = { ...options.headers, authorization: `Bearer ${account.token}` };
      assert.equal((await openBrowser(api).call(path, { ...options, headers })).status, 401);
    });
  });

  test('answers as the OpenAPI document says', async () => {
    await walk(own(), async (entry) => {
      const { path, options } = sample(entry);
      for (const client of [await signInAtConsole(api, account), openBrowser(api)]) {
        const { status, headers, text } = await client.call(path, options);
        assert.ok(status < 500, text);
        isDocumented(entry, { status, headers: Object.fromEntries(headers), body: text });
      }
    });
  });

  test('is at no other address, however the path is written [SIGN-IN-52]', async () => {
    const port = Number(new URL(api.origin).port);
    const targets = [
      '/console/api//patients/base',
      '/console/api/%2fpatients/base',
      '/console/api/../../api/v1/patients/base',
      '/console/api/..%2fpatients/base',
      '/console//api/patients/base',
      '/console/%61pi/patients/base',
      '/%63onsole/api/patients/base',
      '/CONSOLE/api/patients/base',
      '/console/api;/patients/base',
      '/console/api\\patients/base',
      '//console/api/patients/base',
      `http://localhost:${port}/console/api/patients/base`,
      '/api/v1/console/api/patients/base',
      '/console/api/console/api/session',
      '/console/api/%73ession',
      '/api/v1/session',
      '/api/v1/../../console/api/patients/base',
      '/console/apipatients/base',
    ];
    const headers = { cookie: browser.cookie ?? '', authorization: `Bearer ${account.token}` };
    for (const target of targets) {
      const answer = await sendRaw(port, { method: 'GET', target, headers });
      // The console's own page answers below /console/, whatever is asked for there.
      const isPage = /^text\/html/.test(answer.headers['content-type'] ?? '');
      assert.ok(isPage || [400, 404].includes(answer.status), `${answer.status} ${target}`);
    }
    // Written otherwise, but the same route: the cookie alone counts there too, and the page is asked for.
    for (const target of ['/%63onsole/api/session', `http://localhost:${port}/console/api/session`]) {
      const asked = { authorization: `Bearer ${account.token}` };
      assert.equal((await sendRaw(port, { method: 'GET', target, headers: asked })).status, 401, target);
      const cross = { cookie: browser.cookie ?? '', 'sec-fetch-site': 'cross-site' };
      assert.equal((await sendRaw(port, { method: 'GET', target, headers: cross })).status, 403, target);
    }
  });

  test('keeps the names of the routes in the log and the metrics', async () => {
    const headers = { 'x-correlation-id': 'console-route-name' };
    await browser.call(`/patients/base/${seeds.patientId}`, { headers });
    const line = api
      .logs()
      .split('\n')
      .find((one) => one.includes('console-route-name') && one.includes('"route"'));
    assert.equal(JSON.parse(line ?? '{}').route, '/api/v1/patients/base/:patientId');
    assert.doesNotMatch(api.logs(), new RegExp(browser.cookie?.split('=')[1] ?? 'none'));
  });
});
