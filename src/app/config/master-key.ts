/**
 * Where the master key comes from: a value, a file, or one made once for the embedded database.
 * Contract: OPS-14.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFileOnce } from '../../../local-postgres/data-folder.ts';
import { createMasterKey, type MasterKeySource } from '../../platform/crypto/master-key.ts';
import { type Config, MASTER_KEY_SHAPE, parseMasterKey } from './config.ts';
import { ConfigError } from './environment.ts';

/** A file is read anew each time, because a rotation replaces it. */
export function masterKeySource(config: Config): MasterKeySource {
  const { masterKey } = config;
  const path = masterKeyPath(config);
  const remedy = (name: string) => (expectedIds: readonly string[]) =>
    otherKeyRemedy(name, config.database.kind === 'embedded' ? path : undefined, expectedIds);
  if (masterKey.kind === 'value') {
    const key = createMasterKey(masterKey.key);
    return { name: 'MASTER_KEY', fixed: true, load: async () => key, remedy: remedy('MASTER_KEY') };
  }
  if (masterKey.kind === 'file')
    return {
      name: 'MASTER_KEY_FILE',
      fixed: false,
      load: async () => createMasterKey(await readKeyFile('MASTER_KEY_FILE', masterKey.path)),
      remedy: remedy('MASTER_KEY_FILE'),
    };
  return {
    name: path,
    fixed: false,
    async load() {
      await makeFirstKey(config.dataDir, path);
      return createMasterKey(await readKeyFile(path, path));
    },
    remedy: async () =>
      'Put the file back that belongs to this database, from a backup, or set MASTER_KEY to the key.',
  };
}

/** `ownPath`: where the embedded database has a key of its own. It is named only where it is the right one. */
async function otherKeyRemedy(
  name: string,
  ownPath: string | undefined,
  expectedIds: readonly string[],
): Promise<string> {
  const own = ownPath === undefined ? undefined : await readKeyFile(ownPath, ownPath).catch(() => undefined);
  if (own !== undefined && expectedIds.includes(createMasterKey(own).id))
    return `The key of this database is in ${ownPath}: unset ${name}.`;
  return `Set ${name} to that key, or use the database that belongs to the key given.`;
}

/** Where the key that is made for the embedded database is kept. */
export function masterKeyPath(config: Config): string {
  return join(config.dataDir, 'master.key');
}

/** `errorOf` makes the error of a fault; without it, a fault is one of the environment. */
export async function readKeyFile(
  name: string,
  path: string,
  errorOf: (fault: string) => Error = (fault) => new ConfigError([fault]),
): Promise<Buffer> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw errorOf(`${name} cannot be read (${error.code}). Check the path and who may read it`);
  });
  const key = parseMasterKey(text);
  if (key === undefined) throw errorOf(`${name}: its content ${MASTER_KEY_SHAPE}`);
  return key;
}

/** A database that is there already had a key: a new one would not open it. */
async function makeFirstKey(dataDir: string, path: string): Promise<void> {
  if (existsSync(path)) return;
  // Looked at once more: another process may have made both meanwhile, the key first.
  if (existsSync(join(dataDir, 'postgresql')) && !existsSync(path))
    throw new ConfigError([
      `${path} is missing, but the database beside it needs that key. Put the file back, or set MASTER_KEY to the key`,
    ]);
  await makeKeyOnce(dataDir, path);
}

/** Makes a new key, unless there is one already. */
export async function makeKeyOnce(dataDir: string, path: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await makeFileOnce(dataDir, path, `${randomBytes(32).toString('hex')}\n`);
}
