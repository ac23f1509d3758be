/**
 * Opaque page cursors, bound to what the page was asked for. They are encrypted: a position may hold a name, and
 * addresses end up in the logs of proxies.
 * Contract: HTTP-21.
 */
import { openWith, sealWith } from '../crypto/key-ring.ts';
import { badRequest } from './errors.ts';

export interface CursorCodec {
  /** `binding` is everything that must be the same on the next page: route, scope, patient, filters. */
  encode(binding: readonly (string | null)[], position: readonly (string | number)[]): string;
  /** The position; throws 400 when the cursor is broken or was made for another binding. */
  decode(binding: readonly (string | null)[], cursor: string): (string | number)[];
}

/** Cursors under a 32-byte key. */
export function createCursorCodec(key: Uint8Array): CursorCodec {
  return {
    encode: (binding, position) =>
      sealWith(key, Buffer.from(JSON.stringify(position)), JSON.stringify(binding)).toString('base64url'),
    decode(binding, cursor) {
      const bytes = Buffer.from(cursor, 'base64url');
      if (bytes.toString('base64url') !== cursor) throw refused();
      try {
        return JSON.parse(openWith(key, bytes, JSON.stringify(binding)).toString()) as (string | number)[];
      } catch {
        throw refused();
      }
    },
  };
}

function refused() {
  return badRequest(
    {
      en: 'cursor does not belong to this search. Copy it unchanged from the previous page, and send the same parameters and headers.',
      fr: 'cursor n’appartient pas à cette recherche. Copiez-le tel quel de la page précédente, et envoyez les mêmes paramètres et en-têtes.',
    },
    'bad_cursor',
  );
}
