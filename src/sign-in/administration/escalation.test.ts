/** Ways to more rights than one has, and races of administrators. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import {
  type Answer,
  type Tenant,
  type TestAccount,
  useEmptyApi,
} from '../../../test-support/service/api.ts';
import { addPerson, signInAs } from '../../../test-support/sign-in/console-people.ts';
import { addTelephone } from '../../../test-support/sign-in/second-factor.ts';
import { addTenant } from '../../../test-support/sign-in/sign-in.ts';
import { setPermissions } from '../../tenancy/roles/roles.ts';
import { disableAccount } from '../accounts/manage-accounts.ts';
import { operatorOn } from './managed-account.ts';

const api = await useEmptyApi();

const as = (account: TestAccount, path: string, options: { method?: string; body?: unknown } = {}) =>
  api.call(path, { token: account.token, ...options });
const patch = (account: TestAccount, path: string, body: unknown) =>
  as(account, path, { method: 'PATCH', body });

const WEAK = ['accounts.manage', 'people.manage', 'roles.manage', 'encounters.access'];
const STRONG = [...WEAK, 'records.import'];

type ChangeCall = [path: string, options: { method?: string; body?: unknown }];

const newAccount = (roleId: string) => ({
  email: `new-${randomUUID()}@example.org`,
  userType: 'EHR',
  roleId,
});

async function clinic(): Promise<Tenant & { otherId: string }> {
  const tenant = await api.createTenant();
  return { ...tenant, otherId: await api.createFacility(tenant.organisationId) };
}

async function roleIdOf({ organisationId, userId }: TestAccount): Promise<string> {
  const { rows } = await api.database.pool.query(
    'select role_id from account where organisation_id = $1 and id = $2',
    [organisationId, userId],
  );
  return rows[0]?.role_id;
}

/** Everything that a refused call could have changed. */
async function stateOf({ organisationId }: Tenant): Promise<unknown> {
  const tables = ['account', 'account_facility', 'role', 'password_setup_link', 'administration_audit'];
  const rows = await Promise.all(
    tables.map((table) =>
      api.database.pool.query(`select * from ${table} t where organisation_id = $1 order by t::text`, [
        organisationId,
      ]),
    ),
  );
  return rows.map((found) => found.rows);
}

async function isRefused(tenant: Tenant, call: () => Promise<Answer>, pattern: RegExp): Promise<void> {
  const before = await stateOf(tenant);
  const answer = await call();
  assert.equal(answer.status, 403, answer.text);
  assert.match(answer.json.message, pattern);
  assert.deepEqual(await stateOf(tenant), before);
}

test('nobody grants a permission that they do not hold [ADM-3]', async () => {
  const t = await clinic();
  const weak = await api.createAccount(t, { permissions: WEAK });
  const strongRole = await roleIdOf(await api.createAccount(t, { permissions: STRONG }));
  const target = await api.createAccount(t, { permissions: [] });
  const email = `new-${randomUUID()}@example.org`;
  const lacking = /records\.import/;
  await isRefused(
    t,
    () => as(weak, '/accounts', { body: { email, userType: 'EHR', roleId: strongRole } }),
    lacking,
  );
  await isRefused(t, () => patch(weak, `/accounts/${target.userId}`, { roleId: strongRole }), lacking);
  await isRefused(t, () => as(weak, '/roles', { body: { name: 'mine', permissions: STRONG } }), lacking);
  const own = `/roles/${await roleIdOf(target)}`;
  await isRefused(t, () => patch(weak, own, { name: 'renamed', permissions: STRONG }), lacking);
  const ownRole = `/roles/${await roleIdOf(weak)}`;
  await isRefused(t, () => patch(weak, ownRole, { permissions: STRONG }), lacking);
});

test('nobody grants a facility that is not theirs [ADM-3]', async () => {
  const t = await clinic();
  const manager = await api.createAccount(t, { permissions: WEAK });
  const target = await api.createAccount(t, { permissions: [] });
  const other = await api.createTenant();
  const roleId = await roleIdOf(target);
  for (const facilityId of [t.otherId, other.facilityId, randomUUID()]) {
    const facilityIds = [t.facilityId, facilityId];
    const email = `new-${randomUUID()}@example.org`;
    const body = { email, userType: 'EHR', roleId, facilityIds };
    await isRefused(t, () => as(manager, '/accounts', { body }), /facility/);
    await isRefused(
      t,
      () => patch(manager, `/accounts/${target.userId}`, { facilityIds, email }),
      /facility/,
    );
    await isRefused(t, () => patch(manager, `/accounts/${manager.userId}`, { facilityIds }), /facility/);
  }
});

test('nobody makes or changes accounts of a type that they do not manage [ADM-1]', async () => {
  const t = await clinic();
  const manager = await api.createAccount(t, { permissions: ['accounts.manage'] });
  const target = await api.createAccount(t, { permissions: [] });
  const email = `new-${randomUUID()}@example.org`;
  const body = { email, userType: 'STAFF', roleId: await roleIdOf(target) };
  await isRefused(t, () => as(manager, '/accounts', { body }), /STAFF/);
});

test('nobody changes an account with more rights than their own [ADM-4]', async () => {
  const t = await clinic();
  const manager = await api.createAccount(t, { permissions: WEAK });
  const facilityIds = [t.facilityId, t.otherId];
  const stronger = await api.createAccount(t, { permissions: STRONG });
  const wider = await api.createAccount(t, { permissions: [], facilityIds });
  for (const [{ userId }, pattern] of [
    [stronger, /records\.import/],
    [wider, /facility/],
  ] as const) {
    const path = `/accounts/${userId}`;
    await isRefused(t, () => as(manager, `${path}/reset-password`, { body: {} }), pattern);
    await isRefused(
      t,
      () => as(manager, `${path}/reset-password`, { body: { password: 'setup-link' } }),
      pattern,
    );
    for (const step of ['disable', 'enable', 'unlock', 'remove-second-factor'])
      await isRefused(t, () => as(manager, `${path}/${step}`, { method: 'POST' }), pattern);
    await isRefused(t, () => patch(manager, path, { email: 'mine@example.org' }), pattern);
    await isRefused(t, () => patch(manager, path, { facilityIds: [t.facilityId] }), pattern);
    await isRefused(t, () => as(manager, `${path}/sessions`, { method: 'DELETE' }), pattern);
  }
});

test('nobody changes a role with more rights, or whose holders act elsewhere [ADM-5]', async () => {
  const t = await clinic();
  const manager = await api.createAccount(t, { permissions: WEAK });
  const strong = `/roles/${await roleIdOf(await api.createAccount(t, { permissions: STRONG }))}`;
  await isRefused(t, () => patch(manager, strong, { permissions: ['encounters.access'] }), /records\.import/);
  await isRefused(t, () => as(manager, strong, { method: 'DELETE' }), /records\.import/);
  const wide = await api.createAccount(t, { permissions: [], facilityIds: [t.facilityId, t.otherId] });
  await isRefused(t, async () => patch(manager, `/roles/${await roleIdOf(wide)}`, { name: 'x' }), /facility/);
  const foreign = await api.createAccount(await api.createTenant(), { permissions: [] });
  assert.equal((await patch(manager, `/roles/${await roleIdOf(foreign)}`, { name: 'x' })).status, 404);
});

test('of two administrators who disable each other at once, one stays [ADM-2, ADM-6]', async () => {
  for (let round = 0; round < 8; round += 1) {
    const t = await api.createTenant();
    const [one, other] = await Promise.all([person(t, WEAK), person(t, WEAK)]);
    const disable = (by: TestAccount, whom: TestAccount) =>
      as(by, `/accounts/${whom.userId}/disable`, { method: 'POST' });
    const answers = await Promise.all([disable(one, other), disable(other, one)]);
    const statuses = answers.map(({ status }) => status).sort();
    assert.equal(statuses[0], 200, JSON.stringify(answers.map(({ text }) => text)));
    assert.ok([401, 403, 409].includes(statuses[1] as number), String(statuses));
    assert.equal(await administrators(t), 1);
  }
});

/** The answer of a call that waited for another change of the organisation, which was `taking`. */
async function takenWhileWaiting(
  { organisationId }: Pick<Tenant, 'organisationId'>,
  call: () => Promise<Answer>,
  taking: { text: string; values: unknown[] },
): Promise<Answer> {
  return callDuring(api.database.pool, {
    change: (client) =>
      client.query('select from organisation where id = $1 for no key update', [organisationId]),
    call,
    meanwhile: async (client) => assert.equal((await client.query(taking)).rowCount, 1),
  });
}

test('a right that was taken while a change waited is not used, whatever the change [ADM-2]', async () => {
  const changes: Record<string, (ids: Record<'target' | 'role' | 'facility', string>) => ChangeCall> = {
    'an account': ({ target }) => [`/accounts/${target}/disable`, { method: 'POST' }],
    'a new account': ({ role }) => ['/accounts', { body: newAccount(role) }],
    'a role': ({ role }) => [`/roles/${role}`, { method: 'PATCH', body: { name: 'renamed' } }],
    'a new role': () => ['/roles', { body: { name: 'new', permissions: ['encounters.access'] } }],
    'a facility': ({ facility }) => [
      `/facilities/${facility}`,
      { method: 'PATCH', body: { name: 'renamed' } },
    ],
  };
  const taken = {
    permissions: `update role r set permissions = '{encounters.access}' from account a where a.id = $1 and r.id = a.role_id`,
    'the account': 'update account set disabled_at = now() where id = $1',
    'the session': 'update session set revoked_at = now() where account_id = $1',
    'the time of the session': 'update session set expires_at = created_at where account_id = $1',
  };
  for (const [change, callOf] of Object.entries(changes))
    for (const [what, text] of Object.entries(taken)) {
      const t = await api.createTenant();
      const manager = await api.createAccount(t, { permissions: [...WEAK, 'facilities.manage'] });
      const target = await api.createAccount(t, { permissions: ['encounters.access'] });
      const role = await roleIdOf(target);
      const ids = { target: target.userId, role, facility: t.facilityId };
      const call = () => as(manager, ...callOf(ids));
      const answer = await takenWhileWaiting(t, call, { text, values: [manager.userId] });
      assert.equal(answer.status, what === 'permissions' ? 403 : 401, `${change}, ${what}: ${answer.text}`);
      if (answer.status === 401) assert.equal(answer.json.message, 'The session has ended. Sign in again.');
    }
});

test('a person whose role came to require a second factor while a change waited changes nothing [ADM-2, SIGN-IN-64]', async () => {
  const t = await api.createTenant();
  const manager = await api.createAccount(t, { permissions: WEAK, userType: 'STAFF' });
  const own = await addTenant(api.database);
  await setPermissions(api.database.pool, { ...own, name: own.role, permissions: WEAK });
  const person = await addPerson(api, own);
  const browser = await signInAs(api, person);
  const text =
    'update role r set requires_second_factor = true from account a where a.id = $1 and r.id = a.role_id';
  const body = { name: 'new', permissions: ['encounters.access'] };
  for (const [scope, userId, call] of [
    [t, manager.userId, () => as(manager, '/roles', { body })],
    [own, person.userId, () => browser.call('/roles', { body })],
  ] as const) {
    const answer = await takenWhileWaiting(scope, call, { text, values: [userId] });
    assert.equal(answer.status, 401, answer.text);
  }
});

test('a person whose role requires a second factor makes changes once it is proven [ADM-2, SIGN-IN-64]', async () => {
  const strict = await addTenant(api.database);
  const { organisationId, role: name } = strict;
  const role = { organisationId, name, permissions: WEAK, requiresSecondFactor: true };
  await setPermissions(api.database.pool, role);
  const browser = await signInAs(api, await addPerson(api, strict), 'enrol-second-factor');
  await addTelephone(api, browser);
  const body = { name: 'new', permissions: ['encounters.access'] };
  assert.equal((await browser.call('/roles', { body })).status, 201);
});

test('a facility that was taken while a change waited is not changed, nor what is at it [ADM-2, ADM-20]', async () => {
  const t = await clinic();
  const facilityIds = [t.facilityId, t.otherId];
  const target = await api.createAccount({ ...t, facilityId: t.otherId }, { permissions: [] });
  const text = 'delete from account_facility where account_id = $1 and facility_id = $2';
  for (const [path, method, body] of [
    [`/facilities/${t.otherId}`, 'PATCH', { name: 'renamed' }],
    [`/accounts/${target.userId}/disable`, 'POST', undefined],
  ] as const) {
    const permissions = [...WEAK, 'facilities.manage'];
    const manager = await api.createAccount(t, { permissions, facilityIds });
    const call = () => as(manager, path, { method, ...(body && { body }) });
    const answer = await takenWhileWaiting(t, call, { text, values: [manager.userId, t.otherId] });
    assert.equal(answer.status, 404, answer.text);
  }
});

test('no administrator takes away the last person who administers, by whatever change [ADM-6]', async () => {
  const t = await api.createTenant();
  const last = await person(t, WEAK);
  // Nobody else can: a system, somebody who is disabled, and somebody who has no password yet.
  const system = await api.createAccount(t, { permissions: WEAK });
  await setPassword(system);
  const former = await person(t, WEAK);
  await disableAccount(api.database.pool, operatorOn(former.email), api.clock.now);
  await api.createAccount(t, { permissions: WEAK, userType: 'STAFF' });
  const path = `/accounts/${last.userId}`;
  const lesser = await roleIdOf(await api.createAccount(t, { permissions: [] }));
  const before = await stateOf(t);
  const tries = [
    as(system, `${path}/disable`, { method: 'POST' }),
    as(system, `${path}/reset-password`, { body: { password: 'setup-link' } }),
    patch(system, path, { roleId: lesser }),
    patch(last, `/roles/${await roleIdOf(last)}`, { permissions: ['roles.manage'] }),
  ];
  for (const answer of await Promise.all(tries)) {
    assert.equal(answer.status, 409, answer.text);
    assert.match(answer.json.message, /people\.manage and roles\.manage/);
  }
  assert.deepEqual(await stateOf(t), before);
  const another = await person(t, WEAK);
  assert.equal((await as(another, `${path}/disable`, { method: 'POST' })).status, 200);
  await disableAccount(api.database.pool, operatorOn(another.email), api.clock.now);
  assert.equal((await as(another, '/roles')).status, 401, 'the operator may');
});

/** A person with a password. */
async function person(t: Tenant, permissions: readonly string[]): Promise<TestAccount> {
  const account = await api.createAccount(t, { permissions, userType: 'STAFF' });
  await setPassword(account);
  return account;
}

async function setPassword({ organisationId, userId }: TestAccount): Promise<void> {
  await api.database.pool.query(
    `update account set password_hash = 'set' where organisation_id = $1 and id = $2`,
    [organisationId, userId],
  );
}

async function administrators({ organisationId }: Tenant): Promise<number> {
  const { rowCount } = await api.database.pool.query(
    `select from account where organisation_id = $1 and user_type = 'STAFF' and disabled_at is null`,
    [organisationId],
  );
  return rowCount ?? 0;
}

test('a setup link is good no more once its account may do more than who made it [ADM-3]', async () => {
  const tenant = await clinic();
  const strong = await api.createAccount(tenant, { permissions: STRONG });
  const weak = await api.createAccount(tenant, { permissions: WEAK });
  const low = await as(weak, '/roles', { body: { name: 'low', permissions: ['encounters.access'] } });
  const email = `${randomUUID()}@example.org`;
  const body = { email, userType: 'EHR', roleId: low.json.id, password: 'setup-link' };
  const { userId, setupLink } = (await as(weak, '/accounts', { body })).json;
  const roleId = await roleIdOf(strong);
  assert.equal((await patch(strong, `/accounts/${userId}`, { roleId })).status, 200);
  assert.equal(await statusOfLink(setupLink), 403);
});

test('a setup link is good no more once its account may use another facility, and good with one less [ADM-3]', async () => {
  const tenant = await clinic();
  const facilityIds = [tenant.facilityId, tenant.otherId];
  const wide = await api.createAccount(tenant, { permissions: WEAK, facilityIds });
  const roleId = await roleIdOf(await api.createAccount(tenant, { permissions: [] }));
  const statusAfter = async (before: string[], after: string[]) => {
    const body = { ...newAccount(roleId), facilityIds: before, password: 'setup-link' };
    const { userId, setupLink } = (await as(wide, '/accounts', { body })).json;
    const changed = await patch(wide, `/accounts/${userId}`, { facilityIds: after });
    assert.equal(changed.status, 200, changed.text);
    return statusOfLink(setupLink);
  };
  const [here, there] = [[tenant.facilityId], [tenant.otherId]];
  assert.deepEqual([await statusAfter(here, facilityIds), await statusAfter(here, there)], [403, 403]);
  assert.equal(await statusAfter(facilityIds, there), 204);
});

test('a setup link is good no more once its account has another address [ADM-79]', async () => {
  const tenant = await clinic();
  const manager = await api.createAccount(tenant, { permissions: WEAK });
  const roleId = await roleIdOf(await api.createAccount(tenant, { permissions: [] }));
  const statusAfter = async (corrected: string | undefined) => {
    const body = { ...newAccount(roleId), password: 'setup-link' };
    const { userId, setupLink } = (await as(manager, '/accounts', { body })).json;
    const changed = await patch(manager, `/accounts/${userId}`, { email: corrected ?? body.email });
    assert.equal(changed.status, 200, changed.text);
    return statusOfLink(setupLink);
  };
  assert.equal(await statusAfter(`${randomUUID()}@example.org`), 403);
  assert.equal(await statusAfter(undefined), 204);
});

async function statusOfLink(setupLink: string): Promise<number> {
  const [, token] = setupLink.split('#token=');
  const body = { token, newCredential: 'several new words' };
  return (await api.call('/auth/password-setup', { body })).status;
}

test('a role that gets a permission ends the setup links of its holders; one that loses some does not [ADM-69]', async () => {
  const tenant = await clinic();
  const strong = await api.createAccount(tenant, { permissions: STRONG });
  const weak = await api.createAccount(tenant, { permissions: WEAK });
  const newRole = async (...permissions: string[]) =>
    (await as(weak, '/roles', { body: { name: `role ${randomUUID()}`, permissions } })).json.id;
  const newLink = async (roleId: string): Promise<string> => {
    const email = `${randomUUID()}@example.org`;
    const body = { email, userType: 'EHR', roleId, password: 'setup-link' };
    return (await as(weak, '/accounts', { body })).json.setupLink.split('#token=')[1];
  };
  const use = async (token: string) =>
    (await api.call('/auth/password-setup', { body: { token, newCredential: 'several new words' } })).status;
  const low = await newRole('encounters.access', 'roles.manage');
  const [held, kept] = [await newLink(low), await newLink(low)];
  const elsewhere = await newLink(await newRole('encounters.access'));
  const change = (permissions: string[]) => patch(strong, `/roles/${low}`, { permissions });
  assert.equal((await change(['encounters.access'])).status, 200);
  assert.equal((await patch(strong, `/roles/${low}`, { name: 'another name' })).status, 200);
  assert.equal(await use(kept), 204);
  assert.equal((await change(['records.import'])).status, 200);
  assert.deepEqual([await use(held), await use(elsewhere)], [403, 204]);
});
