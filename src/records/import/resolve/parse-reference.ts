/**
 * What the text of a FHIR reference points at (R4, "References", "Conditional references").
 * Contract: IN-8.
 */

import { isUuid } from '../../../platform/uuid.ts';
import type { IdentifierKey } from '../map/record-lookup.ts';
import { isFhirId } from './record-id.ts';

export type ParsedReference =
  /** `Type/id`, alone or at the end of an absolute address, with or without a version. */
  | { kind: 'literal'; type: string; id: string }
  /** `urn:uuid:…` */
  | { kind: 'uuid'; id: string }
  /** `Type?identifier=system|value`; `key` is undefined for any other condition. */
  | { kind: 'conditional'; type: string; key: IdentifierKey | undefined }
  /** `#id`, a contained resource. */
  | { kind: 'contained' }
  /** An address that names no resource in a way we know. */
  | { kind: 'other' };

const TYPE = /^[A-Z][A-Za-z]{1,63}$/;

export function parseReference(text: string): ParsedReference {
  if (text.startsWith('#')) return { kind: 'contained' };
  if (text.startsWith('urn:uuid:')) {
    const id = text.slice('urn:uuid:'.length);
    return isUuid(id) ? { kind: 'uuid', id: id.toLowerCase() } : { kind: 'other' };
  }
  const mark = text.indexOf('?');
  if (mark !== -1) {
    const type = text.slice(0, mark).split('/').at(-1) ?? '';
    return TYPE.test(type)
      ? { kind: 'conditional', type, key: identifierQuery(text.slice(mark + 1)) }
      : { kind: 'other' };
  }
  const [type = '', id = ''] = withoutVersion(text).split('/').slice(-2);
  return TYPE.test(type) && isFhirId(id) ? { kind: 'literal', type, id } : { kind: 'other' };
}

/** `Patient/1/_history/2` → `Patient/1`. */
export function withoutVersion(reference: string): string {
  const at = reference.indexOf('/_history/');
  return at === -1 ? reference : reference.slice(0, at);
}

/**
 * The identifier that `identifier=system|value` asks for; undefined for every other query. Follows the escapes
 * of R4 search values (`\|`, `\,`, `\$`, `\\`); a list of values is not one identifier.
 */
export function identifierQuery(query: string): IdentifierKey | undefined {
  const parameters = query.replace(/^\?/, '').split('&');
  const [name, ...rest] = (parameters[0] ?? '').split('=');
  if (parameters.length !== 1 || name !== 'identifier') return undefined;
  const token = decoded(rest.join('='));
  // PostgreSQL has no text with NUL.
  if (token?.includes('\0') === true) return undefined;
  const parts = token?.match(/^((?:[^\\|,]|\\.)+)\|((?:[^\\|,]|\\.)+)$/);
  if (parts === null || parts === undefined) return undefined;
  const plain = (part: string | undefined) => (part ?? '').replace(/\\(.)/g, '$1');
  return { system: plain(parts[1]), value: plain(parts[2]) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
