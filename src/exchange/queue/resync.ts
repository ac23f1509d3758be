/**
 * Queues what an exchange was not sent: patients who were there before its connection, or who changed while the connection was
 * disabled or the module off (docs/adr/0157).
 * Contract: EXC-58.
 */
import { type Pool, transaction } from '../../platform/db/database.ts';
import { outageOf } from '../../platform/db/unavailable.ts';
import { OPERATOR } from '../../tenancy/administration/author.ts';
import { recordChange } from '../../tenancy/audit/audit.ts';
import { exchangeError } from '../errors.ts';
import { queueForConnection } from './enqueue-patient-changes.ts';
import type { ConnectionKey } from './lane.store.ts';
import { type CoveredFacility, closedFacilities, coveredPatients, openConnections } from './outbox.store.ts';

export interface ResyncOptions {
  /** Of the connection, for the record of changes. */
  name: string;
  /** If true, what would be queued is counted, and nothing is changed. */
  dryRun: boolean;
  onProgress: (done: Resynced) => void;
  /** Ends it before the next page. */
  stop: AbortSignal;
}

export interface Resynced {
  /** Patients who were looked at. */
  patients: number;
  /** Deliveries that were queued. */
  queued: number;
  /** Facilities that the connection covers and that are left out, because their exchange module is off. */
  closedFacilities: readonly CoveredFacility[];
}

/** Patients of one page, and of one transaction at most. */
const AT_ONCE = 500;
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/**
 * Page by page: what was queued stays if it is stopped, and a second time queues only what the first did not. Throws
 * `no_open_facility` and `closed_meanwhile`. The connection must be enabled.
 */
export async function resync(
  db: Pool,
  key: ConnectionKey,
  { name, dryRun, onProgress, stop }: ResyncOptions,
): Promise<Resynced> {
  const { organisationId, connectionId } = key;
  const scope = { organisationId };
  const [begun] = await openConnections(db, scope, connectionId);
  if (begun === undefined) throw exchangeError('no_open_facility');
  if (!dryRun)
    await transaction(db, (client) =>
      recordChange(client, scope, OPERATOR, {
        action: 'connection.resync',
        subject: { type: 'connection', id: connectionId, name },
        facilityIds: begun.facilityIds,
      }),
    );
  const closed = await closedFacilities(db, key);
  const done = { patients: 0, queued: 0, closedFacilities: closed };
  let after = BEFORE_ALL;
  while (!stop.aborted) {
    const [connection] = await openConnections(db, scope, connectionId);
    if (connection === undefined) throw exchangeError('closed_meanwhile');
    const page = await coveredPatients(db, scope, { connection, after, limit: AT_ONCE });
    const last = page.at(-1);
    if (last === undefined) return done;
    after = last.patientId;
    for (const [facilityId, patients] of Map.groupBy(page, (patient) => patient.facilityId)) {
      const queue = (patientIds: readonly string[]) =>
        transaction(db, (client) => {
          const at = { organisationId, facilityId };
          return queueForConnection(client, at, { connectionId, patientIds, dryRun });
        });
      done.queued += await togetherOrEach(
        patients.map(({ patientId }) => patientId),
        queue,
      );
    }
    done.patients += page.length;
    onProgress(done);
  }
  return done;
}

/**
 * An import locks its patients in the order of its file, so a page may meet it in a deadlock. Patients one by one do not:
 * while one of them is waited for, no other one is locked.
 */
async function togetherOrEach(
  patientIds: readonly string[],
  queue: (some: readonly string[]) => Promise<number>,
): Promise<number> {
  try {
    return await queue(patientIds);
  } catch (error) {
    if (outageOf(error) !== 'conflict') throw error;
    let queued = 0;
    for (const id of patientIds) queued += await queue([id]);
    return queued;
  }
}
