/** SQL that queues deliveries inside the transaction of a change. Contract: EXC-2, EXC-4, EXC-54. */
import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { coveredNow, covers, moduleOn } from './covers.ts';
import type { EnvelopeParts } from './envelope.ts';
import type { ConnectionKey } from './lane.store.ts';

export interface OpenConnection {
  id: string;
  /** Facilities that it covers and that have the exchange module. */
  facilityIds: string[];
  purposeOfUse: PurposeOfUse;
  /** New deliveries are numbered above it. */
  sequenceFloor: number;
  /** The database's clock. */
  now: Date;
}

/**
 * Enabled connections of an organisation that cover a facility with the exchange module; with `only`, none but the one with this
 * id.
 */
export async function openConnections(
  db: Queryable,
  scope: OrganisationScope,
  only?: string,
): Promise<OpenConnection[]> {
  const { rows } = await db.query<OpenConnection>({
    name: 'exchange-open-connections',
    text: `
      select c.id, array_agg(m.facility_id order by m.facility_id) as "facilityIds",
        c.purpose_of_use as "purposeOfUse", c.sequence_floor as "sequenceFloor", clock_timestamp() as now
      from exchange_connection c
      join facility_module m
        on m.organisation_id = $1
        and m.module = 'exchange'
      where c.organisation_id = $1
        and c.disabled_at is null
        and ($2::uuid is null or c.id = $2)
        and ${covers('m.facility_id')}
      group by c.id, c.purpose_of_use, c.sequence_floor
      order by c.id`,
    values: [scope.organisationId, only],
  });
  return rows;
}

export interface CoveredFacility {
  id: string;
  name: string;
}

/** Facilities that a connection covers and that do not have the exchange module, by name. */
export async function closedFacilities(db: Queryable, key: ConnectionKey): Promise<CoveredFacility[]> {
  const { rows } = await db.query<CoveredFacility>({
    name: 'exchange-closed-facilities',
    text: `
      select f.id, f.name
      from facility f
      where f.organisation_id = $1
        and ${coveredNow('f.id')}
        and not ${moduleOn('f.id')}
      order by f.name, f.id`,
    values: [key.organisationId, key.connectionId],
  });
  return rows;
}

/** Facilities at which patients are registered. */
export async function registrations(
  db: Queryable,
  scope: OrganisationScope,
  patientIds: readonly string[],
): Promise<Map<string, string[]>> {
  const { rows } = await db.query<{ patient_id: string; facility_ids: string[] }>({
    name: 'exchange-registrations',
    text: `
      select patient_id, array_agg(facility_id order by facility_id) as facility_ids
      from patient_registration
      where organisation_id = $1
        and patient_id = any($2::uuid[])
      group by patient_id`,
    values: [scope.organisationId, patientIds],
  });
  return new Map(rows.map((row) => [row.patient_id, row.facility_ids]));
}

/** A patient whom a connection covers, and the facility as of which the patient is delivered. */
export interface CoveredPatient {
  patientId: string;
  facilityId: string;
}

/**
 * Patients of the facilities of a connection, by id. As of the facility that the last delivery was of, where that still
 * holds: as of another one the content may differ, though the patient did not change. Of each facility no more is read than a
 * page: its registrations are a range, in the order of their key, which no other index has (docs/adr/0122).
 */
export async function coveredPatients(
  db: Queryable,
  scope: OrganisationScope,
  { connection, after, limit }: { connection: OpenConnection; after: string; limit: number },
): Promise<CoveredPatient[]> {
  const { rows } = await db.query<CoveredPatient>({
    name: 'exchange-covered-patients',
    text: `
      with page as materialized (
        select r.patient_id, array_agg(r.facility_id order by r.facility_id) as facility_ids
        from unnest($3::uuid[]) f (facility_id)
        cross join lateral (
          select facility_id, patient_id
          from patient_registration
          where organisation_id = $1
            and (facility_id, patient_id) > (f.facility_id, $4)
            and facility_id <= f.facility_id
          order by facility_id, patient_id
          limit $5
        ) r
        group by r.patient_id
        order by r.patient_id
        limit $5
      )
      select patient_id as "patientId", coalesce((
        select d.facility_id
        from exchange_delivery d
        where d.organisation_id = $1
          and d.connection_id = $2
          and d.patient_id = page.patient_id
          and d.facility_id = any(page.facility_ids)
        order by d.sequence desc
        limit 1
      ), facility_ids[1]) as "facilityId"
      from page
      order by patient_id`,
    values: [scope.organisationId, connection.id, connection.facilityIds, after, limit],
  });
  return rows;
}

export interface Candidate {
  connectionId: string;
  facilityId: string;
  patientId: string;
  digest: Buffer;
  /** Of the connection. */
  sequenceFloor: number;
}

/** The next number of a lane. */
type NumberedDelivery = Pick<QueuedDelivery, 'connectionId' | 'patientId' | 'sequence'>;

/**
 * Number the candidates whose content differs from what their lane was last given; the others are left out. Lanes
 * are locked in one order, so that two changes never wait for each other.
 */
export async function nextSequences(
  db: Queryable,
  scope: OrganisationScope,
  candidates: readonly Candidate[],
): Promise<NumberedDelivery[]> {
  const { rows } = await db.query<NumberedDelivery>({
    name: 'exchange-next-sequences',
    text: `
      insert into exchange_lane as lane (organisation_id, connection_id, patient_id, last_sequence, digest)
      select $1, c.connection_id, c.patient_id, c.sequence_floor + 1, c.digest
      from unnest($2::uuid[], $3::uuid[], $4::bytea[], $5::bigint[])
        c (connection_id, patient_id, digest, sequence_floor)
      order by c.connection_id, c.patient_id
      on conflict (organisation_id, connection_id, patient_id) do update
      set last_sequence = greatest(lane.last_sequence + 1, excluded.last_sequence),
          digest = excluded.digest
      where lane.digest <> excluded.digest
      returning connection_id as "connectionId", patient_id as "patientId", last_sequence as sequence`,
    values: [
      scope.organisationId,
      candidates.map((candidate) => candidate.connectionId),
      candidates.map((candidate) => candidate.patientId),
      candidates.map((candidate) => candidate.digest),
      candidates.map((candidate) => candidate.sequenceFloor),
    ],
  });
  return rows;
}

/** How many of the candidates {@link nextSequences} would number. */
export async function countUnlike(
  db: Queryable,
  scope: OrganisationScope,
  candidates: readonly Candidate[],
): Promise<number> {
  const { rows } = await db.query<{ unlike: number }>({
    name: 'exchange-count-unlike',
    text: `
      select count(*)::integer as unlike
      from unnest($2::uuid[], $3::uuid[], $4::bytea[]) c (connection_id, patient_id, digest)
      where not exists (
        select from exchange_lane lane
        where lane.organisation_id = $1
          and lane.connection_id = c.connection_id
          and lane.patient_id = c.patient_id
          and lane.digest = c.digest
      )`,
    values: [
      scope.organisationId,
      candidates.map((candidate) => candidate.connectionId),
      candidates.map((candidate) => candidate.patientId),
      candidates.map((candidate) => candidate.digest),
    ],
  });
  return rows[0]?.unlike ?? 0;
}

interface QueuedDelivery extends Omit<EnvelopeParts, 'organisationId'> {
  patientId: string;
  body: string;
}

/** Write deliveries, each to the end of its lane. */
export async function insertDeliveries(
  db: Queryable,
  scope: OrganisationScope,
  deliveries: readonly QueuedDelivery[],
): Promise<void> {
  const column = <T>(read: (delivery: QueuedDelivery) => T): T[] => deliveries.map(read);
  await db.query({
    name: 'exchange-insert-deliveries',
    text: `
      with queued as (
        insert into exchange_delivery (organisation_id, connection_id, patient_id, sequence, id, facility_id, event,
          occurred_at, body)
        select $1, q.*
        from unnest($2::uuid[], $3::uuid[], $4::bigint[], $5::uuid[], $6::uuid[], $7::text[], $8::timestamptz[],
          $9::text[]) q
        returning connection_id, patient_id, sequence, occurred_at
      )
      insert into exchange_head (organisation_id, connection_id, patient_id, sequence, last_sequence, queued_at, due_at)
      select $1, connection_id, patient_id, sequence, sequence, occurred_at, clock_timestamp()
      from queued
      order by connection_id, patient_id
      on conflict (organisation_id, connection_id, patient_id) do update
      set last_sequence = excluded.last_sequence`,
    values: [
      scope.organisationId,
      column((d) => d.connectionId),
      column((d) => d.patientId),
      column((d) => d.sequence),
      column((d) => d.deliveryId),
      column((d) => d.facilityId),
      column((d) => d.event),
      column((d) => d.occurredAt.toISOString()),
      column((d) => d.body),
    ],
  });
}
