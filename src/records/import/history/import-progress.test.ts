/** What is told of an import while it works. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { useImportTest } from '../../../../test-support/records/import.ts';
import { importPaths } from '../import-paths.ts';
import { DEFAULT_LIMITS } from '../source/limits.ts';
import type { ImportWatch } from './record-import.ts';

const t = await useImportTest();

test('of a packed file so much is done as lies there, not as it unpacks to, each time it is named [ADM-48]', async (context) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'interchange-imports-'));
  context.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'claims.ndjson.gz');
  const bytes = gzipSync('{"resourceType":"Claim"}\n'.repeat(1_000));
  await writeFile(file, bytes);
  const looks: ImportWatch[] = [];
  const told: number[][] = [];
  await importPaths(
    { db: t.database.pool, limits: { ...DEFAULT_LIMITS, linesAtOnce: 400 } },
    {
      scope: t.scope,
      paths: [file, file],
      onBegin: (watch) => looks.push(watch),
      onProgress: (...done) => told.push(done),
    },
  );
  const { doneBytes, totalBytes } = looks[0]?.look().progress ?? {};
  assert.deepEqual([doneBytes, totalBytes], [2 * bytes.length, 2 * bytes.length]);
  const [some, more] = [0.4, 0.8].map((share) => Math.round(share * bytes.length));
  const first = [
    [some, 0],
    [more, 0],
    [bytes.length, 1],
  ];
  assert.deepEqual(told, [
    ...first,
    ...first.map(([done = 0, files = 0]) => [bytes.length + done, files + 1]),
  ]);
});

test('what waits for a later file is not done before it is taken [ADM-48]', async (context) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'interchange-imports-'));
  context.after(() => rm(folder, { recursive: true }));
  const visit = { resourceType: 'Encounter', status: 'finished', class: { code: 'AMB' } };
  const visits = ['late', 'late', 'late', 'late', 'nobody'].map(
    (patient, index) =>
      `${JSON.stringify({ ...visit, id: `${index}`, subject: { reference: `Patient/${patient}` } })}\n`,
  );
  const patient = JSON.stringify({ resourceType: 'Patient', id: 'late' });
  await writeFile(path.join(folder, 'a.ndjson'), visits.join(''));
  await writeFile(path.join(folder, 'z.json'), patient);
  const told: number[][] = [];
  const report = await importPaths(
    { db: t.database.pool, limits: { ...DEFAULT_LIMITS, linesAtOnce: 2 } },
    {
      scope: t.scope,
      paths: [folder],
      workers: 1,
      onProgress: (...done) => told.push(done),
    },
  );
  assert.deepEqual([report.resources, report.rejectedCount], [{ Encounter: 4, Patient: 1 }, 1]);
  const [two, four] = [2, 4].map((many) => visits.slice(0, many).join('').length);
  const after = (bytes = 0) => patient.length + bytes;
  assert.deepEqual(told, [
    [after(), 1],
    [after(two), 1],
    [after(four), 1],
    [after(visits.join('').length), 2],
  ]);
});

test('of a file that two workers import at once, what is done grows each time that it is told [ADM-48]', async (context) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'interchange-imports-'));
  context.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'patients.ndjson');
  const patient = () => ({ resourceType: 'Patient', id: randomUUID(), name: [{ family: 'Example' }] });
  const lines = Array.from({ length: 60 }, () => `${JSON.stringify(patient())}\n`).join('');
  await writeFile(file, lines);
  const told: number[] = [];
  await importPaths(
    { db: t.database.pool, limits: { ...DEFAULT_LIMITS, linesAtOnce: 5 } },
    {
      scope: t.scope,
      paths: [file, file],
      workers: 2,
      onProgress: (bytes) => told.push(bytes),
    },
  );
  assert.deepEqual(
    told.filter((bytes, index) => bytes <= (told[index - 1] ?? 0)),
    [],
  );
  assert.equal(told.at(-1), 2 * lines.length);
});
