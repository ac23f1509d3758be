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
  const secret = textOf(Buffer.concat(chunks), what).replace(/\r?\n$/, '');
  if (secret === '' || /[\r\n\0]/.test(secret))
    throw new UsageError(
      `Give the ${what} as one line on standard input, for example: printf %s "$${what === 'secret' ? 'TOKEN' : 'PASSWORD'}" | npx interchange …`,
    );
  return secret;
}

/** Bytes of another encoding would become another secret, the same one for all of them. */
function textOf(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`The ${what} on standard input is not valid UTF-8. Give it in UTF-8.`);
  }
}
