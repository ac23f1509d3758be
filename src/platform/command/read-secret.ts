/** Reads a secret from standard input: secrets are never arguments. Contract: CMD-6. */
import type { Readable } from 'node:stream';
import { UsageError } from './command.ts';

const MAX_BYTES = 8_192;

/** One line; the line break at its end is not part of it. */
export async function readSecret(stdin: Readable, what: 'secret' | 'password' = 'secret'): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    sizeBytes += bytes.length;
    if (sizeBytes > MAX_BYTES)
      throw new UsageError(`The ${what} on standard input is too long. Give one line.`);
  }
  const secret = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (secret === '' || /[\r\n\0]/.test(secret))
    throw new UsageError(
      `Give the ${what} as one line on standard input, for example: printf %s "$${what === 'secret' ? 'TOKEN' : 'PASSWORD'}" | npx interchange …`,
    );
  return secret;
}
