/**
 * Media types of a FHIR server that speaks JSON only: of its answers, and the release of what it is sent (FHIR R4, "RESTful
 * API", content types).
 * Contract: ENC-1, ENC-35, IN-1.
 */
import { namesMediaType } from '../platform/http/content-type.ts';
import type { RequestHeaders } from '../platform/http/route.ts';
import { Type } from '../platform/json-schema.ts';
import { fhirError } from './errors.ts';

/** What FHIR answers are sent as. */
export const FHIR_JSON = 'application/fhir+json; charset=utf-8';

/** The second is the name of DSTU2, which some clients still send. */
const FHIR_TYPES = ['application/fhir+json', 'application/json+fhir'];
const FORMATS = new Set(['json', 'application/json', 'text/json', ...FHIR_TYPES]);
/** Of R4; the second is what its CapabilityStatement says. */
const RELEASES = ['4.0', '4.0.1'];

interface MediaRange {
  type: string;
  /** 0 to 1; 0 refuses the range. */
  quality: number;
}

/**
 * Whether the caller takes FHIR JSON. `_format`, where given, overrides `Accept`, as FHIR says. A range that
 * names the type decides before a wildcard does; quality 0 refuses; ranges that are not well formed, or that
 * ask for another FHIR release, count for nothing.
 */
export function acceptsFhirJson(accept: string | undefined, format: string | undefined): boolean {
  if (format !== undefined) {
    // A `+` that was not percent-encoded in a query arrives as a space.
    const ranges = parseRange(format.trim().replace(/^([^ ;]+) (?! *;)/, '$1+'));
    return ranges.some(({ type, quality }) => FORMATS.has(type) && quality > 0);
  }
  if (accept === undefined || accept.trim() === '' || accept === '*/*') return true;
  const ranges = accept.split(',').flatMap(parseRange);
  const quality = (...types: string[]) => ranges.findLast(({ type }) => types.includes(type))?.quality;
  const own = quality(...FHIR_TYPES);
  if (own !== undefined) return own > 0;
  const wildcard = quality('application/*') ?? quality('*/*') ?? 0;
  return wildcard > 0 || (quality('application/json') ?? 0) > 0;
}

/** Whether the caller asks for FHIR JSON by its name, not by a wildcard and not as plain JSON; of any FHIR release. */
export function namesFhirJson(accept: string | undefined): boolean {
  return namesMediaType(accept, FHIR_TYPES);
}

function parseRange(text: string): MediaRange[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  if (parameters.some(namesOtherRelease)) return [];
  let quality = 1;
  for (const parameter of parameters) {
    const [name, value = ''] = parameter.split('=').map((part) => part.trim());
    if (name !== 'q') continue;
    if (!/^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value)) return [];
    quality = Number(value);
  }
  return [{ type, quality }];
}

function namesOtherRelease(parameter: string): boolean {
  const [name, value = ''] = parameter.split('=').map((part) => part.trim());
  // A value may be quoted (RFC 9110, section 5.6.6).
  return name === 'fhirversion' && !RELEASES.includes(value.replace(/^"(.*)"$/, '$1'));
}

/** 406 unless the caller takes FHIR JSON. */
export function requireFhirJson(
  headers: Readonly<Record<string, unknown>>,
  format: string | undefined,
): void {
  const { accept } = headers;
  if (!acceptsFhirJson(typeof accept === 'string' ? accept : undefined, format))
    throw fhirError('not_acceptable');
}

/** 415 where the body says that it is of another FHIR release (R4, "RESTful API", FHIR version). */
export function requireRelease({ 'content-type': type }: RequestHeaders): void {
  const [, ...parameters] = String(type ?? '')
    .toLowerCase()
    .split(';');
  if (parameters.some(namesOtherRelease)) throw fhirError('fhir_release');
}

/** `_format` (FHIR R4, "RESTful API", general parameters), of every route that answers FHIR. */
export const FORMAT_PARAMETER = Type.Optional(
  Type.String({
    description:
      'Media type of the answer; it wins over `Accept`. One of `json`, `application/json`, `application/fhir+json` and `application/json+fhir`.',
  }),
);
