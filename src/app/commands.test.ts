import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '../../test-support/database/database.ts';
import { insertPatient } from '../../test-support/records/clinical-records.ts';
import {
  type CommandResult,
  runCommand,
  runJson,
  runProcess,
  startCommand,
} from '../../test-support/service/command.ts';
import { withClient } from '../platform/db/migrate.ts';
import { MODULES } from '../tenancy/organisations/modules.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('the command line', { timeout: 600_000 }, () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let organisation: string;
  let facility: string;

  before(async () => {
    database = await createTestDatabase();
    env = { DATABASE_URL: database.url, MASTER_KEY: randomBytes(32).toString('hex') };
    organisation = one(await run('organisation create --name', 'Lagos Hospitals', '--json'));
    facility = one(
      await run(
        'facility create --organisation',
        organisation,
        '--name',
        'Ikeja',
        '--time-zone Africa/Lagos --json',
      ),
    );
  });
  after(() => database.drop());

  /** Words are split at spaces where they have no capital letter and no dash alone; ids and names are given apart. */
  function run(...parts: string[]): Promise<CommandResult> {
    const args = parts.flatMap((part) => (/^[a-z-]/.test(part) ? part.split(' ') : [part]));
    return runCommand(args, { env });
  }

  /** The document on stdout, which must be the only one. */
  function document({ code, stdout, stderr }: CommandResult): Record<string, unknown> {
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  function one(result: CommandResult): string {
    const { id, ...rest } = document(result);
    assert.deepEqual(rest, {});
    assert.match(String(id), UUID);
    return String(id);
  }

  test('prints { id } of what it made, takes an id, and lists it [CMD-7]', async () => {
    const id = randomUUID();
    assert.equal(one(await run('organisation create --name', 'Second', '--id', id, '--json')), id);
    const taken = await run('organisation create --name', 'Third', '--id', id);
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /exists already/);
    const site = randomUUID();
    const made = await run(
      'facility create --organisation',
      id,
      '--name',
      'Site',
      '--id',
      site,
      '--modules patients,lab --json',
    );
    assert.equal(one(made), site);
    const { items } = document(await run('facility list --organisation', id, '--json'));
    assert.deepEqual(items, [{ id: site, name: 'Site', timeZone: 'UTC', modules: ['lab', 'patients'] }]);
    const off = await run('facility create --organisation', id, '--name', 'Off', '--modules', '');
    assert.match(off.stdout, /^[0-9a-f-]{36}\n$/);
    assert.match(off.stderr, /^Every module of this facility is off\. Turn modules on with/);
    assert.match((await run('facility list --organisation', id)).stdout, / {2}Off {2}UTC {2}none\n/);
    const all = document(await run('facility list --organisation', organisation, '--json'));
    assert.deepEqual((all.items as { modules: string[] }[])[0]?.modules, [...MODULES].sort());
    const plain = await run('organisation create --name', 'Fourth');
    assert.match(plain.stdout, /^[0-9a-f-]{36}\n$/);
    assert.equal(plain.stderr, '');
  });

  test('lists facilities and roles whole, also more than a page over HTTP has', async () => {
    const many = one(await run('organisation create --name', 'Many', '--json'));
    for (const sql of [
      `insert into facility (organisation_id, id, name, time_zone)
      select $1, gen_random_uuid(), 'Site ' || n, 'UTC' from generate_series(1, 101) n`,
      `insert into role (organisation_id, id, name, permissions)
      select $1, gen_random_uuid(), 'Role ' || n, array['patients.patients.list'] from generate_series(1, 101) n`,
    ])
      await database.pool.query(sql, [many]);
    for (const list of ['facility list', 'role list']) {
      const { items } = document(await run(`${list} --organisation`, many, '--json'));
      assert.equal((items as unknown[]).length, 101, list);
    }
  });

  test('says that of an option with one value which is given twice the last one is used [CMD-27]', async () => {
    const at = ['facility modules --organisation', organisation, '--facility', facility];
    const twice = await run(...at, '--organisation', organisation, '--modules lab');
    assert.deepEqual(
      [twice.code, twice.stderr],
      [0, 'note: --organisation was given more than once. The last one is used.\n'],
    );
    const lists = await run(...at, '--modules lab --modules imaging');
    assert.deepEqual([lists.code, lists.stderr], [0, '']);
    const once = await run('organisation list --json --json');
    assert.deepEqual([once.code, once.stderr], [0, '']);
  });

  test('ends with 2, and says on stderr how to call it, when it is called wrongly [CMD-5]', async () => {
    const id = randomUUID();
    const wrong: [string[], RegExp][] = [
      [['nonsense'], /unknown command/],
      [['organisation', 'nonsense'], /unknown command/],
      [['role', 'update'], /unknown command 'update'\n\(commands of role: create, set-permissions, list\)\n/],
      [['help', 'nonsense'], /unknown command 'nonsense'/],
      [['help', 'imprt'], /Did you mean import\?/],
      [['nonsense', '--help'], /unknown command 'nonsense'/],
      [['help', 'facility', 'nonsense'], /unknown command 'nonsense'/],
      [['facility', 'nonsense', '--help'], /unknown command 'nonsense'/],
      [['organisation', 'create'], /--name <name>.*not specified/],
      [
        ['connection', 'rotate-secret', organisation],
        /A value was given without its option\. This command takes its values as options: --id <id>\.\n/,
      ],
      [
        ['delivery', 'list', organisation],
        /A value was given without its option\..*: --id <ids>, --connection <id>, .*--limit <n>\.\n/,
      ],
      [
        ['import', '--', '-x.json'],
        /required options '--organisation <id>', '--facility <id>' not specified\n/,
      ],
      [
        ['connection', 'create', '--name', 'X'],
        /required options '--address <url>', '--client-id <id>', '--organisation <id>' not specified\n/,
      ],
      [
        ['import', '--organisation', organisation, '--', '-x.json'],
        /required option '--facility <id>' not specified\n/,
      ],
      [['import', '--nonsense', '--', '-x.json'], /unknown option '--nonsense'\n/],
      [['connection', 'rotate-secret'], /error: required option '--id <id>' not specified\n/],
      // A variable of the shell that is not set.
      [
        ['role', 'create', '--organisation', '--name', 'R', '--permissions', 'records.import'],
        /error: option '--organisation <id>' argument missing\n/,
      ],
      [
        ['account', 'create', '--organisation', organisation, '--facility', '--email', 'a@example.org'],
        /error: option '--facility <ids>' argument missing\n/,
      ],
      [
        ['delivery', 'list', '--connection', '--status', 'held'],
        /option '--connection <id>' argument missing/,
      ],
      [
        ['delivery', 'skip', '--connection', organisation, '--reason', '--dry-run'],
        /error: option '--reason <text>' argument missing\n/,
      ],
      [
        ['access-log', 'archive', '--before', '2026-01', '--out', ''],
        /error: option '--out <folder>' argument missing\n/,
      ],
      [['access-log', 'verify', '--archive='], /error: option '--archive <folder>' argument missing\n/],
      [['organisation', 'list', 'x'], /This command takes no values\. Leave out what was given\./],
      [['terminology', 'import', 'a.csv', 'b.csv', '--organisation', organisation], /too many arguments/],
      [['organisation', 'create', '--name', ''], /1 to 200/],
      [['organisation', 'create', '--name', 'X', '--id', '7'], /--id must be a UUID, for example/],
      [['organisation', 'create', '--name', 'X', '--nonsense'], /unknown option/],
      [['organisation', 'create', '--nam', 'X'], /unknown option '--nam'\n\(Did you mean --name\?\)/],
      [['organisation', 'create', '--secret=hidden'], /unknown option '--secret'\n/],
      [['organisation', 'create', '--name', 'X', '--secret=hidden'], /unknown option '--secret'\n/],
      [['organisation', 'create', '-phidden'], /unknown option '-p'\n/],
      [['organisation', 'create', '--name', 'X', '-phidden'], /unknown option '-p'\n/],
      [['organisation', 'create', '--name', 'X', '--json=hidden'], /option '--json' takes no value\n/],
      [['organisation', 'create', '--json=hidden'], /option '--json' takes no value\n/],
      [
        ['facility', 'create', '--organisation', organisation, '--name', 'X', '--time-zone', 'Mars/Base'],
        /Example: --time-zone/,
      ],
      [
        ['facility', 'create', '--organisation', organisation, '--name', 'X', '--modules', 'lab,nonsense'],
        /The module nonsense is unknown.*patients, encounters/,
      ],
      [
        ['patient', 'privacy', '--organisation', id, '--facility', id, '--patient', id, '--refuse', ''],
        /--refuse is empty\. Name the refused purposes, or give --refuse none\.\n/,
      ],
      [
        [
          ...['connection', 'create', '--organisation', organisation, '--facility', '', '--name', 'X'],
          ...['--address', 'https://hie.example.org/in', '--client-id', 'x'],
        ],
        /--facility is empty\. Give one id, or several separated by commas\.\n/,
      ],
      [['target', 'list', '--organisation', ''], /--organisation must be a UUID, for example/],
      [
        ['facility', 'list', '--organisation', 'Demo Hospitals'],
        /must be a UUID, .*List organisations with: npx interchange organisation list\n/,
      ],
      [
        [
          'connection',
          'create',
          '--organisation',
          organisation,
          '--facility',
          'Clinic',
          '--name',
          'X',
        ].concat(['--address', 'https://hie.example.org/in', '--client-id', 'x']),
        /List facilities with: npx interchange facility list --organisation ID\n/,
      ],
      [['serve', '--role', 'boss'], /all, api, worker/],
      [['serve', '--port', '70000'], /0 to 65535/],
      [['serve', '--processes', '0'], /1 to 256/],
      [['access-log', 'verify', '--heads', '/no/such/file'], /--heads must name a file/],
    ];
    for (const [args, fix] of wrong) {
      const { code, stdout, stderr } = await runCommand(args, { env });
      assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, fix, args.join(' '));
      assert.equal(stdout, '', args.join(' '));
      assert.doesNotMatch(stderr, /\n\s+at /);
    }
  });

  test('ends with 1 and says so when an id is unknown [CMD-5]', async () => {
    const id = randomUUID();
    const unknown: [string[], RegExp][] = [
      [['facility', 'create', '--organisation', id, '--name', 'X'], /no organisation/],
      [['facility', 'list', '--organisation', id], /no organisation/],
      [
        ['facility', 'modules', '--organisation', organisation, '--facility', id, '--modules', 'lab'],
        /no facility/,
      ],
      [['account', 'disable', '--email', 'nobody@example.org'], /no account/i],
      [['connection', 'show', '--id', id], /no connection/i],
      [['import', '--organisation', organisation, '--facility', id, '.'], /no facility/],
      [
        [
          'patient',
          'privacy',
          '--organisation',
          organisation,
          '--facility',
          facility,
          '--patient',
          id,
          '--refuse',
          'OPS',
        ],
        /no such patient/i,
      ],
    ];
    for (const [args, reason] of unknown) {
      const { code, stdout, stderr } = await runCommand(args, { env });
      assert.equal(code, 1, `${args.join(' ')}: ${stderr}${stdout}`);
      assert.match(stderr, reason, args.join(' '));
      assert.equal(stdout, '', args.join(' '));
    }
  });

  test('a list of nothing says so, and which command makes the first', async () => {
    const { id } = await runJson(['organisation', 'create', '--name', 'Lille'], { env });
    for (const name of ['connection', 'target', 'role', 'account', 'facility']) {
      const { stdout } = await runCommand([name, 'list', '--organisation', id], { env });
      assert.match(
        stdout,
        new RegExp(`no ${name} yet\\. Create one with: npx interchange ${name} create\n$`),
      );
    }
  });

  test('prints exactly one JSON document with --json [CMD-4]', async () => {
    const lists = [
      ['organisation', 'list'],
      ['facility', 'list', '--organisation', organisation],
      ['account', 'list', '--organisation', organisation],
      ['connection', 'list'],
      ['delivery', 'count'],
      ['terminology', 'unmapped', '--organisation', organisation],
      ['access-log', 'verify'],
      ['migrate', '--dry-run'],
      [
        'facility',
        'modules',
        '--organisation',
        organisation,
        '--facility',
        facility,
        '--modules',
        'lab,patients',
      ],
    ];
    for (const args of lists) {
      const found = document(await runCommand([...args, '--json'], { env }));
      assert.equal(typeof found, 'object', args.join(' '));
    }
  });

  test('control characters of a record do nothing on a terminal [CMD-28]', async () => {
    const display = 'A\u001b[2J\u009b31m\r\u202eB';
    await database.pool.query({
      text: `insert into terminology_unmapped (organisation_id, facility_id, place, local_system, local_code,
          local_display, met_count, first_met_at, last_met_at)
        values ($1, $2, 'lab.result', 'urn:lab', 'ESC', $3, 1, now(), now())`,
      values: [organisation, facility, display],
    });
    const args = ['terminology', 'unmapped', '--organisation', organisation];
    const { stdout } = await runCommand(args, { env });
    assert.match(stdout, /^1 {2}urn:lab\|ESC A\ufffd\[2J\ufffd31m\ufffd\ufffdB \(lab.result 1\)$/m);
    const json = await runCommand([...args, '--json'], { env });
    assert.equal(json.stdout.includes('\u009b'), false);
    assert.equal((document(json) as { items: { localDisplay: string }[] }).items[0]?.localDisplay, display);
    const header = await runCommand(['terminology', 'import', '-', '--organisation', organisation], {
      env,
      stdin: 'local\u001b[2J\u009b31mCode\n',
    });
    assert.match(header.stderr, /^error: The file has no column .* local\ufffd\[2J\ufffd31mCode/);
  });

  test('`help` before or within a name asks for the help of that command [CMD-3]', async () => {
    const { stdout: help } = await runCommand(['facility', 'create', '--help'], { env });
    assert.match(help, /^Usage: interchange facility create /);
    for (const args of ['help facility create', 'facility help create', 'help facility create --json']) {
      const { code, stdout } = await runCommand(args.split(' '), { env });
      assert.deepEqual([code, stdout], [0, help], args);
    }
    const all = await runCommand(['help'], { env });
    assert.deepEqual([all.code, all.stdout], [0, (await runCommand(['--help'], { env })).stdout]);
  });

  test('prints its version, and ends its process with the code of the command [CMD-5]', async () => {
    const { code, stdout } = await runProcess(['--version']);
    const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    assert.deepEqual([code, stdout], [0, `${manifest.version}\n`]);
    const ended = [
      ['organisation', 'list', '--json'],
      ['facility', 'list', '--organisation', randomUUID()],
      ['nonsense'],
    ];
    const codes = await Promise.all(ended.map(async (args) => (await runProcess(args, { env })).code));
    assert.deepEqual(codes, [0, 1, 2]);
  });

  test('ends without a word when nobody reads its output any more', async () => {
    const started = startCommand(['--help']);
    started.child.stdout.destroy();
    const { code, stderr } = await started.ended;
    assert.deepEqual([code, stderr], [1, '']);
  });

  test('says in one line that its output cannot be written', { skip: !existsSync('/dev/full') }, () => {
    const entry = fileURLToPath(new URL('../bin/interchange.ts', import.meta.url));
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [entry, '--help'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    assert.equal(status, 1);
    assert.match(stderr, /^error: The output cannot be written \(ENOSPC\)\. .*\n$/);
  });

  test('takes ids in either case, and leaves the trace whole', async () => {
    const pool = database.pool;
    const patient = await insertPatient(pool, { organisationId: organisation, facilityId: facility });
    const ids = [organisation, facility, patient].map((id) => id.toUpperCase());
    const [upperOrganisation = '', upperFacility = '', upperPatient = ''] = ids;
    const place = ['--organisation', upperOrganisation, '--facility', upperFacility];
    const set = await runCommand(
      ['patient', 'privacy', ...place, '--patient', upperPatient, '--refuse', 'RESEARCH', '--json'],
      { env },
    );
    assert.deepEqual(document(set), { id: patient, refusedPurposes: ['RESEARCH'] });
    const verified = await runCommand(['access-log', 'verify'], { env });
    assert.equal(verified.code, 0, verified.stdout);
  });

  test('speaks of no header when a patient is not known', async () => {
    const ids = ['--organisation', organisation, '--facility', facility, '--patient', randomUUID()];
    const { code, stderr } = await runCommand(['patient', 'privacy', ...ids, '--refuse', 'OPS'], { env });
    assert.equal(code, 1);
    assert.equal(
      stderr,
      'error: There is no such patient at this facility. Check --patient and --facility.\n',
    );
  });

  test('lists every fault of the environment at once, and starts nothing [OPS-11]', async () => {
    const { code, stdout, stderr } = await runProcess(['serve'], {
      env: {
        DATABASE_URL: 'mysql://localhost/x',
        PORT: '99999',
        LOG_LEVEL: 'loud',
        MASTER_KEY: 'short',
        MASTER_KEY_FILE: '/tmp/key',
        PUBLIC_BASE_URL: 'http://example.org/',
        DATABASE_CONNECTIONS: 'many',
        METRICS_PORT: '-1',
        SIGN_IN_LOCK_FAILURES: '0',
        TRUST_PROXY: 'everyone',
      },
    });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    for (const name of [
      'DATABASE_URL',
      'PORT',
      'LOG_LEVEL',
      'MASTER_KEY',
      'PUBLIC_BASE_URL',
      'DATABASE_CONNECTIONS',
      'METRICS_PORT',
      'SIGN_IN_LOCK_FAILURES',
      'TRUST_PROXY',
    ])
      assert.match(stderr, new RegExp(`- ${name} `), name);
    assert.match(stderr, /docs\/environment\.md/);
    assert.doesNotMatch(stderr, /short|mysql:/);
  });

  test('says what is wrong with the database, and not its password', async () => {
    const url = new URL(database.url);
    const change = (part: Partial<URL>) => Object.assign(new URL(url), part).href;
    const faults: [Record<string, string>, RegExp][] = [
      [{ DATABASE_URL: change({ port: '9' }) }, /refuses connections/],
      [{ DATABASE_URL: change({ password: 'wrong-secret' }) }, /user or password|./],
      [{ DATABASE_URL: change({ pathname: '/nowhere' }) }, /does not exist/],
      [{ DATABASE_URL: 'postgres://user:wrong-secret@[bad' }, /DATABASE_URL/],
      [{ DATABASE_URL: change({ hostname: 'no-such-host.invalid' }) }, /host of DATABASE_URL/],
      [{ MASTER_KEY: '', MASTER_KEY_FILE: '/no/such/key' }, /MASTER_KEY_FILE cannot be read/],
      [{ MASTER_KEY: '' }, /MASTER_KEY or MASTER_KEY_FILE is required/],
    ];
    for (const [changed, reason] of faults) {
      const { code, stderr } = await runCommand(['organisation', 'list'], { env: { ...env, ...changed } });
      // Whether the server asks for the password is its own setting.
      if (!JSON.stringify(changed).includes(':wrong-secret@127')) assert.equal(code, 1, stderr);
      assert.match(`${stderr} `, reason);
      assert.doesNotMatch(stderr, /wrong-secret|\n\s+at /);
    }
  });

  test('does not touch an operator’s database that lacks migrations, and says what to run [CMD-16, OPS-6]', async () => {
    const admin = await database.connectOwner();
    const name = `empty_${randomBytes(6).toString('hex')}`;
    await admin.query(`create database ${name}`);
    try {
      const empty = {
        ...env,
        DATABASE_URL: Object.assign(new URL(database.url), { pathname: `/${name}` }).href,
      };
      for (const args of [['organisation', 'list'], ['serve']]) {
        // A service that started after all would not end by itself.
        const { code, stderr } = await runProcess(args, { env: empty, timeoutMs: 60_000 });
        assert.equal(code, 1);
        assert.match(stderr, /npx interchange migrate/);
      }
      const dry = document(await runCommand(['migrate', '--dry-run', '--json'], { env: empty }));
      const done = document(await runCommand(['migrate', '--json'], { env: empty }));
      assert.deepEqual(done.applied, dry.applied);
      assert.ok((done.applied as string[]).length > 5);
      const months = await withClient(empty.DATABASE_URL, (client) =>
        client.query(
          "select to_regclass('access_log_' || to_char(now() at time zone 'UTC', 'YYYY_MM')) as name",
        ),
      );
      assert.notEqual(
        months.rows[0]?.name,
        null,
        'the month of the access log is there before the first entry',
      );
      const again = document(await runCommand(['migrate', '--json'], { env: empty }));
      assert.deepEqual(again.applied, []);
      assert.deepEqual(document(await runCommand(['organisation', 'list', '--json'], { env: empty })), {
        items: [],
      });
    } finally {
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    }
  });

  test('starts the embedded database for its own time when none is configured [CMD-18]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'interchange-commands-'));
    try {
      const own = { DATA_DIR: folder };
      const made = await runProcess(['organisation', 'create', '--name', 'Own', '--json'], { env: own });
      const id = one(made);
      assert.match(
        made.stderr,
        /^note: There was no database in .*, so a new one was made there\. .* DATA_DIR/,
      );
      const listed = await runProcess(['organisation', 'list', '--json'], { env: own });
      assert.equal((document(listed).items as { id: string }[])[0]?.id, id);
      assert.equal(listed.stderr, '');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
