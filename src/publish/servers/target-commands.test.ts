/** `interchange target …`, as the operator types it. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { insertKnownDataKey } from '../../../test-support/database/known-data-key.ts';
import { serveFhir } from '../../../test-support/fhir-server/start.ts';
import { createClinic } from '../../../test-support/publish/publish-records.ts';
import { type CommandResult, runCommand } from '../../../test-support/service/command.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { withClient } from '../../platform/db/migrate.ts';
import { createOrganisation } from '../../tenancy/organisations/facilities.ts';
import { CREATE_BEGUN, findRecorded, recordStored } from '../send/resource.store.ts';
import { insertFhirServer, lockFhirServers } from './fhir-server.store.ts';
import { DEFAULT_SETTINGS } from './fhir-server.ts';
import { secretOf } from './live-fhir-servers.ts';
import { changeFhirServer, requireFhirServer, rotateFhirServerSecret } from './manage-fhir-servers.ts';

const SECRET = 'tok-33e1-of-the-target';

const masterKey = randomBytes(32);
const database = await createTestDatabase();
const server = await serveFhir('--no-client-ids');
after(async () => {
  await server.stop();
  await database.drop();
});
await withClient(database.adminUrl, (owner) => insertKnownDataKey(owner, masterKey));
const env = { DATABASE_URL: database.url, MASTER_KEY: masterKey.toString('hex') };

describe('interchange target', () => {
  const run = (line: string, stdin = '') => runCommand(['target', ...line.split(' ')], { env, stdin });
  async function json(line: string, stdin?: string) {
    const { code, stdout, stderr } = await run(`${line} --json`, stdin);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  }

  test('as a real process', async () => {
    const args = [
      'target',
      'create',
      '--name',
      'real',
      '--base',
      server.base,
      '--auth',
      'bearer',
      '--secret-stdin',
      '--json',
    ];
    const created: CommandResult = await runCommand(args, { env, stdin: `${SECRET}\n` });
    assert.equal(created.code, 0, created.stderr);
    assert.equal(JSON.parse(created.stdout).name, 'real');
    assert.ok(!(created.stdout + created.stderr).includes(SECRET));
    const wrong = await runCommand(['target', 'create', '--name', 'real'], { env });
    assert.equal(wrong.code, 2);
    const nothing = await runCommand(['target', 'update', '--name', 'real', '--json'], { env });
    assert.equal(nothing.code, 2);
    assert.match(nothing.stderr, /at least one setting/);
    assert.equal((await run('remove --name real')).code, 0);
  });

  test('two made at once: one name is told to exist, and one of two is the default', async () => {
    for (const [name, says] of [
      ['first', /A target named first exists already/],
      ['second', /^second {2}\S+\n/],
    ] as const) {
      const { id: organisationId } = await createOrganisation(database.pool, { name: 'Of two' });
      const settings = { ...DEFAULT_SETTINGS, name: 'first', base: server.base, auth: 'none' } as const;
      const { stdout, stderr } = await callDuring(database.pool, {
        change: async (client) => {
          await lockFhirServers(client);
          await insertFhirServer(
            client,
            { id: randomUUID(), organisationId },
            { settings, secret: undefined },
          );
        },
        call: () =>
          run(`create --name ${name} --organisation ${organisationId} --base ${server.base} --auth none`),
      });
      assert.match(stdout + stderr, says);
    }
  });

  test('create, show, list, update, rotate, switch and remove [PUB-8, PUB-9, PUB-52, CMD-15]', async () => {
    const created = await json(
      `create --name national --base ${server.base}/ --auth bearer --secret-stdin --id-policy server --references send --allow-local-codes`,
      `${SECRET}\n`,
    );
    const { id, createdAt, ...rest } = created;
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.ok(createdAt);
    assert.deepEqual(rest, {
      name: 'national',
      organisationId: null,
      base: server.base,
      auth: 'bearer',
      header: null,
      user: null,
      hasSecret: true,
      contentType: 'application/json',
      idPolicy: 'server',
      references: 'send',
      allowLocalCodes: true,
      timeoutMs: 10_000,
      maxInFlight: 8,
      default: true,
      enabled: true,
    });
    const organisation = await createOrganisation(database.pool, { name: 'Command Organisation' });
    await json(
      `create --name own --base https://fhir.example.org/r4 --auth none --organisation ${organisation.id}`,
    );
    const listed = await json(`list --organisation ${organisation.id}`);
    assert.deepEqual(
      listed.items.map((item: { name: string; default: boolean }) => [item.name, item.default]),
      [
        ['national', true],
        ['own', true],
      ],
    );
    const updated = await json(
      'update --name national --rename region --auth api-key --header X-Key --secret-stdin --no-allow-local-codes --timeout-ms 5000',
      'key-1',
    );
    assert.deepEqual(
      [
        updated.name,
        updated.auth,
        updated.header,
        updated.allowLocalCodes,
        updated.timeoutMs,
        updated.idPolicy,
      ],
      ['region', 'api-key', 'x-key', false, 5_000, 'server'],
    );
    assert.equal((await json('update --name region --references logical')).allowLocalCodes, false);
    assert.equal((await json('rotate-secret --name region', 'key-2')).hasSecret, true);
    assert.equal((await json('disable --name region')).enabled, false);
    assert.equal((await json('enable --name region')).enabled, true);
    assert.deepEqual(await json('remove --name region'), { id, name: 'region', removed: true });
    const gone = await run('show --name region');
    assert.equal(gone.code, 1);
    assert.match(
      gone.stderr,
      /no target region of all organisations. For a target of one organisation, add --organisation <id>. List/,
    );
    const { rows } = await database.pool.query(
      'select secret_id, sealed_secret from publish_target where id = $1',
      [id],
    );
    assert.deepEqual(rows, [{ secret_id: null, sealed_secret: null }]);
  });

  test('secrets are sealed, and never printed [PUB-52, SEC-14]', async () => {
    const { stdout, stderr } = await run(
      `create --name sealed --base ${server.base} --auth bearer --secret-stdin`,
      SECRET,
    );
    assert.ok(!(stdout + stderr).includes(SECRET));
    const { rows } = await database.pool.query(
      "select sealed_secret from publish_target where name = 'sealed'",
    );
    assert.ok(!rows[0].sealed_secret.includes(Buffer.from(SECRET)));
  });

  test('what is called wrongly ends with 2 and says what to do', async () => {
    const wrong: [string, RegExp, string?][] = [
      ['create --name a --base http://fhir.example.org --auth none', /Use an https address/],
      ['create --name a --base https://169.254.169.254/fhir --auth none', /link-local/],
      ['create --name a --base ftp://fhir.example.org --auth none', /https URL/],
      ['create --name a --base https://u:p@fhir.example.org --auth none', /not contain a user, a password/],
      ['create --name a --base https://fhir.example.org/?x=1 --auth none', /must not have a query/],
      ['create --name a --base https://fhir.example.org --auth digest', /--auth must be one of/],
      ['create --name a --base https://fhir.example.org --auth bearer', /needs a secret.*--secret-stdin/],
      [
        'create --name a --base https://fhir.example.org --auth none --secret-stdin',
        /--secret-stdin has no use with --auth none/,
        'x',
      ],
      [
        'create --name a --base https://fhir.example.org --auth api-key --secret-stdin',
        /Give --header with --auth api-key/,
        'x',
      ],
      [
        'create --name a --base https://fhir.example.org --auth basic --secret-stdin',
        /Give --user with --auth basic/,
        'x',
      ],
      [
        'create --name a --base https://fhir.example.org --auth api-key --header host --secret-stdin',
        /another use/,
        'x',
      ],
      [
        'create --name a --base https://fhir.example.org --auth api-key --header accept-encoding --secret-stdin',
        /another use/,
        'x',
      ],
      [
        'create --name a --base https://fhir.example.org --auth bearer --secret-stdin',
        /as one line/,
        'two\nlines',
      ],
      ['create --name a --base https://fhir.example.org --auth none --id-policy ours', /--id-policy must be/],
      ['create --name a/b --base https://fhir.example.org --auth none', /name must be/],
      ['create --name a --base https://fhir.example.org --auth none --timeout-ms 5', /time-out must be/],
      ['create --name a', /required option/],
      ['update --name a', /at least one setting/],
    ];
    for (const [line, message, stdin] of wrong) {
      const { code, stderr } = await run(line, stdin);
      assert.equal(code, 2, `${line}: ${stderr}`);
      assert.match(stderr, message, line);
    }
  });

  test('a name that is taken and an unknown organisation end with 1', async () => {
    await json('create --name taken --base https://fhir.example.org --auth none');
    const twice = await run('create --name taken --base https://fhir.example.org --auth none');
    assert.deepEqual([twice.code, /A target named taken exists already/.test(twice.stderr)], [1, true]);
    await json('create --name other --base https://fhir.example.org --auth none');
    const renamed = await run('update --name other --rename taken');
    assert.deepEqual([renamed.code, /A target named taken exists already/.test(renamed.stderr)], [1, true]);
    const create = 'create --name a --base https://fhir.example.org --auth none --organisation';
    const nobody = await run(`${create} ${randomUUID()}`);
    assert.deepEqual([nobody.code, /There is no organisation/.test(nobody.stderr)], [1, true]);
    const malformed = await run(`${create} nonsense`);
    assert.deepEqual([malformed.code, /--organisation must be a UUID/.test(malformed.stderr)], [2, true]);
  });

  test('a new base address needs a word on the ids that are recorded of the old one [PUB-55]', async () => {
    const clinic = await createClinic(database.pool, { results: 1 });
    const { organisationId } = clinic.scope;
    const which = `--name moving --organisation ${organisationId}`;
    await json(`create ${which} --base ${server.base} --auth none`);
    await json(`update ${which} --base https://first.example.org/r4`);
    const resource = {
      serverId: '17',
      versionId: '1',
      contentHash: 'ab',
      method: 'POST',
      status: 201,
      publishedAt: new Date(),
      chainId: randomUUID(),
    } as const;
    const stored = [{ key: `Patient/${clinic.patientId}` as const, ...resource }];
    const moving = () => requireFhirServer(database.pool, { name: 'moving', organisationId });
    await recordStored(database.pool, clinic.scope, { server: await moving(), stored });
    const recorded = async () =>
      findRecorded(database.pool, clinic.scope, {
        server: await moving(),
        keys: stored.map(({ key }) => key),
      });
    const refused = await run(`update ${which} --base https://second.example.org/r4`);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /for the target moving\. .* --keep-ids .* --forget-ids/);
    const base = async () => (await json(`show ${which}`)).base;
    assert.equal(await base(), 'https://first.example.org/r4');
    await json(`update ${which} --base https://first.example.org/r4/ --timeout-ms 5000`);
    assert.equal((await run(`update ${which} --keep-ids --forget-ids`)).code, 2);
    await json(`update ${which} --base https://second.example.org/r4 --keep-ids`);
    assert.equal((await recorded())[0]?.serverId, '17');
    await json(`update ${which} --base https://third.example.org/r4 --forget-ids`);
    assert.equal(await base(), 'https://third.example.org/r4');
    assert.deepEqual(await recorded(), [{ key: stored[0]?.key, ...CREATE_BEGUN }]);
  });

  test('a secret that is rotated while another setting is changed is not lost', async () => {
    const keys = createKeyRing(masterKey);
    const deps = { db: database.pool, keys };
    await run(`create --name busy --base ${server.base} --auth bearer --secret-stdin`, 'first');
    const which = { name: 'busy', organisationId: null };
    for (let round = 1; round <= 5; round += 1) {
      const change = { settings: { timeoutMs: 1_000 + round }, secret: undefined, makeDefault: false };
      await Promise.all([
        rotateFhirServerSecret(deps, which, `secret-${round}`),
        changeFhirServer(deps, which, change),
      ]);
      const target = await requireFhirServer(database.pool, which);
      assert.deepEqual([target.timeoutMs, await secretOf(keys, target)], [1_000 + round, `secret-${round}`]);
    }
    await run('remove --name busy');
  });

  test('test says what the server supports and what that means for the policies [PUB-53]', async () => {
    await json(`create --name checked --base ${server.base} --auth none`);
    const refused = await run('test --name checked --json');
    assert.equal(refused.code, 1);
    const check = JSON.parse(refused.stdout);
    assert.equal(check.ok, false);
    assert.equal(check.fhirVersion, '4.0.1');
    assert.match(
      check.faults.join('\n'),
      /Observation, .*: the server declares that it does not accept our ids \(updateCreate: false\)\. Use --id-policy server\./,
    );
    await json('update --name checked --id-policy server');
    const warned = await run('test --name checked --json');
    assert.equal(warned.code, 0, warned.stderr);
    assert.match(
      JSON.parse(warned.stdout).advice.join('\n'),
      /the server checks that references lead somewhere.*--references send/,
    );
    await json('update --name checked --references send');
    assert.deepEqual(JSON.parse((await run('test --name checked --json')).stdout).advice, []);
    const text = await run('test --name checked');
    assert.match(text.stdout, /checked: publishing can work\n {2}FHIR 4\.0\.1, Test FHIR server 1/);
    await json('create --name dead --base http://127.0.0.1:9/fhir --auth none');
    const dead = await run('test --name dead --json');
    assert.deepEqual(
      [dead.code, JSON.parse(dead.stdout).faults],
      [1, ['The server does not answer (ECONNREFUSED). Check the base address and the network.']],
    );
  });
});
