/** An API of a test file, with one account at one facility. It ends with the file. */
import { type AccountOptions, type Tenant, type TestAccount, type TestApi, useEmptyApi } from './api.ts';

interface ApiTest {
  api: TestApi;
  tenant: Tenant;
  account: TestAccount;
}

export async function useTestApi(options: AccountOptions = {}): Promise<ApiTest> {
  const api = await useEmptyApi();
  const tenant = await api.createTenant();
  return { api, tenant, account: await api.createAccount(tenant, options) };
}
