/**
 * The outbox: a change of patients queues its deliveries in its own transaction (docs/adr/0021).
 * Contract: EXC-2.
 */
import { randomUUIDv7 } from 'node:crypto';
import { loadPatients } from '../../patients/patient.store.ts';
import type { PatientChange } from '../../patients/patient.ts';
import type { Client } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { restoreAssignedSearchKeys } from '../callbacks/assigned-identifier.store.ts';
import { type EmittedPatient, emitPatient, envelopeText } from './envelope.ts';
import {
  type Candidate,
  insertDeliveries,
  nextSequences,
  type OpenConnection,
  openConnections,
  type QueuedDelivery,
  registrations,
} from './outbox.store.ts';

/**
 * Queue one delivery per changed patient and matching connection. A connection matches when it is enabled and covers
 * a facility, with the exchange module, at which the patient is registered. A change that leaves the emitted Patient
 * as it was last queued there queues nothing. Returns the number queued.
 *
 * Call after the change is written, in the same transaction; the number of statements does not grow with `changes`.
 */
export async function enqueuePatientChanges(
  client: Client,
  scope: Pick<FacilityScope, 'organisationId' | 'facilityId'>,
  changes: readonly PatientChange[],
): Promise<number> {
  if (changes.length === 0) return 0;
  const patientIds = changes.map(({ patientId }) => patientId);
  await restoreAssignedSearchKeys(client, scope, patientIds);
  const connections = await openConnections(client, scope);
  const [first] = connections;
  if (first === undefined) return 0;
  const events = eventsByPatient(changes);
  const patients = await loadPatients(client, scope, [...events.keys()]);
  const emitted = new Map(Array.from(patients, ([id, patient]) => [id, emitPatient(patient)]));
  const candidates = await match(client, scope, { connections, emitted });
  if (candidates.length === 0) return 0;
  const numbered = await nextSequences(client, scope, candidates);
  if (numbered.length === 0) return 0;
  const facilities = new Map(candidates.map((c) => [`${c.connectionId}/${c.patientId}`, c.facilityId]));
  const deliveries = numbered.map(({ connectionId, patientId, sequence }): QueuedDelivery => {
    const parts = {
      deliveryId: randomUUIDv7(),
      event:
        events.get(patientId) === 'created' ? ('patient.created' as const) : ('patient.updated' as const),
      occurredAt: first.now,
      organisationId: scope.organisationId,
      facilityId: facilities.get(`${connectionId}/${patientId}`) ?? scope.facilityId,
      connectionId,
      sequence,
    };
    return { ...parts, patientId, body: envelopeText(parts, emitted.get(patientId)?.resource ?? 'null') };
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

interface Matching {
  connections: readonly OpenConnection[];
  emitted: ReadonlyMap<string, EmittedPatient>;
}

/** Which patients go to which connection, and as of which facility: that of the change where it is covered. */
async function match(
  client: Client,
  scope: Pick<FacilityScope, 'organisationId' | 'facilityId'>,
  { connections, emitted }: Matching,
): Promise<Candidate[]> {
  const elsewhere = connections.some(({ facilityIds }) => !facilityIds.includes(scope.facilityId));
  const registered = elsewhere
    ? await registrations(client, scope, [...emitted.keys()])
    : new Map<string, string[]>();
  return connections.flatMap(({ id, facilityIds }) =>
    Array.from(emitted, ([patientId, { digest }]) => {
      const facilityId = facilityIds.includes(scope.facilityId)
        ? scope.facilityId
        : registered.get(patientId)?.find((facility) => facilityIds.includes(facility));
      return facilityId === undefined ? undefined : { connectionId: id, facilityId, patientId, digest };
    }).filter((candidate) => candidate !== undefined),
  );
}

/** {@link enqueuePatientChanges} for those who need no number. */
export async function onPatientsChanged(...change: Parameters<typeof enqueuePatientChanges>): Promise<void> {
  await enqueuePatientChanges(...change);
}
