/** The migrated database that every test database is a clone of. Made by scripts/test.ts. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrate, withClient } from '../../src/platform/db/migrate.ts';
import { waitUntil } from '../wait-until.ts';

/** With TEST_CITUS_URL, which is `adminUrl` then, databases are distributed; without, none of that is loaded. */
const cluster = process.env.TEST_CITUS_URL === undefined ? undefined : await import('./citus-cluster.ts');

export async function createTemplate(adminUrl: string): Promise<{ name: string; drop(): Promise<void> }> {
  const name = `interchange_template_${randomBytes(4).toString('hex')}`;
  const drop = () => dropDatabase(adminUrl, name);
  try {
    await (cluster?.createDistributedTemplate ?? createPlainTemplate)(adminUrl, name);
  } catch (error) {
    await drop();
    throw error;
  }
  return { name, drop };
}

async function createPlainTemplate(adminUrl: string, name: string): Promise<void> {
  await administer(adminUrl, [`create database ${name}`]);
  await migrate(databaseUrl(adminUrl, name));
  // A template cannot be cloned while someone is connected to it.
  await administer(adminUrl, [`alter database ${name} with allow_connections false`]);
}

/** A copy of the template. */
export async function cloneTemplate(adminUrl: string, name: string, template: string): Promise<void> {
  await (cluster?.cloneDistributed ?? clonePlain)(adminUrl, name, template);
}

/**
 * Copying the files takes a sixth of the processor time that writing them through the WAL takes, which is the usual way.
 * Two clones at one moment may meet a lock on the template (55006); the second waits its turn.
 */
async function clonePlain(adminUrl: string, name: string, template: string): Promise<void> {
  await waitUntil(async () => {
    try {
      await serverOf(adminUrl).query(`create database ${name} template ${template} strategy file_copy`);
      return true;
    } catch (error) {
      if ((error as { code?: string }).code !== '55006') throw error;
      return false;
    }
  }, 'the template is free');
}

/** Whoever is still connected. */
export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await (cluster?.dropDistributed ?? dropPlain)(adminUrl, name);
}

async function dropPlain(adminUrl: string, name: string): Promise<void> {
  await serverOf(adminUrl).query(`drop database if exists ${name} with (force)`);
}

/** One connection to each server, kept while the process runs: two for a clone and its removal cost as much as these do. */
const servers = new Map<string, pg.Pool>();

function serverOf(adminUrl: string): pg.Pool {
  const known = servers.get(adminUrl);
  if (known !== undefined) return known;
  const server = new pg.Pool({
    connectionString: adminUrl,
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  });
  // The server may end before this process does.
  server.on('error', () => undefined);
  servers.set(adminUrl, server);
  return server;
}

export async function administer(adminUrl: string, statements: readonly string[]): Promise<void> {
  await withClient(adminUrl, async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

export function databaseUrl(adminUrl: string, database: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${database}`;
  return url.href;
}
