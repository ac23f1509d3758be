/** That no change of the administration is made without its entry in the record of changes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { insertPatient } from '../../../test-support/records/clinical-records.ts';
import {
  type Answer,
  startTestApi,
  type Tenant,
  type TestAccount,
  type TestApi,
} from '../../../test-support/service/api.ts';

let api: TestApi;
let owner: pg.Client;
let tenant: Tenant;
let admin: TestAccount;
before(async () => {
  api = await startTestApi();
  owner = new pg.Client({ connectionString: api.database.url });
  await owner.connect();
  tenant = await api.createTenant();
  admin = await api.createAccount(tenant, { userType: 'STAFF' });
});
after(async () => {
  await owner?.end();
  await api?.close();
});

const as = (path: string, method: string, body?: unknown): Promise<Answer> =>
  api.call(path, { token: admin.token, method, ...(body === undefined ? {} : { body }) });

/** What is written although the change is refused: who called, and how often. */
const BESIDE = new Set(['access_log', 'administration_audit', 'activity_hour']);

/** Every row of the organisation, but for those. */
async function stateOf({ organisationId }: Tenant): Promise<Record<string, string[]>> {
  const { rows } = await owner.query<{ name: string }>(`
    select c.table_name as name from information_schema.columns c
    join information_schema.tables t on t.table_name = c.table_name and t.table_schema = c.table_schema
    where c.column_name = 'organisation_id' and c.table_schema = 'public' and t.table_type = 'BASE TABLE'`);
  const state: Record<string, string[]> = {};
  for (const { name } of rows.filter((row) => !BESIDE.has(row.name))) {
    const text = `select t::text as line from ${name} t where organisation_id = $1 order by 1`;
    const found = await owner.query<{ line: string }>(text, [organisationId]);
    state[name] = found.rows.map(({ line }) => line);
  }
  return state;
}

/** While `work` runs, nothing can be added to the record. */
async function withoutRecord(work: () => Promise<void>): Promise<void> {
  await owner.query('alter table administration_audit add constraint closed check (false) not valid');
  try {
    await work();
  } finally {
    await owner.query('alter table administration_audit drop constraint closed');
  }
}

interface Change {
  path: string;
  method: string;
  body?: unknown;
}

async function changes(): Promise<Change[]> {
  const role = (await as('/roles', 'POST', { name: `r ${randomUUID()}`, permissions: ['roles.manage'] }))
    .json;
  const system = await api.createAccount(tenant, { permissions: ['roles.manage'] });
  const former = await api.createAccount(tenant, { permissions: ['roles.manage'] });
  await as(`/accounts/${former.userId}/disable`, 'POST');
  const connection = { address: 'https://exchange.example.org/in', clientId: 'c' };
  const { id } = (await as('/exchange/connections', 'POST', { ...connection, name: 'one' })).json;
  await as(`/exchange/connections/${id}/rotate-secret`, 'POST', {});
  const maps = '/terminology/maps';
  const entry = { localCode: 'HB', targetSystem: 'http://loinc.org', targetCode: '718-7' };
  await as(maps, 'PUT', entry);
  const patientId = await insertPatient(api.database.pool, tenant);
  const account = `/accounts/${system.userId}`;
  const created = { userType: 'EHR', roleId: role.id };
  return [
    { path: '/accounts', method: 'POST', body: { ...created, email: `a-${randomUUID()}@example.org` } },
    { path: account, method: 'PATCH', body: { email: `b-${randomUUID()}@example.org`, roleId: role.id } },
    { path: `${account}/unlock`, method: 'POST' },
    { path: `${account}/remove-second-factor`, method: 'POST' },
    { path: `${account}/sessions`, method: 'DELETE' },
    { path: `${account}/reset-password`, method: 'POST', body: { password: 'setup-link' } },
    { path: `${account}/disable`, method: 'POST' },
    { path: `/accounts/${former.userId}/enable`, method: 'POST' },
    { path: '/roles', method: 'POST', body: { name: 'new', permissions: ['roles.manage'] } },
    { path: `/roles/${role.id}`, method: 'PATCH', body: { name: 'renamed' } },
    { path: `/facilities/${tenant.facilityId}`, method: 'PATCH', body: { name: 'Ward' } },
    { path: '/exchange/connections', method: 'POST', body: { ...connection, name: 'two' } },
    { path: `/exchange/connections/${id}`, method: 'PATCH', body: { timeoutMs: 5_000 } },
    { path: `/exchange/connections/${id}/activate-secret`, method: 'POST' },
    { path: `/exchange/connections/${id}/rotate-secret`, method: 'POST', body: {} },
    { path: `/exchange/connections/${id}/disable`, method: 'POST' },
    { path: maps, method: 'PUT', body: { ...entry, localCode: 'NA' } },
    { path: `${maps}?localCode=HB&targetSystem=http://loinc.org`, method: 'DELETE' },
    { path: `/patients/base/${patientId}/privacy`, method: 'PUT', body: { refusedPurposes: ['RESEARCH'] } },
  ];
}

test('no change is made that is not on record: each is one transaction with its entry [ADM-30, ADM-34]', async () => {
  for (const { path, method, body } of await changes()) {
    const before = await stateOf(tenant);
    await withoutRecord(async () => {
      const refused = await as(path, method, body);
      assert.equal(refused.status, 500, `${method} ${path}: ${refused.text}`);
    });
    assert.deepEqual(await stateOf(tenant), before, `${method} ${path}`);
    const answer = await as(path, method, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
  }
});
