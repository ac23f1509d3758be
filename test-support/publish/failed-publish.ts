/** A publish that failed, as the service leaves it. */
import { randomUUID } from 'node:crypto';
import { createFhirServer } from '../../src/publish/servers/manage-fhir-servers.ts';
import type { Tenant, TestApi } from '../service/api.ts';

/** Of a laboratory order, to a new target named `away`. */
export async function addFailedPublish(
  { database, keys }: Pick<TestApi, 'database' | 'keys'>,
  { organisationId, facilityId }: Tenant,
  labOrderId: string = randomUUID(),
): Promise<void> {
  await createFhirServer(
    { db: database.pool, keys },
    {
      organisationId,
      settings: { name: 'away', base: 'http://127.0.0.1:9', auth: 'none' },
      secret: undefined,
      makeDefault: true,
    },
  );
  await database.pool.query({
    text: `insert into publish_run (organisation_id, facility_id, id, subject_kind, subject_id, target_id, chain_id,
        account_id, purpose_of_use, correlation_id, started_at, finished_at, outcome, failure)
      select $1, $2, $3, 'lab-order', $3, id, $3, $3, 'OPS', 'c', now(), now(), 'failed', 'It broke.'
      from publish_target where organisation_id = $1`,
    values: [organisationId, facilityId, labOrderId],
  });
}
