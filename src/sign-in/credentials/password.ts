/** Passwords: what a chosen one must be, and hashing and checking, a few at a time. Contract: SIGN-IN-11, SIGN-IN-20, SEC-5, SEC-6, SEC-7. */
import { randomInt } from 'node:crypto';
import { signInError } from '../errors.ts';
import { createInFlight } from '../lockout/in-flight.ts';
import { ARGON2ID_COST, type Argon2idCost, decoyArgon2id, hashArgon2id, verifyArgon2id } from './argon2id.ts';
import { createBoundedWork } from './bounded-work.ts';
import { passwordFault } from './password-fault.ts';

export interface Passwords {
  /** A hash for storage, on the share of a network. 503 when too many are being computed. */
  hash(password: string, network?: string): Promise<string>;
  /**
   * Whether the password is the one of the hash. Without a hash the same work is done on a decoy and the
   * answer is false. 503 when too many are being computed.
   */
  verify(hash: string | undefined, password: string, network?: string): Promise<boolean>;
  /** 503 now rather than after other work, and when the network has too many attempts under way. */
  beginAttempt(network: string): { leave: () => void };
  /** Somebody signed in from the network: it finds room where unknown ones crowd. */
  prefer(network: string): void;
}

export interface PasswordOptions {
  hashConcurrency: number;
  hashQueue: number;
  cost?: Argon2idCost;
}

/** Whose share the process itself hashes on: commands, not callers. */
const OWN_PROCESS = 'process';
/** Letters and digits that are not mistaken for one another. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const GENERATED_LENGTH = 24;

export function createPasswords(options: PasswordOptions): Passwords {
  const cost = options.cost ?? ARGON2ID_COST;
  const { hashConcurrency: concurrency, hashQueue: queue } = options;
  const work = createBoundedWork({ concurrency, queue, overloaded });
  // Attempts under way that are not hashing read and write rows: no network has more than could ever hash.
  const attempts = createInFlight(concurrency + queue);
  const decoy = decoyArgon2id(cost);
  return {
    hash: (password, network = OWN_PROCESS) =>
      work.run(network, () => hashArgon2id(canonicalPassword(password), cost)),
    async verify(hash, password, network = OWN_PROCESS) {
      const matches = await work.run(network, () =>
        verifyArgon2id(hash ?? decoy, canonicalPassword(password)),
      );
      return hash !== undefined && matches;
    },
    beginAttempt(network) {
      work.assertCapacity(network);
      const attempt = attempts.enter(network);
      if (attempt === undefined) throw overloaded();
      return attempt;
    },
    prefer: work.prefer,
  };
}

const overloaded = () => signInError('sign_in_overloaded');

/** For one that a person chose; a generated one is past the rules. Throws with the rule that it breaks. */
export async function assertGoodPassword(password: string, email: string): Promise<void> {
  const fault = await passwordFault(password, email);
  if (fault !== undefined) throw signInError('password_refused', { fault });
}

/** A random password of about 139 bits, without characters that a shell or a URL would change. */
export function generatePassword(): string {
  return Array.from({ length: GENERATED_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** One text for one password, however its accents were typed (RFC 8265 section 4.2: NFC). */
export function canonicalPassword(password: string): string {
  return password.normalize('NFC');
}
