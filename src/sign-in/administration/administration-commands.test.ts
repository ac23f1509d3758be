/** The commands by which the operator does what administrators do over HTTP, and reads the record of it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { insertPatient } from '../../../test-support/records/clinical-records.ts';
import { type CommandResult, runCommand } from '../../../test-support/service/command.ts';
import { useTestApi } from '../../../test-support/service/use-api.ts';

const { api, tenant, account: admin } = await useTestApi();

const run = (...args: string[]) => runCommand(args, { env: api.env });
async function json(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}
function fails({ code, stderr }: CommandResult, expected: number, pattern: RegExp): void {
  assert.match(stderr, pattern);
  assert.equal(code, expected);
}
const organisation = () => ['--organisation', tenant.organisationId];

interface Recorded {
  action: string;
  actor: { kind: string };
  before: object;
  after: object;
}

async function recordOf(subject: string): Promise<Recorded[]> {
  return (await json('audit', 'list', ...organisation(), '--subject', subject)).items;
}

test('address, role and facilities of an account are changed, and the record says by whom [ADM-19]', async () => {
  const account = await api.createAccount(tenant, { permissions: ['patients.patients.list'] });
  const there = await api.createFacility(tenant.organisationId);
  const role = `role ${randomUUID()}`;
  await json('role', 'create', ...organisation(), '--name', role, '--permissions', 'roles.manage');
  assert.equal((await api.call('/roles', { token: account.token })).status, 403);
  await json('account', 'set-role', '--email', account.email, '--role', role);
  assert.equal((await api.call('/roles', { token: account.token })).status, 200, 'from the next call on');
  const again = await run('account', 'set-role', '--email', account.email, '--role', role);
  assert.match(again.stdout, /had that already. Nothing was changed\./);
  const to = `moved-${randomUUID()}@example.org`;
  assert.deepEqual(await json('account', 'set-email', '--email', account.email, '--to', to.toUpperCase()), {
    userId: account.userId,
    email: to,
  });
  const moved = `moved-${randomUUID()}@example.org`;
  const { stdout } = await run('account', 'set-email', '--email', to, '--to', moved);
  assert.ok(stdout.includes(`npx interchange account reset-password --email ${moved} --setup-link`), stdout);
  await json('account', 'set-email', '--email', moved, '--to', to);
  const facilityIds = `${there},${tenant.facilityId}`;
  await json('account', 'set-facilities', '--email', to, '--facility', facilityIds);
  const record = await recordOf(account.userId);
  assert.deepEqual(
    record.map(({ action, actor, after: kept }) => [action, actor.kind, Object.keys(kept)]),
    [['facilityIds', 'defaultFacilityId'], ['email'], ['email'], ['email'], ['role']].map((members) => [
      'account.change',
      'operator',
      members,
    ]),
  );
  fails(await run('account', 'set-email', '--email', account.email, '--to', to), 1, /account/);
  fails(
    await run('account', 'set-email', '--email', to, '--to', 'none'),
    2,
    /^error: --to is not .*--to ris@/,
  );
  fails(await run('account', 'set-role', '--email', to, '--role', 'none of these'), 1, /none of these/);
});

test('a list that is given in several options is all of them, in their order [CMD-27]', async () => {
  const account = await api.createAccount(tenant);
  const there = await api.createFacility(tenant.organisationId);
  const twice = ['--facility', there, '--facility', tenant.facilityId];
  await json('account', 'set-facilities', '--email', account.email, ...twice);
  const [{ after: kept }] = (await recordOf(account.userId)) as [Recorded];
  assert.deepEqual(kept, { facilityIds: [there, tenant.facilityId].sort(), defaultFacilityId: there });
  const role = ['role', 'create', ...organisation(), '--name', `role ${randomUUID()}`];
  const { id } = await json(...role, '--permissions', 'roles.manage', '--permissions', 'accounts.manage');
  const [{ after: made }] = (await recordOf(id)) as [Recorded];
  assert.deepEqual(Reflect.get(made, 'permissions'), ['accounts.manage', 'roles.manage']);
});

test('all sessions of a system that signs in for each call are listed [ADM-19]', async () => {
  const { organisationId, userId, email, sessionId } = await api.createAccount(tenant);
  await api.database.pool.query(
    `insert into session (organisation_id, id, account_id, created_at, expires_at)
     select $1, gen_random_uuid(), $2, now() + n / 3 * interval '1 second', now() + interval '90 days'
     from generate_series(1, 2005) n`,
    [organisationId, userId],
  );
  const ids = (await json('account', 'sessions', '--email', email)).items.map(({ id }: { id: string }) => id);
  assert.deepEqual([ids.length, new Set(ids).size, ids.includes(sessionId)], [2_006, 2_006, true]);
});

test('sessions of an account are listed, and ended one by one or all at once [ADM-19]', async () => {
  const { email, sessionId, token, userId } = await api.createAccount(tenant);
  const { items } = await json('account', 'sessions', '--email', email);
  assert.deepEqual(
    items.map(({ id }: { id: string }) => id),
    [sessionId],
  );
  const end = ['account', 'end-sessions', '--email', email];
  fails(
    await run(...end, '--session', admin.sessionId),
    1,
    /has no session with this id\. List its sessions with: npx interchange account sessions --email \S+\n$/,
  );
  assert.deepEqual(await json(...end, '--session', sessionId), { ended: 1 });
  assert.equal((await api.call('/roles', { token })).status, 401);
  assert.deepEqual(await json(...end), { ended: 0 });
  assert.deepEqual(await json('account', 'sessions', '--email', email), { items: [] });
  assert.equal((await recordOf(userId)).at(-1)?.action, 'account.end-sessions');
});

test('a session that began while its ending waited for another change does not end before it began', async () => {
  const { organisationId } = tenant;
  for (const command of ['end-sessions', 'remove-second-factor', 'reset-password', 'disable']) {
    const { email, sessionId } = await api.createAccount(tenant, { userType: 'STAFF' });
    await callDuring(api.database.pool, {
      change: (client) =>
        client.query('select from organisation where id = $1 for no key update', [organisationId]),
      call: () => json('account', command, '--email', email),
      meanwhile: () =>
        api.database.pool.query('update session set created_at = clock_timestamp() where id = $1', [
          sessionId,
        ]),
    });
    const { rows } = await api.database.pool.query(
      'select revoked_at > created_at as "endsLater" from session where id = $1',
      [sessionId],
    );
    assert.deepEqual(rows, [{ endsLater: true }], command);
  }
});

test('name, time zone and modules of a facility are changed with one command [ADM-22]', async () => {
  const id = await api.createFacility(tenant.organisationId);
  const set = ['facility', 'set', ...organisation(), '--facility', id];
  const changed = await json(...set, '--name', 'Ward', '--time-zone', 'Africa/Lagos', '--modules', 'lab');
  assert.deepEqual(changed, { id, name: 'Ward', timeZone: 'Africa/Lagos', modules: ['lab'] });
  fails(await run(...set), 2, /--name, --time-zone or --modules/);
  fails(await run(...set, '--time-zone', 'Nowhere'), 2, /--time-zone/);
  const [entry] = await recordOf(id);
  assert.deepEqual([entry?.action, entry?.actor.kind], ['facility.change', 'operator']);
});

test('a command that changes nothing of a role or a facility says so, and leaves no entry [ADM-78]', async () => {
  const id = await api.createFacility(tenant.organisationId);
  const role = `role ${randomUUID()}`;
  await json('role', 'create', ...organisation(), '--name', role, '--permissions', 'roles.manage');
  const place = [...organisation(), '--facility', id];
  const permissions = ['--permissions', 'roles.manage,accounts.manage'];
  for (const command of [
    ['role', 'set-permissions', ...organisation(), '--name', role, ...permissions],
    ['facility', 'set', ...place, '--name', 'Ward', '--time-zone', 'Africa/Lagos'],
    ['facility', 'modules', ...place, '--modules', 'lab,patients'],
  ]) {
    const [first, again] = [await run(...command), await run(...command)];
    assert.match(first.stdout, /is changed, from the next call on/, command.join(' '));
    assert.match(again.stdout, /had that already. Nothing was changed\./, command.join(' '));
    assert.equal(again.code, 0);
    assert.deepEqual(Object.keys(await json(...command)).includes('changed'), false);
  }
  assert.equal((await recordOf(id)).filter(({ action }) => action === 'facility.change').length, 2);
});

test('the record is listed and exported by the filters of the route [ADM-36]', async () => {
  const { email } = await api.createAccount(tenant);
  await json('account', 'disable', '--email', email);
  const since = '2020-01-01T00:00:00Z';
  const filter = ['--actor', 'operator', '--action', 'account.disable', '--subject', email, '--since', since];
  const { items } = await json('audit', 'list', ...organisation(), ...filter);
  assert.equal(items.length, 1);
  const route = await api.call(`/administration/audit?subject=${encodeURIComponent(email)}`, {
    token: admin.token,
  });
  assert.deepEqual(items, route.json.items);
  const exported = (format: string, ...more: string[]) =>
    run('audit', 'export', ...organisation(), ...filter, ...more, '--format', format);
  assert.deepEqual(JSON.parse((await exported('ndjson')).stdout), items[0]);
  assert.equal((await exported('csv')).stdout.trim().split('\r\n').length, 2);
  assert.equal((await exported('csv', '--until', since)).stdout.trim().split('\r\n').length, 1);
  fails(await exported('csv', '--json'), 2, /audit list --json/);
  fails(await run('audit', 'list', ...organisation(), '--since', 'soon'), 2, /--since/);
  fails(
    await run('audit', 'list', ...organisation(), '--action', 'account.disabled'),
    2,
    /Allowed choices are/,
  );
  fails(await run('audit', 'list', '--organisation', randomUUID()), 1, /organisation/);
});

test('the operator who is shown what a patient refuses is in the log of that patient [ADM-34, LOG-7]', async () => {
  const patientId = await insertPatient(api.database.pool, tenant);
  const patient = ['--facility', tenant.facilityId, '--patient', patientId];
  await json('patient', 'privacy', ...organisation(), ...patient, '--refuse', 'RESEARCH');
  const [changed] = await recordOf(patientId);
  assert.deepEqual(changed?.after, { refusedPurposes: ['RESEARCH'] });
  await run('audit', 'export', ...organisation(), '--subject', patientId);
  const path = `/patients/base/${patientId}/access-log?account=00000000-0000-0000-0000-000000000000`;
  const log = (await api.call(path, { token: admin.token })).json.items;
  assert.deepEqual(
    log.map(({ action }: Recorded) => action),
    ['patient.privacy-read', 'patient.privacy-read', 'patient.privacy-change'],
  );
});
