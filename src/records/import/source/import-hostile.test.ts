/** Bodies that are made to be expensive. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { patient } from '../../../../test-support/records/clinic.ts';
import { countsOf, handBody, lines } from '../../../../test-support/records/import.ts';
import { type Answer, type TestAccount, useEmptyApi } from '../../../../test-support/service/api.ts';
import { waitUntil } from '../../../../test-support/wait-until.ts';
import { importRecordsRoute } from '../import-records.route.ts';
import type { ImportDocument } from '../import-report.ts';
import { indexLines } from '../resolve/index-source.ts';
import { LineNumbers } from '../run/line-numbers.ts';
import { ByteBudget, bodyLimits, DEFAULT_LIMITS } from './limits.ts';
import { memorySpool } from './spool.ts';

const MIB = 1_048_576;

const t = await useEmptyApi();
const account = await t.createAccount(await t.createTenant(), { permissions: ['records.import'] });

const send = (body: string | Uint8Array, token = account.token): Promise<Answer> =>
  t.call('/imports/fhir', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/fhir+ndjson' },
    body,
  });

/** How often another caller was answered until `work` was done. */
async function answersDuring(work: Promise<unknown>): Promise<number> {
  let [answers, done] = [0, false];
  void work.finally(() => {
    done = true;
  });
  while (!done) {
    const { status } = await t.call(`${t.origin}/healthz`);
    assert.equal(status, 200);
    if (!done) answers += 1;
  }
  return answers;
}

test('a body that unpacks to a thousand times its size is refused [IN-28]', async () => {
  const bomb = gzipSync(Buffer.alloc(30 * MIB, '{\n'));
  assert.ok(bomb.length < 40_000);
  const answer = await send(bomb);
  assert.deepEqual(answer.json, {
    statusCode: 400,
    message: 'The content unpacks to more than the limit of 200 times its size.',
    error: 'Bad Request',
  });
});

test('broken lines end the reading after a thousand of them', async () => {
  const good = patient();
  const answer = await send(gzipSync(`${lines([good])}\n${'{\n'.repeat(7 * MIB)}`));
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json.resources, { Patient: 1 });
  assert.equal(answer.json.rejectedCount, 1_001);
  const reasons = (answer.json.rejected as { entry: number; reason: string }[]).filter(
    ({ entry }) => entry === 1_001,
  );
  assert.deepEqual(
    reasons.map(({ reason }) => reason),
    [
      'The line is not valid JSON: it breaks off',
      'The lines after this one were not read, because 1000 lines are not FHIR',
    ],
  );
});

test('other callers are answered while a long import is under way [IN-30]', async () => {
  const line = '{"resourceType":"Basic"}\n';
  const count = 200_000;
  const sent = send(gzipSync(line.repeat(count)));
  const answers = await answersDuring(sent);
  assert.deepEqual((await sent).json.notTaken, { Basic: count });
  assert.ok(answers > 0);
});

test('type and element names without end are counted together', async () => {
  const letters = (index: number) =>
    [...String(index)].map((digit) => String.fromCharCode(65 + Number(digit))).join('');
  const types = Array.from({ length: 3_000 }, (_, index) => ({ resourceType: `X${letters(index)}` }));
  const { notTaken } = (await send(lines(types))).json as { notTaken: Record<string, number> };
  assert.equal(Object.keys(notTaken).length, 1_001);
  assert.equal(notTaken['(others)'], 2_000);
  const odd = patient(Object.fromEntries(types.map(({ resourceType }) => [resourceType, 1])));
  const { notKept } = (await send(lines([odd]))).json as { notKept: ImportDocument['notKept'] };
  assert.equal(countsOf(notKept)['(others)'], 2_000);
});

test('lines that are taken once more are remembered without their references, which may be as long as they are [IN-4]', async () => {
  const about = (subject: string) => ({ resourceType: 'Encounter', subject: { reference: subject } });
  const far = (patientId: string) => `https://old.example/${'x'.repeat(MIB)}/Patient/${patientId}`;
  const body = Buffer.from(lines([about(far('a')), about(far('b')), about(far('a')), patient()]));
  const only = new LineNumbers();
  for (const number of [1, 2, 3, 4]) only.add(number);
  const { lines: found } = await indexLines(
    memorySpool(body),
    { start: 0, before: 0 },
    { limits: DEFAULT_LIMITS, only, onBroken: () => assert.fail('all are FHIR') },
  );
  assert.ok(JSON.stringify(found).length < 1_000);
  const numbers = found.map(({ number }) => number);
  assert.equal(numbers[0], 4, 'first what is about nobody');
  assert.equal(numbers.indexOf(3) - numbers.indexOf(1), 1, 'those about the same patient stand together');
});

test('a resource that is nested without end is rejected', async () => {
  const deep = `{"resourceType":"Patient","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  const answer = await send(`${deep}\n${deep}`);
  assert.deepEqual([answer.status, answer.json.rejectedCount], [200, 2]);
});

test('no room for the temporary file is 503', async () => {
  const route = importRecordsRoute({
    db: t.database.pool,
    log: t.runtime.log,
    accessLog: t.runtime.accessLog,
    config: { importMaxBytes: MIB, importIdleSeconds: 60, importUnderstoodExtensions: [] },
    limits: { ...bodyLimits(MIB), maxMemoryBytes: 10, disk: new ByteBudget(1_000) },
  });
  const body = Readable.from([Buffer.from(`{"resourceType":"Basic","x":"${'x'.repeat(2_000)}"}`)]);
  await assert.rejects(
    handBody(route, account, { body }),
    (error: { statusCode?: number; headers?: object }) =>
      error.statusCode === 503 && Object.hasOwn(error.headers ?? {}, 'retry-after'),
  );
});

test('uploads that one organisation leaves lying in files keep no other organisation out', async (context) => {
  const { disk = assert.fail('it has a budget') } = bodyLimits(1_024);
  const { mock: taken } = context.mock.method(disk, 'take');
  const route = importRecordsRoute({
    db: t.database.pool,
    log: t.runtime.log,
    accessLog: t.runtime.accessLog,
    config: { importMaxBytes: 1_024, importIdleSeconds: 60, importUnderstoodExtensions: [] },
    limits: { ...bodyLimits(1_024), maxMemoryBytes: 10, disk },
  });
  const send = (body: Readable, from: TestAccount) => handBody(route, from, { body });
  const resource = `{"resourceType":"Basic","x":"${'x'.repeat(900)}"}`;
  const isFull = { statusCode: 503, message: /no disk space/ };
  const lying: { body: Readable; answer: Promise<unknown> }[] = [];
  for (let count = 0; count < 100; count += 1) {
    const body = new Readable({ read: () => undefined });
    body.push(resource);
    const answer = send(body, account);
    let isRefused = false;
    answer.catch(() => {
      isRefused = true;
    });
    const takenBefore = taken.callCount();
    await waitUntil(
      () => isRefused || taken.callCount() > takenBefore,
      'it lies in a file, or there is no room',
    );
    if (isRefused) {
      await assert.rejects(answer, isFull);
      break;
    }
    lying.push({ body, answer });
  }
  assert.ok(lying.length < 100, 'its room has an end');
  const other = await t.createAccount(await t.createTenant());
  const { status = 200 } = await send(Readable.from([Buffer.from(resource)]), other);
  assert.equal(status, 200);
  for (const { body, answer } of lying) {
    body.destroy(new Error('gone'));
    await assert.rejects(answer);
  }
  await send(Readable.from([Buffer.from(resource)]), account);
});
