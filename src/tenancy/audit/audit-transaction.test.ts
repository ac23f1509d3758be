/** That no change of the administration is made without its entry in the record of changes. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { insertPatient } from '../../../test-support/records/clinical-records.ts';
import { type Answer, type Tenant, useEmptyApi } from '../../../test-support/service/api.ts';

const api = await useEmptyApi();
const owner = await api.database.connectOwner();
const tenant = await api.createTenant();
const admin = await api.createAccount(tenant, { userType: 'STAFF' });

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
  action: string;
  path: string;
  method: string;
  body?: unknown;
  /** What was before and after, where it is not the matter of another test. */
  kept?: [before: object, after: object];
}

/** One after the other; each finds what the ones before left. */
async function changesOfAccounts(): Promise<Change[]> {
  const [system, former] = await Promise.all([0, 1].map(() => api.createAccount(tenant, HOLDER)));
  await as(`/accounts/${former?.userId}/disable`, 'POST');
  // What is unlocked and taken away below.
  const wrong = { identity: system?.userId, credential: 'wrong', userType: 'EHR' };
  assert.equal((await api.call('/auth/login', { body: wrong })).status, 403);
  await api.database.pool.query(
    `insert into account_totp (organisation_id, account_id, sealed_secret, last_step, created_at)
     values ($1, $2, '', 0, now())`,
    [tenant.organisationId, system?.userId],
  );
  const role = (await as('/roles', 'POST', { name: `r ${randomUUID()}`, permissions: ['roles.manage'] }))
    .json;
  const email = `${randomUUID()}@example.org`;
  const account = `/accounts/${system?.userId}`;
  const { facilityIds, ...was } = (await as(account, 'GET')).json;
  const created = { email: `a-${email}`, userType: 'EHR', facilityIds, mustChangePassword: true };
  const body = { ...created, roleId: role.id };
  const change = (action: string, path: string, more: Partial<Change> = {}): Change => ({
    action: `account.${action}`,
    path,
    method: 'POST',
    kept: [{}, {}],
    ...more,
  });
  const [on, off] = [{ disabled: false }, { disabled: true }];
  return [
    change('create', '/accounts', {
      body,
      kept: [{}, { ...created, role: role.name, password: 'generated' }],
    }),
    change('change', account, {
      method: 'PATCH',
      body: { email, roleId: role.id },
      kept: [
        { email: was.email, role: was.role.name },
        { email, role: role.name },
      ],
    }),
    change('unlock', `${account}/unlock`),
    change('end-sessions', `${account}/sessions`, { method: 'DELETE', kept: [{}, { sessions: 1 }] }),
    change('remove-second-factor', `${account}/remove-second-factor`),
    change('reset-password', `${account}/reset-password`, {
      body: { password: 'setup-link' },
      kept: [{}, { password: 'setup-link' }],
    }),
    change('disable', `${account}/disable`, { kept: [on, off] }),
    change('enable', `/accounts/${former?.userId}/enable`, { kept: [off, on] }),
  ];
}

const HOLDER = { permissions: ['roles.manage'] };

async function changesOfRoles(): Promise<Change[]> {
  const role = { name: 'one', permissions: ['roles.manage'], requiresSecondFactor: false };
  const { id } = (await as('/roles', 'POST', role)).json;
  const renamed = { name: 'renamed' };
  const other = { ...role, name: 'other' };
  const path = `/roles/${id}`;
  return [
    { action: 'role.create', path: '/roles', method: 'POST', body: other, kept: [{}, other] },
    { action: 'role.change', path, method: 'PATCH', body: renamed, kept: [{ name: 'one' }, renamed] },
    { action: 'role.delete', path, method: 'DELETE', kept: [{ ...role, ...renamed }, {}] },
  ];
}

async function changesOfOtherThings(): Promise<Change[]> {
  const given = { address: 'https://exchange.example.org/in', clientId: 'c' };
  const { id } = (await as('/exchange/connections', 'POST', { ...given, name: 'one' })).json;
  const path = `/exchange/connections/${id}`;
  await as(`${path}/rotate-secret`, 'POST', {});
  const map = { localCode: 'HB', targetSystem: 'http://loinc.org', targetCode: '718-7' };
  const patientId = await insertPatient(api.database.pool, tenant);
  const privacy = `/patients/base/${patientId}/privacy`;
  const name = 'Ward';
  const facility = `/facilities/${tenant.facilityId}`;
  const change = (action: string, to: string, method: string, body?: unknown): Change => ({
    action,
    path: to,
    method,
    body,
  });
  return [
    {
      ...change('facility.change', facility, 'PATCH', { name }),
      kept: [{ name: 'Test Facility' }, { name }],
    },
    change('connection.create', '/exchange/connections', 'POST', { ...given, name: 'two' }),
    change('connection.change', path, 'PATCH', { timeoutMs: 5_000 }),
    change('connection.activate-secret', `${path}/activate-secret`, 'POST'),
    change('connection.rotate-secret', `${path}/rotate-secret`, 'POST', {}),
    change('connection.change', `${path}/disable`, 'POST'),
    change('terminology-map.put', '/terminology/maps', 'PUT', map),
    change(
      'terminology-map.delete',
      '/terminology/maps?localCode=HB&targetSystem=http://loinc.org',
      'DELETE',
    ),
    change('patient.privacy', privacy, 'PUT', { refusedPurposes: ['RESEARCH'] }),
  ];
}

test('each change is on record in its own transaction, and is not made without [ADM-30, ADM-31, ADM-34]', async () => {
  const changes = [await changesOfAccounts(), await changesOfRoles(), await changesOfOtherThings()];
  for (const { action, path, method, body, kept } of changes.flat()) {
    const before = await stateOf(tenant);
    await withoutRecord(async () => {
      const refused = await as(path, method, body);
      assert.equal(refused.status, 500, `${method} ${path}: ${refused.text}`);
    });
    assert.deepEqual(await stateOf(tenant), before, `${method} ${path}`);
    const answer = await as(path, method, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    const [entry] = (await as('/administration/audit?limit=1', 'GET')).json.items;
    assert.deepEqual([entry.action, entry.actor.id], [action, admin.userId]);
    if (kept !== undefined) assert.deepEqual([entry.before, entry.after], kept, action);
  }
});
