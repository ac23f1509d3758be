import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { documentedCalls } from '../../../../test-support/http/documented-answers.ts';
import { bundle, encounter, patient } from '../../../../test-support/records/clinic.ts';
import { EMPTY_REPORT } from '../../../../test-support/records/import.ts';
import { type Answer, type TestAccount, useEmptyApi } from '../../../../test-support/service/api.ts';
import { waitUntil } from '../../../../test-support/wait-until.ts';
import { createPool } from '../../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../../platform/db/migrate.ts';
import { createWorkWatch } from '../../../tenancy/organisations/organisation-work.ts';
import { runRetention } from '../../../tenancy/organisations/retention.ts';
import { beginImport, importRetentionRule } from './import-run.store.ts';
import type { ImportProgress } from './kept-import.ts';
import { keptReport } from './kept-report.ts';
import { type ImportWatch, recordImport } from './record-import.ts';

const api = await useEmptyApi();
const documented = await documentedCalls(api);
const account = await api.createAccount(await api.createTenant(), { permissions: ['records.import'] });

const send = async (body: unknown, query = '', { token } = account): Promise<Answer> =>
  documented(
    'POST',
    '/imports/fhir',
    await api.call(`/imports/fhir${query}`, {
      method: 'POST',
      token,
      headers: { 'content-type': 'application/fhir+json' },
      body,
    }),
  );
const list = async (query = '', { token } = account): Promise<Answer> =>
  documented('GET', '/imports', await api.call(`/imports${query}`, { token }));
const read = async (id: string, { token } = account): Promise<Answer> =>
  documented('GET', `/imports/${id}`, await api.call(`/imports/${id}`, { token }));
const visits = () => {
  const someone = patient();
  return bundle([someone, encounter(`urn:uuid:${String(someone.id)}`)]);
};
const scopeOf = ({ organisationId, facilityId }: TestAccount) => ({
  organisationId,
  facilityId,
  timeZone: 'UTC',
});
const run = (text: string, values: unknown[]) => api.database.pool.query({ text, values });

test('an import is listed with who began it, its progress and its report [ADM-46, ADM-48]', async () => {
  const body = JSON.stringify(visits());
  const answer = await send(body);
  const id = answer.headers.get('x-import-id') ?? '';
  const { json } = await read(id);
  const { startedAt, finishedAt, report, ...rest } = json;
  assert.ok(startedAt <= finishedAt);
  assert.deepEqual(report, answer.json);
  assert.deepEqual(rest, {
    id,
    state: 'finished',
    startedBy: { kind: 'account', id: account.userId, email: account.email },
    way: 'http',
    fileName: null,
    content: 'bundle',
    progress: {
      files: 1,
      totalBytes: Buffer.byteLength(body),
      doneBytes: Buffer.byteLength(body),
      resources: 2,
      rejected: 0,
    },
    failure: null,
  });
  const [newest] = (await list()).json.items;
  assert.deepEqual(newest, { ...rest, startedAt, finishedAt });
});

test('one that rejected something is rejected, one that did not come to its end failed [ADM-46]', async () => {
  const refused = await send({ ...patient(), gender: 'wrong' });
  const rejectedId = refused.headers.get('x-import-id') ?? '';
  const rejected = (await read(rejectedId)).json;
  assert.deepEqual([rejected.state, rejected.report.rejectedCount], ['rejected', 1]);
  const unread = await send('no json');
  assert.equal(unread.status, 400);
  const id = unread.headers.get('x-import-id') ?? '';
  assert.equal((await read(id)).json.state, 'rejected');
  const failedId = randomUUID();
  const broken = recordImport(
    { db: api.database.pool },
    { id: failedId, scope: scopeOf(account), way: 'command', accountId: null, fileName: null },
    () => Promise.reject(new Error('of no concern to readers')),
  );
  await assert.rejects(broken);
  const failed = (await read(failedId)).json;
  assert.deepEqual([failed.state, failed.failure, failed.report], ['failed', 'The service failed.', null]);
  assert.deepEqual(failed.startedBy, { kind: 'operator' });
  for (const [state, wanted] of Object.entries({ failed: failedId, rejected: id })) {
    const { items } = (await list(`?state=${state}`)).json;
    assert.equal(items[0].id, wanted);
    assert.ok(items.every((item: { state: string }) => item.state === state));
  }
  const incomplete = (await list('?state=incomplete')).json.items.map((item: { id: string }) => item.id);
  assert.deepEqual(incomplete, [failedId, id, rejectedId]);
});

test('the answer names the import where it is kept, also when it is an error [ADM-47]', async () => {
  const idOf = async (answer: ReturnType<typeof send>) => (await answer).headers.get('x-import-id');
  const halfOfGzip = gzipSync(JSON.stringify(visits())).subarray(0, 20);
  const id = randomUUID();
  assert.equal(await idOf(send(halfOfGzip, `?importId=${id.toUpperCase()}`)), id);
  assert.equal((await read(id)).json.state, 'failed');
  const owner = await api.database.connectOwner();
  await owner.query('alter table encounter rename to encounter_away');
  const lost = await idOf(send(visits()));
  await owner.query('alter table encounter_away rename to encounter');
  await owner.end();
  assert.equal((await read(lost ?? '')).json.failure, 'The service failed.');
  const taken = await idOf(send(visits()));
  assert.deepEqual(
    await Promise.all([
      idOf(send(visits(), `?importId=${taken}`)),
      idOf(send('no json', '?dryRun=true')),
      idOf(send(visits(), '?importId=1')),
    ]),
    [null, null, null],
  );
});

test('a caller who hangs up while the body is on its way: the reason says so [ADM-46]', async () => {
  const id = randomUUID();
  const call = request(`${api.baseUrl}/imports/fhir?importId=${id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.token}`, 'content-type': 'application/json' },
  });
  call.on('error', () => undefined);
  call.write('{"resourceType":');
  const stateOf = async () => (await read(id)).json;
  await waitUntil(async () => (await stateOf()).state === 'running', 'the upload has begun');
  call.destroy();
  await waitUntil(async () => (await stateOf()).state !== 'running', 'the upload has ended');
  const { state, failure } = await stateOf();
  const reason = 'The connection ended before the request was complete. Send it again.';
  assert.deepEqual([state, failure], ['failed', reason]);
});

test('pages go on where the last one ended; a state, cursor or id that is none is refused [ADM-46]', async () => {
  const first = (await list('?limit=1')).json;
  const second = (await list(`?limit=1&cursor=${first.nextCursor}`)).json;
  assert.notEqual(first.items[0].id, second.items[0].id);
  assert.equal((await list(`?state=failed&cursor=${first.nextCursor}`)).status, 400);
  for (const bad of ['state=lost', 'limit=0', 'cursor=x'])
    assert.equal((await list(`?${bad}`)).status, 400, bad);
  assert.equal((await send(visits(), '?importId=1')).status, 400);
});

test('the name that a file was given is kept with the import, and is in no log [ADM-73]', async () => {
  const names = [
    'Okafor Ada, März 2026.ndjson',
    '../../etc/passwd',
    '<b>x</b>',
    'é'.repeat(200),
    '📄'.repeat(200),
  ];
  for (const name of names) {
    const answer = await send(visits(), `?fileName=${encodeURIComponent(name)}`);
    assert.equal(answer.status, 200, answer.text);
    const id = answer.headers.get('x-import-id') ?? '';
    assert.equal((await read(id)).json.fileName, name);
    assert.equal((await list('?limit=1')).json.items[0].fileName, name);
  }
  await send('no json', '?fileName=Unread-Okafor.json');
  assert.doesNotMatch(api.logs(), /Okafor|M%C3%A4rz|etc%2Fpasswd/);
});

test('a name of a file that is none is refused, and nothing is imported [ADM-73]', async () => {
  const someone = patient();
  const refused = {
    'x%0Ay': /control characters/,
    'x%00': /NUL/,
    '%7F': /control characters/,
    'a%E2%80%A8b': /one line/,
    '%20%C2%A0': /can be seen/,
    'march%E2%80%AEnosdn.exe': /can be seen/,
    '': /fileName/,
    [encodeURIComponent('é'.repeat(201))]: /fileName.* 200/,
  };
  for (const [name, wording] of Object.entries(refused)) {
    const answer = await send(bundle([someone]), `?fileName=${name}`);
    assert.equal(answer.status, 400, name);
    assert.match(answer.json.message, wording);
  }
  assert.equal((await run('select from patient where id = $1', [someone.id])).rowCount, 0);
});

test('an import says whether it read a Bundle, one resource or lines [ADM-73]', async () => {
  const lines = [patient(), patient()].map((one) => JSON.stringify(one)).join('\n');
  const bodies = { bundle: JSON.stringify(visits()), resource: JSON.stringify(patient()), lines };
  for (const [content, body] of Object.entries(bodies)) {
    const { headers } = await send(body);
    assert.equal((await read(headers.get('x-import-id') ?? '')).json.content, content);
  }
  const id = randomUUID();
  await send('no json', `?importId=${id}`);
  assert.equal((await read(id)).json.content, null);
});

test('a chosen id is kept once in an organisation, and a repeat imports nothing [ADM-47]', async () => {
  const id = randomUUID();
  const answer = await send(visits(), `?importId=${id.toUpperCase()}`);
  assert.deepEqual([answer.status, answer.headers.get('x-import-id')], [200, id]);
  const someone = patient();
  const again = await send(bundle([someone]), `?importId=${id}`);
  assert.equal(again.status, 409);
  assert.match(again.json.message, /importId/);
  assert.equal((await run('select from patient where id = $1', [someone.id])).rowCount, 0);
  const stranger = await api.createAccount(await api.createTenant());
  assert.equal((await send(visits(), `?importId=${id}`, stranger)).status, 200);
});

test('an import that failed is sent again under its id, by its own facility [ADM-47]', async () => {
  const id = randomUUID();
  const upload = request(`${api.baseUrl}/imports/fhir?importId=${id}&fileName=first.json`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.token}`, 'content-type': 'application/json' },
  });
  upload.on('error', () => undefined);
  upload.write('{"resourceType":');
  const stateIs = async (wanted: string) => (await read(id)).json.state === wanted;
  await waitUntil(() => stateIs('running'), 'the upload has begun');
  assert.equal((await send(visits(), `?importId=${id}`)).status, 409);
  upload.destroy();
  await waitUntil(() => stateIs('failed'), 'the upload has ended');
  const elsewhere = { ...account, facilityId: await api.createFacility(account.organisationId) };
  const neighbour = await api.createAccount(elsewhere);
  assert.equal((await send(visits(), `?importId=${id}`, neighbour)).status, 409);
  const answer = await send(visits(), `?importId=${id}`);
  assert.deepEqual([answer.status, answer.headers.get('x-import-id')], [200, id]);
  const { state, failure, fileName, progress, report } = (await read(id)).json;
  assert.deepEqual([state, failure, fileName, progress.resources], ['finished', null, null, 2]);
  assert.deepEqual(report, answer.json);
  assert.equal((await send(visits(), `?importId=${id}`)).status, 409);
});

test('an import whose process is silent begins anew under its id; what that process still says is not heard [ADM-47, ADM-49]', async () => {
  const id = randomUUID();
  let resume = (): void => undefined;
  const silent = recordImport(
    { db: api.database.pool },
    { id, scope: scopeOf(account), way: 'http', accountId: account.userId, fileName: null },
    async () => {
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
      throw new Error('of no concern to readers');
    },
  );
  await waitUntil(async () => (await read(id)).json.state === 'running', 'it has begun');
  assert.equal((await send(visits(), `?importId=${id}`)).status, 409);
  await run("update import_run set alive_at = alive_at - interval '70 seconds' where id = $1", [id]);
  const pool = api.database.pool;
  const next = { id, way: 'http', accountId: account.userId, fileName: null } as const;
  const tries = await Promise.all([1, 2, 3].map(() => beginImport(pool, scopeOf(account), next)));
  assert.equal(tries.filter((begun) => begun !== undefined).length, 1);
  resume();
  await assert.rejects(silent);
  assert.deepEqual([(await read(id)).json.state, (await read(id)).json.failure], ['running', null]);
});

test('a dry run is not kept [ADM-46]', async () => {
  const id = randomUUID();
  assert.equal((await send(visits(), `?dryRun=true&importId=${id}`)).status, 200);
  assert.equal((await read(id)).status, 404);
});

test('progress is there while it runs; one whose process is silent has failed [ADM-48, ADM-49]', async () => {
  const id = randomUUID();
  const progress: ImportProgress = { files: 2, totalBytes: 90, doneBytes: 10, resources: 3, rejected: 1 };
  const watch: ImportWatch = { names: [], look: () => ({ progress, content: 'lines' }) };
  await recordImport(
    { db: api.database.pool, progressEveryMs: 1 },
    { id, scope: scopeOf(account), way: 'http', accountId: account.userId, fileName: null },
    async (onBegin) => {
      onBegin(watch);
      await waitUntil(async () => (await read(id)).json.progress.files === 2);
      const running = (await read(id)).json;
      assert.deepEqual([running.state, running.progress, running.finishedAt], ['running', progress, null]);
      assert.equal(running.content, 'lines');
      await run(`update import_run set alive_at = alive_at - interval '61 seconds' where id = $1`, [id]);
      const silent = (await read(id)).json;
      assert.equal(silent.state, 'failed');
      assert.match(silent.failure, /process .* ended/);
      assert.equal((await list('?state=failed')).json.items[0].id, id);
      assert.ok((await list('?state=running')).json.items.every((item: { id: string }) => item.id !== id));
      return { document: EMPTY_REPORT };
    },
  );
  assert.equal((await read(id)).json.state, 'finished');
});

test('an import that came to its end says so, also when the connection is lost that was to note it [ADM-48, ADM-49]', async (t) => {
  const id = randomUUID();
  const owner = await api.database.connectOwner();
  t.after(() => owner.end());
  const ended = recordImport(
    { db: api.database.pool, progressEveryMs: 600_000 },
    { id, scope: scopeOf(account), way: 'http', accountId: account.userId, fileName: null },
    async () => {
      await owner.query('begin');
      // Lets it be read, and holds up what is written.
      await owner.query('lock table import_run in share mode');
      return { document: EMPTY_REPORT };
    },
  );
  await waitUntil(async () => {
    const { rowCount } = await owner.query(
      `select pg_terminate_backend(pid) from pg_locks join pg_stat_activity a using (pid)
       where a.datname = current_database() and relation = to_regclass('import_run') and not granted`,
    );
    return (rowCount ?? 0) > 0;
  }, 'its end is lost');
  await owner.query('rollback');
  await ended;
  assert.equal((await read(id)).json.state, 'finished');
});

test('an import whose end cannot be written keeps its caller waiting for a bounded time [ADM-48]', async (t) => {
  const id = randomUUID();
  const limits = { statementMs: 300, lockMs: 0, idleInTransactionMs: 0 };
  const { url } = api.database;
  const db = createPool(
    { url, max: 2, applicationName: 'test', role: SERVICE_ROLE, limits },
    () => undefined,
  );
  const owner = await api.database.connectOwner();
  t.after(() => Promise.all([owner.end(), db.end()]));
  const refusals: unknown[] = [];
  await recordImport(
    { db, progressEveryMs: 600_000, endWithinMs: 400, onError: (error) => refusals.push(error) },
    { id, scope: scopeOf(account), way: 'http', accountId: account.userId, fileName: null },
    async () => {
      await owner.query('begin');
      await owner.query('lock table import_run in share mode');
      return { document: EMPTY_REPORT };
    },
  );
  await owner.query('rollback');
  assert.match(String(refusals), /statement timeout/);
  assert.equal((await read(id)).json.state, 'running');
});

test('a kept report is bounded, and names no files [ADM-50]', async () => {
  const id = randomUUID();
  const names = ['/exports/Rivers_Noor.json', '/exports/Okafor_Ada.json'];
  const rejected = Array.from({ length: 700 }, (_, index) => ({
    file: names[1] ?? '',
    entry: index + 1,
    reason: 'x'.repeat(900),
  }));
  await recordImport(
    { db: api.database.pool },
    { id, scope: scopeOf(account), way: 'command', accountId: null, fileName: null },
    async (onBegin) => {
      onBegin({
        names,
        look: () => ({
          progress: { files: 2, totalBytes: 1, doneBytes: 1, resources: 0, rejected: 700 },
          content: null,
        }),
      });
      return { document: { ...EMPTY_REPORT, rejected, rejectedCount: 700 } };
    },
  );
  const { json, text } = await read(id);
  assert.deepEqual([json.report.rejected.length, json.report.rejectedCount], [500, 700]);
  assert.deepEqual(json.report.rejected[0], { file: 'file 2', entry: 1, reason: 'x'.repeat(500) });
  assert.doesNotMatch(text, /Okafor|Rivers|exports/);
  for (const list of ['older', 'notices', 'notKept', 'unresolved'] as const) {
    const kept = keptReport({ ...EMPTY_REPORT, [list]: rejected }, names)[list];
    assert.deepEqual([kept.length, kept[0]?.file], [500, 'file 2'], list);
  }
});

test('of types that are none, a kept report has as many as of anything else [ADM-50]', async () => {
  const letters = (index: number) =>
    String(index).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');
  const lines = Array.from({ length: 700 }, (_, index) => ({ resourceType: `Okafor${letters(index)}` }));
  const { headers } = await send(bundle(lines));
  const { report } = (await read(headers.get('x-import-id') ?? '')).json;
  assert.equal(Object.keys(report.notTaken).length, 500);
});

test('imports are closed to other facilities and organisations, and without the permission [ADM-46]', async () => {
  const id = (await list()).json.items[0].id;
  const elsewhere = { ...account, facilityId: await api.createFacility(account.organisationId) };
  const neighbour = await api.createAccount(elsewhere);
  const stranger = await api.createAccount(await api.createTenant());
  for (const other of [neighbour, stranger]) {
    assert.equal((await read(id, other)).status, 404);
    assert.ok((await list('', other)).json.items.every((item: { id: string }) => item.id !== id));
  }
  const powerless = await api.createAccount(account, { permissions: ['patients.patients.get'] });
  assert.equal((await list('', powerless)).status, 403);
  assert.equal((await api.call('/imports')).status, 401);
  assert.equal((await read('nothing')).status, 404);
});

test('imports that began long ago are forgotten [ADM-51]', async () => {
  const owner = await api.createAccount(await api.createTenant(), { permissions: ['records.import'] });
  const [old, fresh] = [randomUUID(), randomUUID()];
  for (const id of [old, fresh]) await send(visits(), `?importId=${id}`, owner);
  await run(`update import_run set started_at = now() - interval '401 days' where id = $1`, [old]);
  const context = { db: api.database.pool, work: createWorkWatch().of('retention') };
  const rules = [importRetentionRule(400)];
  assert.deepEqual(await runRetention(context, rules, { dryRun: true }), { imports: 1 });
  assert.equal((await read(old, owner)).status, 200);
  assert.deepEqual(await runRetention(context, rules, { dryRun: false }), { imports: 1 });
  assert.deepEqual([(await read(old, owner)).status, (await read(fresh, owner)).status], [404, 200]);
});
