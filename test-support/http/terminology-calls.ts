/** Calls of terminology maps, by somebody who manages those of two facilities. */
import { after, before, beforeEach } from 'node:test';
import { startTestApi, type TestApi } from '../service/api.ts';

export const LOINC = 'http://loinc.org';
export const HEADER = 'local_system,local_code,local_display,target_system,target_code,target_display';
export const entry = { localSystem: 'urn:lab', localCode: 'HGB', targetSystem: LOINC, targetCode: '718-7' };

type TerminologyCalls = Awaited<ReturnType<typeof terminologyCalls>>;

/** The service of a test file. Each test has a tenant that is new. */
export function useTerminologyCalls(): TerminologyCalls & { api: TestApi } {
  const calls = {} as TerminologyCalls & { api: TestApi };
  before(async () => {
    calls.api = await startTestApi();
  });
  after(() => calls.api.close());
  beforeEach(async () => {
    Object.assign(calls, await terminologyCalls(calls.api));
  });
  return calls;
}

async function terminologyCalls(api: TestApi) {
  // Maps belong to no module: they work where none is on.
  const tenant = await api.createTenant({ modules: [] });
  const sisterFacilityId = await api.createFacility(tenant.organisationId);
  const facilityIds = [tenant.facilityId, sisterFacilityId];
  const manager = await api.createAccount(tenant, { permissions: ['terminology.maps.manage'], facilityIds });
  const put = (body: unknown, headers: Record<string, string> = {}, account = manager) =>
    api.call('/terminology/maps', { method: 'PUT', token: account.token, headers, body });
  const get = (path: string, headers: Record<string, string> = {}, account = manager) =>
    api.call(`/terminology${path}`, { token: account.token, headers });
  const atSister = () => ({ 'x-facility-id': sisterFacilityId });
  const csvImport = (body: string | Uint8Array, query = '', headers: Record<string, string> = {}) =>
    api.call(`/terminology/maps/import${query}`, {
      method: 'POST',
      token: manager.token,
      headers: { 'content-type': 'text/csv', ...headers },
      body,
    });
  return { tenant, sisterFacilityId, manager, put, get, atSister, csvImport };
}
