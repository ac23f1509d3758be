/** What tests of the rotation of the master key share. */
import assert from 'node:assert/strict';
import { createMasterKey, type MasterKeySource } from '../../src/platform/crypto/master-key.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import type { Clinic } from '../service/clinic-process.ts';
import { runCommand } from '../service/command.ts';
import { countWaiting } from '../wait-until.ts';

export const ROTATE = ['master-key', 'rotate'];
/** As messages name a key that is given in hex. */
export const idOf = (key: string) => createMasterKey(Buffer.from(key, 'hex')).id;

/** Of a process that has this key from its environment. */
export function sourceOf(bytes: Buffer): MasterKeySource {
  const key = createMasterKey(bytes);
  return { name: 'MASTER_KEY', fixed: true, load: async () => key, remedy: async () => 'Give that key.' };
}

export async function verifyIsWhole(clinic: Clinic): Promise<void> {
  assert.deepEqual(JSON.parse(await clinic.command('access-log', 'verify', '--json')).faults, []);
}

/** Another key than the one that the clinic has does not open its database. */
export async function isRefused(clinic: Clinic, key: string): Promise<void> {
  const { code, stderr } = await runCommand(['organisation', 'list'], {
    env: { ...clinic.env, MASTER_KEY: key, MASTER_KEY_FILE: '' },
  });
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`is key ${idOf(key)}, but the database expects`));
}

/** How many rotations wait for a lock that a test holds. */
export function waitingRotations(db: Queryable): Promise<number> {
  return countWaiting(db, { application: 'interchange keys' });
}
