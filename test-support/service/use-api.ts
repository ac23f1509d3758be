/** An API of a test file, with one account at one facility. */
import { after, before } from 'node:test';
import { type AccountOptions, startTestApi, type Tenant, type TestAccount, type TestApi } from './api.ts';

interface ApiTest {
  api: TestApi;
  tenant: Tenant;
  account: TestAccount;
}

export function useTestApi(options: AccountOptions = {}): ApiTest {
  const t = {} as ApiTest;
  before(async () => {
    t.api = await startTestApi();
    t.tenant = await t.api.createTenant();
    t.account = await t.api.createAccount(t.tenant, options);
  });
  after(() => t.api.close());
  return t;
}
