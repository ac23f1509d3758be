/** Writes one unit (a Bundle, or a run of single resources) inside a transaction that is open already. */
import { createHash } from 'node:crypto';
import { parseFhirJson } from '../../fhir/json.ts';
import type { Client } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { ElementTally } from './element-tally.ts';
import type { JsonObject } from './json-resource.ts';
import { type MapOutcome, type MissingTargets, mapResources } from './map-resources.ts';
import { facilityRecordId } from './record-id.ts';
import type { RecordNames } from './record-names.ts';
import { ReferenceResolver } from './resolve-references.ts';
import type {
  IdentifierKey,
  Reach,
  ResourceImporter,
  WriteContext,
  WriteResult,
} from './resource-importer.ts';
import { createGiveWay } from './source/give-way.ts';
import { decodeUtf8 } from './source/read-entries.ts';
import type { Spool } from './source/spool.ts';
import { count, type Unit, type UnitEntry } from './unit.ts';
import { type UnmappedCode, unmappedCodes } from './unmapped-codes.ts';

/** Resources in one set of statements at most, and bytes of JSON at most. */
const CHUNK_RESOURCES = 500;
const CHUNK_BYTES = 8 * 1_048_576;

export interface UnitRequest {
  scope: FacilityScope;
  reach: Reach;
  unit: Unit;
  spool: Spool;
  /** The resource of an entry's JSON text. */
  resourceOf: (parsed: unknown) => JsonObject;
  importers: ReadonlyMap<string, ResourceImporter>;
  missingTargets: MissingTargets;
  expected: RecordNames | undefined;
  /** Rejected resources after which it stops. */
  maxReasons: number;
}

export interface UnitOutcome {
  /** Resources taken, by type; what was there already with the same content is among them. */
  resources: Map<string, number>;
  unchanged: Map<string, number>;
  notKept: ElementTally;
  unresolved: ElementTally;
  unresolvedIn: number[];
  /** True when an optional target was given up that may still come. */
  gaveUp: boolean;
  rejected: { entry: UnitEntry; reason: string }[];
  waiting: number[];
  /** Patients that were created or changed, and all that anything written is about. */
  patientsCreated: Set<string>;
  patientsUpdated: Set<string>;
  patientsTouched: Set<string>;
  /** Local codes without a standard one, of what was created or changed. */
  unmapped: UnmappedCode[];
}

/**
 * Map and write everything. Once something is rejected or waiting nothing more is written: the caller must
 * roll back.
 */
export async function importUnit(client: Client, request: UnitRequest): Promise<UnitOutcome> {
  const { unit, scope, importers } = request;
  const outcome = emptyOutcome();
  const context: WriteContext = {
    client,
    scope,
    reach: request.reach,
    unit,
    patientsTouched: (ids) => addAll(outcome.patientsTouched, ids),
    patientsRegistered: (ids) => addAll(outcome.patientsUpdated, ids),
    refuse: (ids, reason) => refuse(outcome, unit, new Set(ids), reason),
  };
  await applyConditions(client, request, outcome);
  if (outcome.rejected.length > 0) return outcome;
  if (request.reach === 'facility') await avoidTakenIds(client, request);
  const resolver = new ReferenceResolver(importers, unit, scope);
  const byImporter = [...Map.groupBy(unit.entries, ({ importer }) => importer)];
  byImporter.sort(([a], [b]) => a.order - b.order);
  for (const [importer, entries] of byImporter) {
    for (const chunk of chunks(inWritingOrder(importer, entries, request.spool))) {
      const mapped = await mapChunk(client, request, resolver, chunk);
      mergeMapped(outcome, mapped);
      if (outcome.waiting.length > 0 || outcome.rejected.length >= request.maxReasons) return outcome;
      if (outcome.rejected.length === 0) await writeChunk(outcome, importer, { chunk, mapped, context });
    }
  }
  if (outcome.rejected.length > 0) return outcome;
  for (const [importer] of byImporter) await importer.finish?.(context);
  for (const { target, writes } of unit.entries) if (!writes) countThere(outcome, target.type);
  for (const [type, times] of unit.repeated) count(outcome.resources, type, times);
  return outcome;
}

function refuse(outcome: UnitOutcome, unit: Unit, ids: ReadonlySet<string>, reason: string): void {
  if (ids.size === 0) return;
  for (const entry of unit.entries) if (ids.has(entry.target.id)) outcome.rejected.push({ entry, reason });
}

/**
 * An id that was made from an identifier may be that of a record which the facility may not see: the facility
 * then has a record of its own.
 */
async function avoidTakenIds(client: Client, { unit, scope }: UnitRequest): Promise<void> {
  const made = unit.entries.filter(
    ({ madeId, writes, importer }) => madeId && writes && importer.lookup?.elsewhere,
  );
  for (const chunk of chunks(made)) {
    const ids = chunk.map(({ target }) => target.id);
    const taken = new Set(await chunk[0]?.importer.lookup?.elsewhere?.(client, scope, ids));
    for (const { target } of chunk)
      if (taken.has(target.id)) target.id = facilityRecordId(scope.facilityId, target.id);
  }
}

/** Entries of a large file stay as they stand: reading them by id would be slow, and a deadlock is repeated. */
function inWritingOrder(
  { shared }: ResourceImporter,
  entries: readonly UnitEntry[],
  spool: Spool,
): readonly UnitEntry[] {
  if (shared !== true || !spool.inMemory) return entries;
  return entries.toSorted((a, b) => (a.target.id < b.target.id ? -1 : 1));
}

async function writeChunk(
  outcome: UnitOutcome,
  importer: ResourceImporter,
  { chunk, mapped, context }: { chunk: readonly UnitEntry[]; mapped: MapOutcome; context: WriteContext },
): Promise<void> {
  const result = await importer.write(mapped.rows, context);
  merge(outcome, importer, result);
  for (const code of unmappedCodes(importer.type, mapped.rows, result)) outcome.unmapped.push(code);
  const present = chunk.filter(({ writes }) => !writes).map(({ target }) => target.id);
  if (present.length > 0) await importer.keep?.(present, context);
}

function emptyOutcome(): UnitOutcome {
  return {
    resources: new Map(),
    unchanged: new Map(),
    notKept: new ElementTally(),
    unresolved: new ElementTally(),
    unresolvedIn: [],
    gaveUp: false,
    rejected: [],
    waiting: [],
    patientsCreated: new Set(),
    patientsUpdated: new Set(),
    patientsTouched: new Set(),
    unmapped: [],
  };
}

/**
 * `ifNoneExist` and conditional updates: a record in reach that carries the identifier is used in place of a
 * new one. Bundles that may create under a condition go one after the other for each type, so that
 * two of them cannot both find nothing and both create.
 */
async function applyConditions(client: Client, request: UnitRequest, outcome: UnitOutcome): Promise<void> {
  const conditional = request.unit.entries.filter(({ condition }) => condition !== undefined);
  const byImporter = [...Map.groupBy(conditional, ({ importer }) => importer)];
  for (const [importer, entries] of byImporter.sort(([a], [b]) => a.order - b.order)) {
    for (const chunk of chunks(entries)) {
      const missing = await matchConditions(client, request, chunk, outcome);
      if (missing.length === 0) continue;
      await client.query('select pg_advisory_xact_lock($1)', [
        lockNumber(request.scope.organisationId, importer.type),
      ]);
      await matchConditions(client, request, missing, outcome);
    }
  }
  redirectToFirst(conditional);
}

/** Points entries at the record they stand for; returns those that none was found for. */
async function matchConditions(
  client: Client,
  { scope, reach }: UnitRequest,
  entries: readonly UnitEntry[],
  outcome: UnitOutcome,
): Promise<UnitEntry[]> {
  const keys = entries.flatMap(({ condition }) => (condition === undefined ? [] : [condition.key]));
  const matches = await entries[0]?.importer.lookup?.byIdentifier(client, scope, keys, reach);
  const found = Map.groupBy(matches ?? [], identifierText);
  return entries.filter((entry) => {
    if (entry.condition === undefined) return false;
    const ids = new Set(found.get(identifierText(entry.condition.key))?.map(({ id }) => id));
    if (ids.size > 1)
      outcome.rejected.push({
        entry,
        reason: 'Several records match the condition of this entry; one was expected',
      });
    const [id] = ids;
    if (id !== undefined) pointAt(entry, id);
    return ids.size === 0;
  });
}

function pointAt(entry: UnitEntry, id: string): void {
  // A conditional create that finds another record leaves it as it is; a conditional update changes it.
  if (entry.condition?.kind === 'create' && id !== entry.target.id) entry.writes = false;
  entry.target.id = id;
}

/** Two entries of one Bundle under the same condition are the same record: the first one creates it. */
function redirectToFirst(conditional: readonly UnitEntry[]): void {
  const first = new Map<string, UnitEntry>();
  for (const entry of conditional) {
    if (!entry.writes || entry.condition === undefined) continue;
    const text = `${entry.target.type}?${identifierText(entry.condition.key)}`;
    const before = first.get(text);
    if (before === undefined) first.set(text, entry);
    else pointAt(entry, before.target.id);
  }
}

async function mapChunk(
  client: Client,
  request: UnitRequest,
  resolver: ReferenceResolver,
  chunk: readonly UnitEntry[],
): Promise<MapOutcome> {
  const entries: { entry: UnitEntry; resource: JsonObject }[] = [];
  const rejected: MapOutcome['rejected'] = [];
  const giveWay = createGiveWay();
  for (const entry of chunk) {
    if (!entry.writes) continue;
    await giveWay();
    const text = decodeUtf8(await request.spool.read(entry.start, entry.end));
    try {
      entries.push({ entry, resource: request.resourceOf(parseFhirJson(text)) });
    } catch {
      // It was JSON when it was indexed: what fails here is depth, or a decimal with an absurd exponent.
      rejected.push({ entry, reason: 'The resource is nested too deeply, or has a number out of range' });
    }
  }
  const { scope, unit, missingTargets, expected } = request;
  const mapped = await mapResources(client, { scope, unit, resolver, missingTargets, expected, entries });
  return { ...mapped, rejected: [...rejected, ...mapped.rejected] };
}

function mergeMapped(outcome: UnitOutcome, mapped: MapOutcome): void {
  outcome.rejected.push(...mapped.rejected);
  outcome.waiting.push(...mapped.waiting);
  outcome.notKept.addAll(mapped.notKept);
  outcome.unresolved.addAll(mapped.unresolved);
  for (const number of mapped.unresolvedIn) outcome.unresolvedIn.push(number);
  outcome.gaveUp ||= mapped.gaveUp;
}

function merge(outcome: UnitOutcome, { type }: ResourceImporter, result: WriteResult): void {
  const { created, updated, unchanged } = result;
  const taken = created.length + updated.length + unchanged.length;
  if (taken > 0) count(outcome.resources, type, taken);
  if (unchanged.length > 0) count(outcome.unchanged, type, unchanged.length);
  if (type !== 'Patient') return;
  addAll(outcome.patientsCreated, created);
  addAll(outcome.patientsUpdated, updated);
}

function countThere(outcome: UnitOutcome, type: string): void {
  count(outcome.resources, type);
  count(outcome.unchanged, type);
}

function* chunks(entries: readonly UnitEntry[]): Generator<UnitEntry[]> {
  let chunk: UnitEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    chunk.push(entry);
    bytes += entry.end - entry.start;
    if (chunk.length < CHUNK_RESOURCES && bytes < CHUNK_BYTES) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}

function identifierText({ system, value }: IdentifierKey): string {
  return `${system}|${value}`;
}

function lockNumber(organisationId: string, type: string): string {
  const digest = createHash('sha256').update(`import ${organisationId} ${type}`).digest();
  return digest.readBigInt64BE(0).toString();
}

function addAll(set: Set<string>, items: Iterable<string>): void {
  for (const item of items) set.add(item);
}
