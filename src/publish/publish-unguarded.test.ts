/** Servers that lack one of the two guards against doubles (docs/adr/0050). */
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../test-support/database.ts';
import { startFhirServer } from '../../test-support/fhir-server/start.ts';
import { createClinic, createTestPublisher, type PublishClinic } from '../../test-support/publish-records.ts';
import { requireWhole } from '../../test-support/published.ts';

const STEPS = 22;
const TIMEOUT_MS = 150;

describe('servers that lack what guards against doubles', () => {
  let database: TestDatabase;
  let clinic: PublishClinic;
  before(async () => {
    database = await createTestDatabase();
    clinic = await createClinic(database.pool);
  });
  after(() => database.drop());

  for (const [option, name] of [
    ['--no-conditional-create', 'without conditional create, the search settles it'],
    ['--no-search', 'without search, conditional create settles it'],
  ] as const)
    test(name, async () => {
      const server = await startFhirServer('--no-integrity', '--no-client-ids', option);
      try {
        for (const kind of ['drop-after', 'reset', 'wrong-json', 'slow-after'] as const)
          for (const step of [1, 7, STEPS]) {
            await server.reset();
            const { addTarget, publish } = createTestPublisher(database.pool);
            const target = await addTarget(clinic, {
              base: server.base,
              idPolicy: 'server',
              timeoutMs: TIMEOUT_MS,
            });
            await server.script({ kind, nth: step });
            await publish(clinic, { target: target.name });
            await requireWhole({ db: database.pool, server, clinic, targetId: target.id });
          }
      } finally {
        await server.stop();
      }
    });
});
