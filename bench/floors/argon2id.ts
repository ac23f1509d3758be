/** Floor (b): Argon2id and nothing else, as many at once as the service computes, at the cost of the service. */
import { argon2, randomBytes } from 'node:crypto';
import { ARGON2ID_COST } from '../../src/sign-in/credentials/argon2id.ts';
import { type Measurement, rateOf } from '../measure.ts';

export async function measureArgon2id(seconds: number, atOnce: number): Promise<Measurement> {
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1_000;
  let hashes = 0;
  const loop = async () => {
    while (performance.now() < endMs) {
      await hashOne();
      hashes += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  return rateOf(hashes, (performance.now() - startedMs) / 1_000);
}

function hashOne(): Promise<void> {
  const { memoryKiB: memory, passes, parallelism } = ARGON2ID_COST;
  return new Promise((resolve, reject) => {
    argon2(
      'argon2id',
      { message: 'a password', nonce: randomBytes(16), parallelism, tagLength: 32, memory, passes },
      (error) => (error === null ? resolve() : reject(error)),
    );
  });
}
