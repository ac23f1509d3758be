/** The reference page and everything it loads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApi, type TestApi } from '../../test-support/api.ts';
import { NO_BROWSER, startBrowser } from '../../test-support/browser.ts';

let api: TestApi;
before(async () => {
  api = await startTestApi();
});
after(async () => api?.close());

test('the page loads each of its scripts and styles, without a slash at its end too', async () => {
  for (const path of ['/docs', '/docs/']) {
    const page = await fetch(api.baseUrl + path);
    assert.equal(page.status, 200);
    const links = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) =>
      String(link),
    );
    assert.ok(links.length >= 4, 'it names its files');
    for (const link of links) {
      const file = await fetch(new URL(link, page.url));
      assert.equal(file.status, 200, link);
    }
  }
});

test('the OpenAPI document is served beside it', async () => {
  const { status, json } = await api.call('/docs/json');
  assert.equal(status, 200);
  assert.equal(json.openapi, '3.1.0');
});

test('its policy names no other origin, and asks for no https', async () => {
  const { headers } = await api.call('/docs');
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /upgrade-insecure-requests|https?:|swagger\.io|unsafe|\*/);
});

test('a browser shows every route, over plain http too', { skip: NO_BROWSER }, async () => {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('requestfailed', (one) => faults.push(one.url()));
    // Not loopback for the browser, which would take that for as safe as https.
    await page.goto(`http://plain.test:${new URL(api.origin).port}/api/v1/docs`);
    await page.getByText('/patients/base/{patientId}/access-log').first().waitFor({ timeout: 20_000 });
    await page.getByText('/auth/verify').first().click();
    await page.getByText('Request body').first().waitFor({ timeout: 10_000 });
    assert.deepEqual(faults, []);
  } finally {
    await browser.close();
  }
});
