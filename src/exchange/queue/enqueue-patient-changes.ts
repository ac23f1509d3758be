/**
 * The outbox: a change of patients queues its deliveries in its own transaction (docs/adr/0021).
 * Contract: EXC-2, PAT-12.
 */
import { randomUUIDv7 } from 'node:crypto';
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import { loadPatients, lockPatients, textSizes } from '../../patients/patient.store.ts';
import type { PatientChange } from '../../patients/patient.ts';
import type { Client } from '../../platform/db/database.ts';
import type { RegistrationScope } from '../../tenancy/scope.ts';
import { restoreAssignedSearchKeys } from '../callbacks/assigned-identifier.store.ts';
import { callWorkers } from './delivery-call.ts';
import { type EmittedPatient, type EnvelopeParts, emitPatient, envelopeText } from './envelope.ts';
import {
  type Candidate,
  countUnlike,
  insertDeliveries,
  nextSequences,
  type OpenConnection,
  openConnections,
  registrations,
} from './outbox.store.ts';

/**
 * Queue one delivery per changed patient and matching connection. A connection matches when it is enabled and covers
 * a facility, with the exchange module, at which the patient is registered. A change that leaves the emitted Patient
 * as it was last queued there queues nothing. Returns the number queued.
 *
 * Call after the change is written, in the same transaction. While few deliveries are made, the number of statements does not
 * grow with `changes`, but with the facilities and purposes that are delivered for.
 */
export async function enqueuePatientChanges(
  client: Client,
  scope: RegistrationScope,
  changes: readonly PatientChange[],
): Promise<number> {
  if (changes.length === 0) return 0;
  const patientIds = changes.map(({ patientId }) => patientId);
  await restoreAssignedSearchKeys(client, scope, patientIds);
  return queueAll(client, scope, { events: eventsByPatient(changes) });
}

/**
 * Queue for one connection the patients whose emitted Patient is not as it was last queued there. Nothing is written with
 * `dryRun`. Returns the number.
 */
export function queueForConnection(
  client: Client,
  scope: RegistrationScope,
  {
    connectionId,
    patientIds,
    dryRun,
  }: { connectionId: string; patientIds: readonly string[]; dryRun: boolean },
): Promise<number> {
  const events = new Map(patientIds.map((id) => [id, 'updated' as const]));
  return queueAll(client, scope, { events, only: connectionId, dryRun });
}

interface Queuing {
  /** By patient. */
  events: ReadonlyMap<string, PatientChange['event']>;
  /** If true, what would be queued is counted, and nothing is written. */
  dryRun?: boolean;
}

async function queueAll(
  client: Client,
  scope: RegistrationScope,
  { only, ...queuing }: Queuing & { only?: string },
): Promise<number> {
  const { events, dryRun } = queuing;
  // A registration at one more facility writes no patient. A new patient is seen by nobody else yet.
  const there = [...events].flatMap(([patientId, event]) => (event === 'created' ? [] : [patientId]));
  let connections = await openConnections(client, scope, only);
  if (there.length > 0 && connections.length > 0) {
    await lockPatients(client, scope, there);
    // Their time is read after the wait: a later delivery says no earlier one.
    connections = await openConnections(client, scope, only);
  }
  const [first] = connections;
  if (first === undefined) return 0;
  const sizes = await textSizes(client, scope, [...events.keys()]);
  let queued = 0;
  for (const some of batchesOf(connections, sizes))
    queued += await queueSome(client, scope, { ...some, ...queuing, occurredAt: first.now });
  if (queued > 0 && dryRun !== true) callWorkers(client, scope.organisationId);
  return queued;
}

/** Deliveries that are in memory at a time, and bytes of their patients: a Bundle may have very many, and very large ones. */
const AT_ONCE = { deliveries: 1_000, bytes: 8 * 1024 ** 2 };

/** What goes to some connections. */
interface Batch {
  connections: readonly OpenConnection[];
  patientIds: readonly string[];
}

/**
 * Connection by connection, and by the ids of the patients: the order in which lanes are locked, also by those who decide about
 * held deliveries, so that nobody waits in a circle. A few patients go to all connections together.
 */
function* batchesOf(
  connections: readonly OpenConnection[],
  sizes: ReadonlyMap<string, number>,
): Generator<Batch> {
  const all = [...sizes].sort(([a], [b]) => (a < b ? -1 : 1));
  const bytes = all.reduce((sum, [, size]) => sum + size, 0);
  if (connections.length * all.length <= AT_ONCE.deliveries && connections.length * bytes <= AT_ONCE.bytes)
    return yield { connections, patientIds: all.map(([id]) => id) };
  for (const connection of connections)
    for (const patientIds of inParts(all)) yield { connections: [connection], patientIds };
}

/** A patient who is larger than all that is in memory at a time goes alone. */
function* inParts(all: readonly (readonly [id: string, size: number])[]): Generator<string[]> {
  let part: string[] = [];
  let bytes = 0;
  for (const [id, size] of all) {
    if (part.length === AT_ONCE.deliveries || (part.length > 0 && bytes + size > AT_ONCE.bytes)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(id);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** Returns the number queued. */
async function queueSome(
  client: Client,
  scope: RegistrationScope,
  { events, occurredAt, dryRun, ...batch }: Batch & Queuing & { occurredAt: Date },
): Promise<number> {
  const candidates = await emit(client, scope, await match(client, scope, batch));
  if (candidates.length === 0) return 0;
  if (dryRun === true) return countUnlike(client, scope, candidates);
  const numbered = await nextSequences(client, scope, candidates);
  if (numbered.length === 0) return 0;
  const emitted = new Map(candidates.map((c) => [`${c.connectionId}/${c.patientId}`, c]));
  const deliveries = numbered.map(({ connectionId, patientId, sequence }) => {
    const candidate = emitted.get(`${connectionId}/${patientId}`);
    const parts: EnvelopeParts = {
      deliveryId: randomUUIDv7(),
      event: events.get(patientId) === 'created' ? 'patient.created' : 'patient.updated',
      occurredAt,
      organisationId: scope.organisationId,
      facilityId: candidate?.facilityId ?? scope.facilityId,
      connectionId,
      sequence,
    };
    return { ...parts, patientId, body: envelopeText(parts, candidate?.resource ?? 'null') };
  });
  await insertDeliveries(client, scope, deliveries);
  return deliveries.length;
}

/** One event per patient: created, when any of its changes says so. */
function eventsByPatient(changes: readonly PatientChange[]): Map<string, PatientChange['event']> {
  const events = new Map<string, PatientChange['event']>();
  for (const { patientId, event } of changes)
    if (event === 'created' || !events.has(patientId)) events.set(patientId, event);
  return events;
}

/** A patient who goes to a connection, and as of which facility. */
interface Match {
  connectionId: string;
  patientId: string;
  facilityId: string;
  purposeOfUse: PurposeOfUse;
  sequenceFloor: number;
}

/** Which patients go to which connection, and as of which facility: that of the change where it is covered. */
async function match(
  client: Client,
  scope: RegistrationScope,
  { connections, patientIds }: Batch,
): Promise<Match[]> {
  const elsewhere = connections.some(({ facilityIds }) => !facilityIds.includes(scope.facilityId));
  const registered = elsewhere ? await registrations(client, scope, patientIds) : new Map<string, string[]>();
  return connections.flatMap(({ id: connectionId, facilityIds, purposeOfUse, sequenceFloor }) =>
    patientIds.flatMap((patientId) => {
      const facilityId = facilityIds.includes(scope.facilityId)
        ? scope.facilityId
        : registered.get(patientId)?.find((facility) => facilityIds.includes(facility));
      return facilityId === undefined
        ? []
        : [{ connectionId, patientId, facilityId, purposeOfUse, sequenceFloor }];
    }),
  );
}

/**
 * The Patients as they are delivered. The other patients whom one names depend on the facility and the purpose of the
 * delivery, so that each of these pairs has its own.
 */
async function emit(
  client: Client,
  { organisationId }: RegistrationScope,
  matches: readonly Match[],
): Promise<(Candidate & EmittedPatient)[]> {
  const groups = Map.groupBy(matches, ({ facilityId, purposeOfUse }) => `${facilityId}/${purposeOfUse}`);
  const candidates: (Candidate & EmittedPatient)[] = [];
  for (const group of groups.values()) {
    const [{ facilityId, purposeOfUse }] = group as [Match];
    const ids = new Set(group.map(({ patientId }) => patientId));
    const patients = await loadPatients(client, { organisationId, facilityId, purposeOfUse }, [...ids]);
    const emitted = new Map(Array.from(patients, ([id, patient]) => [id, emitPatient(patient)]));
    for (const { connectionId, patientId, sequenceFloor } of group) {
      const patient = emitted.get(patientId);
      if (patient !== undefined)
        candidates.push({ connectionId, patientId, facilityId, sequenceFloor, ...patient });
    }
  }
  return candidates;
}
