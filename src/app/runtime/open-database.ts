/** The database of a process or a command, and its keys. Commands load no more of what a process stands on. */
import { openDataFolder } from '../../../local-postgres/data-folder.ts';
import { openEmbeddedPostgres } from '../../../local-postgres/embedded-postgres.ts';
import type { MasterKeySource } from '../../platform/crypto/master-key.ts';
import {
  letServiceRoleSignIn,
  type MigrationHooks,
  migrate,
  missingMigrations,
  SERVICE_ROLE,
  withClient,
} from '../../platform/db/migrate.ts';
import { findRoleFault, roleFaultText } from '../../platform/db/service-role.ts';
import type { Log } from '../../platform/log/log.ts';
import { MONTHS_AHEAD, makePartitions } from '../../privacy/access-log/access-log-partition.store.ts';
import type { Config } from '../config/config.ts';
import { masterKeySource } from '../config/master-key.ts';
import { appError } from '../errors.ts';
import { refuseWrongMasterKey } from '../master-key/first-data-key.ts';
import { openServiceKeys, type ServiceKeys } from '../master-key/service-keys.ts';
import { requireWholePlacement } from '../scale-out/placed-migrations.ts';

/** The database of a process: where it is, and how it is let go of. */
export interface OpenDatabase {
  /** URL of the owner of the schema. */
  url: string;
  masterKey: MasterKeySource;
  release(): Promise<void>;
}

/**
 * Join or start the embedded database, or take the configured one. A master key that is not that of the database is
 * refused here, before anything is written: every command and every process passes here.
 */
export async function openDatabase(config: Config, log?: Log): Promise<OpenDatabase> {
  // What is wrong with the folder or the key is said before anything is kept in the folder.
  if (config.database.kind === 'embedded') await openDataFolder(config.dataDir);
  const masterKey = masterKeySource(config);
  await masterKey.load();
  const { url, release } = await openServer(config, log);
  try {
    await refuseWrongMasterKey(url, masterKey);
  } catch (error) {
    await release();
    throw error;
  }
  return { url, masterKey, release };
}

/** As {@link openDatabase}, for the time of a command, which has no log. */
export async function withDatabase<T>(
  config: Config,
  work: (opened: OpenDatabase) => Promise<T>,
): Promise<T> {
  const opened = await openDatabase(config);
  try {
    return await work(opened);
  } finally {
    await opened.release();
  }
}

/** The same without a look at its keys. */
export async function openServer(
  { database, dataDir }: Config,
  log?: Log,
): Promise<Omit<OpenDatabase, 'masterKey'>> {
  if (database.kind === 'url') return { url: database.url, release: async () => undefined };
  return openEmbeddedPostgres({ dataDir, log });
}

/**
 * Apply the missing migrations, and return their names. Make the months of the access log, too: an entry fails once if it is
 * written while its month is being made.
 */
export async function updateSchema(url: string, hooks?: MigrationHooks): Promise<string[]> {
  const applied = await migrate(url, hooks);
  if (applied.length > 0) await withClient(url, (owner) => makePartitions(owner, new Date(), MONTHS_AHEAD));
  return applied;
}

/**
 * Make sure that the schema is that of this version. The embedded database is migrated as it is met; an operator's
 * own is left to `interchange migrate`. True for an embedded one that was empty until now.
 */
export async function requireSchema({ url }: OpenDatabase, config: Config): Promise<boolean> {
  if (config.database.kind === 'embedded')
    return (await updateSchema(url)).some((name) => name.startsWith('0001-'));
  await withClient(url, async (client) => {
    const missing = await missingMigrations(client);
    if (missing.length > 0) throw appError('schema_too_old', { missing });
    const fault = await findRoleFault(client);
    if (fault !== undefined) throw appError('service_role', { fault: roleFaultText(fault) });
    await requireWholePlacement(client);
  });
  return false;
}

/** A database whose schema is current, with its keys. */
export interface ReadyDatabase {
  keys: ServiceKeys;
  /** URL of a user who is the service's role and nothing more, where there is one. */
  serviceUrl: string | undefined;
}

/** The keys of the database. The service's role may sign in to the embedded one. */
export async function openKeys(
  { url, masterKey }: OpenDatabase,
  { database }: Config,
): Promise<ReadyDatabase> {
  const keys = await openServiceKeys(url, masterKey);
  if (database.kind === 'url') return { keys, serviceUrl: database.serviceUrl };
  const password = keys.derive('database-service-role').toString('hex');
  await letServiceRoleSignIn(url, password);
  const serviceUrl = new URL(url);
  serviceUrl.username = SERVICE_ROLE;
  serviceUrl.password = password;
  return { keys, serviceUrl: serviceUrl.href };
}
