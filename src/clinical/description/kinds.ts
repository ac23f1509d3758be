/** Kinds of elements that are kept in one column: primitives, and data types that are kept in FHIR's shape. */
import { businessIdentifiers, type CodeableConcept, type Coding, type Identifier } from '../../fhir/coded.ts';
import { codeableConcept, coding, nonEmpty, readIdentifier } from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { exactJson } from '../content/document.ts';
import { type Element, type EmitContext, type Member, type Single, single } from './element.ts';
import type { ReadContext } from './read-context.ts';

type Primitive = string | number | boolean;

/** FHIR `string` or `markdown`. */
export function string<const Column extends string>(column: Column) {
  return primitive<Column, string>(column, 'text', (reader, name) => reader.string(name));
}

export function code<const Column extends string, const Code extends string = string>(
  column: Column,
  allowed?: readonly Code[],
) {
  return primitive<Column, Code>(column, 'text', (reader, name) => reader.code(name, allowed));
}

/** FHIR `id`, such as the UID of a series. */
export function id<const Column extends string>(column: Column) {
  return primitive<Column, string>(column, 'text', (reader, name) => reader.id(name));
}

/** FHIR `date`: a year, a month or a day, as it was written. */
export function date<const Column extends string>(column: Column) {
  return primitive<Column, string>(column, 'text', (reader, name) => reader.date(name));
}

/** FHIR `dateTime`, as it was written. */
export function dateTime<const Column extends string>(column: Column) {
  return primitive<Column, string>(column, 'text', (reader, name) => reader.dateTime(name)?.text);
}

export function boolean<const Column extends string>(column: Column) {
  return primitive<Column, boolean>(column, 'boolean', (reader, name) => reader.boolean(name));
}

export function integer<const Column extends string>(column: Column, minimum?: number) {
  return primitive<Column, number>(column, 'integer', (reader, name) => reader.integer(name, minimum));
}

function primitive<const Column extends string, Value extends Primitive>(
  column: Column,
  type: string,
  read: Single<Value>['read'],
): Element<Member<Column, Value>> {
  return single(column, { type, read, write: (output, name, value) => output.value(name, value) });
}

type ReadValue<Value> = (reader: ElementReader, context: ReadContext) => Value | undefined;
/** What is sent of a value that is kept; undefined where nothing of it is. */
type Written<Value> = (value: Value, context: EmitContext) => object | undefined;

/** A data type; without `written` it is sent as it is kept, in FHIR's shape. */
export function json<const Column extends string, Value extends object>(
  column: Column,
  read: ReadValue<Value>,
  written?: Written<Value>,
): Element<Member<Column, Value>> {
  return single<Column, Value>(column, {
    type: 'jsonb',
    read(reader, name, context) {
      const child = reader.child(name);
      return child && read(child, context);
    },
    write: (output, name, value, context) =>
      output.json(name, written === undefined ? value : written(value, context)),
  });
}

/** The same for a data type that repeats. */
export function jsonList<const Column extends string, Value extends object>(
  column: Column,
  read: ReadValue<Value>,
  written?: Written<Value>,
): Element<Member<Column, Value[]>> {
  return single<Column, Value[]>(column, {
    type: 'jsonb',
    read: (reader, name, context) => nonEmpty(reader.children(name).map((item) => read(item, context))),
    write: (output, name, value, context) =>
      output.json(
        name,
        written === undefined ? value : nonEmpty(value.map((item) => written(item, context))),
      ),
  });
}

/** {@link json} for what has decimals inside, whose digits are kept. */
export function exact<const Column extends string, Value extends object>(
  column: Column,
  read: ReadValue<Value>,
  written?: Written<Value>,
): Element<Member<Column, Value>> {
  return { ...json(column, read, written), fields: ({ alias }) => exactJson(alias, [column]) };
}

export function exactList<const Column extends string, Value extends object>(
  column: Column,
  read: ReadValue<Value>,
  written?: Written<Value>,
): Element<Member<Column, Value[]>> {
  return { ...jsonList(column, read, written), fields: ({ alias }) => exactJson(alias, [column]) };
}

export function concept<const Column extends string>(column: Column) {
  return json<Column, CodeableConcept>(column, codeableConcept);
}

export function concepts<const Column extends string>(column: Column) {
  return jsonList<Column, CodeableConcept>(column, codeableConcept);
}

export function codingOf<const Column extends string>(column: Column) {
  return json<Column, Coding>(column, coding);
}

export function codings<const Column extends string>(column: Column) {
  return jsonList<Column, Coding>(column, coding);
}

export function identifier<const Column extends string>(column: Column) {
  return json<Column, Identifier>(column, readIdentifier);
}

/** A concept that is written as {@link EmitContext.translate} makes it. */
export function mappedConcept<const Column extends string>(column: Column) {
  return json<Column, CodeableConcept>(column, codeableConcept, translated);
}

export function mappedConcepts<const Column extends string>(column: Column) {
  return jsonList<Column, CodeableConcept>(column, codeableConcept, translated);
}

function translated(concept: CodeableConcept, context: EmitContext): CodeableConcept {
  return context.translate(concept);
}

/** Categories; where the source gave none of the same system, also what is known of the record otherwise. Contract: FETCH-37. */
export function categories<Known extends object>(
  kind: (column: 'category') => Element<Member<'category', CodeableConcept[]>>,
  otherwise: (record: Known) => CodeableConcept | undefined,
): Element<Member<'category', CodeableConcept[]> & Known> {
  const kept = kind('category');
  return {
    ...kept,
    write(output, name, record, context) {
      const known = otherwise(record);
      const isSaid = known === undefined || known.coding?.some(({ system }) => hasSystem(record, system));
      kept.write(output, name, isSaid ? record : { category: [...(record.category ?? []), known] }, context);
    },
  };
}

/** Whether one of the categories has a code of the system. */
export function hasSystem(
  { category = [] }: Member<'category', CodeableConcept[]>,
  system: string | undefined,
): boolean {
  return category.some(({ coding = [] }) => coding.some((one) => one.system === system));
}

/** The source's identifiers, and our own where none of them says both system and value. */
export function identifiers(): Element<Member<'identifier', Identifier[]> & { id: string }> {
  return {
    ...jsonList<'identifier', Identifier>('identifier', readIdentifier),
    write: (output, name, { identifier: given, id }, { organisationId }) =>
      output.json(name, businessIdentifiers(given, organisationId, id)),
  };
}
