/** Accounts as an administrator manages them over HTTP. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type pg from 'pg';
import { watchPool } from '../../../test-support/database/watched-pool.ts';
import { type Answer, type TestAccount, useEmptyApi } from '../../../test-support/service/api.ts';
import { waitForLocks } from '../../../test-support/wait-until.ts';
import { checkedFacilities } from '../accounts/create-account.ts';

const api = await useEmptyApi();
const here = await api.createTenant();
const there = { ...here, facilityId: await api.createFacility(here.organisationId) };
const admin = await api.createAccount(here, { userType: 'STAFF' });

const as = (account: TestAccount, path: string, options: { method?: string; body?: unknown } = {}) =>
  api.call(path, { token: account.token, ...options });

async function roleOf(permissions: readonly string[], organisationId = here.organisationId): Promise<string> {
  const id = randomUUID();
  await api.database.pool.query(
    'insert into role (organisation_id, id, name, permissions) values ($1, $2, $3, $4)',
    [organisationId, id, `role ${id}`, permissions],
  );
  return id;
}

const body = async (more: object = {}) => ({
  email: `made-${randomUUID()}@example.org`,
  userType: 'EHR',
  roleId: await roleOf(['encounters.access']),
  ...more,
});

function refused(answer: Answer, status: number, pattern: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.json.message, pattern);
}

test('the facilities of an account are looked up together, however many there are', async () => {
  const facilityIds = [here.facilityId, there.facilityId];
  const statementsFor = async (ids: string[]) => {
    const { db, statements } = watchPool(api.database.pool);
    assert.deepEqual(await checkedFacilities(db, { ...here, facilityIds: ids }), ids);
    return statements.length;
  };
  assert.equal(await statementsFor(facilityIds), await statementsFor(facilityIds.slice(1)));
});

test('a new account signs in with the password that only its answer shows [ADM-15]', async () => {
  const created = await as(admin, '/accounts', { body: await body({ mustChangePassword: false }) });
  assert.equal(created.status, 201, created.text);
  const { userId, email, password } = created.json;
  const login = { identity: userId, credential: password, userType: 'EHR' };
  assert.equal((await api.call('/auth/login', { body: login })).status, 200);
  const read = await as(admin, `/accounts/${userId}`);
  assert.equal(read.status, 200, read.text);
  assert.deepEqual(
    { ...read.json, createdAt: undefined, lastUsedAt: undefined, role: undefined },
    {
      userId,
      email,
      userType: 'EHR',
      role: undefined,
      facilityIds: [here.facilityId],
      defaultFacilityId: here.facilityId,
      state: 'active',
      disabled: false,
      locked: false,
      mustChangePassword: false,
      requiresPasswordSetup: false,
      secondFactor: false,
      createdAt: undefined,
      lastUsedAt: undefined,
      liveSessions: 1,
    },
  );
  assert.ok(!read.text.includes(password));
  const link = await as(admin, `/accounts/${userId}/reset-password`, { body: { password: 'setup-link' } });
  assert.match(link.json.setupLink, /#token=/);
  assert.equal((await api.call('/auth/login', { body: login })).status, 403);
  assert.equal((await as(admin, `/accounts/${userId}`)).json.state, 'requires-setup');
  const reset = { password: 'generated', mustChangePassword: true };
  const renewed = (await as(admin, `/accounts/${userId}/reset-password`, { body: reset })).json.password;
  const again = await api.call('/auth/login', { body: { ...login, credential: renewed } });
  assert.deepEqual([again.status, again.json.mustChangePassword], [200, true]);
  const audit = await as(admin, `/administration/audit?subject=${userId}`);
  assert.equal(audit.json.items.length, 3);
  for (const secret of [password, renewed, '#token=', link.json.setupLink])
    assert.ok(!audit.text.includes(secret));
});

test('accounts of the own facilities and types are seen, and no others [ADM-1]', async () => {
  const t = await api.createTenant();
  const elsewhere = { ...t, facilityId: await api.createFacility(t.organisationId) };
  const manager = await api.createAccount(t, { permissions: ['accounts.manage'] });
  const system = await api.createAccount(t, { permissions: [] });
  const person = await api.createAccount(t, { permissions: [], userType: 'STAFF' });
  const away = await api.createAccount(elsewhere, { permissions: [] });
  const shared = await api.createAccount(t, {
    permissions: [],
    facilityIds: [t.facilityId, elsewhere.facilityId],
  });
  const seen = async (account: TestAccount, query = '') =>
    (await as(account, `/accounts${query}`)).json.items
      .map(({ userId }: { userId: string }) => userId)
      .sort();
  assert.deepEqual(await seen(manager), [manager.userId, system.userId, shared.userId].sort());
  refused(await as(manager, '/accounts?type=STAFF'), 403, /STAFF/);
  for (const hidden of [person, away]) {
    assert.equal((await as(manager, `/accounts/${hidden.userId}`)).status, 404);
    assert.equal((await as(manager, `/accounts/${hidden.userId}/sessions`)).status, 404);
    assert.equal((await as(manager, `/accounts/${hidden.userId}/disable`, { method: 'POST' })).status, 404);
  }
  // With every permission, but in another organisation.
  const foreign = await api.createAccount(await api.createTenant());
  for (const path of ['', '/sessions'])
    assert.equal((await as(foreign, `/accounts/${system.userId}${path}`)).status, 404, path);
  for (const step of ['disable', 'unlock', 'reset-password']) {
    const call = step === 'reset-password' ? { body: {} } : { method: 'POST' };
    refused(await as(foreign, `/accounts/${system.userId}/${step}`, call), 404, /The account/);
  }
  for (const account of [person, away, system])
    assert.equal((await as(account, '/roles')).status, 403, 'nobody was disabled');
  const staff = await api.createAccount(t, { permissions: ['people.manage'], userType: 'STAFF' });
  assert.deepEqual(await seen(staff), [person.userId, staff.userId].sort());
});

test('an account of another facility and none at all take the same way to their 404 [ADM-1]', async () => {
  const manager = await api.createAccount(here, { permissions: ['accounts.manage'] });
  const away = await api.createAccount(there, { permissions: [] });
  const paths = [away.userId, randomUUID()].map((id) => `/accounts/${id}`);
  const other = await api.database.pool.connect();
  try {
    await other.query('begin');
    await other.query('select from organisation where id = $1 for no key update', [here.organisationId]);
    // A password is hashed for accounts that are seen only, and before their turn.
    const reset = (path: string) => as(manager, `${path}/reset-password`, { body: {} });
    for (const answer of await Promise.all(paths.map(reset))) refused(answer, 404, /The account/);
    const answers = paths.map((path) => as(manager, `${path}/disable`, { method: 'POST' }));
    await waitForLocks(api.database.pool, paths.length);
    await other.query('commit');
    for (const answer of await Promise.all(answers)) refused(answer, 404, /The account/);
  } finally {
    await other.query('rollback');
    other.release();
  }
});

test('accounts are found by a word of the address, by type and by state, page by page [ADM-9]', async () => {
  const t = await api.createTenant();
  const manager = await api.createAccount(t, { permissions: ['accounts.manage', 'people.manage'] });
  const made: TestAccount[] = [];
  for (let count = 0; count < 5; count += 1)
    made.push(await api.createAccount(t, { permissions: [], mustChangePassword: count === 4 }));
  const [first, second, third] = made as [TestAccount, TestAccount, TestAccount];
  const list = async (query: string) => {
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const { json, text } = await as(manager, `/accounts?${query}${cursor}`);
      assert.ok(Array.isArray(json.items), text);
      found.push(...json.items.map(({ email }: { email: string }) => email));
      if (json.nextCursor === null) return found;
      cursor = `&cursor=${json.nextCursor}`;
    }
  };
  const everyone = [manager, ...made].map(({ email }) => email).sort();
  assert.deepEqual(await list('limit=2'), everyone);
  // system-1a2b3c4d@example.org
  const word = first.email.slice(7, 15);
  for (const search of [
    first.email,
    first.email.slice(0, 12),
    `${word.toUpperCase()}@EXAM`,
    word.slice(0, 7),
  ])
    assert.deepEqual(await list(`search=${search}`), [first.email], search);
  const many = `one.two.three.four-five.${randomUUID().slice(0, 8)}@laboratory.example.org`;
  const edited = await as(manager, `/accounts/${first.userId}`, { method: 'PATCH', body: { email: many } });
  assert.equal(edited.status, 200, edited.text);
  for (const search of ['one.two', 'two', 'three', 'four', 'five', 'laboratory.ex'])
    assert.deepEqual(await list(`search=${search}`), [many], search);
  assert.deepEqual(await list('search=ne.two'), []);
  await as(manager, `/accounts/${first.userId}`, { method: 'PATCH', body: { email: first.email } });
  for (const search of ['system', 'example.org', 'org', ''])
    assert.deepEqual(await list(`search=${search}`), everyone);
  for (const search of [word.slice(1), 'xample', '%', 'systen'])
    assert.deepEqual(await list(`search=${encodeURIComponent(search)}`), []);
  await as(manager, `/accounts/${second.userId}/disable`, { method: 'POST' });
  const wrong = { identity: third.userId, credential: 'wrong', userType: 'EHR' };
  for (let count = 0; count < 5; count += 1) await api.call('/auth/login', { body: wrong });
  assert.deepEqual(await list('state=disabled&limit=1'), [second.email]);
  assert.deepEqual(await list('state=locked&limit=1'), [third.email]);
  assert.deepEqual(await list('state=must-change-password&limit=1'), [made[4]?.email]);
  const active = everyone.filter((email) => ![second.email, third.email, made[4]?.email].includes(email));
  assert.deepEqual(await list('state=active&limit=1'), active);
  assert.deepEqual(await list('type=STAFF'), []);
  const unlocked = await as(manager, `/accounts/${third.userId}/unlock`, { method: 'POST' });
  assert.equal(unlocked.json.state, 'active');
  assert.equal((await as(manager, '/accounts?state=none')).status, 400);
  assert.equal((await as(manager, '/accounts?cursor=none')).status, 400);
});

test('the sessions of an account are listed, and ended one by one or all at once [ADM-10]', async () => {
  const t = await api.createTenant();
  const manager = await api.createAccount(t);
  const { json } = await as(manager, '/accounts', {
    body: { ...(await body()), roleId: await roleOf(['encounters.access'], t.organisationId) },
  });
  const login = { identity: json.userId, credential: json.password, userType: 'EHR' };
  const tokens: string[] = [];
  for (let count = 0; count < 3; count += 1)
    tokens.push((await api.call('/auth/login', { body: login })).json.accessToken);
  const path = `/accounts/${json.userId}/sessions`;
  const sessions = async () => (await as(manager, path)).json.items as { id: string }[];
  const [newest] = await sessions();
  const paged: { id: string }[] = [];
  for (let query = '?limit=2'; ; ) {
    const { items, nextCursor } = (await as(manager, path + query)).json;
    paged.push(...items);
    if (nextCursor === null) break;
    query = `?limit=2&cursor=${nextCursor}`;
  }
  assert.deepEqual(paged, await sessions());
  const node = await api.addNode();
  const alive = async () => {
    const answers = await Promise.all(tokens.map((token) => node.call('/roles', { token })));
    return answers.filter(({ status }) => status !== 401).length;
  };
  assert.equal(await alive(), 3);
  for (let count = 0; count < 2; count += 1)
    assert.equal((await as(manager, `${path}/${newest?.id}`, { method: 'DELETE' })).status, 204);
  assert.equal(await alive(), 2);
  assert.equal((await as(manager, `${path}/${manager.sessionId}`, { method: 'DELETE' })).status, 404);
  assert.equal((await as(manager, path, { method: 'DELETE' })).status, 204);
  assert.equal(await alive(), 0);
  assert.deepEqual(await sessions(), []);
  await node.close();
});

test('a disabled account is out at once, and comes back [ADM-7]', async () => {
  const system = await api.createAccount(here, { permissions: ['roles.manage'] });
  const disabled = await as(admin, `/accounts/${system.userId}/disable`, { method: 'POST' });
  assert.equal(disabled.json.state, 'disabled', disabled.text);
  assert.equal((await as(system, '/roles')).status, 401);
  const enabled = await as(admin, `/accounts/${system.userId}/enable`, { method: 'POST' });
  assert.equal(enabled.json.state, 'active');
});

/** `work` with 12,000 more live sessions of an account, where no statement may end more than 10,000. `live`: how many are. */
async function withVeryManySessions(
  { organisationId, userId }: TestAccount,
  work: (owner: pg.Client, sessions: { live(): Promise<number>; add(): Promise<void> }) => Promise<void>,
): Promise<void> {
  const own = [organisationId, userId];
  const owner = await api.database.connectOwner();
  const add = async () => {
    await owner.query(
      `insert into session (organisation_id, id, account_id, created_at, expires_at)
       select $1, gen_random_uuid(), $2, now(), now() + interval '90 days' from generate_series(1, 12000)`,
      own,
    );
  };
  const live = async () => {
    const { rowCount } = await owner.query(
      'select from session where organisation_id = $1 and account_id = $2 and revoked_at is null',
      own,
    );
    return rowCount ?? 0;
  };
  try {
    await add();
    // Stands in for the time that a statement may take.
    await owner.query(`
      create function refuse_many() returns trigger language plpgsql as $$
      begin
        if (select count(*) from ended) > 10000 then
          raise exception 'too many sessions for one statement';
        end if;
        return null;
      end $$;
      create trigger refuse_many after update on session referencing new table as ended
        for each statement execute function refuse_many()`);
    await work(owner, { live, add });
  } finally {
    await owner.query('drop function if exists refuse_many cascade');
    await owner.end();
  }
}

test('an account with very many sessions is disabled by several statements, and none of them comes back [SIGN-IN-48, ADM-7]', async () => {
  const system = await api.createAccount(here, { permissions: ['roles.manage'] });
  await withVeryManySessions(system, async (owner, { live }) => {
    const disabled = await as(admin, `/accounts/${system.userId}/disable`, { method: 'POST' });
    assert.equal(disabled.json.state, 'disabled', disabled.text);
    assert.equal(await live(), 0);
    // As a process leaves it that ends between two of the statements.
    await owner.query('alter table session disable trigger refuse_many');
    await owner.query(
      'update session set revoked_at = null, revoked_reason = null where organisation_id = $1 and account_id = $2',
      [system.organisationId, system.userId],
    );
    await owner.query('alter table session enable trigger refuse_many');
    assert.equal((await as(system, '/roles')).status, 401, 'disabled is enough');
    const enabled = await as(admin, `/accounts/${system.userId}/enable`, { method: 'POST' });
    assert.equal(enabled.json.state, 'active', enabled.text);
    assert.equal(await live(), 0);
    assert.equal((await as(system, '/roles')).status, 401);
  });
});

test('the sessions of an account with very many end by several statements: by hand, and with another password [SIGN-IN-42, ADM-10, ADM-18]', async () => {
  const system = await api.createAccount(here, { permissions: ['roles.manage'] });
  const path = `/accounts/${system.userId}`;
  await withVeryManySessions(system, async (_, { live, add }) => {
    const ended = await as(admin, `${path}/sessions`, { method: 'DELETE' });
    assert.equal(ended.status, 204, ended.text);
    assert.equal(await live(), 0);
    const [entry] = (await as(admin, '/administration/audit?limit=1')).json.items;
    assert.deepEqual([entry.action, entry.after], ['account.end-sessions', { sessions: 12_001 }]);
    await add();
    const reset = await as(admin, `${path}/reset-password`, { body: {} });
    assert.equal(reset.status, 200, reset.text);
    assert.equal(await live(), 0);
    await add();
    const change = {
      identity: system.userId,
      credential: reset.json.password,
      userType: 'EHR',
      newCredential: 'a far better one than before',
    };
    const changed = await api.call('/auth/password', { body: change });
    assert.equal(changed.status, 204, changed.text);
    assert.equal(await live(), 0);
  });
});

test('nobody disables their own account, changes its role or resets its password [ADM-7]', async () => {
  const own = `/accounts/${admin.userId}`;
  refused(await as(admin, `${own}/disable`, { method: 'POST' }), 409, /own account/);
  refused(await as(admin, `${own}/reset-password`, { body: {} }), 409, /own account/);
  const roleId = await roleOf(['people.manage']);
  refused(await as(admin, own, { method: 'PATCH', body: { roleId } }), 409, /own account/);
  assert.equal((await as(admin, own, { method: 'PATCH', body: { facilityIds: [] } })).status, 400);
});

test('a change of an account is made whole or not at all [ADM-8]', async () => {
  const target = await api.createAccount(here, { permissions: [] });
  const path = `/accounts/${target.userId}`;
  const before = (await as(admin, path)).json;
  const good = { email: `moved-${randomUUID()}@example.org`, roleId: await roleOf(['encounters.access']) };
  const taken = await api.createAccount(here);
  const foreign = await roleOf([], (await api.createTenant()).organisationId);
  for (const [change, status] of [
    [{ ...good, facilityIds: [there.facilityId] }, 403],
    [{ ...good, facilityIds: [randomUUID()] }, 403],
    [{ ...good, email: taken.email.toUpperCase() }, 409],
    [{ ...good, email: 'nobody' }, 400],
    [{ ...good, roleId: foreign }, 404],
    [{ ...good, roleId: 'nonsense' }, 404],
    [{ ...good, state: 'active' }, 400],
  ] as const) {
    const answer = await as(admin, path, { method: 'PATCH', body: change });
    assert.equal(answer.status, status, answer.text);
    assert.deepEqual((await as(admin, path)).json, before);
  }
  const changed = await as(admin, path, { method: 'PATCH', body: good });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual([changed.json.email, changed.json.role.id], [good.email, good.roleId]);
  const again = await as(admin, '/accounts', { body: await body({ email: good.email }) });
  refused(again, 409, /exists already/);
});

test('the first facility of a change is the default one, and the record says so [ADM-8, ADM-31]', async () => {
  const second = await api.createFacility(here.organisationId);
  const facilityIds = [here.facilityId, second];
  const manager = await api.createAccount(here, { facilityIds });
  const target = await api.createAccount(here, { permissions: [], facilityIds });
  const body = { facilityIds: [second, here.facilityId] };
  const changed = await as(manager, `/accounts/${target.userId}`, { method: 'PATCH', body });
  assert.equal(changed.json.defaultFacilityId, second, changed.text);
  const { items } = (await as(manager, `/administration/audit?subject=${target.userId}`)).json;
  const { before, after } = items[0];
  assert.deepEqual(before, { defaultFacilityId: here.facilityId });
  assert.deepEqual(after, { defaultFacilityId: second });
});

test('an account is told with its default facility first, so that what was read can be sent back [ADM-8]', async () => {
  const second = await api.createFacility(here.organisationId);
  const manager = await api.createAccount(here, { facilityIds: [here.facilityId, second] });
  const target = await api.createAccount(here, { permissions: [] });
  for (const facilityIds of [
    [second, here.facilityId],
    [here.facilityId, second],
  ]) {
    const change = { method: 'PATCH', body: { facilityIds } };
    const { json } = await as(manager, `/accounts/${target.userId}`, change);
    assert.deepEqual(json.facilityIds, facilityIds);
    const listed = (await as(manager, `/accounts?search=${target.email}`)).json.items[0];
    assert.deepEqual([listed.facilityIds, listed.defaultFacilityId], [facilityIds, facilityIds[0]]);
  }
});

test('the second factors of a person who lost them are removed, which ends the sessions [ADM-16]', async () => {
  const lost = await api.createAccount(here, { permissions: ['roles.manage'], userType: 'STAFF' });
  await api.database.pool.query(
    `insert into account_totp (organisation_id, account_id, sealed_secret, last_step, created_at)
     values ($1, $2, '', 0, now())`,
    [here.organisationId, lost.userId],
  );
  const path = `/accounts/${lost.userId}`;
  assert.equal((await as(admin, path)).json.secondFactor, true);
  const removed = await as(admin, `${path}/remove-second-factor`, { method: 'POST' });
  assert.deepEqual([removed.status, removed.json.secondFactor, removed.json.liveSessions], [200, false, 0]);
  assert.equal((await as(lost, '/roles')).status, 401);
  const own = `/accounts/${admin.userId}/remove-second-factor`;
  refused(await as(admin, own, { method: 'POST' }), 409, /own account/);
});

test('the accounts that hold a role are found by its id, with the other filters, page by page [ADM-68]', async () => {
  const t = await api.createTenant();
  const manager = await api.createAccount(t, {
    permissions: ['accounts.manage', 'people.manage', 'encounters.access'],
  });
  const role = await roleOf(['encounters.access'], t.organisationId);
  const made: TestAccount[] = [];
  for (const userType of ['EHR', 'EHR', 'STAFF', 'EHR'] as const)
    made.push(await api.createAccount(t, { permissions: [], userType }));
  const [first, second, person] = made as [TestAccount, TestAccount, TestAccount];
  for (const { userId } of [first, second, person])
    await api.database.pool.query('update account set role_id = $3 where organisation_id = $1 and id = $2', [
      t.organisationId,
      userId,
      role,
    ]);
  const emails = (...accounts: TestAccount[]) => accounts.map(({ email }) => email).sort();
  const page = async (query: string) => (await as(manager, `/accounts?${query}`)).json;
  const found = async (query: string) =>
    (await page(query)).items.map(({ email }: { email: string }) => email);
  assert.deepEqual(await found(`role=${role}`), emails(first, second, person));
  assert.deepEqual(await found(`role=${role.toUpperCase()}&type=EHR`), emails(first, second));
  assert.deepEqual(await found(`role=${role}&search=${first.email}`), emails(first));
  await as(manager, `/accounts/${second.userId}/disable`, { method: 'POST' });
  assert.deepEqual(await found(`role=${role}&type=EHR&state=disabled`), emails(second));
  const begun = await page(`role=${role}&limit=2`);
  const rest = await page(`role=${role}&limit=2&cursor=${begun.nextCursor}`);
  assert.deepEqual(
    [...begun.items, ...rest.items].map(({ email }) => email),
    emails(first, second, person),
  );
  assert.equal((await as(manager, `/accounts?cursor=${begun.nextCursor}`)).status, 400);
  for (const none of [randomUUID(), await roleOf(['encounters.access'])])
    assert.deepEqual(await page(`role=${none}`), { items: [], nextCursor: null });
  assert.equal((await as(manager, '/accounts?role=reader')).status, 400);
});
