/**
 * Imports files, takes out again all that can be fetched of them, and says what is wrong with it: what does
 * not conform, and what differs from the source.
 */

import type { FhirResource } from '../../src/clinical/fetch/fhir-resource.ts';
import { encounterResource } from '../../src/encounters/encounter.fhir.ts';
import { createEncounterReader } from '../../src/encounters/encounter.store.ts';
import { vitalSetSource } from '../../src/encounters/vitals/fetch-vital-set.ts';
import { parseFhirJson } from '../../src/fhir/json.ts';
import type { JsonObject } from '../../src/fhir/reading/json-resource.ts';
import { createOrderEmitter } from '../../src/investigations/emit-investigation.ts';
import type { Pool } from '../../src/platform/db/database.ts';
import { isUuid } from '../../src/platform/uuid.ts';
import { importRecords } from '../../src/records/import/import-records.ts';
import type { ImportDocument, Rejection } from '../../src/records/import/import-report.ts';
import { IMPORTERS } from '../../src/records/import/map/importers.ts';
import { type SourceId, storedIds } from '../../src/records/import/resolve/place-ids.ts';
import { hasUuid, recordId, recordIdOf } from '../../src/records/import/resolve/record-id.ts';
import { DEFAULT_LIMITS } from '../../src/records/import/source/limits.ts';
import { openFile } from '../../src/records/import/source/open-source.ts';
import type { FacilityScope } from '../../src/tenancy/scope.ts';
import { createTranslator } from '../../src/terminology/lookup/translate.ts';
import { clinicalFaults } from './clinical-conformance.ts';
import { differences } from './round-trip.ts';

/** Types that are compared with their source: what lab, imaging and vitals are made from, and Encounters. */
const TYPES: ReadonlySet<string> = new Set([
  'Encounter',
  'ServiceRequest',
  'Observation',
  'DiagnosticReport',
  'ImagingStudy',
]);

export interface ClinicalCheck {
  imported: ImportDocument;
  /** Resources that can be fetched, by type. */
  emitted: Map<string, number>;
  /** `Type/id: fault`. */
  faults: string[];
  /** How often each element differs from the source, by `kind path`. */
  differences: Map<string, number>;
  /** Resources of the source that were taken and that no fetch shows, by type. */
  notShown: Map<string, number>;
}

/** Imports `files` together, and after them each of `oneByOne` by itself. */
export async function checkClinicalRecords(
  db: Pool,
  scope: FacilityScope,
  files: readonly string[],
  oneByOne: readonly string[] = [],
): Promise<ClinicalCheck> {
  const importFiles = async (names: readonly string[]) => {
    const sources = names.map((name) => ({ name, sizeBytes: 0, open: () => openFile(name, DEFAULT_LIMITS) }));
    return (await importRecords({ db }, { scope, sources })).document;
  };
  const imported = await importFiles(files);
  const rejected: Rejection[] = [];
  for (const file of oneByOne) rejected.push(...(await importFiles([file])).rejected);
  const emitted = await emitAll(db, scope);
  const originals = await readOriginals(scope, [...files, ...oneByOne]);
  const check: ClinicalCheck = {
    imported,
    emitted: new Map(),
    faults: rejected.map(({ file, entry, reason }) => `${file}, entry ${entry}: ${reason}`),
    differences: new Map(),
    notShown: new Map(),
  };
  for (const [key, resource] of emitted) {
    count(check.emitted, resource.resourceType);
    const json = JSON.stringify(resource);
    const original = originals.get(key);
    const faults = clinicalFaults(json, profilesOf(original));
    check.faults.push(...faults.map((fault) => `${key}: ${fault}`));
    if (original === undefined) continue;
    const answer = parseFhirJson(json) as object;
    for (const { path, kind } of differences(original, answer, resource.resourceType))
      count(check.differences, `${kind} ${path}`);
  }
  for (const [key, { resourceType }] of originals)
    if (!emitted.has(key)) count(check.notShown, String(resourceType));
  return check;
}

/** The profiles that a resource claims to follow. Its answer must follow them too. */
function profilesOf(original: JsonObject | undefined): readonly string[] {
  const meta = original?.meta as { profile?: string[] } | undefined;
  return meta?.profile ?? [];
}

/** Every resource that a fetch of an order or a vital set gives, and every Encounter, by `Type/id`; each must be the same in all. */
async function emitAll(db: Pool, scope: FacilityScope): Promise<Map<string, FhirResource>> {
  const deps = { db, translator: createTranslator({ db }) };
  const found = new Map<string, FhirResource>();
  const add = (emitted: { resources: readonly FhirResource[] } | undefined) => {
    if (emitted === undefined) throw new Error('a record of the database is not found');
    for (const resource of emitted.resources) {
      const key = `${resource.resourceType}/${resource.id}`;
      const before = found.get(key);
      if (before !== undefined && JSON.stringify(before) !== JSON.stringify(resource))
        throw new Error(`${key} is not the same in two fetches`);
      found.set(key, resource);
    }
  };
  const { organisationId, facilityId } = scope;
  const values = [organisationId, facilityId];
  const orders = await db.query<{ id: string; discipline: string }>({
    text: 'select id, discipline from investigation_order where organisation_id = $1 and facility_id = $2',
    values,
  });
  const emitOrder = createOrderEmitter(deps);
  for (const { id, discipline } of orders.rows) {
    if (discipline === 'laboratory' || discipline === 'imaging')
      add(await emitOrder(scope, { orderId: id, discipline }));
  }
  const sets = await db.query<{ id: string }>({
    text: 'select id from vital_set where organisation_id = $1 and facility_id = $2',
    values,
  });
  const vitalSets = vitalSetSource(deps);
  for (const { id } of sets.rows) add(await vitalSets.load(scope, id));
  const encounters = await db.query<{ id: string }>({
    text: 'select id from encounter where organisation_id = $1 and facility_id = $2',
    values,
  });
  const readEncounter = createEncounterReader(db);
  for (const { id } of encounters.rows) {
    const loaded = await readEncounter({ scope, id });
    if (loaded !== undefined) add({ resources: [encounterResource(loaded.encounter)] });
  }
  return found;
}

/**
 * The clinical resources of files of one Bundle or one resource each, in their last version. Keys (`Type/id`) and
 * references have the ids that the records are stored under.
 */
async function readOriginals(
  scope: FacilityScope,
  files: readonly string[],
): Promise<Map<string, JsonObject>> {
  const originals = new Map<string, JsonObject>();
  for (const file of files) {
    const spool = await openFile(file, DEFAULT_LIMITS);
    const text = Buffer.from(await spool.read(0, spool.sizeBytes)).toString();
    await spool.close();
    const parsed = parseFhirJson(text) as JsonObject;
    const entries = (parsed.entry ?? [{ resource: parsed }]) as { resource: JsonObject; fullUrl?: string }[];
    for (const { resource, fullUrl } of entries) {
      const resourceType = String(resource.resourceType);
      if (!TYPES.has(resourceType)) continue;
      const id = recordIdOf(resource, resourceType, fullUrl);
      const named = { id, hasUuid: hasUuid(resource, resourceType, fullUrl) };
      referAsStored(scope, resource);
      const key = `${resourceType}/${storedId(scope, resourceType, named)}`;
      const before = originals.get(key);
      if (before === undefined || versionOf(before) <= versionOf(resource)) originals.set(key, resource);
    }
  }
  return originals;
}

function versionOf({ meta }: JsonObject): number {
  return Number((meta as { versionId?: string } | undefined)?.versionId ?? 0);
}

/** Change references such as `Type/1` to the id that the record is stored under. */
function referAsStored(scope: FacilityScope, value: object): void {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'object' && inner !== null) referAsStored(scope, inner);
    if (name !== 'reference' || typeof inner !== 'string') continue;
    const [type = '', id = ''] = inner.split('/').slice(-2);
    if (!IMPORTERS.has(type) || inner.includes('?')) continue;
    const named = { id: recordId(type, id), hasUuid: isUuid(id) };
    Object.assign(value, { reference: `${type}/${storedId(scope, type, named)}` });
  }
}

function storedId(scope: FacilityScope, type: string, named: SourceId): string {
  const importer = named.hasUuid ? undefined : IMPORTERS.get(type);
  return (importer === undefined ? undefined : storedIds(importer, scope, named)[0]) ?? named.id;
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
