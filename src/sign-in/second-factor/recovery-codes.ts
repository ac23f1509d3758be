/**
 * Recovery codes: ten at a time, each good once in place of another second factor. About 79 bits each.
 * Contract: SIGN-IN-63.
 */
import { createHmac, randomInt } from 'node:crypto';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { replaceRecoveryCodes, takeRecoveryCode } from './recovery-code.store.ts';

const CODES = 10;
const GROUPS = 4;
const GROUP_LENGTH = 4;
/** Without what is mistaken for something else when it is read from paper. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const PURPOSE = 'sign-in/recovery-code';

type Keys = Pick<KeyRing, 'derive'>;
type AccountKey = OrganisationScope & { accountId: string };

/** Ten new ones, shown once. Earlier ones no longer work. */
export async function makeRecoveryCodes(db: Queryable, keys: Keys, account: AccountKey): Promise<string[]> {
  const codes = Array.from({ length: CODES }, newCode);
  const hashes = codes.map((code) => hashCode(keys, account, code));
  await replaceRecoveryCodes(db, account, { accountId: account.accountId, hashes });
  return codes;
}

/** False for one that is wrong or was used. However it is written: letters and digits count. */
export async function useRecoveryCode(
  db: Queryable,
  keys: Keys,
  { account, code }: { account: AccountKey; code: string },
): Promise<boolean> {
  return takeRecoveryCode(db, account, { accountId: account.accountId, hash: hashCode(keys, account, code) });
}

function newCode(): string {
  const group = () =>
    Array.from({ length: GROUP_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}

/** Keyed, so that a stolen database alone is no start for guessing. */
function hashCode(keys: Keys, { accountId }: AccountKey, code: string): Buffer {
  const letters = code.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return createHmac('sha256', keys.derive(PURPOSE)).update(`${accountId}/${letters}`).digest();
}
