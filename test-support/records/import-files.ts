/** Imports FHIR files or resources into a tenant of a test. */
import type { Pool } from '../../src/platform/db/database.ts';
import { importRecords } from '../../src/records/import/import-records.ts';
import type { ImportDocument } from '../../src/records/import/import-report.ts';
import { DEFAULT_LIMITS } from '../../src/records/import/source/limits.ts';
import { openFile } from '../../src/records/import/source/open-source.ts';
import type { Tenant } from '../service/api.ts';
import { sourceOf } from './import.ts';

const RECORDS = new URL('clinical/', import.meta.url);

/** Imports files of `records/clinical/`, such as `laboratory.json`. */
export async function importClinical(db: Pool, tenant: Tenant, ...names: string[]): Promise<ImportDocument> {
  const sources = names.map((name) => ({
    name,
    sizeBytes: 0,
    open: () => openFile(new URL(name, RECORDS).pathname, DEFAULT_LIMITS),
  }));
  return (await importRecords({ db }, { scope: { timeZone: 'UTC', ...tenant }, sources })).document;
}

/** Imports each text of JSON as a source of its own. */
export async function importJson(db: Pool, tenant: Tenant, ...texts: string[]): Promise<ImportDocument> {
  const sources = texts.map((text, index) => sourceOf(`source ${index + 1}`, text));
  return (await importRecords({ db }, { scope: { timeZone: 'UTC', ...tenant }, sources })).document;
}
