/** Rows that an import makes of one resource, without a database: `Type/t` is there, and nothing else. */
import type { RecordRow } from '../../src/clinical/description/describe.ts';
import type { ReadContext, ReferencedRecord } from '../../src/clinical/description/read-context.ts';
import { parseFhirJson } from '../../src/fhir/json.ts';
import { ElementReader } from '../../src/fhir/reading/element-reader.ts';
import type { JsonObject } from '../../src/fhir/reading/json-resource.ts';

export const ID = '0a1b2c3d-0000-4000-8000-000000000001';
export const TARGET = '0a1b2c3d-0000-4000-8000-000000000002';

function context(notKept: string[] = []): ReadContext {
  const target = (reader: ElementReader, types: readonly string[]): ReferencedRecord | undefined => {
    const [type = ''] = (reader.string('reference') ?? '').split('/');
    return types.includes(type) ? { type, id: TARGET } : undefined;
  };
  const value = (reader: ElementReader, types: readonly string[]) => ({
    target: target(reader, types),
    display: reader.string('display'),
  });
  return {
    id: ID,
    scope: { facilityId: ID, timeZone: 'Africa/Lagos' },
    hasOwnId: false,
    requiredReference: (parent, name, types) =>
      target(parent.required(name, parent.child(name)), types) ?? parent.fail(name, 'is not there'),
    reference: (parent, name, types) => {
      const reader = parent.child(name);
      return reader === undefined ? undefined : value(reader, types);
    },
    references: (parent, name, types) => parent.children(name).map((reader) => value(reader, types)),
    notKept: (path) => notKept.push(path),
  };
}

type Mapper = (reader: ElementReader, context: ReadContext) => RecordRow;

export function map(mapper: Mapper, json: string | object, notKept?: string[]) {
  const text = typeof json === 'string' ? json : JSON.stringify(json);
  const reader = ElementReader.of(parseFhirJson(text) as JsonObject, 'Africa/Lagos');
  const row = mapper(reader, context(notKept));
  // What is written: JSON, without what is undefined.
  return { row: JSON.parse(JSON.stringify(row)) as RecordRow, unread: reader.unread() };
}

export const coded = (code: string) => ({ coding: [{ system: 'urn:s', code }], text: code });
