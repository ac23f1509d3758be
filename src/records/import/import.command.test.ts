import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type pg from 'pg';
import {
  bundle,
  encounter,
  organization,
  patient,
  practitioner,
} from '../../../test-support/records/clinic.ts';
import { createImportTest, lines } from '../../../test-support/records/import.ts';
import { runCommand } from '../../../test-support/service/command.ts';
import { waitForDisconnect, waitForLock, waitUntil } from '../../../test-support/wait-until.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/interchange.ts', import.meta.url));
const MASTER_KEY = randomBytes(32).toString('hex');
const DEMO = fileURLToPath(new URL('../../../demo/records', import.meta.url));

const t = await createImportTest();
const folder = await mkdtemp(path.join(tmpdir(), 'interchange-command-'));
after(async () => {
  await t.database.drop();
  await rm(folder, { recursive: true });
});

function start(args: readonly string[]): ChildProcess {
  const env = { ...process.env, DATABASE_URL: t.database.url, MASTER_KEY };
  return spawn(process.execPath, [PROGRAM, 'import', ...args], { env, stdio: 'pipe' });
}

async function run(args: readonly string[], input?: string | Buffer) {
  const child = start(args);
  child.stdin?.end(input ?? '');
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code };
}

async function facility(): Promise<string[]> {
  const { organisationId, facilityId } = await t.createOrganisation();
  return ['--organisation', organisationId, '--facility', facilityId];
}

async function file(name: string, content: object | string | Buffer): Promise<string> {
  const full = path.join(folder, name);
  await writeFile(
    full,
    typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
  );
  return full;
}

test('the demo records are taken whole, and again without a change [IN-1, IN-23, CMD-10]', async () => {
  const where = await facility();
  for (const unchanged of [0, 41]) {
    const { stdout, stderr, code } = await run([...where, DEMO, '--workers', '2', '--json']);
    assert.deepEqual([code, stderr], [0, '']);
    const document = JSON.parse(stdout);
    assert.equal(document.files, 8);
    assert.equal(document.bundles, 8);
    assert.equal(document.resources.Encounter, 41);
    assert.equal(document.resources.Patient, 6);
    assert.equal(document.unchanged.Encounter ?? 0, unchanged);
    assert.deepEqual([document.rejected, document.unresolved], [[], []]);
  }
});

test('a terminal shows how far an import is, from its beginning on', async () => {
  const { stderr } = await runCommand(['import', ...(await facility()), await file('one.json', patient())], {
    env: { DATABASE_URL: t.database.url, MASTER_KEY },
    isTerminal: true,
  });
  const clear = '\r\u001b[K';
  assert.equal(stderr, `${clear}importing: 0 %, 0 of 1 files${clear}importing: 100 %, 1 of 1 files${clear}`);
});

test('totals for people, with exit code 1 and every reason when something was rejected [IN-13]', async () => {
  const bad = await file('bad.json', bundle([patient({ gender: 'x' })]));
  const good = await file('good.json.gz', gzipSync(JSON.stringify(patient())));
  const gone = path.join(folder, 'gone');
  const { stdout, stderr, code } = await run([...(await facility()), gone, bad, good]);
  assert.deepEqual([code, stderr], [1, 'error: 2 rejected. The output says which, and why.\n']);
  assert.match(stdout, /^files {6}2\nbundles {4}0\ntaken\n {2}Patient {2}1\nrejected {3}2\n/);
  assert.ok(stdout.includes(`  ${gone}: there is no such file or folder\n`));
  assert.ok(
    stdout.includes(`  ${bad}, entry 1 (Patient): Patient.gender is not one of male, female, other, unknown`),
  );
});

test('people are shown some of the rejections that are alike, and JSON has all of them', async () => {
  const where = await facility();
  const bad = patient({ gender: 'x' });
  const name = await file('alike.ndjson', lines([bad, practitioner({ gender: 'x' }), ...Array(6).fill(bad)]));
  const { stdout } = await run([...where, name]);
  const line = (entry: number, type: string) =>
    `  ${name}, entry ${entry} (${type}): ${type}.gender is not one of male, female, other, unknown\n`;
  assert.equal(
    stdout.slice(stdout.indexOf('rejected')),
    `rejected   8
${line(1, 'Patient')}${line(2, 'Practitioner')}${[3, 4, 5, 6].map((entry) => line(entry, 'Patient')).join('')}\
  and 2 more like this one: --json names them
`,
  );
  const { rejected } = JSON.parse((await run([...where, name, '--json'])).stdout);
  assert.equal(rejected.length, 8);
});

test('nothing to import is no success: it says what is there instead [IN-31]', async () => {
  const where = await facility();
  const empty = await mkdtemp(path.join(folder, 'empty-'));
  const others = await mkdtemp(path.join(folder, 'others-'));
  for (const name of ['a.txt', 'b.pdf']) await writeFile(path.join(others, name), '%');
  const { stdout, code } = await run([...where, empty, others]);
  assert.equal(code, 1);
  assert.equal(
    stdout,
    `files      0, and 2 others that are neither JSON nor gzip
bundles    0
rejected   2
  ${empty}: the folder has no file
  ${others}: the folder has no file that begins like JSON or gzip, only 2 others
`,
  );
  await rm(path.join(others, 'b.pdf'));
  assert.match(
    (await run([...where, others])).stdout,
    /^files {6}0, and 1 other that is neither JSON nor gzip\n/,
  );
  await writeFile(path.join(others, 'b.pdf'), '%');
  const json = await run([...where, others, '--json']);
  const { files, otherFiles, rejectedCount } = JSON.parse(json.stdout);
  assert.deepEqual([json.code, files, otherFiles, rejectedCount], [1, 0, 2, 1]);
});

test('an archive in a folder is rejected with what to do, and other files are passed over [IN-31]', async () => {
  const root = await mkdtemp(path.join(folder, 'archives-'));
  const zip = Buffer.from('PK\x03\x04');
  const tar = Buffer.alloc(512);
  tar.write('ustar', 257);
  await writeFile(path.join(root, 'one.json'), JSON.stringify(patient()));
  for (const [name, content] of [
    ['export.zip', zip],
    ['EXPORT.TAR', tar],
    ['export.ndjson.zst', Buffer.from('28b52ffd2000', 'hex')],
    ['letter.docx', zip],
    ['README.md', '# notes'],
  ] as const)
    await writeFile(path.join(root, name), content);
  const { stdout, stderr, code } = await run([...(await facility()), root]);
  assert.deepEqual([code, stderr], [1, 'error: 3 rejected. The output says which, and why.\n']);
  assert.equal(
    stdout,
    `files      4, and 2 others that are neither JSON nor gzip
bundles    0
taken
  Patient  1
rejected   3
  ${root}/EXPORT.TAR: is a tar archive. Unpack it, and import the files in it
  ${root}/export.ndjson.zst: is compressed in another way than gzip. Unpack it first
  ${root}/export.zip: is a ZIP archive. Unpack it, and import the files in it
`,
  );
});

test('what is not kept is listed for people, most frequent first, and in full as JSON', async () => {
  const where = await facility();
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`odd${index}`, 1]));
  const one = await file('one.json', patient({ meta: {}, extension: [{ url: 'x:y' }] }));
  const two = await file('two.ndjson', lines([patient(), patient({ extension: [{ url: 'x:y' }], ...many })]));
  const { stdout, code } = await run([...where, one, two]);
  assert.equal(code, 0);
  assert.ok(stdout.includes(`not kept\n  extension  2  Patient 2, for example in ${one}, entry 1\n`), stdout);
  assert.match(stdout, /\n {2}and 12 more elements: --json names them\n/);
  const types = [patient({ meta: {} }), practitioner({ meta: {} }), organization({ meta: {} })];
  const three = await file('three.ndjson', lines([...types, practitioner({ meta: {} })]));
  const grouped = await run([...where, three]);
  assert.ok(
    grouped.stdout.includes(
      `  meta  4  Practitioner 2, Organization 1, Patient 1, for example in ${three}, entry 2\n`,
    ),
    grouped.stdout,
  );
  const { notKept } = JSON.parse((await run([...where, one, two, '--json'])).stdout);
  assert.equal(notKept.length, 32);
  assert.deepEqual(notKept[0], { element: 'Patient.extension', count: 2, file: one, entry: 1 });
  assert.deepEqual(notKept[1], { element: 'Patient.meta', count: 1, file: one, entry: 1 });
});

test('standard input, plain or gzip [IN-3]', async () => {
  const document = lines([patient(), patient()]);
  for (const input of [document, gzipSync(document)]) {
    const { stdout, code } = await run([...(await facility()), '-', '--json'], input);
    assert.deepEqual([code, JSON.parse(stdout).resources], [0, { Patient: 2 }]);
  }
});

test('standard input that cannot be read is rejected like a file, and the files are taken', async () => {
  const good = await file('good.json', patient());
  const broken = gzipSync(lines([patient()])).subarray(0, 40);
  const { stdout, code } = await run([...(await facility()), '-', good, '--json'], broken);
  const { resources, rejected } = JSON.parse(stdout);
  assert.equal(code, 1);
  assert.deepEqual(resources, { Patient: 1 });
  assert.deepEqual(
    rejected.map(({ file: name }: { file: string }) => name),
    ['-'],
  );
});

test('a pipe is read once, also where lines of it are taken again at the end [IN-3]', async () => {
  const pipe = path.join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  const running = run([...(await facility()), pipe, '--json']);
  await writeFile(pipe, lines([patient(), encounter('Patient/nobody')]));
  const { stdout, code } = await running;
  const { files, resources, rejected } = JSON.parse(stdout);
  assert.deepEqual([code, files, resources], [1, 1, { Patient: 1 }]);
  assert.deepEqual([rejected.length, rejected[0].file, rejected[0].entry], [1, pipe, 2]);
});

test('a pipe that is named twice is read once, too [IN-3]', { timeout: 60_000 }, async () => {
  const pipe = path.join(folder, 'pipe-twice');
  await promisify(execFile)('mkfifo', [pipe]);
  const running = run([...(await facility()), pipe, pipe, '--json']);
  await writeFile(pipe, lines([patient()]));
  const { stdout, code } = await running;
  const { files, resources, rejected } = JSON.parse(stdout);
  assert.deepEqual([code, files, resources, rejected], [0, 2, { Patient: 2 }, []]);
});

test('a dry run says so and keeps nothing', async () => {
  const where = await facility();
  const { stdout, code } = await run([...where, '--dry-run', DEMO]);
  assert.equal(code, 0);
  assert.match(stdout, /^dry run: nothing was kept\nfiles {6}8\n/);
  const { stdout: json } = await run([...where, '--dry-run', '--json', DEMO]);
  assert.equal(JSON.parse(json).dryRun, true);
  assert.deepEqual(await t.rows('select id from patient where organisation_id = $1', [where[1]]), []);
});

test('unknown organisations and facilities say so; wrong calls exit 2 with the fix [CMD-5, CMD-10]', async () => {
  const where = await facility();
  const [, organisation = '', , facilityId = ''] = where;
  const call = async (...args: string[]) => {
    const { stderr, stdout, code } = await run(args);
    assert.equal(stdout, '');
    return [code, stderr.split('\n')[0]];
  };
  const id = randomUUID();
  assert.deepEqual(await call('--organisation', id, '--facility', facilityId, DEMO), [
    1,
    `error: There is no organisation ${id}. List organisations with: npx interchange organisation list`,
  ]);
  assert.deepEqual(await call('--organisation', organisation, '--facility', id, DEMO), [
    1,
    `error: This organisation has no facility ${id}. List its facilities with: npx interchange facility list --organisation ${organisation}`,
  ]);
  for (const [option, malformed] of Object.entries({
    organisation: ['--organisation', 'x', '--facility', facilityId],
    facility: ['--organisation', organisation, '--facility', 'x'],
  })) {
    const [code, reason] = await call(...malformed, DEMO);
    assert.equal(code, 2, option);
    assert.match(String(reason), new RegExp(`^error: --${option} must be a UUID, for example `));
  }
  assert.deepEqual(await call(...where, DEMO, '--workers', '0'), [
    2,
    'error: --workers must be a number from 1 to 32, for example --workers 4.',
  ]);
  assert.deepEqual(await call(...where), [2, "error: missing required argument 'path'"]);
  assert.deepEqual(await call('--facility', facilityId, DEMO), [
    2,
    "error: required option '--organisation <id>' not specified",
  ]);
});

test('--help shows an example', async () => {
  const { stdout, code } = await run(['--help']);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /Examples:\n {2}npx interchange import --organisation 7f0c… --facility 91aa… records\//,
  );
});

test('killed in the middle of a Bundle: it is not there at all, and the next run completes everything [IN-27]', async () => {
  const scope = await t.createOrganisation();
  const where = ['--organisation', scope.organisationId, '--facility', scope.facilityId];
  const files = await mkdtemp(path.join(folder, 'many-'));
  const bundles = Array.from({ length: 9 }, () => {
    const someone = patient();
    return { someone, visits: Array.from({ length: 40 }, () => encounter(`urn:uuid:${String(someone.id)}`)) };
  });
  for (const [index, { someone, visits }] of bundles.entries())
    await writeFile(path.join(files, `${index}.json`), JSON.stringify(bundle([...visits, someone])));
  const stored = async () => {
    const rows = await t.rows<{ visits: number }>(
      `select count(e.id)::int as visits from patient p
        left join encounter e on e.organisation_id = p.organisation_id and e.patient_id = p.id
        where p.organisation_id = $1 group by p.id`,
      [scope.organisationId],
    );
    return rows.map(({ visits }) => visits);
  };
  // An encounter of the sixth file that is being made elsewhere: the import waits for it, its patient written.
  const [blocker, watcher] = await Promise.all([t.database.connectOwner(), t.database.connectOwner()]);
  await blocker.query('begin');
  await blocker.query(
    `insert into encounter (organisation_id, facility_id, id, patient_id, status, class_code, sort_start, content_digest)
      values ($1, $2, $3, $4, 'planned', 'AMB', now(), '')`,
    [scope.organisationId, scope.facilityId, bundles[5]?.visits[20]?.id, await madeBy(blocker, scope)],
  );
  const child = start([...where, files, '--workers', '1', '--json']);
  const gone = once(child, 'exit');
  const blocking = (await blocker.query('select pg_backend_pid() as pid')).rows[0].pid;
  await Promise.race([
    waitForLock(watcher, { blockedBy: blocking }),
    gone.then(() => assert.fail('it ended before it was killed')),
  ]);
  child.kill('SIGKILL');
  await gone;
  await blocker.query('rollback');
  // The server notices that a client is gone a moment later; until then its transaction may still commit.
  await waitForDisconnect(watcher, 'interchange%');
  await Promise.all([blocker.end(), watcher.end()]);
  assert.deepEqual(await stored(), [40, 40, 40, 40, 40]);
  const { stdout, code } = await run([...where, files, '--json']);
  const document = JSON.parse(stdout);
  assert.deepEqual([code, document.resources], [0, { Encounter: 360, Patient: 9 }]);
  assert.deepEqual(document.unchanged, { Encounter: 200, Patient: 5 });
  assert.equal((await stored()).length, 9);
});

test('while every worker waits, the import is still known to go on [ADM-48]', async () => {
  const scope = await t.createOrganisation();
  const files = await mkdtemp(path.join(folder, 'waiting-'));
  for (let index = 0; index < 4; index += 1) {
    const someone = patient();
    const visit = encounter(`urn:uuid:${String(someone.id)}`);
    await writeFile(path.join(files, `${index}.json`), JSON.stringify(bundle([someone, visit])));
  }
  const [blocker, watcher] = await Promise.all([t.database.connectOwner(), t.database.connectOwner()]);
  await blocker.query('begin');
  await blocker.query('lock table encounter in share mode');
  const child = start(['--organisation', scope.organisationId, '--facility', scope.facilityId, files]);
  const gone = once(child, 'exit');
  await waitUntil(async () => {
    const { rows } = await watcher.query(
      `select from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.datname = current_database() and l.relation = 'encounter'::regclass`,
    );
    return rows.length === 4;
  });
  const { rows } = await watcher.query('select clock_timestamp()::text as since');
  await waitUntil(async () => {
    const values = [scope.organisationId, rows[0].since];
    const text = 'select from import_run where organisation_id = $1 and alive_at > $2::timestamptz';
    return (await watcher.query({ text, values })).rows.length === 1;
  });
  await blocker.query('rollback');
  assert.deepEqual(await gone, [0, null]);
  await Promise.all([blocker.end(), watcher.end()]);
});

/** A patient made in the blocker's transaction. */
async function madeBy(client: pg.Client, scope: FacilityScope): Promise<string> {
  const id = randomUUID();
  await client.query('insert into patient (organisation_id, id, content_digest) values ($1, $2, $3)', [
    scope.organisationId,
    id,
    '',
  ]);
  return id;
}

test('an import at the command line is kept, without the names of its files [ADM-46, ADM-50]', async () => {
  const [, organisationId, , facilityId] = await facility();
  const where = ['--organisation', String(organisationId), '--facility', String(facilityId)];
  const wrong = await file('Okafor_Ada.json', { ...patient(), gender: 'wrong' });
  const { stdout } = await run([...where, wrong, DEMO, path.join(folder, 'nowhere.json'), '--json']);
  assert.equal(JSON.parse(stdout).rejectedCount, 2);
  const { rows } = await t.database.pool.query({
    text: `select source, file_name, content, account_id, state, files, resources, rejected,
      done_bytes = total_bytes as done, report
      from import_run where organisation_id = $1`,
    values: [organisationId],
  });
  const [{ report, ...kept }] = rows;
  assert.deepEqual(kept, {
    source: 'command',
    file_name: null,
    content: null,
    account_id: null,
    state: 'rejected',
    files: 9,
    resources: Object.values(JSON.parse(stdout).resources as Record<string, number>).reduce((a, b) => a + b),
    rejected: 2,
    done: true,
  });
  assert.deepEqual(
    report.rejected.map(({ file: name }: { file: string }) => name),
    ['file', 'file 1'],
  );
  assert.equal(rows.length, 1);
});

test('an import that finds nothing to read is not kept: its path is wrong [ADM-46]', async () => {
  const where = await facility();
  const empty = await mkdtemp(path.join(folder, 'nothing-'));
  const gone = path.join(folder, 'gone.json');
  for (const paths of [[gone], [empty], [gone, empty]]) {
    const { stdout, code } = await run([...where, ...paths, '--json']);
    assert.deepEqual([code, JSON.parse(stdout).rejectedCount], [1, paths.length]);
  }
  assert.deepEqual(await t.rows('select from import_run where organisation_id = $1', [where[1]]), []);
});

test('of one file or folder the last part of its path is kept with the import [ADM-73]', async () => {
  const [, organisationId, , facilityId] = await facility();
  const where = ['--organisation', String(organisationId), '--facility', String(facilityId)];
  const one = await file('march\n2026.json', patient());
  await run([...where, one]);
  await run([...where, DEMO]);
  const { rows } = await t.database.pool.query({
    text: 'select file_name, content from import_run where organisation_id = $1 order by started_at',
    values: [organisationId],
  });
  assert.deepEqual(rows, [
    { file_name: 'march 2026.json', content: 'resource' },
    { file_name: path.basename(DEMO), content: 'bundle' },
  ]);
});
