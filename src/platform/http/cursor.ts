/** Opaque, authenticated page cursors, bound to what the page was asked for. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from './errors.ts';

const MAC_BYTES = 16;

export interface CursorCodec {
  /** `binding` is everything that must be the same on the next page: route, scope, patient, filters. */
  encode(binding: readonly (string | null)[], position: readonly (string | number)[]): string;
  /** The position; throws 400 when the cursor is broken or was made for another binding. */
  decode(binding: readonly (string | null)[], cursor: string): (string | number)[];
}

export function createCursorCodec(key: Uint8Array): CursorCodec {
  const mac = (binding: readonly (string | null)[], payload: Buffer): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify(binding))
      .update('\0')
      .update(payload)
      .digest()
      .subarray(0, MAC_BYTES);
  return {
    encode(binding, position) {
      const payload = Buffer.from(JSON.stringify(position));
      return Buffer.concat([mac(binding, payload), payload]).toString('base64url');
    },
    decode(binding, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      const payload = bytes.subarray(MAC_BYTES);
      if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) throw refused();
      if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac(binding, payload))) throw refused();
      return JSON.parse(payload.toString()) as (string | number)[];
    },
  };
}

function refused() {
  return badRequest(
    'cursor is not one that this search gave. Take it unchanged from the next link of the previous page, with the same parameters and headers.',
    'bad_cursor',
  );
}
