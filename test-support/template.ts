/** The migrated database that every test database is a clone of. Made by scripts/test.ts. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrate } from '../src/platform/db/migrate.ts';

export async function createTemplate(adminUrl: string): Promise<{ name: string; drop(): Promise<void> }> {
  const name = `interchange_template_${randomBytes(4).toString('hex')}`;
  await administer(adminUrl, [`create database ${name}`]);
  await migrate(databaseUrl(adminUrl, name));
  // A template cannot be cloned while someone is connected to it.
  await administer(adminUrl, [`alter database ${name} with allow_connections false`]);
  return { name, drop: () => administer(adminUrl, [`drop database if exists ${name} with (force)`]) };
}

export async function administer(adminUrl: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl, application_name: 'interchange test' });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

export function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
