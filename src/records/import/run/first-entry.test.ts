import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { useEmptyApi } from '../../../../test-support/service/api.ts';

const api = await useEmptyApi();

const FILE = new URL('../../../../demo/records/0-hospitals.json', import.meta.url);

test('a body is told the first entry that has an element, as a file is [IN-7]', async () => {
  const text = await readFile(FILE, 'utf8');
  const { token } = await api.createAccount(await api.createTenant());
  const { json } = await api.call('/imports/fhir?dryRun=true', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/fhir+json' },
    body: text,
  });
  const { notKept } = json as { notKept: { element: string; entry: number }[] };
  assert.ok(notKept.length > 0);
  const { entry: entries } = JSON.parse(text) as { entry: { resource: Record<string, unknown> }[] };
  for (const { element, entry } of notKept) {
    const [type, member = ''] = element.split('.');
    const first = entries.findIndex(({ resource }) => resource.resourceType === type && member in resource);
    assert.equal(entry, first + 1, element);
  }
});
