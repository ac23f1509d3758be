/** What an import must not get wrong, over HTTP and by command, in a dry run and by several workers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Json, startTestApi } from '../../../test-support/service/api.ts';
import { runCommand } from '../../../test-support/service/command.ts';

const UNDERSTOOD = 'https://clinic.example/understood';
const PATIENT = '7c000000-0000-4000-8000-000000000001';

const api = await startTestApi({ env: { IMPORT_UNDERSTOOD_EXTENSIONS: UNDERSTOOD } });
const tenant = await api.createTenant();
const account = await api.createAccount(tenant, {
  permissions: ['records.import', 'investigations.lab.list'],
});
const folder = await mkdtemp(join(tmpdir(), 'interchange-exact-'));
assert.deepEqual((await send({ resourceType: 'Patient', id: PATIENT })).rejected, []);
after(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

async function send(resource: object, query = ''): Promise<Json> {
  const { status, json } = await api.call(`/imports/fhir${query}`, {
    method: 'POST',
    token: account.token,
    headers: { 'content-type': 'application/fhir+json' },
    body: JSON.stringify(resource),
  });
  assert.equal(status, 200);
  return json;
}

/** `interchange import`: its exit code and its report. */
async function command(resources: readonly object[], ...options: string[]): Promise<[number | null, Json]> {
  const into = await mkdtemp(join(folder, 'files-'));
  for (const [index, resource] of resources.entries())
    await writeFile(join(into, `result-${index + 1}.json`), JSON.stringify(resource));
  const { organisationId, facilityId } = tenant;
  const scope = ['--organisation', organisationId, '--facility', facilityId];
  const { code, stdout, stderr } = await runCommand(['import', ...scope, '--json', ...options, into], {
    env: { ...api.env, IMPORT_UNDERSTOOD_EXTENSIONS: UNDERSTOOD },
  });
  assert.ok(stdout.startsWith('{'), stderr);
  return [code, JSON.parse(stdout) as Json];
}

const read = (id: string) => api.call(`/fhir/Observation/${id}`, { token: account.token });
const reasons = ({ rejected }: Json) => ((rejected ?? []) as Json[]).map(({ reason }) => reason);

const coded = (system: string, code: string, display: string) => ({ coding: [{ system, code, display }] });
const LABORATORY = coded(
  'http://terminology.hl7.org/CodeSystem/observation-category',
  'laboratory',
  'Laboratory',
);
const MASKED = coded('http://terminology.hl7.org/CodeSystem/data-absent-reason', 'masked', 'Masked');
const potassium = (id: string, elements: object) => ({
  resourceType: 'Observation',
  id,
  identifier: [{ system: 'https://laboratory.example/results', value: id }],
  status: 'final',
  category: [LABORATORY],
  code: coded('http://loinc.org', '2823-3', 'Potassium [Moles/volume] in Serum or Plasma'),
  subject: { reference: `Patient/${PATIENT}` },
  effectiveDateTime: '2024-06-01T10:00:00Z',
  ...elements,
});
const measured = (value: number) => ({
  valueQuantity: { value, unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' },
});
/** What goes out: the same, with the order that was made for it and without what is not kept. */
async function requireAnswer(id: string, elements: object): Promise<void> {
  const { json } = await read(id);
  const { basedOn, ...rest } = json as Json & { basedOn: unknown[] };
  assert.equal(basedOn.length, 1);
  assert.deepEqual(rest, potassium(id, elements));
}

const corrected = (id: string) =>
  potassium(id, {
    meta: { versionId: '2', lastUpdated: '2024-06-02T10:00:00Z' },
    status: 'corrected',
    ...measured(4.1),
  });
const first = (id: string) =>
  potassium(id, { meta: { versionId: '1', lastUpdated: '2024-06-01T10:00:00Z' }, ...measured(41) });

test('an older version over HTTP changes nothing, and is named, in a dry run too [IN-24, IN-34]', async () => {
  const id = randomUUID();
  await send(corrected(id));
  const { dryRun, ...dry } = await send(first(id), '?dryRun=true');
  const report = await send(first(id));
  assert.equal(dryRun, true);
  assert.deepEqual(dry, report);
  assert.deepEqual([report.resources, report.olderCount, (report.older as Json[])[0]?.entry], [{}, 1, 1]);
  await requireAnswer(id, { status: 'corrected', ...measured(4.1) });
});

test('by command, eight workers leave the newest version of each [IN-34]', async () => {
  const ids = Array.from({ length: 20 }, () => randomUUID());
  const files = ids.flatMap((id) => [corrected(id), first(id)]);
  const [code, report] = await command(files, '--workers', '8');
  assert.deepEqual([code, report.rejected], [0, []]);
  for (const id of ids) await requireAnswer(id, { status: 'corrected', ...measured(4.1) });
});

test('what changes the meaning is refused over HTTP and by command, and the rest is taken [IN-32]', async () => {
  const [bad, hidden, good] = [randomUUID(), randomUUID(), randomUUID()];
  const modifier = (url: string) => ({ modifierExtension: [{ url, valueBoolean: true }] });
  const resources = [
    potassium(bad, { ...measured(1), ...modifier('https://clinic.example/negated') }),
    potassium(hidden, {
      ...measured(1),
      _implicitRules: { extension: [{ url: 'https://clinic.example/why', valueString: 'x' }] },
    }),
    potassium(good, { ...measured(5.2), ...modifier(UNDERSTOOD) }),
  ];
  const expected = ['Observation.modifierExtension is', 'Observation._implicitRules is'];
  const begin = (all: unknown[]) => all.map((reason) => String(reason).split(' ').slice(0, 2).join(' '));
  const [code, report] = await command(resources, '--dry-run');
  assert.deepEqual([code, begin(reasons(report))], [1, expected]);
  const sent: unknown[] = [];
  for (const resource of resources) sent.push(...reasons(await send(resource)));
  assert.deepEqual(begin(sent), expected);
  for (const id of [bad, hidden]) assert.equal((await read(id)).status, 404);
  await requireAnswer(good, measured(5.2));
});

test('a value beside a reason is refused everywhere; a reason alone is given back [IN-33]', async () => {
  const component = (elements: object) => ({ component: [{ code: { text: 'part' }, ...elements }] });
  const bad = [
    potassium(randomUUID(), { ...measured(0), dataAbsentReason: MASKED }),
    potassium(randomUUID(), { valueInteger: 0, dataAbsentReason: MASKED }),
    potassium(randomUUID(), component({ ...measured(0), dataAbsentReason: MASKED })),
  ];
  const expected = [
    'Observation.dataAbsentReason',
    'Observation.dataAbsentReason',
    'Observation.component.dataAbsentReason',
  ];
  const begin = (all: unknown[]) => all.map((reason) => String(reason).split(' ')[0]);
  for (const options of [
    ['--dry-run', '--workers', '4'],
    ['--workers', '4'],
  ]) {
    const [code, report] = await command(bad, ...options);
    assert.deepEqual([code, begin(reasons(report)).sort()], [1, expected.toSorted()]);
  }
  const sent: unknown[] = [];
  for (const resource of bad) sent.push(...reasons(await send(resource)));
  assert.deepEqual(begin(sent), expected);
  for (const { id } of bad) assert.equal((await read(id)).status, 404);
  const [whole, part] = [randomUUID(), randomUUID()];
  const absent = component({ dataAbsentReason: MASKED });
  await send(potassium(whole, { dataAbsentReason: MASKED }));
  await send(potassium(part, absent));
  await requireAnswer(whole, { dataAbsentReason: MASKED });
  await requireAnswer(part, absent);
});
