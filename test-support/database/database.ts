/** A real, migrated, empty database of one test file. */
import { randomBytes } from 'node:crypto';
import { after } from 'node:test';
import pg from 'pg';
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
  /** A connection of the owner, who may do what the service may not. It ends with the database. */
  connectOwner(): Promise<pg.Client>;
  /** End the pool and remove the database, whoever is still connected. */
  drop(): Promise<void>;
}

/** One that ends with the test file. */
export async function useTestDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  after(() => database.drop());
  return database;
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
  const owners: pg.Client[] = [];
  return {
    url,
    adminUrl: url,
    pool,
    async connectOwner() {
      const owner = new pg.Client({ connectionString: url });
      await owner.connect();
      owners.push(owner);
      return owner;
    },
    async drop() {
      await Promise.all(owners.map((owner) => owner.end()));
      if (!pool.ended) await pool.end();
      await dropDatabase(serverUrl, name);
    },
  };
}
