/** A real, migrated, empty database of one test file. */
import { randomBytes } from 'node:crypto';
import { createPool, type Pool } from '../../src/platform/db/database.ts';
import { SERVICE_ROLE } from '../../src/platform/db/migrate.ts';
import { cloneTemplate, databaseUrl, dropDatabase } from './template.ts';

export interface TestDatabase {
  /** What DATABASE_URL would hold: the owner of the schema. */
  url: string;
  /** The same; the name under which commands and migrations know it. */
  adminUrl: string;
  /** Connections that act as the service's role, as in production. */
  pool: Pool;
  /** End the pool and remove the database, whoever is still connected. */
  drop(): Promise<void>;
}

/** Clone the migrated template. Call `drop` in `after`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const [serverUrl, template] = [process.env.TEST_ADMIN_URL, process.env.TEST_TEMPLATE];
  if (serverUrl === undefined || template === undefined)
    throw new Error(
      'Tests with a database run under npm test, e.g. npm test -- src/platform/db/database.test.ts',
    );
  const name = `test_${randomBytes(6).toString('hex')}`;
  await cloneTemplate(serverUrl, name, template);
  const url = databaseUrl(serverUrl, name);
  const pool = createPool({ url, max: 10, applicationName: 'test', role: SERVICE_ROLE }, () => undefined);
  return {
    url,
    adminUrl: url,
    pool,
    async drop() {
      if (!pool.ended) await pool.end();
      await dropDatabase(serverUrl, name);
    },
  };
}
