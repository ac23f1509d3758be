/**
 * What was imported comes back over HTTP. Runs over the demo records; over others with
 * RECORDS=folder npm test -- test/records-round-trip.test.ts
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type Json, useEmptyApi } from '../test-support/service/api.ts';

const FOLDER = resolve(process.env.RECORDS ?? 'demo/records');
const PAGE = 7;

const api = await useEmptyApi();
const account = await api.createAccount(await api.createTenant());
const resources = (await readBundles()).flatMap((bundle) =>
  [...(bundle.entry ?? [])].map((entry) => entry.resource as Json),
);
const report = await runImport();

test('the counts that are printed are the counts in the files', () => {
  assert.deepEqual(report.rejected, []);
  const counted = Object.groupBy(resources, (resource) => String(resource.resourceType));
  const inFiles = Object.fromEntries(Object.entries(counted).map(([type, of]) => [type, of?.length ?? 0]));
  assert.deepEqual({ ...report.resources, ...report.notTaken }, inFiles);
});

test('importing the same files again changes nothing [IN-15]', async () => {
  const before = await versions();
  const again = await runImport();
  assert.deepEqual(again.rejected, []);
  assert.deepEqual(again.resources, report.resources);
  assert.deepEqual(await versions(), before);
});

test("each patient's Encounters come back once each, newest first, equal to the source [ENC-36]", async () => {
  const sources = resources.filter(({ resourceType }) => resourceType === 'Encounter');
  assert.ok(sources.length > 20, 'the records hold enough to page through');
  const sourceOf = new Map(sources.map((source) => [String(source.id), source]));
  const patients = new Set(
    resources.filter(({ resourceType }) => resourceType === 'Patient').map(({ id }) => String(id)),
  );
  const seen = new Set<string>();
  for (const patient of patients) {
    const encounters = await allPages(patient);
    for (const encounter of encounters) {
      const id = String(encounter.id);
      assert.ok(!seen.has(id), `${id} comes once`);
      seen.add(id);
      const source = sourceOf.get(id);
      assert.ok(source, `${id} is in the source`);
      assert.deepEqual(comparable(encounter), comparable(source), id);
      assert.equal(encounter.subject?.reference, `Patient/${patient}`);
    }
    const starts = encounters.map(({ period }) => Date.parse(String(period?.start)));
    assert.deepEqual(
      starts,
      [...starts].sort((a, b) => b - a),
      'newest first',
    );
  }
  assert.deepEqual([...seen].sort(), [...sourceOf.keys()].sort());
});

async function allPages(patient: string): Promise<Json[]> {
  const found: Json[] = [];
  let url = `/encounters/fhir/Encounter?patient=${patient}&purposeOfUse=TREATMENT&_count=${PAGE}`;
  for (;;) {
    const page = await api.call(url, { token: account.token });
    assert.equal(page.status, 200);
    assert.equal(page.json.total, undefined);
    const entries = [...(page.json.entry ?? [])];
    assert.ok(entries.length <= PAGE);
    found.push(...entries.map((entry) => entry.resource as Json));
    const next = [...page.json.link].find(({ relation }) => relation === 'next');
    if (next === undefined) return found;
    assert.equal(entries.length, PAGE, 'only the last page is short');
    url = String(next.url);
  }
}

/** Id, status, class, period and participants; a reference by its target's identifier or id. */
function comparable(encounter: Json) {
  const { id, status, period } = encounter;
  return {
    id: String(id),
    status: String(status),
    class: { system: encounter.class?.system, code: encounter.class?.code },
    period,
    participant: [...(encounter.participant ?? [])].map((participant) => ({
      type: participant.type,
      period: participant.period,
      individual: practitionerId(String(participant.individual?.reference)),
      display: participant.individual?.display,
    })),
  };
}

/** The practitioner that a literal, bundle-internal or conditional reference means. */
function practitionerId(reference: string): string {
  const conditional = /^Practitioner\?identifier=(.*)\|(.*)$/.exec(reference);
  if (conditional === null) return reference.replace(/^(Practitioner\/|urn:uuid:)/, '');
  const [, system, value] = conditional;
  const found = resources.find(
    ({ resourceType, identifier }) =>
      resourceType === 'Practitioner' &&
      [...(identifier ?? [])].some((one) => String(one.system) === system && String(one.value) === value),
  );
  return String(found?.id);
}

async function readBundles(): Promise<Json[]> {
  const names = (await readdir(FOLDER)).filter((name) => /\.json(\.gz)?$/.test(name));
  return Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(FOLDER, name));
      return JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()) as Json;
    }),
  );
}

async function versions(): Promise<unknown[]> {
  const { rows } = await api.database.pool.query(
    `select 'encounter' as of, id, version, xmin::text, updated_at from encounter
     union all select 'patient', id, version, xmin::text, updated_at from patient
     union all select 'practitioner', id, version, xmin::text, updated_at from practitioner
     order by 1, 2`,
  );
  return rows;
}

/** As an operator does: a process of its own, against the database of the running service. */
async function runImport(): Promise<Json> {
  const args = ['--organisation', account.organisationId, '--facility', account.facilityId, '--json', FOLDER];
  const child = spawn(process.execPath, ['src/bin/interchange.ts', 'import', ...args], {
    env: { ...process.env, ...api.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  return JSON.parse(output) as Json;
}
