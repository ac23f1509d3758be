/** An API of a test file, with one account at one facility. */
import { after, before } from 'node:test';
import { type AccountOptions, startTestApi, type Tenant, type TestAccount, type TestApi } from './api.ts';

interface ApiTest {
  readonly api: TestApi;
  readonly tenant: Tenant;
  readonly account: TestAccount;
}

export function useTestApi(options: AccountOptions = {}): ApiTest {
  let api: TestApi;
  let tenant: Tenant;
  let account: TestAccount;
  before(async () => {
    api = await startTestApi();
    tenant = await api.createTenant();
    account = await api.createAccount(tenant, options);
  });
  after(() => api.close());
  return {
    get api() {
      return api;
    },
    get tenant() {
      return tenant;
    },
    get account() {
      return account;
    },
  };
}
