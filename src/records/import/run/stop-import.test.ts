import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { bundle, encounter, patient } from '../../../../test-support/records/clinic.ts';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { runCommand, startCommand } from '../../../../test-support/service/command.ts';
import { waitForDisconnect, waitForLock, waitUntil } from '../../../../test-support/wait-until.ts';
import { transaction } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { RunTransaction } from './import-transaction.ts';
import { ImportStopped, stoppable } from './stop-import.ts';

const MASTER_KEY = randomBytes(32).toString('hex');

const LOCAL = { system: 'http://hospital.example/lab', code: 'HGB' };
const LABORATORY = [
  {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
  },
];

const t = await useImportTest();
const folder = await mkdtemp(path.join(tmpdir(), 'interchange-stop-'));
after(() => rm(folder, { recursive: true }));

const env = () => ({ DATABASE_URL: t.database.url, MASTER_KEY });
const importTo = ({ organisationId, facilityId }: FacilityScope, ...args: string[]) => [
  ...['import', '--organisation', organisationId, '--facility', facilityId],
  ...args,
];

/** A pipe that nobody writes to. */
async function silentPipe(): Promise<string> {
  const pipe = path.join(folder, randomUUID());
  await promisify(execFile)('mkfifo', [pipe]);
  return pipe;
}

const statesOf = ({ organisationId }: FacilityScope) =>
  t.rows<{ state: string; failure: string | null }>(
    'select state, failure from import_run where organisation_id = $1 order by started_at',
    [organisationId],
  );

test('Ctrl-C ends it at once: it says what is stored, and the next run adds the rest [IN-55]', async () => {
  const scope = await t.createOrganisation();
  const files = await mkdtemp(path.join(folder, 'many-'));
  const bundles = Array.from({ length: 3 }, () => {
    const someone = patient();
    return { someone, visit: encounter(`urn:uuid:${String(someone.id)}`) };
  });
  for (const [index, { someone, visit }] of bundles.entries())
    await writeFile(path.join(files, `${index}.json`), JSON.stringify(bundle([visit, someone])));
  const command = importTo(scope, files, '--workers', '1', '--json');
  // An encounter of the second file that is being made elsewhere: the import waits for it.
  const [blocker, watcher] = await Promise.all([t.database.connectOwner(), t.database.connectOwner()]);
  await blocker.query('begin');
  await blocker.query({
    text: `
      with someone as (
        insert into patient (organisation_id, id, content_digest) values ($1, $2, '') returning id
      )
      insert into encounter (organisation_id, facility_id, id, patient_id, status, class_code, sort_start, content_digest)
      select $1, $3, $4, id, 'planned', 'AMB', now(), '' from someone`,
    values: [scope.organisationId, randomUUID(), scope.facilityId, bundles[1]?.visit.id],
  });
  const { child, ended } = startCommand(command, { env: env() });
  await waitForLock(watcher, { application: 'interchange import' });
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 130, stderr);
  assert.equal(
    stderr,
    'error: SIGINT stopped the import. What the output counts is stored, and stays. To import the rest, run the same command again.\n',
  );
  const { stopped, files: read, resources, rejected } = JSON.parse(stdout);
  assert.deepEqual([stopped, read, resources, rejected], [true, 2, { Encounter: 1, Patient: 1 }, []]);
  const failure =
    'Whoever ran this import stopped it before its end. Import again: what was stored stays, and the rest is added.';
  assert.deepEqual(await statesOf(scope), [{ state: 'failed', failure }]);
  await blocker.query('rollback');
  await waitForDisconnect(watcher, 'interchange%');
  await Promise.all([blocker.end(), watcher.end()]);
  const again = await runCommand(command, { env: env() });
  const report = JSON.parse(again.stdout);
  assert.deepEqual([again.code, report.resources], [0, { Encounter: 3, Patient: 3 }]);
  assert.deepEqual([report.stopped, report.unchanged], [undefined, { Encounter: 1, Patient: 1 }]);
});

test('SIGTERM ends one that waits for its input [IN-55]', async () => {
  const scope = await t.createOrganisation();
  const { child, ended } = startCommand(importTo(scope, await silentPipe()), { env: env() });
  await waitUntil(async () => (await statesOf(scope)).length === 1, 'it has begun');
  child.kill('SIGTERM');
  const { code, stdout } = await ended;
  assert.equal(code, 143);
  assert.match(stdout, /^stopped {4}before all was read\nfiles {6}0\nbundles {4}0\nrejected {3}0\n$/);
  assert.equal((await statesOf(scope))[0]?.state, 'failed');
});

test('a second Ctrl-C kills it [IN-55]', async () => {
  const scope = await t.createOrganisation();
  const { child, ended } = startCommand(importTo(scope, await silentPipe()), { env: env() });
  await waitUntil(async () => (await statesOf(scope)).length === 1, 'it has begun');
  const blocker = await t.database.connectOwner();
  await blocker.query('begin');
  await blocker.query('lock table import_run in share mode');
  await waitUntil(() => child.kill('SIGINT') === false, 'it ends at a later signal');
  assert.deepEqual([(await ended).code, child.signalCode], [null, 'SIGINT']);
  await blocker.query('rollback');
  await blocker.end();
});

test('of what was stored the local codes are counted, also where it stops before others are joined to that [IN-55, TERM-17]', async () => {
  const scope = await t.createOrganisation();
  const someone = patient();
  const shared = { subject: { reference: `Patient/${String(someone.id)}` }, code: { coding: [LOCAL] } };
  const order = { ...shared, resourceType: 'ServiceRequest', id: randomUUID(), category: LABORATORY };
  const basedOn = [{ reference: `ServiceRequest/${order.id}` }];
  const result = { ...shared, resourceType: 'Observation', id: randomUUID(), category: LABORATORY, basedOn };
  await t.run([bundle([someone, { ...result, status: 'final', valueString: 'a' }])], { scope });
  const [blocker, watcher, stop] = [
    await t.database.connectOwner(),
    await t.database.connectOwner(),
    new AbortController(),
  ];
  await blocker.query('begin');
  await blocker.query({ text: 'select from observation where id = $1 for update', values: [result.id] });
  const importing = t.run([bundle([{ ...order, status: 'active', intent: 'order' }])], {
    scope,
    stop: stop.signal,
  });
  await waitForLock(watcher);
  stop.abort(new ImportStopped());
  assert.deepEqual((await importing).resources, { ServiceRequest: 1 });
  await blocker.query('rollback');
  await Promise.all([blocker.end(), watcher.end()]);
  const counted = await t.rows(
    'select place, met_count::int as count from terminology_unmapped where organisation_id = $1 order by place',
    [scope.organisationId],
  );
  assert.deepEqual(counted, [
    { place: 'lab.order', count: 1 },
    { place: 'lab.result', count: 1 },
  ]);
});

test('a transaction that has come to its commit is waited for, and one before it is rolled back [IN-55]', async () => {
  const [lines, stop] = [[1, 2].map(() => randomUUID()), new AbortController()];
  const { pool } = t.database;
  const insert = (id: string) => ({
    text: `insert into organisation (id, name) values ($1, 'Stopped')`,
    values: [id],
  });
  const stopsAtCommit: RunTransaction = (work) =>
    transaction(pool, async (client) => {
      const result = await work(client);
      stop.abort(new ImportStopped());
      return result;
    });
  const kept = stoppable(stopsAtCommit, stop.signal)((client) => client.query(insert(lines[0] ?? '')));
  assert.equal((await kept).rowCount, 1);
  const early = new AbortController();
  const run: RunTransaction = (work) => transaction(pool, work);
  const lost = stoppable(
    run,
    early.signal,
  )(async (client) => {
    await client.query(insert(lines[1] ?? ''));
    early.abort(new ImportStopped());
  });
  await assert.rejects(lost, ImportStopped);
  await assert.rejects(
    stoppable(run, early.signal)(() => assert.fail('it begins nothing more')),
    ImportStopped,
  );
  const stored = await t.rows('select id from organisation where id = any ($1)', [lines]);
  assert.deepEqual(stored, [{ id: lines[0] }]);
});
