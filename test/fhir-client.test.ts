/** An outside FHIR client works against the read interface unmodified. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'fhir-kit-client';
import { insertEncounter, insertPatient } from '../test-support/records/clinical-records.ts';
import { useTestApi } from '../test-support/service/use-api.ts';

interface Bundle {
  [element: string]: unknown;
  resourceType: string;
  link: { relation: string; url: string }[];
  entry?: { resource: { id: string } }[];
}

const { api, tenant, account } = await useTestApi({ permissions: ['encounters.access'] });
const client = new Client({ baseUrl: `${api.baseUrl}/encounters/fhir`, bearerToken: account.token });
const patient = await insertPatient(api.database.pool, tenant);
const newestFirst: string[] = [];
for (let day = 20; day > 0; day -= 1) {
  const start = `2024-03-${String(day).padStart(2, '0')}T08:00:00Z`;
  newestFirst.push(
    await insertEncounter(api.database.pool, tenant, { patientId: patient, start, end: start }),
  );
}

const ids = (bundle: Bundle) => (bundle.entry ?? []).map(({ resource }) => resource.id);

async function allPages(first: Bundle): Promise<string[]> {
  const found = ids(first);
  let bundle: Bundle | undefined = first;
  for (;;) {
    bundle = (await client.nextPage({ bundle })) as Bundle | undefined;
    if (bundle === undefined) return found;
    found.push(...ids(bundle));
  }
}

test('it learns what the server can do', async () => {
  const statement = await client.capabilityStatement();
  assert.equal(statement.resourceType, 'CapabilityStatement');
});

test('it reads one encounter', async () => {
  const id = newestFirst[0] ?? '';
  const encounter = await client.request(`Encounter/${id}?purposeOfUse=TREATMENT`);
  assert.equal(encounter.resourceType, 'Encounter');
  assert.equal(encounter.id, id);
});

test('it searches and pages to the end, every encounter once, newest first [ENC-24]', async () => {
  const searchParams = { patient: `Patient/${patient}`, purposeOfUse: 'TREATMENT', _count: 7 };
  const first = (await client.search({ resourceType: 'Encounter', searchParams })) as unknown as Bundle;
  assert.equal(ids(first).length, 7);
  assert.deepEqual(await allPages(first), newestFirst);
});

test('it searches by POST and pages on', async () => {
  const searchParams = { patient, purposeOfUse: 'TREATMENT', _count: 6, date: 'ge2024-03-05' };
  const first = (await client.search({
    resourceType: 'Encounter',
    searchParams,
    options: { postSearch: true },
  })) as unknown as Bundle;
  assert.deepEqual(await allPages(first), newestFirst.slice(0, 16));
});

test('it is told what is wrong', async () => {
  await assert.rejects(client.search({ resourceType: 'Encounter', searchParams: { patient } }), {
    response: {
      status: 400,
      data: {
        resourceType: 'OperationOutcome',
        issue: [
          {
            severity: 'error',
            code: 'invalid',
            diagnostics: 'purposeOfUse is missing. It must be one of TREATMENT, PAYMENT, OPS, RESEARCH.',
          },
        ],
        statusCode: 400,
        message: 'purposeOfUse is missing. It must be one of TREATMENT, PAYMENT, OPS, RESEARCH.',
        error: 'Bad Request',
      },
    },
  });
});
