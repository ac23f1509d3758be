/**
 * More writes at once than the process has connections, on every route that writes. A write that holds one connection
 * while it waits for another of the same pool would stop them all.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressOf, type RegisteredRoute, sampleRequest } from '../test-support/http/route-requests.ts';
import { seedRecords } from '../test-support/records/seed-tenant.ts';
import { useEmptyApi } from '../test-support/service/api.ts';

const CONNECTIONS = 2;
const CALLS = 4 * CONNECTIONS;

const api = await useEmptyApi({ env: { DATABASE_CONNECTIONS: String(CONNECTIONS) } });
const tenant = await api.createTenant();
const seeds = await seedRecords(api.database.pool, tenant);
const account = await api.createAccount(tenant);

test('answers every route that writes, called by more than there are connections', async () => {
  const writing = api.api.routes.filter(({ method }) => method !== 'GET');
  assert.ok(writing.some(({ route }) => route.docs.operationId === 'setPatientPrivacy'));
  const failures: string[] = [];
  for (const entry of writing) {
    // A new process, as after a start: its access log begins with the first of these calls.
    const node = await api.addNode();
    const { token } = entry.route.access.kind === 'session' ? await api.createAccount(tenant) : account;
    const answers = await Promise.all(Array.from({ length: CALLS }, () => callOn(node.origin, entry, token)));
    for (const { status, text } of answers)
      if (status === 500 || (status === 503 && /database|access log/.test(text)))
        failures.push(`${entry.method} ${entry.path}: ${status} ${text}`);
    await node.close();
  }
  assert.deepEqual(failures, []);
});

function callOn(origin: string, entry: RegisteredRoute, token: string) {
  const sample = sampleRequest(entry, seeds);
  return api.call(origin + addressOf(sample), {
    method: sample.method,
    headers: sample.headers,
    token,
    ...(sample.body === undefined ? {} : { body: sample.body }),
  });
}
