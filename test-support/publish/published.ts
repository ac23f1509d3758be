/** What must be true of a target after a publish that succeeded. */
import assert from 'node:assert/strict';
import type { Pool } from '../../src/platform/db/database.ts';
import { literalReferences, type Resource } from '../../tools/fhir-simulator/fhir-store.ts';
import type { TestFhirServer } from '../fhir-server/start.ts';
import type { PublishClinic } from './publish-records.ts';

const OWN_TYPES = ['ServiceRequest', 'Observation', 'DiagnosticReport'];

/**
 * The target holds the order, each result and the report exactly once, the ids and versions on record are those
 * of the target, and references among them lead from one to the other. Returns what the target holds.
 */
export async function requireWhole({
  db,
  server,
  clinic,
  fhirServerId,
  late = false,
}: {
  db: Pool;
  server: TestFhirServer;
  clinic: PublishClinic;
  fhirServerId: string;
  /** The target may have done a write once more after it was given up: versions may be ahead of the record. */
  late?: boolean;
}): Promise<Resource[]> {
  const { resources } = await server.state();
  const { rows } = await db.query<{
    resource_type: string;
    local_id: string;
    server_id: string | null;
    version_id: string | null;
  }>('select resource_type, local_id, server_id, version_id from publish_resource where target_id = $1', [
    fhirServerId,
  ]);
  const expected = [
    `ServiceRequest/${clinic.orderId}`,
    ...clinic.observationIds.map((id) => `Observation/${id}`),
    `DiagnosticReport/${clinic.reportId}`,
  ];
  const own = rows.filter(({ resource_type }) => OWN_TYPES.includes(resource_type));
  assert.deepEqual(own.map((row) => `${row.resource_type}/${row.local_id}`).sort(), expected.sort());
  const held = resources.filter(({ resourceType }) => OWN_TYPES.includes(resourceType));
  assert.equal(held.length, expected.length, 'each once, nothing besides');
  for (const row of rows) {
    const key = `${row.resource_type}/${row.local_id}`;
    const found = resources.filter(
      ({ resourceType, id, identifier }) =>
        resourceType === row.resource_type &&
        (id === row.local_id || identifier?.some(({ value }) => value === row.local_id)),
    );
    assert.equal(found.length, 1, `${key} is there once`);
    assert.equal(row.server_id, found[0]?.id, `the id of ${key}`);
    if (!late) assert.equal(row.version_id, found[0]?.meta?.versionId ?? null, `the version of ${key}`);
  }
  const there = new Set(resources.map(({ resourceType, id }) => `${resourceType}/${id}`));
  for (const resource of held)
    for (const reference of literalReferences(resource))
      if (OWN_TYPES.some((type) => reference.startsWith(`${type}/`)))
        assert.ok(
          there.has(reference),
          `${resource.resourceType} refers to ${reference}, which is not there`,
        );
  return resources;
}
