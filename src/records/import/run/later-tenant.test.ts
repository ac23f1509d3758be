/** What an import reads for an organisation that came after the statistics, which know nothing of it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { needsPlainPostgres } from '../../../../test-support/database/plain-postgres.ts';
import { createImportTest, type ImportTest } from '../../../../test-support/records/import.ts';
import { waitForDisconnect } from '../../../../test-support/wait-until.ts';
import { createPool } from '../../../platform/db/database.ts';
import { SERVICE_ROLE } from '../../../platform/db/migrate.ts';

const PLAIN = needsPlainPostgres('a node counts what it reads, and the coordinator does not know');
const PATIENTS = 150;

let t: ImportTest;
let owner: pg.Client;
before(async () => {
  t = await createImportTest();
  owner = new pg.Client({ connectionString: t.database.url });
  await owner.connect();
});
after(async () => {
  await owner.end();
  await t.database.drop();
});

/** A patient with a visit, results with their report and a study, and vital signs. */
function bundleOf(organisation: string, number: number): object {
  const name = (type: string, more = '') => `${type}-${organisation}-${number}${more}`;
  const about = (type: string) => ({ reference: `${type}/${name(type)}` });
  const day = new Date(Date.UTC(2020, 0, 1 + number)).toISOString();
  const identifier = (type: string) => [{ system: 'urn:oid:1.2.3', value: name(type, '-identifier') }];
  const clinical = (resourceType: string, more: object) => ({
    resourceType,
    status: 'final',
    identifier: identifier(resourceType),
    subject: about('Patient'),
    encounter: about('Encounter'),
    ...more,
  });
  const laboratory = [
    {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
    },
  ];
  const observations = ['-a', '-b', '-c'].map((more) => ({
    ...clinical('Observation', { category: laboratory, code: { text: 'Test' }, effectiveDateTime: day }),
    id: name('Observation', more),
    identifier: [{ system: 'urn:oid:1.2.3', value: name('Observation', more) }],
    valueString: 'x',
  }));
  const vitalSigns = ['8867-4', '8310-5'].map((code) => ({
    ...clinical('Observation', { code: { coding: [{ system: 'http://loinc.org', code }] } }),
    id: name('Observation', `-${code}`),
    effectiveDateTime: day,
    identifier: undefined,
  }));
  const resources = [
    {
      resourceType: 'Patient',
      id: name('Patient'),
      identifier: identifier('Patient'),
      name: [{ family: name('Patient'), given: ['Ada'] }],
      birthDate: '1980-01-01',
    },
    {
      resourceType: 'Practitioner',
      id: name('Practitioner'),
      identifier: identifier('Practitioner'),
      name: [{ family: name('Practitioner') }],
    },
    {
      resourceType: 'Encounter',
      id: name('Encounter'),
      identifier: identifier('Encounter'),
      status: 'finished',
      class: { code: 'AMB' },
      subject: about('Patient'),
      participant: [{ individual: about('Practitioner') }],
    },
    ...observations,
    ...vitalSigns,
    { ...clinical('ImagingStudy', { status: 'available' }), id: name('ImagingStudy') },
    {
      ...clinical('DiagnosticReport', { category: laboratory, code: { text: 'Panel' } }),
      id: name('DiagnosticReport'),
      result: observations.map(({ id }) => ({ reference: `Observation/${id}` })),
    },
  ];
  return { resourceType: 'Bundle', type: 'collection', entry: resources.map((resource) => ({ resource })) };
}

/** Rows that were read so far, by scanning or by index, by table. */
async function rowsRead(): Promise<Map<string, number>> {
  const { rows } = await owner.query<{ name: string; read: number }>(
    `select t.relname as name, (t.seq_tup_read + coalesce(sum(i.idx_tup_read), 0))::float8 as read
      from pg_stat_user_tables t
      left join pg_stat_user_indexes i
        using (relid)
      group by t.relid, t.relname, t.seq_tup_read`,
  );
  return new Map(rows.map(({ name, read }) => [name, read]));
}

/** Import the Bundles of another organisation; returns the rows of each table that were read for each Bundle. */
async function importAnother(organisation: string): Promise<Map<string, number>> {
  const { organisationId } = await t.createOrganisation();
  const scope = await t.createFacility(organisationId);
  const before = await rowsRead();
  const url = t.database.url;
  const db = createPool({ url, max: 4, applicationName: 'another', role: SERVICE_ROLE }, () => undefined);
  const documents = Array.from({ length: PATIENTS }, (_, number) => bundleOf(organisation, number));
  const { rejected } = await t.run(documents, { scope, deps: { db } });
  assert.deepEqual(rejected, []);
  await db.end();
  await waitForDisconnect(owner, 'another');
  const after = await rowsRead();
  return new Map(
    Array.from(after, ([name, read]) => [name, (read - (before.get(name) ?? 0)) / PATIENTS] as const),
  );
}

for (const [name, when] of [
  ['first', 'before there are statistics'],
  ['later', 'with statistics of other organisations'],
] as const)
  test(
    `each Bundle reads its own records, however many the facility has: ${when} [IN-53]`,
    PLAIN,
    async () => {
      const read = await importAnother(name);
      // Some of the few organisations and facilities are read for each row that is written.
      for (const table of ['organisation', 'facility']) read.delete(table);
      const most = Math.max(...read.values());
      // Reading the whole facility once for each Bundle is half of all patients.
      assert.ok(most < PATIENTS / 2 - 5, `${most} rows of one table for each Bundle`);
      await owner.query('analyze');
    },
  );
