/**
 * Argon2id (RFC 9106) in the PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>`.
 * Computed in the thread pool, never on the event loop.
 * Contract: SEC-8.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Argon2idCost {
  memoryKiB: number;
  passes: number;
  parallelism: number;
}

/** 19 MiB, t=2, p=1 (SEC-8). */
export const ARGON2ID_COST: Argon2idCost = { memoryKiB: 19_456, passes: 2, parallelism: 1 };

const SALT_BYTES = 16;
const TAG_BYTES = 32;
const PHC =
  /^\$argon2id\$v=19\$m=(\d{1,8}),t=(\d{1,4}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,88})\$([A-Za-z0-9+/]{16,88})$/;

interface Argon2idHash {
  cost: Argon2idCost;
  salt: Buffer;
  tag: Buffer;
}

export async function hashArgon2id(password: string, cost: Argon2idCost = ARGON2ID_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return format({ cost, salt, tag: await derive(password, salt, cost, TAG_BYTES) });
}

/** A hash of the right shape and cost that no password gives. */
export function decoyArgon2id(cost: Argon2idCost): string {
  return format({ cost, salt: randomBytes(SALT_BYTES), tag: randomBytes(TAG_BYTES) });
}

/** Whether the password is the one that was hashed; compared in constant time. Throws on a string that is no hash. */
export async function verifyArgon2id(phc: string, password: string): Promise<boolean> {
  const { cost, salt, tag } = parse(phc);
  return timingSafeEqual(await derive(password, salt, cost, tag.length), tag);
}

function derive(password: string, salt: Buffer, cost: Argon2idCost, tagLength: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    argon2(
      'argon2id',
      {
        message: Buffer.from(password, 'utf8'),
        nonce: salt,
        parallelism: cost.parallelism,
        tagLength,
        memory: cost.memoryKiB,
        passes: cost.passes,
      },
      (error, tag) => (error === null ? resolve(tag) : reject(error)),
    );
  });
}

function parse(phc: string): Argon2idHash {
  const match = PHC.exec(phc);
  if (match === null) throw new TypeError('not an Argon2id hash in the PHC string format');
  const [, memoryKiB, passes, parallelism, salt = '', tag = ''] = match;
  return {
    cost: { memoryKiB: Number(memoryKiB), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function format({ cost: { memoryKiB, passes, parallelism }, salt, tag }: Argon2idHash): string {
  const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}
