/**
 * Codes of authenticator apps (RFC 6238): six digits, each for half a minute, SHA-1, as every app takes them.
 * Contract: SIGN-IN-61, SIGN-IN-73.
 */
import { Secret, TOTP } from 'otpauth';
import type { KeyRing, SealedFor } from '../../platform/crypto/key-ring.ts';
import type { SealedRow, SealedTable } from '../../platform/crypto/sealed-table.ts';
import { listOrganisations } from '../../tenancy/organisations/organisation.store.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';
import { listTotpSecrets, replaceTotpSecrets } from './totp.store.ts';

const ISSUER = 'interchange';
const STEP_SECONDS = 30;
const SECRET_BYTES = 20;
/** Clocks of telephones differ: a code counts in its own step, in the one before and in the one after. */
const STEPS_OFF = 1;

/** A new secret: its bytes, as it is typed, and as the code that a telephone reads. */
export function newTotpSecret(email: string): { bytes: Buffer; secret: string; uri: string } {
  const secret = new Secret({ size: SECRET_BYTES });
  const { base32 } = secret;
  return { bytes: Buffer.from(secret.bytes), secret: base32, uri: totpOf(secret, email).toString() };
}

/** The time step that a code is of; undefined when it is of none that counts now. */
export function stepOfCode(secretBytes: Uint8Array, code: string, now: Date): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const secret = new Secret({ buffer: Uint8Array.from(secretBytes).buffer });
  const timestamp = now.getTime();
  const delta = totpOf(secret, '').validate({ token, timestamp, window: STEPS_OFF });
  return delta === null ? undefined : Math.floor(timestamp / 1_000 / STEP_SECONDS) + delta;
}

function totpOf(secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, secret, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS });
}

export async function openTotpSecret(
  keys: KeyRing,
  account: OrganisationScope & { accountId: string },
  sealed: Uint8Array,
): Promise<Buffer> {
  return keys.open(totpSealedFor(account), sealed);
}

export function totpSealedFor({
  organisationId,
  accountId,
}: OrganisationScope & { accountId: string }): SealedFor {
  return { purpose: 'totp', context: `${organisationId}/${accountId}` };
}

/** Where a rotation of the master key finds the secrets. One that is not confirmed yet is not worth it. */
export const SEALED_TOTP_SECRETS: SealedTable = {
  name: 'secrets of authenticator apps',
  table: 'account_totp',
  async list(db) {
    const rows: SealedRow[] = [];
    for (const { id: organisationId } of await listOrganisations(db))
      for (const { accountId, sealed } of await listTotpSecrets(db, { organisationId }))
        rows.push({
          id: [organisationId, accountId],
          sealedFor: totpSealedFor({ organisationId, accountId }),
          sealed,
        });
    return rows;
  },
  replace: replaceTotpSecrets,
};
