/**
 * Reading request bodies: size limits before parsing, strict UTF-8, strict JSON.
 * Contract: HTTP-3, HTTP-16, SEC-27.
 */
import type { IncomingMessage } from 'node:http';
import secureJsonParse from 'secure-json-parse';
import { isDeeper } from '../json-depth.ts';
import { badRequest, HttpError } from './errors.ts';
import { refuseMalformedEncoding } from './input.ts';

const MAX_JSON_DEPTH = 64;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Whether a request says that it has a body (RFC 9112 section 6). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** All bytes of a request: 413 past `limitBytes`, and the rest is not read. */
export async function readBytes(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > limitBytes) throw bodyTooLarge(limitBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, sizeBytes);
}

/** 413 with the limit. */
export function bodyTooLarge(limitBytes: number): HttpError {
  return new HttpError(
    413,
    'body_too_large',
    {
      en: `The body is larger than ${limitBytes} bytes. Send less at once.`,
      fr: `Le corps dépasse ${limitBytes} octets. Envoyez-en moins à la fois.`,
    },
    {
      headers: { connection: 'close' },
    },
  );
}

/** 400: a call that needs a body got none. */
export function emptyBody(): HttpError {
  return badRequest(
    {
      en: 'The body is empty. Send a JSON document.',
      fr: 'Le corps est vide. Envoyez un document JSON.',
    },
    'empty_body',
  );
}

/** UTF-8 text; 400 when the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw badRequest(
      {
        en: 'The body is not valid UTF-8.',
        fr: 'Le corps n’est pas de l’UTF-8 valide.',
      },
      'bad_utf8',
    );
  }
}

/** JSON; 400 when it is none, too deep, or has a key that could change prototypes. */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decodeText(bytes);
  if (text.trim() === '') throw emptyBody();
  if (isDeeper(text, MAX_JSON_DEPTH))
    throw badRequest(
      {
        en: `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels. Send a flatter document.`,
        fr: `Le JSON a plus de ${MAX_JSON_DEPTH} niveaux imbriqués. Envoyez un document plus plat.`,
      },
      'json_too_deep',
    );
  try {
    return secureJsonParse.parse(text);
  } catch {
    if (isJson(text))
      throw badRequest(
        {
          en: 'The body has a key __proto__, or a key prototype in constructor. Remove it.',
          fr: 'Le corps a une clé __proto__, ou une clé prototype dans constructor. Retirez-la.',
        },
        'forbidden_key',
      );
    throw badRequest(
      {
        en: 'The body is not valid JSON.',
        fr: 'Le corps n’est pas du JSON valide.',
      },
      'bad_json',
    );
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Form fields; a field given twice becomes an array. */
export function parseForm(bytes: Uint8Array): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  const text = decodeText(bytes);
  refuseMalformedEncoding(text);
  for (const [name, value] of new URLSearchParams(text)) addValue(fields, name, value);
  return fields;
}

/** Add a value to a set of parameters; a second one of the same name makes an array. */
export function addValue(fields: Record<string, string | string[]>, name: string, value: string): void {
  const earlier = fields[name];
  if (earlier === undefined) fields[name] = value;
  else if (Array.isArray(earlier)) earlier.push(value);
  else fields[name] = [earlier, value];
}
