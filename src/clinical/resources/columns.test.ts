/** Holds the descriptions against the tables of the migrated database, both ways. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useTestDatabase } from '../../../test-support/database/database.ts';
import type { Column } from '../description/element.ts';
import { DIAGNOSTIC_REPORT } from './diagnostic-report.fhir.ts';
import { ENCOUNTER } from './encounter.fhir.ts';
import { IMAGING_STUDY } from './imaging-study.fhir.ts';
import { LOCATION } from './location.fhir.ts';
import { OBSERVATION } from './observation.fhir.ts';
import { ORGANIZATION } from './organization.fhir.ts';
import { PATIENT } from './patient.fhir.ts';
import { PRACTITIONER } from './practitioner.fhir.ts';
import { SERVICE_REQUEST } from './service-request.fhir.ts';
import { SPECIMEN } from './specimen.fhir.ts';

const DESCRIPTIONS = [
  ORGANIZATION,
  LOCATION,
  PRACTITIONER,
  PATIENT,
  ENCOUNTER,
  SERVICE_REQUEST,
  OBSERVATION,
  DIAGNOSTIC_REPORT,
  IMAGING_STUDY,
  SPECIMEN,
];

/** Columns that every record has, and those that are no element: filled by something else, or the record as text. */
const OF_EVERY_RECORD = [
  'id',
  'version',
  'content_digest',
  'source_version',
  'source_system',
  'source_updated_at',
  'created_at',
  'updated_at',
];
const RENDERED = ['rendered', 'rendered_version', 'rendered_mapping'];
const NO_ELEMENTS: Readonly<Record<string, readonly string[]>> = {
  encounter: RENDERED,
  patient: ['refused_purposes', ...RENDERED],
  investigation_order: RENDERED,
  investigation_report: ['order_id'],
  imaging_study: ['order_id'],
  observation: ['order_id', 'vital_set_id', ...RENDERED],
};

const database = await useTestDatabase();

/** Columns beside the tenant's, and beside those that the database computes. */
async function columnsOf(table: string): Promise<Map<string, string>> {
  const { rows } = await database.pool.query<{ name: string; type: string }>(
    `select a.attname as name, format_type(a.atttypid, null) as type
     from pg_attribute a
     where a.attrelid = $1::regclass
       and a.attnum > 0
       and not a.attisdropped
       and a.attgenerated = ''
       and a.attname not in ('organisation_id', 'facility_id')`,
    [table],
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

const TYPE_NAMES: Readonly<Record<string, string>> = { timestamptz: 'timestamp with time zone' };

function described(columns: readonly Column[]): [string, string][] {
  return columns.map(([name, type]) => [name, TYPE_NAMES[type] ?? type]);
}

for (const { resourceType, table, fields } of DESCRIPTIONS) {
  test(`${resourceType}: every column is described, and every described column is there`, async () => {
    const stored = await columnsOf(table.name);
    for (const name of [...OF_EVERY_RECORD, ...(NO_ELEMENTS[table.name] ?? [])]) stored.delete(name);
    assert.deepEqual(Object.fromEntries(described(table.columns)), Object.fromEntries(stored));
    for (const child of table.children) {
      const childStored = await columnsOf(child.name);
      childStored.delete(child.parent);
      for (const name of Object.keys(child.fixed ?? {})) childStored.delete(name);
      const columns = [...child.columns, ...(child.repeats ?? [])];
      assert.deepEqual(Object.fromEntries(described(columns)), Object.fromEntries(childStored));
    }
  });

  test(`${resourceType}: what is selected can be selected, each member once`, async () => {
    const names = fields('record').map(({ name }) => name);
    assert.deepEqual(names, [...new Set(names)]);
    const selected = fields('record').map(({ sql }) => sql);
    const scope = '00000000-0000-0000-0000-000000000000';
    await database.pool.query(
      `select ${selected.join(', ')} from ${table.name} record where record.organisation_id = $1`,
      [scope],
    );
  });
}
