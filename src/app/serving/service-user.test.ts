/** What DATABASE_SERVICE_URL may name, at the start of the service and in the doctor. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { makeDataDir, openHere } from '../../../test-support/database/embedded.ts';
import { runCommand, runProcess, startCommand } from '../../../test-support/service/command.ts';
import { freePort } from '../../../test-support/service/free-port.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { createPool, type Pool } from '../../platform/db/database.ts';
import type { Finding } from '../doctor/finding.ts';

const MASTER_KEY = '17'.repeat(32);
/** Users belong to the whole server, which other tests share. */
const USER = `service_user_${randomBytes(4).toString('hex')}`;
const GROUP = `${USER}_group`;

describe('DATABASE_SERVICE_URL', { timeout: 600_000 }, () => {
  let database: TestDatabase;
  let other: TestDatabase;
  let owner: Pool;
  before(async () => {
    [database, other] = [await createTestDatabase(), await createTestDatabase()];
    owner = createPool({ url: database.adminUrl, max: 1, applicationName: 'test' }, () => undefined);
    await owner.query(`create role ${USER} login password 'secret'`);
    await owner.query(`create role ${GROUP} nologin`);
    await owner.query(`grant interchange_service to ${USER}`);
  });
  after(async () => {
    await owner.query(`drop role if exists ${USER}, ${GROUP}`);
    await owner.end();
    await other.drop();
    await database.drop();
  });

  const asUser = (url: string, password = 'secret') => {
    const own = new URL(url);
    own.username = USER;
    own.password = password;
    return own.href;
  };
  const environment = (serviceUrl: string) => ({
    DATABASE_URL: database.url,
    DATABASE_SERVICE_URL: serviceUrl,
    MASTER_KEY,
    PORT: '0',
  });
  const finding = async (serviceUrl: string): Promise<Finding | undefined> => {
    const { stdout } = await runCommand(['doctor', '--json'], { env: environment(serviceUrl) });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    return findings.find(({ check }) => check === 'service user');
  };
  const isRefused = async (serviceUrl: string, reason: RegExp, args: string[] = []) => {
    const { code, stderr } = await runProcess(['serve', ...args], {
      env: environment(serviceUrl),
      timeoutMs: 120_000,
    });
    assert.equal(code, 1, stderr);
    assert.match(stderr, reason);
    const found = await finding(serviceUrl);
    assert.equal(found?.outcome, 'failed');
    assert.match(found?.text ?? '', reason);
    for (const text of [stderr, found?.text ?? ''])
      assert.doesNotMatch(text, /secret|[^_]DATABASE_URL (refuse|does)/);
  };

  test('is taken where it names the same database and the service alone [OPS-7]', async () => {
    const service = startCommand(['serve'], { env: environment(asUser(database.url)) });
    try {
      await service.printed(/"event":"listening"/);
    } finally {
      service.child.kill('SIGKILL');
      await service.ended;
    }
    assert.equal((await finding(asUser(database.url)))?.outcome, 'ok');
  });

  test('is whom the service signs in as, its worker too, where it needs no owner [OPS-7]', async () => {
    const service = startCommand(['serve'], { env: environment(asUser(database.url)) });
    const connected = async () => {
      const { rows } = await owner.query<{ name: string; user: string }>(`
        select distinct application_name as name, usename as user
        from pg_stat_activity
        where datname = current_database()
          and application_name like 'interchange%'`);
      return rows;
    };
    try {
      await service.printed(/"event":"listening"/);
      await waitUntil(async () => (await connected()).some(({ name }) => name === 'interchange delivery'));
      const asOwner = (await connected()).filter(({ user }) => user !== USER).map(({ name }) => name);
      assert.deepEqual(
        asOwner.filter((name) => !['interchange owner', 'interchange keys'].includes(name)),
        [],
      );
    } finally {
      service.child.kill('SIGKILL');
      await service.ended;
    }
  });

  test('that names another database is refused, by one process and by several [OPS-7]', async () => {
    const reason = /DATABASE_SERVICE_URL names another database than DATABASE_URL/;
    await isRefused(asUser(other.url), reason);
    await isRefused(asUser(other.url), reason, ['--processes', '2']);
  });

  test('that names another server is refused [OPS-7]', async () => {
    const elsewhere = await makeDataDir();
    const server = await openHere(elsewhere.path);
    try {
      await isRefused(server.url, /DATABASE_SERVICE_URL names another server than DATABASE_URL/);
    } finally {
      await server.release();
      await elsewhere.remove();
    }
  });

  test('of a user that may do more is refused [OPS-7]', async () => {
    for (const [give, take, reason] of [
      [`alter role ${USER} superuser`, `alter role ${USER} nosuperuser`, /may do more .*: superuser\./],
      [`grant ${GROUP} to ${USER}`, `revoke ${GROUP} from ${USER}`, /member of service_user_\w+_group\./],
      [
        `create table public.own_table (); alter table own_table owner to ${USER}`,
        'drop table own_table',
        /owner of own_table/,
      ],
    ] as const) {
      await owner.query(give);
      await isRefused(asUser(database.url), reason);
      await owner.query(take);
    }
  });

  test('of a user that may not act as the service is refused [OPS-7]', async () => {
    await owner.query(`revoke interchange_service from ${USER}`);
    await isRefused(asUser(database.url), /may not act as interchange_service/);
    await owner.query(`grant interchange_service to ${USER}`);
  });

  test('that cannot be connected to is named as itself [OPS-7]', async () => {
    const elsewhere = new URL(asUser(database.url));
    elsewhere.port = String(await freePort());
    await isRefused(elsewhere.href, /database of DATABASE_SERVICE_URL refuses connections/);
    elsewhere.port = new URL(database.url).port;
    elsewhere.pathname = '/nowhere';
    await isRefused(elsewhere.href, /named in DATABASE_SERVICE_URL does not exist/);
  });
});
