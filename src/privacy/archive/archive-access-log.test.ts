import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createTestDatabase, type TestDatabase } from '../../../test-support/database/database.ts';
import { insertKnownDataKey } from '../../../test-support/database/known-data-key.ts';
import { accessEntry } from '../../../test-support/records/access-entry.ts';
import { runCommand, startCommand } from '../../../test-support/service/command.ts';
import { asCommand } from '../../../test-support/service/worded-errors.ts';
import { waitUntil } from '../../../test-support/wait-until.ts';
import { UsageError } from '../../platform/command/command.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createPool, type Pool } from '../../platform/db/database.ts';
import { createAccessLogWriter } from '../access-log/access-log.writer.ts';
import { makePartitions } from '../access-log/access-log-partition.store.ts';
import { type VerificationResult, verifyAccessLog } from '../verification/verify-access-log.ts';
import { type ArchiveRequest, archiveAccessLog } from './archive-access-log.ts';
import { sealManifest } from './archive-manifest.ts';

const MASTER_KEY = randomBytes(32);
const KEY = createKeyRing(MASTER_KEY).derive('access-log');
/** Chains of a writer are one for each organisation that it writes for at the same time. */
const ORGANISATION = randomUUID();
const JANUARY = 'access-log-2026-01';

describe('access-log archive', { timeout: 600_000 }, () => {
  let database: TestDatabase;
  let owner: Pool;
  let out: string;
  let env: Record<string, string>;
  let firstWriter: string;
  const folders: string[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
    owner = createPool({ url: database.adminUrl, max: 2, applicationName: 'owner' }, () => undefined);
    out = await mkdtemp(join(tmpdir(), 'interchange-archive-'));
    folders.push(out);
    env = { DATABASE_URL: database.url, MASTER_KEY: MASTER_KEY.toString('hex') };
    await insertKnownDataKey(owner, MASTER_KEY);
    // January has a partition; what was written of February is in the default one.
    await makePartitions(owner, new Date('2026-01-15T00:00:00Z'), 1);
    // The clock of the first writer went back over the end of the month.
    firstWriter = await writeChain(['2026-01', '2026-02', '2026-01', '2026-02', thisMonth()]);
    await writeChain(['2026-01', '2026-01']);
    await writeChain(['2026-02', thisMonth()]);
  });
  afterEach(async () => {
    await owner.end();
    await database.drop();
  });
  after(async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  });

  /** A writer that writes two entries in each of these months. Resolves to its id. */
  async function writeChain(months: readonly string[]): Promise<string> {
    let month = '';
    const writer = createAccessLogWriter({
      pool: database.pool,
      chainKey: async () => KEY,
      now: () => new Date(`${month}-20T12:00:00.123Z`),
      onError: (error) => assert.fail(error),
    });
    for (month of months) await writer.record([entry(), entry()]);
    await writer.close();
    return writer.heads()[0]?.writerId ?? '';
  }

  async function runs(args: string[], { stdin = '' } = {}): Promise<string> {
    const { code, stdout, stderr } = await runCommand(args, { env, stdin });
    assert.equal(code, 0, stderr);
    return stdout;
  }

  const command = (...args: string[]) =>
    runCommand(['access-log', 'archive', '--before', '2026-03', '--out', out, ...args], { env });

  async function archived(changed: Partial<ArchiveRequest> = {}) {
    const pool = createPool({ url: database.adminUrl, max: 3, applicationName: 'archive' }, () => undefined);
    const request = { before: '2026-03', folder: out, dryRun: false, keepDetached: false, ...changed };
    try {
      return await archiveAccessLog(pool, async () => [KEY], { ...request, onProgress: () => undefined });
    } finally {
      await pool.end();
    }
  }

  const verify = (options: Parameters<typeof verifyAccessLog>[2] = {}) =>
    verifyAccessLog(database.pool, async () => [KEY], options);
  const verifyFiles = () => verify({ archiveFolder: out });

  async function assertWhole(entries: number, archivedEntries: number): Promise<void> {
    for (const options of [{}, { archiveFolder: out }]) {
      const result = await verify(options);
      assert.deepEqual(result.faults, []);
      assert.equal(result.ok, true);
      assert.deepEqual([result.entries, result.archived.entries], [entries, archivedEntries]);
    }
  }

  const rowsOf = async (text: string) => (await owner.query(text)).rows;
  const partitions = async () =>
    (
      await rowsOf(`select inhrelid::regclass::text as name from pg_inherits
      where inhparent = 'access_log'::regclass order by 1`)
    ).map(({ name }) => name);

  test('writes old months to files, takes them out, and the log stays whole [LOG-19]', async () => {
    await assertWhole(18, 0);
    const months = await archived();
    assert.deepEqual(
      months.map(({ month, entries }) => ({ month, entries })),
      [
        { month: '2026-01', entries: 8 },
        { month: '2026-02', entries: 6 },
      ],
    );
    assert.deepEqual(await partitions(), ['access_log_default']);
    assert.deepEqual((await readdir(out)).sort(), [
      'access-log-2026-01.json',
      'access-log-2026-01.ndjson.gz',
      'access-log-2026-02.json',
      'access-log-2026-02.ndjson.gz',
    ]);
    const bytes = await readFile(join(out, `${JANUARY}.ndjson.gz`));
    assert.equal(createHash('sha256').update(bytes).digest('hex'), months[0]?.sha256);
    const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
    assert.equal(lines.length, 8);
    assert.deepEqual(Object.keys(JSON.parse(lines[0] ?? '')).sort(), [
      'accountId',
      'action',
      'correlationId',
      'facilityId',
      'hash',
      'occurredAt',
      'organisationId',
      'outcome',
      'patientId',
      'previousHash',
      'purposeOfUse',
      'resourceId',
      'resourceType',
      'sequence',
      'writerId',
    ]);
    assert.equal((await stat(join(out, `${JANUARY}.ndjson.gz`))).mode & 0o077, 0, 'for the owner alone');
    await assertWhole(4, 14);
    assert.deepEqual(await archived(), [], 'nothing is left to do');
    await writeChain([thisMonth()]);
    await assertWhole(6, 14);
  });

  test('changes nothing in a dry run', async () => {
    const months = await archived({ dryRun: true });
    assert.deepEqual(months, [
      { month: '2026-01', entries: 8 },
      { month: '2026-02', entries: 6 },
    ]);
    assert.deepEqual(await readdir(out), []);
    await assertWhole(18, 0);
    const { stdout } = await command('--dry-run');
    assert.match(stdout, /2026-01 {2}8 entries would be archived/);
  });

  test('keeps a month as a table outside the log when it is told to, out of reach of the service', async () => {
    await archived({ keepDetached: true });
    assert.deepEqual(await partitions(), ['access_log_default']);
    const [kept] = await rowsOf('select count(*) as entries from access_log_archived_2026_01_1');
    assert.equal(kept.entries, 8);
    await assertWhole(4, 14);
    const { code } = await runCommand(['migrate'], { env });
    assert.equal(code, 0, 'which renews the grants');
    for (const statement of [
      'delete from access_log_archived_2026_01_1',
      'select from access_log_archived_2026_01_1',
      'delete from access_log_archive',
      `insert into access_log_archive values ('2026-03', 1, '{}', now())`,
      `update access_log_archive set manifest = '{}'`,
    ])
      await assert.rejects(database.pool.query(statement), { code: '42501' }, statement);
  });

  test('archives entries that come with the time of an archived month later on, as a second part', async () => {
    await archived();
    await writeChain(['2026-01']);
    const months = await archived();
    assert.deepEqual(
      months.map(({ month, entries }) => [month, entries]),
      [['2026-01', 2]],
    );
    assert.ok((await readdir(out)).includes('access-log-2026-01.2.json'));
    await assertWhole(4, 16);
  });

  test('never takes the current month nor the one before it', async () => {
    const { rows } = await owner.query<{ month: string; next: string }>(
      `select to_char(now(), 'YYYY-MM') as month, to_char(now() + interval '1 month', 'YYYY-MM') as next`,
    );
    for (const before of [rows[0]?.month, rows[0]?.next, '9999-01', '2026-13', '2026-1', 'soon'])
      await assert.rejects(asCommand(archived({ before: String(before) })), UsageError, before);
    await assertWhole(18, 0);
  });

  test('refuses a month that is not as it was written, and leaves it where it is', async () => {
    const changes = [
      `update access_log set outcome = 'refused' where writer_id = $1 and sequence = 2`,
      `delete from access_log where writer_id = $1 and sequence = 2`,
      `delete from access_log where writer_id = $1 and sequence = 1`,
      `update access_log
       set occurred_at = (occurred_at at time zone 'UTC' + interval '1 microsecond') at time zone 'UTC'
       where writer_id = $1 and sequence = 2`,
      `insert into access_log
       select organisation_id, occurred_at + interval '1 second', writer_id, sequence, facility_id, patient_id, account_id,
         action, resource_type, resource_id, purpose_of_use, outcome, correlation_id, previous_hash, hash
       from access_log where writer_id = $1 and sequence = 2`,
    ];
    await owner.query('create table kept as table access_log');
    for (const [index, change] of changes.entries()) {
      await owner.query(change, [firstWriter]);
      await assert.rejects(archived({ folder: join(out, String(index)) }), /access-log verify/, change);
      assert.equal((await verify()).ok, false);
      assert.equal((await rowsOf('select from access_log_archive')).length, 0, change);
      await owner.query('truncate access_log');
      await owner.query('insert into access_log table kept');
    }
    await archived();
    await assertWhole(4, 14);
  });

  test('leaves files alone that hold anything else than the month in the database', async () => {
    await archived();
    const before = await readFile(join(out, `${JANUARY}.json`), 'utf8');
    await writeChain(['2026-01']);
    await owner.query('delete from access_log_archive');
    await assert.rejects(
      archived(),
      /has other entries than the database/,
      'an archive whose record was removed',
    );
    assert.equal(await readFile(join(out, `${JANUARY}.json`), 'utf8'), before);
  });

  test('names a folder that cannot be made or written to, and leaves the log as it is', async () => {
    const file = join(out, 'file');
    await writeFile(file, '');
    // A folder in the way of a file of the archive.
    await mkdir(join(out, 'taken', `${JANUARY}.ndjson.gz.part`), { recursive: true });
    const none = process.platform === 'linux' ? ['/proc/none'] : [];
    for (const folder of [file, join(file, 'below'), join(out, 'taken'), ...none]) {
      const { code, stdout, stderr } = await runCommand(
        ['access-log', 'archive', '--before', '2026-03', '--out', folder],
        { env },
      );
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, /^error: \/.* cannot be made, read or written \(E[A-Z]+\)\. .*--out\.\n$/);
    }
    await assertWhole(18, 0);
  });

  describe('verification afterwards', () => {
    test('finds an archived month whose record was removed or changed [LOG-19]', async () => {
      await archived();
      const changes = [
        `delete from access_log_archive where month = '2026-01'`,
        `update access_log_archive set manifest = jsonb_set(manifest, '{entries}', '9')`,
        `update access_log_archive set manifest = jsonb_set(manifest, '{seal}', '"00"')`,
        `update access_log_archive set manifest = jsonb_set(manifest, '{runs,0,lastSequence}', '3')`,
      ];
      for (const change of changes) {
        await owner.query('create table kept as table access_log_archive');
        await owner.query(change);
        assert.equal((await verify()).ok, false, change);
        await owner.query('truncate access_log_archive');
        await owner.query('insert into access_log_archive table kept');
        await owner.query('drop table kept');
      }
      await assertWhole(4, 14);
    });

    test('finds what was removed beside an archive: the entries that follow, or a whole chain', async () => {
      await archived();
      await owner.query('create table kept as table access_log');
      await owner.query('delete from access_log where writer_id = $1 and sequence = 9', [firstWriter]);
      const { faults } = await verify();
      assert.deepEqual(
        faults.map(({ writerId, sequence }) => ({ writerId, sequence })),
        [{ writerId: firstWriter, sequence: 9 }],
      );
      await owner.query('truncate access_log');
      await owner.query('insert into access_log table kept');
      await owner.query(
        'insert into access_log select organisation_id, occurred_at, writer_id, 3, facility_id, patient_id, account_id, action, resource_type, resource_id, purpose_of_use, outcome, correlation_id, previous_hash, hash from kept where writer_id = $1 and sequence = 9',
        [firstWriter],
      );
      assert.equal((await verify()).ok, false, 'an entry beside an archived one');
    });

    test('finds each file that was changed, is missing, or was exchanged [LOG-19]', async () => {
      await archived();
      const path = join(out, `${JANUARY}.ndjson.gz`);
      const manifestPath = join(out, `${JANUARY}.json`);
      const [file, manifest] = [await readFile(path), await readFile(manifestPath, 'utf8')];
      const lines = gunzipSync(file).toString().trimEnd().split('\n');
      const repacked = (changed: readonly string[]) => gzipSync(`${changed.join('\n')}\n`, { level: 1 });
      const flipped = Buffer.from(file);
      flipped[30] = (flipped[30] ?? 0) ^ 1;
      const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
      const fewer = repacked(lines.slice(1));
      const changes: [string, Buffer, string][] = [
        ['a flipped bit', flipped, manifest],
        ['a cut file', file.subarray(0, -20), manifest],
        ['the same entries, packed anew', repacked(lines), manifest],
        ['a changed entry', repacked(lines.map((line) => line.replace('allowed', 'refused'))), manifest],
        ['an entry fewer', fewer, manifest],
        [
          'an entry fewer, with its digest',
          fewer,
          manifest.replace(/"sha256": "\w+"/, `"sha256": "${digestOf(fewer)}"`),
        ],
        ['no manifest', file, ''],
        ['the manifest of another month', file, await readFile(join(out, 'access-log-2026-02.json'), 'utf8')],
      ];
      for (const [what, bytes, text] of changes) {
        await writeFile(path, bytes);
        await writeFile(manifestPath, text);
        const { ok, faults } = await verifyFiles();
        assert.equal(ok, false, what);
        assert.deepEqual(
          faults.map((fault) => fault.archive),
          [JANUARY],
          what,
        );
        assert.equal((await verify()).ok, true, 'the database is whole');
      }
      await writeFile(path, file);
      await writeFile(manifestPath, manifest);
      await assertWhole(4, 14);
      for (const name of [`${JANUARY}.json`, `${JANUARY}.ndjson.gz`]) {
        const copy = await mkdtemp(join(tmpdir(), 'interchange-archive-'));
        folders.push(copy);
        await cp(out, copy, { recursive: true });
        await rm(join(copy, name));
        assert.equal((await verify({ archiveFolder: copy })).faults[0]?.archive, JANUARY, name);
      }
    });

    test('finds noted heads in the files, and says how many it cannot look for without them', async () => {
      const inside = { writerId: firstWriter, sequence: 1, hash: '' };
      const [row] = (
        await owner.query('select hash from access_log where writer_id = $1 and sequence = 1', [firstWriter])
      ).rows;
      inside.hash = row.hash.toString('hex');
      await archived();
      const without = await verify({ noted: [inside] });
      assert.deepEqual([without.ok, without.headsInArchives], [true, 1]);
      assert.equal((await verify({ noted: [inside], archiveFolder: out })).ok, true);
      const wrong = { ...inside, hash: '00'.repeat(32) };
      assert.equal((await verify({ noted: [wrong], archiveFolder: out })).ok, false);
    });

    test('says by command what was archived, what is whole, and what is not', async () => {
      const archiving = await command('--json');
      assert.equal(archiving.code, 0, archiving.stderr);
      const { months, ...more } = JSON.parse(archiving.stdout) as { months: { entries: number }[] };
      assert.deepEqual(more, { dryRun: false, folder: out });
      assert.deepEqual(
        months.map(({ entries }) => entries),
        [8, 6],
      );
      const run = (...args: string[]) => runCommand(['access-log', 'verify', ...args], { env });
      const plain = await run();
      assert.equal(plain.code, 0, plain.stdout);
      assert.match(
        plain.stdout,
        /whole: 4 entries[\s\S]*14 more entries are in archive files \(2026-01 to 2026-02\)/,
      );
      const whole = await run('--archive', out);
      assert.equal(whole.code, 0, whole.stdout);
      assert.match(whole.stdout, /files of 2026-01 to 2026-02 are whole/);
      await rm(join(out, `${JANUARY}.json`));
      const missing = await run('--archive', out, '--json');
      assert.equal(missing.code, 1);
      assert.equal((JSON.parse(missing.stdout) as VerificationResult).faults[0]?.archive, JANUARY);
      assert.match(
        (await run('--archive', out)).stdout,
        /access-log-2026-01: its manifest is not in the folder/,
      );
    });

    test('goes on under another master key, and no longer believes what the old one seals', async () => {
      assert.equal((await command()).code, 0);
      const newKey = randomBytes(32).toString('hex');
      const rotation = ['master-key', 'rotate'];
      await runs([...rotation, '--new-key-stdin'], { stdin: newKey });
      env.MASTER_KEY = newKey;
      const { resealed } = JSON.parse(await runs([...rotation, '--finish', '--json']));
      assert.deepEqual(resealed.at(-1), {
        name: 'archived months of the access log',
        resealed: 2,
        unreadable: 0,
      });
      const run = async () => {
        const { stdout } = await runCommand(['access-log', 'verify', '--archive', out, '--json'], { env });
        return JSON.parse(stdout) as VerificationResult;
      };
      assert.deepEqual((await run()).faults, []);
      assert.equal((await run()).archived.filesRead, 2);

      const [{ hash, previous_hash: previousHash }] = await rowsOf(
        `delete from access_log where writer_id = '${firstWriter}' and sequence = 9 returning hash, previous_hash`,
      );
      const forged = sealManifest([KEY], {
        month: '2026-03',
        part: 1,
        file: 'access-log-2026-03.ndjson.gz',
        sha256: '00'.repeat(32),
        entries: 1,
        runs: [
          {
            writerId: firstWriter,
            firstSequence: 9,
            lastSequence: 9,
            previousHash: previousHash.toString('hex'),
            lastHash: hash.toString('hex'),
          },
        ],
      });
      await owner.query(`insert into access_log_archive values ('2026-03', 1, $1, now())`, [
        JSON.stringify(forged),
      ]);
      const { stdout } = await runCommand(['access-log', 'verify'], { env });
      assert.match(stdout, /NOT whole[\s\S]*access-log-2026-03: its record was changed/);
    });

    test('refuses a folder that is not there, and says what was read', async () => {
      const missing = join(out, 'nowhere');
      const run = (...args: string[]) => runCommand(['access-log', 'verify', ...args], { env });
      for (const folder of [missing, join(out, 'heads.json')]) {
        await writeFile(join(out, 'heads.json'), (await run('--json')).stdout);
        const { code, stderr } = await run('--archive', folder);
        assert.equal(code, 2);
        assert.match(stderr, new RegExp(`--archive ${folder} is not a folder.*access-log archive --out`));
      }
      assert.match((await run('--archive', out)).stdout, /No month was archived/);
      const heads = await run('--heads', join(out, 'heads.json'));
      assert.match(heads.stdout, /3 noted heads were compared/);
      await archived();
      assert.match((await run('--archive', out)).stdout, /2 archive files were read/);
    });

    test('is not misled by a month that is archived while it reads', async () => {
      let archiving = true;
      const verifying = (async () => {
        while (archiving) assert.deepEqual((await verify()).faults, []);
      })();
      await archived();
      archiving = false;
      await verifying;
    });
  });

  describe('after kill -9', () => {
    /** Starts the command, and kills it the hard way once `when` is true while `lock` is held. */
    async function killWhile(lock: string, when: () => Promise<boolean>): Promise<void> {
      const holder = await owner.connect();
      try {
        await holder.query('begin');
        await holder.query(lock);
        const archiving = startCommand(['access-log', 'archive', '--before', '2026-03', '--out', out], {
          env,
        });
        await waitUntil(when);
        archiving.child.kill('SIGKILL');
        await archiving.ended;
      } finally {
        await holder.query('rollback');
        holder.release();
      }
    }
    const waitsFor = async (mode: string) =>
      (
        await rowsOf(`select from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database() and a.application_name = 'interchange archive' and l.mode = '${mode}'`)
      ).length > 0;
    const hasFile = async (pattern: RegExp) => (await readdir(out)).some((name) => pattern.test(name));

    async function goesOn(): Promise<void> {
      await waitUntil(
        async () =>
          (
            await rowsOf(`select from pg_stat_activity
              where datname = current_database() and application_name = 'interchange archive'`)
          ).length === 0,
      );
      const left = await archived();
      assert.deepEqual(
        left.map(({ entries }) => entries),
        [8, 6],
      );
      await assertWhole(4, 14);
      assert.equal(await hasFile(/\.part$/), false);
    }

    test('goes on where the file was being written [OPS-8]', async () => {
      await killWhile('lock table access_log_2026_01 in access exclusive mode', () =>
        waitsFor('AccessShareLock'),
      );
      assert.equal((await verify()).ok, true);
      await goesOn();
    });

    test('goes on where the files were written and the month was still in the log', async () => {
      await killWhile('lock table access_log_2026_01 in row exclusive mode', () => waitsFor('ShareLock'));
      assert.equal(await hasFile(/2026-01\.json$/), true);
      assert.equal((await verify()).ok, true);
      await goesOn();
    });

    test('goes on where the month was being taken out', async () => {
      await killWhile('lock table access_log in access share mode', () => waitsFor('AccessExclusiveLock'));
      assert.equal((await rowsOf('select from access_log_archive')).length, 0);
      assert.equal((await verify()).ok, true);
      await goesOn();
    });
  });
});

function thisMonth(): string {
  return new Date().toISOString().slice(0, 7);
}

const entry = () => accessEntry({ organisationId: ORGANISATION });
