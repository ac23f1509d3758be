/** A FHIR Reference element as it was written, what it may name, and what to say when it leads nowhere. */
import type { ReferencedRecord } from '../../../clinical/description/read-context.ts';
import { readIdentifier } from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import type { IdentifierKey } from '../map/record-lookup.ts';
import { parseReference } from './parse-reference.ts';
import { identifierName, recordId } from './record-id.ts';

/** `pending`: ask again after `ask`. `several`: more than one record carries the identifier. */
export type Answer = ReferencedRecord | 'missing' | 'several' | 'pending';

export interface ReadReference {
  text: string | undefined;
  parsed: ReturnType<typeof parseReference> | undefined;
  type: string | undefined;
  key: IdentifierKey | undefined;
  /** True when there is an identifier, complete or not. */
  identified: boolean;
  /** What the identifier says, also without a system. */
  value: string | undefined;
  display: string | undefined;
}

export function readReference(reader: ElementReader): ReadReference {
  const text = reader.string('reference');
  const type = reader.uri('type');
  const logical = reader.child('identifier');
  const { system, value } = (logical === undefined ? undefined : readIdentifier(logical)) ?? {};
  const key = system === undefined || value === undefined ? undefined : { system, value };
  return {
    text,
    parsed: text === undefined ? undefined : parseReference(text),
    type,
    key,
    identified: logical !== undefined,
    value,
    display: reader.string('display'),
  };
}

/** A referenced record that is not there: its name when it comes (see `Unit.names`), and what it is looked for by. */
export interface MissingRecord {
  name: string;
  type: string;
  /** As the source calls it; undefined when it is named by an identifier. */
  id?: string;
  key?: IdentifierKey;
}

/** What a reference may lead to once it comes: records of `types`. */
export function missingRecords(
  { text, parsed, type, key }: ReadReference,
  types: readonly string[],
): MissingRecord[] {
  if (parsed?.kind === 'uuid') {
    const { id } = parsed;
    return types.map((one) => ({ name: id, type: one, id }));
  }
  if (parsed?.kind === 'literal') {
    const { type: named, id } = parsed;
    return types.includes(named) ? [{ name: recordId(named, id), type: named, id }] : [];
  }
  if (text !== undefined || key === undefined) return [];
  const wanted = types.filter((one) => type === undefined || one === type);
  return wanted.map((one) => ({ name: identifierName(one, key), type: one, key }));
}

/** Why a reference that must lead somewhere does not. */
export function unusable(
  { text, parsed, key }: ReadReference,
  answer: Answer | 'wrong-type',
  wanted: string,
): string {
  if (answer === 'several') return 'refers to an identifier that several records have';
  if (text === undefined && key === undefined)
    return `names no ${wanted}: it has no reference, and no identifier with a system`;
  if (parsed?.kind === 'contained')
    return `refers to a contained resource, but a ${wanted} must be a resource of its own`;
  if (answer === 'wrong-type' && parsed?.kind !== 'other') return `does not refer to a ${wanted}`;
  return `refers to a ${wanted} that is neither in the file nor at this facility. Import it first.`;
}

/** What to show for a referenced record that is not there and has no display. */
export function writtenReference({ text, parsed, value }: ReadReference): string | undefined {
  if (parsed?.kind === 'contained') return undefined;
  return text ?? value;
}
