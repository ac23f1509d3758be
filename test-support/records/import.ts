/** Imports documents into a database of its own, for tests. */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { after } from 'node:test';
import type { importRecordsRoute } from '../../src/records/import/import-records.route.ts';
import {
  type ImportDependencies,
  type ImportRequest,
  importRecords,
} from '../../src/records/import/import-records.ts';
import type { ImportDocument } from '../../src/records/import/import-report.ts';
import type { ImportSource } from '../../src/records/import/run/import-sources.ts';
import { memorySpool } from '../../src/records/import/source/spool.ts';
import { createFacility, createOrganisation } from '../../src/tenancy/organisations/facilities.ts';
import type { FacilityScope } from '../../src/tenancy/scope.ts';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import type { TestAccount } from '../service/api.ts';
import type { Resource } from './clinic.ts';

/** A document is JSON to be written, text, or bytes. */
export type Document = object | string | Uint8Array;

export interface ImportTest {
  database: TestDatabase;
  /** The facility that documents go to unless another is named. */
  scope: FacilityScope;
  createOrganisation(): Promise<FacilityScope>;
  createFacility(organisationId: string, timeZone?: string): Promise<FacilityScope>;
  /** Import the documents as files `0.json`, `1.json`, … */
  run(documents: readonly Document[], options?: Options): Promise<ImportDocument>;
  rows<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** As it is stored. */
  encounterRow(encounter: Resource): Promise<Record<string, unknown> | undefined>;
  /** As they are stored, in their order. */
  participantsOf(encounter: Resource): Promise<Record<string, unknown>[]>;
}

interface Options extends Partial<Omit<ImportRequest, 'sources'>> {
  deps?: Partial<ImportDependencies>;
}

/** Of a test file, and dropped with it. */
export async function useImportTest(): Promise<ImportTest> {
  const t = await createImportTest();
  after(() => t.database.drop());
  return t;
}

export async function createImportTest(): Promise<ImportTest> {
  const database = await createTestDatabase();
  const rows: ImportTest['rows'] = async (text, values = []) =>
    (await database.pool.query({ text, values })).rows as never;
  const addFacility = async (
    organisationId: string,
    timeZone = 'Africa/Lagos',
    id = randomUUID(),
  ): Promise<FacilityScope> => {
    await createFacility(database.pool, { organisationId, id, name: 'Facility', timeZone });
    return { organisationId, facilityId: id, timeZone };
  };
  // The same in every organisation: ids that are made for a facility can be compared.
  const firstFacilityId = randomUUID();
  const addOrganisation = async (): Promise<FacilityScope> => {
    const { id } = await createOrganisation(database.pool, { name: 'Organisation' });
    return addFacility(id, undefined, firstFacilityId);
  };
  const scope = await addOrganisation();
  return {
    database,
    scope,
    createOrganisation: addOrganisation,
    createFacility: addFacility,
    rows,
    encounterRow: async ({ id }) => (await rows('select * from encounter where id = $1', [id]))[0],
    participantsOf: ({ id }) =>
      rows(
        'select practitioner_id, display from encounter_participant where encounter_id = $1 order by position',
        [id],
      ),
    async run(documents, { deps, ...request } = {}) {
      const sources = documents.map((document, index) => sourceOf(`${index}.json`, document));
      const { document } = await importRecords(
        { db: database.pool, ...deps },
        { scope, ...request, sources },
      );
      return document;
    },
  };
}

/** What an import of nothing answers. */
export const EMPTY_REPORT: ImportDocument = {
  files: 0,
  bundles: 0,
  resources: {},
  notTaken: {},
  rejected: [],
  rejectedCount: 0,
  unchanged: {},
  older: [],
  olderCount: 0,
  notices: [],
  noticeCount: 0,
  notShown: {},
  notKept: [],
  unresolved: [],
};

/** A source in memory; `before` is awaited each time that it is opened. */
export function sourceOf(name: string, document: Document, before?: () => Promise<unknown>): ImportSource {
  const bytes = bytesOf(document);
  const open = async () => {
    await before?.();
    return memorySpool(bytes);
  };
  return { name, sizeBytes: bytes.length, open };
}

/** How often each element was met. */
export function countsOf(elements: ImportDocument['notKept']): Record<string, number> {
  return Object.fromEntries(elements.map(({ element, count }) => [element, count]));
}

/** NDJSON of the resources. */
export function lines(resources: readonly object[]): string {
  return resources.map((resource) => JSON.stringify(resource)).join('\n');
}

function bytesOf(document: Document): Buffer {
  if (document instanceof Uint8Array) return Buffer.from(document);
  return Buffer.from(typeof document === 'string' ? document : JSON.stringify(document));
}

/** Hands a body to a route with limits that no running service has. */
export async function handBody(
  route: ReturnType<typeof importRecordsRoute>,
  { organisationId, facilityId, userId }: TestAccount,
  { body, importId }: { body: Readable; importId?: string },
) {
  const request = {
    body: Object.assign(body, { headers: {}, socket: { setTimeout: () => undefined } }),
    query: { importId },
  };
  const context = {
    scope: { organisationId, facilityId, timeZone: 'UTC' },
    caller: { accountId: userId, permissions: new Set() },
    headers: { 'content-type': 'application/json' },
    stillAllowed: async () => undefined,
  };
  return await route.handle(request as never, context as never);
}
