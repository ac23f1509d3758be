/**
 * Opaque page cursors, bound to what the page was asked for. They are encrypted: a position may hold a name, and
 * addresses end up in the logs of proxies.
 * Contract: HTTP-21.
 */
import { openWith, sealWith } from '../crypto/key-ring.ts';
import { pageError } from '../errors.ts';

export interface CursorCodec {
  /** `binding` is everything that must be the same on the next page: route, scope, patient, filters. */
  encode(binding: readonly (string | null)[], position: readonly (string | number)[]): string;
  /** The position; throws `bad_cursor` when the cursor is broken or was made for another binding. */
  decode(binding: readonly (string | null)[], cursor: string): (string | number)[];
}

/** Cursors under a 32-byte key. */
export function createCursorCodec(key: Uint8Array): CursorCodec {
  return {
    encode: (binding, position) =>
      sealWith(key, Buffer.from(JSON.stringify(position)), JSON.stringify(binding)).toString('base64url'),
    decode(binding, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      if (bytes.toString('base64url') !== cursor) throw pageError('bad_cursor');
      try {
        return JSON.parse(openWith(key, bytes, JSON.stringify(binding)).toString()) as (string | number)[];
      } catch {
        throw pageError('bad_cursor');
      }
    },
  };
}
