/** Every check of the doctor, made to fail by what it looks for. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { makeDataDir } from '../../../test-support/database/embedded.ts';
import { needsPlainPostgres } from '../../../test-support/database/plain-postgres.ts';
import { recordCitus } from '../../../test-support/database/recorded-citus.ts';
import { connect, insertPatients, queue } from '../../../test-support/exchange/exchange-records.ts';
import { runCommand, startCommand } from '../../../test-support/service/command.ts';
import {
  finding as find,
  DOCTOR_MASTER_KEY as MASTER_KEY,
  reportOf,
  says,
  useDoctor,
} from '../../../test-support/service/doctor.ts';
import { freePort, listenHere } from '../../../test-support/service/free-port.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createPool } from '../../platform/db/database.ts';
import { makePartitions } from '../../privacy/access-log/access-log-partition.store.ts';
import { createFacility, createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { loadConfig } from '../config/config.ts';
import { readServiceAddress, recordServiceAddress } from '../serving/service-address.store.ts';
import { checkDisk } from './check-disk.ts';
import { checkRole } from './check-schema.ts';

describe('interchange doctor', { timeout: 600_000 }, () => {
  const t = useDoctor();
  const { broken, doctor, examined } = t;

  test('finds nothing where all is well, and ends with 0 [CMD-24]', async () => {
    const { stdout } = await doctor();
    assert.match(stdout, /^ok +settings +The environment variables are valid\.\n/);
    assert.match(stdout, /\n\d failed, \d warnings?, \d+ ok\. The service does not run\.\n$/);
    const { findings } = reportOf(await doctor({}, '--json'));
    const others = findings
      .filter(({ outcome }) => outcome !== 'ok')
      .map(({ check, outcome }) => [check, outcome]);
    assert.deepEqual(
      // The disk of the machine that tests may be full.
      others.filter(([check]) => check !== 'disk'),
      [
        ['service user', 'not applicable'],
        ['data folder', 'not applicable'],
        ['placement', 'not applicable'],
        ['address', 'not applicable'],
      ],
    );
  });

  test('says of wrong settings and a database that is down what to do, and runs nothing else [CMD-24]', async () => {
    for (const [extra, check, text, remedy] of [
      [{ PORT: 'x' }, 'settings', /PORT/, /docs\/environment\.md/],
      [
        { DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/interchange` },
        'database',
        /cannot be used: .*refuses connections\.$/,
        /^Check that it is running\.$/,
      ],
      [
        { DATABASE_URL: t.database.url.replace(new URL(t.database.url).pathname, '/nowhere') },
        'database',
        /does not exist\.$/,
        /^Create it first\.$/,
      ],
      [
        {
          DATABASE_URL: `postgres://127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}/interchange`,
        },
        'database',
        /No database server can be used: .*ECONNREFUSED\)\.$/,
        /^Start the primary, or promote a standby\.$/,
      ],
      [
        { MASTER_KEY: '', MASTER_KEY_FILE: '/no/such/key' },
        'settings',
        /^MASTER_KEY_FILE cannot be read \(ENOENT\)\. Check the path and who may read it\.$/,
        /docs\/environment\.md/,
      ],
    ] as const) {
      const { code, stdout } = await doctor(extra, '--json');
      assert.equal(code, 1);
      const report = JSON.parse(stdout) as ReturnType<typeof reportOf>;
      says(find(report, check), 'failed', text, remedy);
      assert.ok(
        report.findings.slice(2).every(({ outcome }) => outcome === 'not run'),
        stdout,
      );
    }
  });

  test('measures the disk [CMD-24]', async () => {
    const config = { ...loadConfig(t.env), database: { kind: 'embedded' as const }, dataDir: tmpdir() };
    const none = { failedBelowBytes: 0, warnBelowBytes: 0, warnBelowShare: 0 };
    const all = Number.MAX_SAFE_INTEGER;
    assert.equal((await checkDisk(t.owner, config, none)).outcome, 'ok');
    const little = await checkDisk(t.owner, config, { ...none, warnBelowBytes: all, warnBelowShare: 2 });
    says({ check: 'disk', ...little }, 'warning', /% are free|%\) are free/, /Free some space/);
    const full = await checkDisk(t.owner, config, { ...none, failedBelowBytes: all });
    says({ check: 'disk', ...full }, 'failed', /A full disk stops every write/, /Free some space/);
    const missing = await checkDisk(t.owner, { ...config, dataDir: '/no/such/folder' });
    assert.equal(missing.outcome, 'not applicable');
    const asService = await checkDisk(t.database.pool, loadConfig(t.env));
    assert.match(asService.text, /may not ask where .* pg_read_all_settings/);
  });

  test('compares the schema, and runs nothing that reads another one [CMD-24]', async () => {
    const last = `(select max(name) from schema_migration)`;
    const kept = (await t.owner.query(`select * from schema_migration where name = ${last}`)).rows[0];
    const restored = `insert into schema_migration values ('${kept.name}', '${kept.checksum}', now())`;
    says(
      await broken('schema', `delete from schema_migration where name = ${last}`, restored),
      'failed',
      /1 migration missing, from \d{4}-/,
      /npx interchange migrate/,
    );
    const unknown = `insert into schema_migration values ('9999-later.sql', 'x', now())`;
    const removed = `delete from schema_migration where name = '9999-later.sql'`;
    says(await broken('schema', unknown, removed), 'failed', /newer than this version/, /Run the version/);
    assert.equal((await broken('role', unknown, removed)).outcome, 'not run');
    const change = (to: string) =>
      `update schema_migration set checksum = '${to}' where name = '${kept.name}'`;
    says(
      await broken('schema', change('x'), change(kept.checksum)),
      'failed',
      /changed after being applied/,
      /Install interchange again/,
    );
  });

  test('compares the rights of the role with grants.sql [CMD-24]', async () => {
    const service = 'interchange_service';
    says(
      await broken(
        'role',
        `revoke insert on patient from ${service}`,
        `grant insert on patient to ${service}`,
      ),
      'failed',
      /lacks 1 right: insert on patient\./,
      /npx interchange migrate/,
    );
    says(
      await broken(
        'role',
        `grant delete on access_log to ${service}`,
        `revoke delete on access_log from ${service}`,
      ),
      'warning',
      /does not need: delete on access_log\./,
      /Revoke/,
    );
    says(
      await broken(
        'role',
        `revoke select on organisation from ${service}`,
        `grant select on organisation to ${service}`,
      ),
      'failed',
      /interchange_service has no rights in this database/,
      /npx interchange migrate/,
    );
    // Other tests use the role meanwhile: the change is seen in its own transaction alone.
    const client = await t.owner.connect();
    try {
      await client.query(`begin; alter role ${service} createdb`);
      const more = { check: 'role', ...(await checkRole(client)) };
      says(more, 'warning', /more than a plain role/, /docs\/environment\.md/);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  test(
    'compares where tables lie on a Citus cluster [CMD-24]',
    needsPlainPostgres('it records Citus'),
    async () => {
      const other = await createTestDatabase();
      try {
        await recordCitus(other.url);
        const onCitus = { ...t.env, DATABASE_URL: other.url };
        assert.equal((await runCommand(['scale-out'], { env: onCitus })).code, 0);
        const run = async () =>
          find(reportOf(await runCommand(['doctor', '--json'], { env: onCitus })), 'placement');
        assert.equal((await run()).outcome, 'ok');
        const client = createPool({ url: other.url, max: 1, applicationName: 'test' }, () => undefined);
        await client.query(
          `update recorded_citus.pg_dist_partition set partkey = 'id' where logicalrelid = 'role'::regclass`,
        );
        await client.end();
        says(await run(), 'failed', /^role: /, /scale-out --check/);
      } finally {
        await other.drop();
      }
    },
  );

  test('tells a copy that is not marked as restored [CMD-24]', async () => {
    const elsewhere = `insert into database_place values (true, 'another server')
      on conflict (single_row) do update set place = excluded.place`;
    says(
      await broken('restore', elsewhere, 'delete from database_place'),
      'failed',
      /was restored from a dump, or copied/,
      /restore --mark/,
    );
  });

  test('tries the master key, and tells a rotation that is not finished [CMD-24]', async () => {
    says(
      await examined('master key', { MASTER_KEY: '18'.repeat(32) }),
      'failed',
      /is key .* but the database expects [^.]*\. Nothing was changed\.$/,
      /^Set MASTER_KEY to that key/,
    );
    const rotate = (...args: string[]) =>
      runCommand(['master-key', 'rotate', ...args], { env: t.env, stdin: '19'.repeat(32) });
    assert.equal((await rotate('--new-key-stdin')).code, 0);
    says(await examined('master key'), 'warning', /is not finished/, /rotate --dry-run/);
    assert.equal((await rotate('--cancel')).code, 0);
    const other = new pg.Client({
      connectionString: t.database.adminUrl,
      application_name: 'interchange live, key another',
    });
    await other.connect();
    says(
      await examined('master key'),
      'warning',
      /A process has another master key .*key another/,
      /Restart/,
    );
    const gone = once(other, 'end');
    await other.end();
    await gone;
    assert.equal((await examined('master key')).outcome, 'ok');
  });

  test('calls the public address while the service runs [CMD-24]', async () => {
    const { text } = await examined('address', { PUBLIC_BASE_URL: 'https://records.example.org/api/v1' });
    assert.match(text, /is valid. The service does not run/);
    says(
      await examined('address', { PUBLIC_BASE_URL: 'http://records.example.org/api/v1' }),
      'warning',
      /is not https/,
      /TLS/,
    );
    const service = startCommand(['serve'], { env: { ...t.env, PORT: '0' } });
    let strange = '';
    const stranger = createServer((_request, response) => response.end(strange));
    const proxy = createServer(async ({ url = '' }, response) => {
      const [, path] = /^\/records(\/.*)$/.exec(url) ?? [];
      const [, port] = await service.printed(/"event":"listening".*"port":(\d+)/);
      if (path === undefined) response.writeHead(404).end();
      else response.end(await (await fetch(`http://127.0.0.1:${port}${path}`)).text());
    });
    try {
      const behind = `http://127.0.0.1:${await listenHere(proxy)}/records/api/v1`;
      await service.printed(/"event":"listening"/);
      assert.match(
        (await examined('address', { PUBLIC_BASE_URL: behind })).text,
        /answers, and is this service/,
        'behind the path prefix of a proxy',
      );
      assert.match((await examined('address')).text, /answers, and is this service/);
      assert.match((await doctor()).stdout, / ok\.\n$/);
      const at = (port: number) => ({ PUBLIC_BASE_URL: `http://127.0.0.1:${port}/api/v1` });
      const gone = at(await freePort());
      says(
        await examined('address', gone),
        'failed',
        /does not answer \(ECONNREFUSED\)/,
        /Correct PUBLIC_BASE_URL/,
      );
      const served = await readServiceAddress(t.owner);
      assert.ok(served);
      await recordServiceAddress(t.owner, gone.PUBLIC_BASE_URL);
      says(
        await examined('address'),
        'failed',
        /does not answer \(ECONNREFUSED\)/,
        /^The API that was started last had this address\. .*set PUBLIC_BASE_URL to the address of one that runs/,
      );
      await recordServiceAddress(t.owner, served);
      const port = await listenHere(stranger);
      strange = '{"keys":[{"kid":"other"}]}';
      await t.owner.query('update signing_key set created_at = now()');
      says(await examined('address', at(port)), 'warning', /keys were made less than/, /in half a minute/);
      await t.owner.query(`update signing_key set created_at = now() - interval '1 minute'`);
      // The process answers with the old key beside the new one.
      assert.equal((await runCommand(['key', 'rotate'], { env: t.env })).code, 0);
      for (strange of ['{"keys":[{"kid":"other"}]}', '{"keys":{}}', 'null', '<!doctype html>'])
        says(await examined('address', at(port)), 'failed', /is another service/, /Correct PUBLIC_BASE_URL/);
    } finally {
      proxy.close();
      stranger.close();
      service.child.kill('SIGKILL');
      await service.ended;
    }
  });

  test('tells what the worker has not done: retention, months, deliveries [CMD-24]', async () => {
    const { id: organisationId } = await createOrganisation(t.database.pool, { name: 'Late' });
    const { id: facilityId } = await createFacility(t.database.pool, { organisationId, name: 'Ward' });
    const place = { organisationId, facilityId };
    const met = (days: number) =>
      `insert into terminology_unmapped values ('${organisationId}', '${facilityId}', 's', 'c', 'lab.order', null, 1,
         now() - interval '${days} days', now() - interval '${days} days')`;
    const forgotten = 'delete from terminology_unmapped';
    assert.equal(
      (await broken('retention', met(401), forgotten)).outcome,
      'ok',
      'the worker has a day for it',
    );
    says(await broken('retention', met(403), forgotten), 'warning', /1 unmapped codes/, /retention run/);

    const month = `access_log_${new Date().toISOString().slice(0, 7).replace('-', '_')}`;
    await t.owner.query(`drop table ${month}`);
    says(await examined('access log'), 'warning', /has no partition for \d{4}-\d{2}\./, /interchange serve/);
    await makePartitions(t.owner, new Date(), 1);
    const stray = `insert into access_log values ('${organisationId}', '2001-01-01', gen_random_uuid(), 1, '${facilityId}',
      gen_random_uuid(), gen_random_uuid(), 'encounter.read', 'Encounter', null, 'TREATMENT', 'allowed', 'stray', '', '')`;
    says(
      await broken('access log', stray, `delete from access_log where correlation_id = 'stray'`),
      'warning',
      /outside the partitions of their months/,
      /Correct the clock/,
    );

    await connect({ pool: t.database.pool, keys: createKeyRing(Buffer.from(MASTER_KEY, 'hex')) }, place, {
      address: 'http://127.0.0.1:9/in',
    });
    await queue(t.database.pool, place, await insertPatients(t.database.pool, place, 1));
    const set = (assignment: string) => `update exchange_head set ${assignment}`;
    says(
      await broken('deliveries', set(`queued_at = now() - interval '1 hour'`), set('queued_at = now()')),
      'warning',
      /A delivery has waited for 60 minutes/,
      /worker/,
    );
    says(
      await broken('deliveries', set(`held_at = now(), held_reason = 'refused_422'`), set('held_at = null')),
      'warning',
      /1 delivery held/,
      /delivery list --status held/,
    );
    says(
      await broken(
        'deliveries',
        'update exchange_circuit set opened_at = now()',
        'update exchange_circuit set opened_at = null',
      ),
      'warning',
      /1 exchange considered down/,
      /operator of the exchange/,
    );
    await t.owner.query('update exchange_circuit set opened_at = now()');
    await t.owner.query(`update exchange_head set queued_at = now() - interval '1 hour'`);
    const switched = (to: string) => `update exchange_connection set disabled_at = ${to}`;
    const retired = await broken('deliveries', switched('now()'), switched('null'));
    assert.equal(retired.outcome, 'ok', 'nothing waits for an exchange whose connection is disabled');
    const strict = await doctor({}, '--strict');
    assert.equal(strict.code, 1, 'warnings count with --strict');
    assert.match(strict.stdout, /^warning +deliveries +1 exchange .*\n +What to do: Ask the operator/m);
  });

  test('works on the embedded database, and makes none where there is none [CMD-24]', async () => {
    const data = await makeDataDir();
    const own = { env: { DATA_DIR: data.path } };
    try {
      const empty = await runCommand(['doctor', '--json'], own);
      says(find(reportOf(empty), 'database'), 'failed', /There is no database in/, /npx interchange serve/);
      assert.equal((await runCommand(['organisation', 'create', '--name', 'Own'], own)).code, 0);
      const stopped = reportOf(await runCommand(['doctor', '--json'], own));
      assert.deepEqual(
        stopped.findings.filter(({ outcome }) => outcome === 'failed'),
        [],
      );
      assert.equal(find(stopped, 'data folder').outcome, 'ok');
      const key = join(data.path, 'master.key');
      if (process.platform !== 'win32')
        for (const [path, mode, text, remedy] of [
          [
            key,
            0o644,
            /Every user of this machine can read .*master\.key\.$/,
            /^Run: chmod 600 .*master\.key$/,
          ],
          [data.path, 0o777, /Every user of this machine can write to /, /^Run: chmod o-w \//],
          [data.path, 0o1777, /Every user of this machine can write to /, /^Run: chmod o-w \//],
        ] as const) {
          await chmod(path, mode);
          says(
            find(reportOf(await runCommand(['doctor', '--json'], own)), 'data folder'),
            'warning',
            text,
            remedy,
          );
        }
      await rm(key);
      says(
        find(reportOf(await runCommand(['doctor', '--json'], own)), 'master key'),
        'failed',
        /master\.key is missing/,
        /Give the master key/,
      );
    } finally {
      await data.remove();
    }
  });
});
