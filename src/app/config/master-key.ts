/** Where the master key comes from: a value, a file, or one made once for the embedded database. */
import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { handToOwnerOf } from '../../platform/db/data-folder.ts';
import { type Config, MASTER_KEY_SHAPE, parseMasterKey } from './config.ts';
import { ConfigError } from './environment.ts';

export async function loadMasterKey(config: Config): Promise<Buffer> {
  if (config.masterKey.kind === 'value') return config.masterKey.key;
  if (config.masterKey.kind === 'file') return readKey('MASTER_KEY_FILE', config.masterKey.path);
  const path = masterKeyPath(config);
  await makeKeyOnce(config.dataDir, path);
  return readKey(path, path);
}

/** Where the key that is made for the embedded database is kept. */
export function masterKeyPath(config: Config): string {
  return join(config.dataDir, 'master.key');
}

async function readKey(name: string, path: string): Promise<Buffer> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`${name} cannot be read (${error.code})`]);
  });
  const key = parseMasterKey(text);
  if (key === undefined) throw new ConfigError([`${name}: its content ${MASTER_KEY_SHAPE}`]);
  return key;
}

/** Written beside and linked into place, so that a crash or a second process never leaves half a key. */
async function makeKeyOnce(dataDir: string, path: string): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true });
  try {
    await handToOwnerOf(dataDir, draft);
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
