import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestApi, type TestNode, useEmptyApi } from '../../../test-support/service/api.ts';

const api = await useEmptyApi();

const linesOf = (node: TestNode) =>
  node
    .logs()
    .split('\n')
    .filter((line) => line.includes('"event":"proxy.untrusted"'));
const call = (node: TestNode, headers: Record<string, string>) =>
  node.call('/encounters/fhir/metadata', { headers });

test('a node without TRUST_PROXY says once that forwarded headers arrive, and never the address in them', async () => {
  await call(api, { via: '1.1 proxy' });
  assert.equal(linesOf(api).length, 0);
  for (const name of ['x-forwarded-for', 'forwarded', 'x-forwarded-for'])
    assert.equal((await call(api, { [name]: '198.51.100.77' })).status, 200);
  const [line = '', ...more] = linesOf(api);
  assert.equal(more.length, 0);
  const { level, msg } = JSON.parse(line) as { level: number; msg: string };
  assert.equal(level, 40);
  assert.match(msg, /TRUST_PROXY/);
  assert.ok(!api.logs().includes('198.51.100.77'));
  const forwarded = await api.addNode();
  await call(forwarded, { forwarded: 'for=198.51.100.77' });
  assert.equal(linesOf(forwarded).length, 1);
});

test('a node with TRUST_PROXY says nothing', async () => {
  const behind = await startTestApi({ env: { TRUST_PROXY: 'loopback' } });
  try {
    await call(behind, { 'x-forwarded-for': '198.51.100.77' });
    assert.equal(linesOf(behind).length, 0);
  } finally {
    await behind.close();
  }
});
