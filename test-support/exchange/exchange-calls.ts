/** Calls of the exchange over HTTP, by an administrator of a tenant that each test has anew. */
import { after, beforeEach } from 'node:test';
import { documentedCalls } from '../http/documented-answers.ts';
import { startTestApi, type Tenant, type TestAccount } from '../service/api.ts';

/** Of the connections that a test makes. Nobody is there. */
const address = 'https://hie.example.org/patients';

/** The service of a test file. Every answer must be one that the OpenAPI document describes. */
export async function useExchangeCalls() {
  const api = await startTestApi();
  after(() => api.close());
  const documented = await documentedCalls(api);
  const caller = {} as { tenant: Tenant; account: TestAccount };
  beforeEach(async () => {
    caller.tenant = await api.createTenant();
    caller.account = await api.createAccount(caller.tenant);
  });
  const get = async (path: string, token = caller.account.token) =>
    documented('GET', path, await api.call(path, { token }));
  const post = async (path: string, body?: unknown, token = caller.account.token) =>
    documented('POST', path, await api.call(path, { token, method: 'POST', body }));
  return { api, documented, caller, address, get, post, pool: () => api.database.pool };
}
