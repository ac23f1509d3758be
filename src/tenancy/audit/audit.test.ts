/** The record of who changed what. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { insertPatient } from '../../../test-support/records/clinical-records.ts';
import { seedRecords } from '../../../test-support/records/seed-tenant.ts';
import type { Json, TestAccount } from '../../../test-support/service/api.ts';
import { useTestApi } from '../../../test-support/service/use-api.ts';

const { api, tenant: here, account: admin } = await useTestApi();

const call = (path: string, options: { method?: string; body?: unknown; token?: string } = {}) =>
  api.call(path, { token: admin.token, ...options });
const read = async (query = '', token = admin.token): Promise<Json[]> =>
  (await call(`/administration/audit${query}`, { token })).json.items;

const linesOf = (text: string): Json[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a change says who made it, what it was, and what was before and after [ADM-31]', async () => {
  const role = { name: `role ${randomUUID()}`, permissions: ['encounters.access', 'records.import'] };
  const made = await call('/roles', { body: role });
  const body = { permissions: ['records.import'] };
  const changed = await call(`/roles/${made.json.id}`, { method: 'PATCH', body });
  const [newest, older] = await read(`?subject=${made.json.id}`);
  assert.deepEqual(newest, {
    id: newest?.id,
    at: newest?.at,
    actor: { kind: 'account', id: admin.userId, email: admin.email },
    action: 'role.change',
    subject: { type: 'role', id: made.json.id, name: role.name },
    before: { permissions: role.permissions },
    after: body,
    correlationId: changed.headers.get('x-correlation-id'),
  });
  assert.deepEqual([older?.action, older?.before, older?.after.name], ['role.create', {}, role.name]);
});

test('an entry names its author by the address of then, also where that is what changes [ADM-31]', async () => {
  const own = await api.createAccount(await api.createTenant());
  const body = { email: `new-${randomUUID()}@example.org` };
  const { token, email } = own;
  assert.equal((await call(`/accounts/${own.userId}`, { token, method: 'PATCH', body })).status, 200);
  const [entry] = await read('?action=account.change', token);
  assert.deepEqual([entry?.subject.name, entry?.actor.email, entry?.after], [email, email, body]);
});

test('what changes nothing leaves no entry [ADM-30]', async () => {
  const role = { name: `role ${randomUUID()}`, permissions: ['records.import'] };
  const { id } = (await call('/roles', { body: role })).json;
  const account = await api.createAccount(here);
  const { roleId, email } = (await call(`/accounts/${account.userId}`)).json;
  const facilityIds = [here.facilityId];
  const entry = {
    localSystem: 'urn:lab',
    localCode: 'HB',
    targetSystem: 'http://loinc.org',
    targetCode: '718-7',
    equivalence: 'equivalent',
  };
  const put = () =>
    call('/terminology/maps', { method: 'PUT', body: { ...entry, facilityId: here.facilityId } });
  assert.equal((await put()).status, 201);
  const before = await read('?limit=100');
  for (const [path, body] of [
    [`/roles/${id}`, role],
    [`/accounts/${account.userId}`, { email, facilityIds, ...(roleId && { roleId }) }],
    [`/facilities/${here.facilityId}`, { timeZone: 'UTC' }],
  ] as const) {
    const answer = await call(path, { method: 'PATCH', body });
    assert.equal(answer.status, 200, answer.text);
  }
  assert.equal((await put()).status, 200);
  assert.deepEqual(await read('?limit=100'), before);
});

test('steps that find nothing to do leave no entry [ADM-30]', async () => {
  const account = `/accounts/${(await api.createAccount(here)).userId}`;
  const sessions = `${account}/sessions`;
  assert.equal((await call(sessions, { method: 'DELETE' })).status, 204);
  const before = await read('?limit=100');
  for (const [method, path] of [
    ['DELETE', sessions],
    ['POST', `${account}/unlock`],
    ['POST', `${account}/remove-second-factor`],
    ['POST', `${account}/enable`],
  ] as const)
    assert.ok((await call(path, { method })).status < 300, path);
  assert.deepEqual(await read('?limit=100'), before);
});

test('what the operator does is on record as theirs [ADM-30, ADM-31]', async () => {
  const actions = (await read('?actor=operator')).map(({ actor, action }) => [actor, action]);
  assert.deepEqual(actions, [
    [{ kind: 'operator' }, 'facility.create'],
    [{ kind: 'operator' }, 'organisation.create'],
  ]);
});

test('a change that is undone leaves no entry, and no entry can be changed or removed [ADM-30]', async () => {
  const before = await read('?limit=100');
  const name = `role ${randomUUID()}`;
  await call('/roles', { body: { name, permissions: ['roles.manage'] } });
  assert.equal((await call('/roles', { body: { name, permissions: ['roles.manage'] } })).status, 409);
  assert.equal((await read('?limit=100')).length, before.length + 1);
  for (const statement of [
    `update administration_audit set action = 'x' where organisation_id = $1`,
    'delete from administration_audit where organisation_id = $1',
  ])
    await assert.rejects(api.database.pool.query(statement, [here.organisationId]), { code: '42501' });
  await assert.rejects(api.database.pool.query('truncate administration_audit'), { code: '42501' });
});

test('the record is read newest first, by author, action, subject and time, page by page [ADM-32]', async () => {
  const t = await api.createTenant();
  const one = await api.createAccount(t);
  const other = await api.createAccount(t);
  const make = async ({ token }: TestAccount) =>
    (await call('/roles', { token, body: { name: `r ${randomUUID()}`, permissions: ['roles.manage'] } }))
      .json;
  const roles = [await make(one), await make(other), await make(one)];
  const subjects = async (query: string) =>
    (await read(query, one.token)).map(({ subject }) => subject.id).filter((id) => id !== t.organisationId);
  const [first, second, third] = roles.map(({ id }) => id);
  assert.deepEqual(await subjects(`?actor=${one.userId}`), [third, first]);
  assert.deepEqual(await subjects(`?actor=${other.email}`), [second]);
  assert.deepEqual(await subjects(`?subject=${encodeURIComponent(roles[1].name)}`), [second]);
  assert.deepEqual(await subjects('?action=facility.create'), [t.facilityId]);
  const all = await read('', one.token);
  const found: Json[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await call(`/administration/audit?limit=2${cursor}`, { token: one.token });
    found.push(...json.items);
    if (json.nextCursor === null) break;
    cursor = `&cursor=${json.nextCursor}`;
  }
  assert.deepEqual(found, all);
  assert.deepEqual(
    await subjects(`?since=${encodeURIComponent(all[1]?.at)}`),
    all.filter(({ at }) => at >= all[1]?.at).map(({ subject }) => subject.id),
  );
  assert.deepEqual(await subjects('?until=2020-01-01'), []);
  const { nextCursor } = (await call('/administration/audit?limit=1', { token: one.token })).json;
  for (const query of [`actor=${one.userId}&`, 'action=role.create&'])
    assert.equal(
      (await call(`/administration/audit?${query}limit=1&cursor=${nextCursor}`, { token: one.token })).status,
      400,
      'the cursor of another list',
    );
  assert.equal((await call('/administration/audit?since=yesterday')).status, 400);
  const misspelt = await call('/administration/audit?action=account.disabled');
  assert.equal(misspelt.status, 400);
  assert.match(misspelt.json.message, /action must be one of .*account\.disable,/);
});

test('what concerns facilities is shown to those who may use one of them [ADM-32]', async () => {
  const t = await api.createTenant();
  const elsewhere = { ...t, facilityId: await api.createFacility(t.organisationId) };
  const away = await api.createAccount(elsewhere, { permissions: ['administration.audit.read'] });
  const found = await read('', away.token);
  const shown = [elsewhere.facilityId, t.organisationId];
  assert.deepEqual(
    found.map(({ subject }) => subject.id),
    shown,
  );
  const exported = await call('/administration/audit/export?format=ndjson', { token: away.token });
  assert.deepEqual(
    linesOf(exported.text).map(({ subject }) => subject.id),
    shown,
  );
  const stranger = await api.createAccount(await api.createTenant());
  assert.ok(!(await read('', stranger.token)).some(({ subject }) => subject.id === t.organisationId));
});

test('the record is exported as CSV and as NDJSON [ADM-33]', async () => {
  const name = `=cmd ${randomUUID()}`;
  await call('/roles', { body: { name, permissions: ['roles.manage'] } });
  const all = await read('?limit=100');
  const lines = await call('/administration/audit/export?format=ndjson');
  assert.equal(lines.headers.get('content-type'), 'application/x-ndjson');
  assert.deepEqual(linesOf(lines.text), all);
  const filtered = await call('/administration/audit/export?format=ndjson&action=role.create');
  assert.deepEqual(
    linesOf(filtered.text),
    all.filter(({ action }) => action === 'role.create'),
  );
  const csv = await call('/administration/audit/export?format=csv&action=role.create');
  assert.match(csv.headers.get('content-disposition') ?? '', /administration-audit\.csv/);
  assert.match(csv.text, /^at,actor_kind,/);
  assert.ok(csv.text.includes(`,'${name},`));
  assert.equal((await call('/administration/audit/export')).status, 400);
});

/** A tenant with a record of so many changes of roles. */
async function withChanges(entries: number): Promise<TestAccount> {
  const t = await api.createTenant();
  await api.database.pool.query(
    `insert into administration_audit (organisation_id, id, occurred_at, actor_kind, action, subject_type, subject_id,
       before, after, correlation_id)
     select $1, gen_random_uuid(), date_trunc('milliseconds', now()) - n % 5 * interval '1 day', 'operator',
       'role.change', 'role', n::text, '{}', '{}', 'c' from generate_series(1, $2) n`,
    [t.organisationId, entries],
  );
  return api.createAccount(t);
}

test('all of the record is exported, however long it is [ADM-33]', async () => {
  const { token } = await withChanges(2_500);
  const { text } = await call('/administration/audit/export?format=ndjson&action=role.change', { token });
  const subjects = linesOf(text).map(({ subject }) => subject.id);
  assert.deepEqual([subjects.length, new Set(subjects).size], [2_500, 2_500]);
});

test('HEAD reads no more of the record than an export has at its beginning [HTTP-13]', async (context) => {
  const { token } = await withChanges(10_000);
  const query = context.mock.method(api.runtime.db, 'query');
  const path = '/administration/audit/export?format=ndjson&action=role.change';
  for (const _ of [1, 2]) assert.equal((await call(path, { method: 'HEAD', token })).status, 200);
  // What a HEAD left behind would be read meanwhile.
  assert.equal(linesOf((await call(path, { token })).text).length, 10_000);
  const pages = query.mock.calls.filter(({ arguments: [statement] }) =>
    (statement as unknown as { text: string }).text.includes('from administration_audit'),
  );
  assert.ok(pages.length <= 15, `${pages.length} pages, of which an export has 11`);
});

test('changes of connections, of maps and of privacy are on record without secrets and clinical values [ADM-34]', async () => {
  const t = await api.createTenant();
  const { token } = await api.createAccount(t);
  const made = await call('/exchange/connections', {
    token,
    body: { name: 'Exchange', address: 'https://exchange.example.org/in', clientId: 'c' },
  });
  const path = `/exchange/connections/${made.json.id}`;
  await call(path, { token, method: 'PATCH', body: { timeoutMs: 5_000 } });
  await call(`${path}/disable`, { token, method: 'POST' });
  const rotated = await call(`${path}/rotate-secret`, { token, body: {} });
  await call(`${path}/activate-secret`, { token, method: 'POST' });
  const entry = { localCode: 'HB', targetSystem: 'http://loinc.org', targetCode: '718-7' };
  await call('/terminology/maps', { token, method: 'PUT', body: entry });
  const gone = '/terminology/maps?localCode=HB&targetSystem=http://loinc.org';
  assert.equal((await call(gone, { token, method: 'DELETE' })).status, 204);
  assert.equal((await call(gone, { token, method: 'DELETE' })).status, 404);
  const patientId = await insertPatient(api.database.pool, t);
  const body = { refusedPurposes: ['RESEARCH'] };
  await call(`/patients/base/${patientId}/privacy`, { token, method: 'PUT', body });
  const { text, json } = await call('/administration/audit', { token });
  assert.deepEqual(json.items[0].subject, { type: 'patient', id: patientId });
  assert.deepEqual(
    json.items.map(({ action, before, after }: Json) => [action, before, after]).slice(0, -2),
    [
      ['patient.privacy', { refusedPurposes: [] }, body],
      ['terminology-map.delete', {}, { localSystem: '', localCode: 'HB', targetSystem: entry.targetSystem }],
      ['terminology-map.put', {}, { localSystem: '', ...entry }],
      ['connection.activate-secret', {}, {}],
      ['connection.rotate-secret', {}, { direction: 'both', overlapSeconds: 86_400 }],
      ['connection.change', { enabled: true }, { enabled: false }],
      ['connection.change', { timeoutMs: 10_000 }, { timeoutMs: 5_000 }],
      ['connection.create', {}, json.items.find(({ action }: Json) => action === 'connection.create').after],
    ],
  );
  const secrets = [made, rotated].flatMap((answer) => [
    answer.json.outboundSecret,
    answer.json.callbackSecret,
  ]);
  for (const secret of secrets) assert.ok(secret.length > 20 && !text.includes(secret));
});

test('what stands behind the question mark of an address may be a key, and is not on record [ADM-31, ADM-34]', async () => {
  const t = await api.createTenant();
  const { token } = await api.createAccount(t);
  const address = 'https://exchange.example.org/in';
  const body = { name: 'Exchange', address: `${address}?code=a-key-of-theirs`, clientId: 'c' };
  const { json } = await call('/exchange/connections', { token, body });
  const changes = { address: `${address}?code=another-key-of-theirs` };
  await call(`/exchange/connections/${json.id}`, { token, method: 'PATCH', body: changes });
  const { text } = await call('/administration/audit', { token });
  assert.doesNotMatch(text, /key-of-theirs/);
  const [changed, created] = await read('', token);
  assert.equal(created?.after.address, `${address}?…`);
  assert.deepEqual(changed?.after, { addressQuery: 'another' });
});

for (const path of ['', '/export?format=csv', '/export?format=ndjson'])
  test(`/administration/audit${path}: who is shown what a patient refuses is in the log of that patient [ADM-34, LOG-7]`, async () => {
    const patientId = await insertPatient(api.database.pool, here);
    const body = { refusedPurposes: ['RESEARCH'] };
    await call(`/patients/base/${patientId}/privacy`, { method: 'PUT', body });
    const auditor = await api.createAccount(here, { permissions: ['administration.audit.read'] });
    const read = () => call(`/administration/audit${path}`, { token: auditor.token });
    const { status, text } = await read();
    assert.ok(status === 200 && text.includes(patientId) && text.includes('RESEARCH'));
    const { rows } = await api.database.pool.query({
      text: 'select facility_id, action from access_log where patient_id = $1 and account_id = $2',
      values: [patientId, auditor.userId],
    });
    assert.deepEqual(rows, [{ facility_id: here.facilityId, action: 'patient.privacy-read' }]);
    await withoutAccessLog(async () => assert.equal((await read()).status, 503));
  });

test('who is shown whose held deliveries were replayed is in the log of that patient [ADM-35, LOG-7]', async () => {
  const { patientId } = await seedRecords(api.database.pool, here);
  const body = { patientId: patientId.toUpperCase() };
  assert.equal((await call('/exchange/deliveries/replay', { body })).status, 200);
  const auditor = await api.createAccount(here, { permissions: ['administration.audit.read'] });
  const [replay] = await read('?action=delivery.replay', auditor.token);
  assert.equal(replay?.after.patientId.toLowerCase(), patientId);
  const { rows } = await api.database.pool.query({
    text: 'select facility_id, action, resource_id from access_log where patient_id = $1 and account_id = $2',
    values: [patientId, auditor.userId],
  });
  assert.deepEqual(rows, [{ facility_id: here.facilityId, action: 'delivery.list', resource_id: patientId }]);
});

/** While `work` runs, nothing can be added to the access log. */
async function withoutAccessLog(work: () => Promise<void>): Promise<void> {
  const owner = await api.database.connectOwner();
  try {
    await owner.query('alter table access_log add constraint closed check (false) not valid');
    await work();
  } finally {
    await owner.query('alter table access_log drop constraint closed');
    await owner.end();
  }
}
