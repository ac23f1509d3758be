/** References and notes: in columns, a pointer at a record that is here, or only what the record was called. */
import type { Reference } from '../../fhir/coded.ts';
import { compact, nonEmpty } from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { columns, memberName } from '../content/document.ts';
import { type ChildTable, type Element, type Member, NOTHING, single } from './element.ts';
import { jsonList } from './kinds.ts';
import type { ReadContext, ReferenceValue } from './read-context.ts';

/** A pointer at another record: its id here, or only what it was called. */
export interface RecordPointer {
  type?: string | undefined;
  id?: string | undefined;
  display?: string | undefined;
}

export interface Annotation {
  authorReference?: RecordPointer;
  authorString?: string;
  /** FHIR dateTime. */
  time?: string;
  text: string;
}

/** Types of records that an element may refer to as a person or an organisation. */
export const ACTORS = ['Practitioner', 'Organization', 'Patient'] as const;

/** A reference, kept as a pointer. */
export function reference<const Column extends string>(column: Column, types: readonly string[]) {
  return single(column, {
    type: 'jsonb',
    read: (reader, name, context) => pointer(context.reference(reader, name, types)),
    write: (output, name, value) => output.json(name, referenceTo(value)),
  });
}

/** Ids of the records that references lead to: those in the column `all` are found by `table`. */
interface AllIds {
  all: string;
  table: { name: string; parent: string; id: string };
}

/** References, kept as pointers. Ids of those that are records here may have a column of their own. */
export function references<const Column extends string>(
  column: Column,
  types: readonly string[],
  ids?: { first: string } | AllIds,
): Element<Member<Column, RecordPointer[]>> {
  const kept = single<Column, RecordPointer[]>(column, {
    type: 'jsonb',
    read: () => undefined,
    write: (output, name, value) => output.json(name, referencesTo(value)),
  });
  const idColumn = ids && ('first' in ids ? ([ids.first, 'uuid'] as const) : ([ids.all, 'uuid[]'] as const));
  return {
    ...kept,
    columns: idColumn === undefined ? kept.columns : [...kept.columns, idColumn],
    ...(ids && 'all' in ids && { tables: [tableOf(ids)] }),
    read(reader, name, context) {
      const given = context.references(reader, name, types);
      if (given.length === 0) return ids && 'all' in ids ? { values: { [ids.all]: [] } } : NOTHING;
      const here = given.flatMap(({ target }) => (target === undefined ? [] : [target.id]));
      const idValue = ids && ('first' in ids ? { [ids.first]: here[0] } : { [ids.all]: here });
      return { values: { [column]: pointersAt(given), ...idValue } };
    },
  };
}

function tableOf({ all, table: { name, parent, id } }: AllIds): ChildTable {
  return { name, parent, columns: [[id, 'uuid']], idsOf: all };
}

/** `basedOn` of a part of an order. Where the source names no order that is here, the one it is under goes first. */
export function basedOnOrder(): Element<Member<'based_on', RecordPointer[]> & Member<'order_id', string>> {
  const kept = references('based_on', ['ServiceRequest'], { first: 'based_on_id' });
  return {
    ...kept,
    write(output, name, { basedOn, orderId }) {
      const named = orderId === undefined || basedOn?.some((one) => one.id !== undefined) === true;
      const order = named ? [] : [{ type: 'ServiceRequest', id: orderId }];
      output.json(name, referencesTo([...order, ...(basedOn ?? [])]));
    },
  };
}

/** A reference in two columns: the id of a record of one type here, and what it was called. */
export function referenceColumns<const IdColumn extends string, const DisplayColumn extends string>(
  type: string,
  idColumn: IdColumn,
  displayColumn: DisplayColumn,
): Element<Member<IdColumn | DisplayColumn, string>> {
  const [id, display] = [memberName(idColumn), memberName(displayColumn)];
  return {
    columns: [
      [idColumn, 'uuid'],
      [displayColumn, 'text'],
    ],
    fields: ({ alias }) => columns(alias, [idColumn, displayColumn]),
    read(reader, name, context) {
      const value = context.reference(reader, name, [type]);
      if (value === undefined) return NOTHING;
      return { values: { [idColumn]: value.target?.id, [displayColumn]: value.display } };
    },
    write(output, name, record) {
      const members = record as Readonly<Record<string, string | undefined>>;
      output.json(name, referenceTo({ type, id: members[id], display: members[display] }));
    },
  };
}

/** `Patient/<id>`, whom the record is about. */
export function subject(): Element<{ patientId: string }> {
  return {
    columns: [['patient_id', 'uuid']],
    fields: ({ alias }) => [{ name: 'patientId', sql: `${alias}.patient_id` }],
    read: (reader, name, context) => ({
      values: { patient_id: context.requiredReference(reader, name, ['Patient']).id },
    }),
    write: (output, name, { patientId }) =>
      output.json(name, referenceTo({ type: 'Patient', id: patientId })),
  };
}

export function notes<const Column extends string>(column: Column) {
  return jsonList<Column, Annotation>(column, annotation, ({ authorReference, ...note }) => ({
    ...(authorReference === undefined ? {} : { authorReference: referenceTo(authorReference) }),
    ...note,
  }));
}

/** A pointer at what a reference names; undefined when nothing of it is left. */
export function pointer(value: ReferenceValue | undefined): RecordPointer | undefined {
  if (value === undefined) return undefined;
  return compact<RecordPointer>({
    type: value.target?.type,
    id: value.target?.id,
    display: value.display,
  });
}

export function pointersAt(values: readonly ReferenceValue[]): RecordPointer[] | undefined {
  return nonEmpty(values.map(pointer));
}

/**
 * `Patient/<id>` and the like; a record that is not here keeps its name only (R4, "References"). A patient who is here is
 * not named: who may learn the name reads it on the Patient. A record that waited for its patient may still hold one.
 */
export function referenceTo({ type, id, display }: RecordPointer): Reference | undefined {
  if (type === undefined || id === undefined) return display === undefined ? undefined : { display };
  const reference = `${type}/${id}`;
  return display === undefined || type === 'Patient' ? { reference } : { reference, display };
}

/** The references that say something; undefined for none: FHIR has no empty lists. */
export function referencesTo(pointers: readonly RecordPointer[]): object[] | undefined {
  const written = pointers.map(referenceTo).filter((item) => item !== undefined);
  return written.length === 0 ? undefined : written;
}

function annotation(reader: ElementReader, context: ReadContext): Annotation | undefined {
  reader.choice('author');
  const text = reader.string('text');
  if (text === undefined && reader.has('text')) return undefined;
  return compact<Annotation>({
    authorReference: pointer(context.reference(reader, 'authorReference', ACTORS)),
    authorString: reader.string('authorString'),
    time: reader.dateTime('time')?.text,
    text: reader.required('text', text),
  });
}
