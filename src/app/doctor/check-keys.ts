/** Checks of the master key: whether it opens the database, and whether a rotation is under way. */
import { WrongMasterKeyError } from '../../platform/crypto/data-keys.ts';
import type { MasterKeySource } from '../../platform/crypto/master-key.ts';
import { hasTable, type Queryable } from '../../platform/db/database.ts';
import { ConfigError } from '../config/environment.ts';
import { refuseWrongMasterKey } from '../master-key/first-data-key.ts';
import { holdersOfOtherKeys } from '../master-key/key-holders.ts';
import { readRotation } from '../master-key/rotate-master-key.ts';
import { type CheckResult, failed, ok, warning } from './finding.ts';

export async function checkMasterKey(
  owner: Queryable,
  url: string,
  source: MasterKeySource,
): Promise<CheckResult> {
  try {
    await refuseWrongMasterKey(url, source);
  } catch (error) {
    if (error instanceof WrongMasterKeyError) return failed(error.reason, error.remedy);
    if (!(error instanceof ConfigError)) throw error;
    return failed(
      `${error.faults.join('. ')}.`,
      'Give the master key of this database: docs/operations.md, "The master key".',
    );
  }
  const { id } = await source.load();
  if (!(await hasTable(owner, 'data_key'))) return ok(`Master key ${id} is not in use yet.`);
  const { masterKeyIds } = await readRotation(owner);
  if (masterKeyIds.length > 1)
    return warning(
      `A rotation of the master key is not finished: ${masterKeyIds.join(' and ')} both open the database.`,
      'See what is left with: npx interchange master-key rotate --dry-run',
    );
  const [other] = await holdersOfOtherKeys(owner, id);
  if (other !== undefined)
    return warning(
      `A process has another master key than this command: ${other}.`,
      'Restart that process with this key.',
    );
  return ok(`Master key ${id} opens the database.`);
}
