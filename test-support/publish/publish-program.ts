/** A process that publishes one laboratory order, to be killed in the middle of it. */
import { createPool } from '../../src/platform/db/database.ts';
import { SERVICE_ROLE } from '../../src/platform/db/migrate.ts';
import { PUBLISH } from '../../src/publish/servers/publish-settings.ts';
import { createTestPublisher, type PublishClinic } from './publish-records.ts';

const { url, target, organisationId, facilityId, orderId, lease } = JSON.parse(process.argv[2] ?? '{}');
const db = createPool(
  { url, max: 4, applicationName: 'publish program', role: SERVICE_ROLE },
  () => undefined,
);
const { publish } = createTestPublisher(db, { clock: PUBLISH.clock, lease });
const clinic = { scope: { organisationId, facilityId, timeZone: 'UTC' }, orderId } as PublishClinic;
await publish(clinic, { target });
process.send?.('done');
process.on('disconnect', () => process.exit());
