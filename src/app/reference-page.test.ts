/** The reference page and everything it loads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApi, useEmptyApi } from '../../test-support/service/api.ts';
import { NO_BROWSER, startBrowser } from '../../test-support/service/browser.ts';

const api = await useEmptyApi();

/** A file that is not read to its end keeps the service from closing. */
async function statusOf(url: string): Promise<number> {
  const file = await fetch(url);
  await file.arrayBuffer();
  return file.status;
}

test('the page loads each of its scripts and styles, without a slash at its end too [HTTP-27]', async () => {
  for (const path of ['/docs', '/docs/']) {
    const page = await fetch(api.baseUrl + path);
    assert.equal(page.status, 200);
    const links = [...(await page.text()).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) =>
      String(link),
    );
    assert.ok(links.length >= 4, 'it names its files');
    for (const link of links) {
      assert.equal(await statusOf(new URL(link, page.url).href), 200, link);
    }
  }
});

test('behind a path prefix, the page loads its files from below that prefix [HTTP-27]', async (t) => {
  const PREFIX = '/records';
  const behind = await startTestApi({
    env: { PUBLIC_BASE_URL: `https://proxy.example.org${PREFIX}/api/v1` },
  });
  t.after(() => behind.close());
  for (const path of ['/api/v1/docs', '/api/v1/docs/']) {
    const text = await (await fetch(behind.origin + path)).text();
    const links = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => String(link));
    assert.ok(links.length >= 4, 'it names its files');
    for (const link of links) {
      const { pathname } = new URL(link, `https://proxy.example.org${PREFIX}${path}`);
      assert.ok(pathname.startsWith(`${PREFIX}/`), pathname);
      assert.equal(await statusOf(behind.origin + pathname.slice(PREFIX.length)), 200, pathname);
    }
  }
});

test('the 404 of an unknown path names the page in words that hold behind a path prefix, too', async () => {
  const { status, json } = await api.call('/none');
  assert.equal(status, 404);
  assert.match(
    String(json.message),
    /on the page whose address ends in \/api\/v1\/docs\. None ends in a slash\.$/,
  );
});

test('a file that it does not have is 404 in the shape of every error, and not repeated [HTTP-2, HTTP-4, HTTP-31]', async () => {
  const unknown = await api.call('/none');
  for (const name of ['Okafor.css', 'theme/none.svg', '.hidden', '..%2f..%2fpackage.json']) {
    const file = await fetch(`${api.baseUrl}/docs/static/${name}`);
    assert.equal(file.status, 404, name);
    assert.deepEqual(await file.json(), unknown.json, name);
    const french = await fetch(`${api.baseUrl}/docs/static/${name}`, {
      headers: { 'accept-language': 'fr' },
    });
    assert.match(((await french.json()) as { message: string }).message, /^Ce chemin n’existe pas\./, name);
  }
});

test('the page has the name of the product, and no mark of somebody else', async () => {
  const page = await fetch(`${api.baseUrl}/docs/`);
  const text = await page.text();
  assert.match(text, /<title>interchange API<\/title>/);
  assert.doesNotMatch(text, /favicon-\d+x\d+|<title>Swagger/);
  const script = await (await fetch(`${api.baseUrl}/docs/static/swagger-initializer.js`)).text();
  const logo = /data:image\/svg\+xml;base64,([\w+/=]+)/.exec(script)?.[1] ?? '';
  assert.match(Buffer.from(logo, 'base64').toString(), />interchange</);
  const icon = await fetch(`${api.baseUrl}/docs/static/theme/icon.svg`);
  assert.equal(icon.status, 200);
  assert.match(icon.headers.get('content-type') ?? '', /^image\/svg/);
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

test('a browser shows every route, over plain http too [HTTP-27]', { skip: NO_BROWSER }, async () => {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on('console', (line) => line.type() === 'error' && faults.push(line.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('requestfailed', (one) => faults.push(one.url()));
    // Not loopback for the browser, which would take that for as safe as https.
    await page.goto(`http://plain.test:${new URL(api.origin).port}/api/v1/docs`);
    await page.getByText('/patients/base/{patientId}/access-log').first().waitFor();
    const logo = page.locator('.topbar img');
    await logo.waitFor();
    assert.equal(await logo.count(), 1);
    assert.match((await logo.getAttribute('src')) ?? '', /^data:image\/svg\+xml/);
    await page.getByText('/auth/verify').first().click();
    await page.getByText('Request body').first().waitFor();
    assert.deepEqual(faults, []);
  } finally {
    await browser.close();
  }
});
