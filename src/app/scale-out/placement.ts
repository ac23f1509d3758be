/**
 * Where each table lies when PostgreSQL is distributed by Citus. A new table goes into exactly one of the three lists;
 * `placement.test.ts` fails until it does. Contract: ACC-22.
 */

/** The column that distributes rows: the rows of one organisation are on one node. */
export const DISTRIBUTION_COLUMN = 'organisation_id';

/** Small tables, copied whole to every node. A table comes after those that its foreign keys lead to. */
export const REFERENCE_TABLES = [
  'organisation',
  // The two directories tell the organisation of a user id or a connection, where a call does not know it yet.
  'account_directory',
  'exchange_connection_directory',
  // A FHIR server may serve all organisations.
  'publish_target',
] as const;

/** What every other distributed table is co-located with: one organisation is on the same node in all of them. */
export const CO_LOCATED_WITH = 'facility';

/** Tables with rows of organisations. A table comes after those that its foreign keys lead to. */
export const DISTRIBUTED_TABLES = [
  CO_LOCATED_WITH,
  'facility_module',
  'role',
  'account',
  'account_facility',
  'session',
  'console_session',
  'account_totp',
  'account_passkey',
  'account_recovery_code',
  'refresh_token',
  'password_setup_link',
  'patient',
  'patient_registration',
  'patient_name',
  'patient_identifier',
  'patient_telecom',
  'patient_address',
  'patient_link',
  'patient_search_key',
  'practitioner',
  'provider_organisation',
  'location',
  'directory_identifier',
  'specimen',
  'encounter',
  'encounter_participant',
  'encounter_location',
  'encounter_identifier',
  'vital_set',
  'investigation_order',
  'replaced_order',
  'investigation_report',
  'investigation_report_result',
  'investigation_report_study',
  'investigation_document',
  'imaging_study',
  'imaging_series',
  'imaging_instance',
  'observation',
  'observation_component',
  'observation_member',
  'observation_reference_range',
  'import_run',
  'activity_hour',
  'entry_position',
  'waiting_record',
  'waiting_link',
  'terminology_map',
  'terminology_map_change',
  'terminology_unmapped',
  'publish_resource',
  'publish_run',
  'publish_lease',
  'exchange_connection',
  'exchange_connection_facility',
  'exchange_secret',
  'exchange_lane',
  'exchange_delivery',
  'exchange_head',
  'exchange_attempt',
  'exchange_circuit',
  'exchange_review',
  'exchange_callback',
  'patient_assigned_identifier',
  'administration_audit',
  // By month too: Citus distributes each partition with its parent.
  'access_log',
] as const;

/** Tables that stay on the coordinator alone, each with its reason. None has a foreign key. */
export const LOCAL_TABLES: Readonly<Record<string, string>> = {
  schema_migration: 'only `interchange migrate` reads and writes it, on the coordinator',
  data_key: 'a process reads it at its start and at a rotation, never beside rows of an organisation',
  signing_key: 'every process reads it by itself, never beside rows of an organisation',
  service_address: 'one row, which commands read once',
  sign_in_counter: 'it counts identities before their organisation is known, also those that do not exist',
  sign_in_network: 'it belongs to the counters of sign-in',
  access_log_writer: 'one chain holds entries of many organisations, and its head is moved by single rows',
  access_log_registry: 'one row, which says how many chains there are',
  access_log_archive: 'a month that was archived holds entries of all organisations',
  database_place: 'one row, which names the server that it is on',
  database_restore:
    'a restore puts all organisations back; `interchange restore` writes it, and verification reads it',
  write_probe: '/readyz writes it to learn whether the coordinator takes writes',
};

export type Placement = 'distributed' | 'reference' | 'local';

const PLACES: ReadonlyMap<string, Placement> = new Map([
  ...REFERENCE_TABLES.map((table) => [table, 'reference'] as const),
  ...DISTRIBUTED_TABLES.map((table) => [table, 'distributed'] as const),
  ...Object.keys(LOCAL_TABLES).map((table) => [table, 'local'] as const),
]);

/** Every table of the lists, each after those that its foreign keys lead to. */
export const LISTED_TABLES: readonly string[] = [...PLACES.keys()];

/** Distributed by an earlier version: a database has them until it is migrated. */
const DROPPED_TABLES: ReadonlySet<string> = new Set(['exchange_queue_count']);

/** Undefined for a table in no list. A month that was taken out of the access log stays where it was. */
export function placementOf(table: string): Placement | undefined {
  if (DROPPED_TABLES.has(table)) return 'distributed';
  return PLACES.get(table) ?? (/^access_log_archived_\d/.test(table) ? 'local' : undefined);
}
