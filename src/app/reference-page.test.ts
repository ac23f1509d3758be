/** The reference page and everything it loads. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestApi, type TestApi } from '../../test-support/api.ts';

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
