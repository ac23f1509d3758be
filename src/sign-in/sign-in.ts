/** Puts the parts of sign-in together, once for a process; each route takes what it needs of them. */
import type { KeyRing } from '../platform/crypto/key-ring.ts';
import type { ClockWatch } from '../platform/db/clock-watch.ts';
import type { Pool } from '../platform/db/database.ts';
import type { DatabaseTime } from '../platform/db/database-time.ts';
import type { Log } from '../platform/log/log.ts';
import { createAudit } from './audit.ts';
import { DECOY_PURPOSE } from './credentials/decoy-user-id.ts';
import { createPasswords } from './credentials/password.ts';
import { createSigningKeys } from './keys/signing-keys.ts';
import { createLockout } from './lockout/lockout.ts';
import { createAuthenticator } from './sessions/authenticate.ts';
import { createRefreshTokens } from './sessions/refresh-token.store.ts';
import { DEFAULT_SIGN_IN_SETTINGS, type SignInSettings } from './settings.ts';

export type SignIn = ReturnType<typeof createSignIn>;

export interface SignInOptions {
  db: Pool;
  keys: KeyRing;
  clock: ClockWatch;
  /** Names another time than the clock of the database. */
  databaseTime?: (() => DatabaseTime) | undefined;
  log: Pick<Log, 'info'>;
  /** What differs from {@link DEFAULT_SIGN_IN_SETTINGS}. */
  settings?: Partial<SignInSettings>;
}

export function createSignIn(options: SignInOptions) {
  const { db, keys, clock, databaseTime, log, settings: changed } = options;
  const settings: SignInSettings = { ...DEFAULT_SIGN_IN_SETTINGS, ...changed };
  const signingKeys = createSigningKeys({
    db,
    keys,
    databaseTime,
    accessTokenSeconds: settings.accessTokenSeconds,
  });
  return {
    db,
    settings,
    passwords: createPasswords(settings),
    lockout: createLockout(db, keys, settings),
    signingKeys,
    refreshTokens: createRefreshTokens(db),
    clock,
    audit: createAudit(log),
    decoyKey: keys.derive(DECOY_PURPOSE),
    verifyAccessToken: createAuthenticator(signingKeys),
  };
}
