/**
 * Maps a chunk of resources of one type to rows, with every reference answered. A resource is mapped again when the
 * database has to be asked for the referenced record of a reference.
 * Contract: IN-25.
 */

import type {
  ReadContext,
  ReferencedRecord,
  ReferenceValue,
} from '../../../clinical/description/read-context.ts';
import { ElementReader } from '../../../fhir/reading/element-reader.ts';
import { type JsonObject, ResourceRejected } from '../../../fhir/reading/json-resource.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { createPauses } from '../../../platform/pauses.ts';
import { isUuid } from '../../../platform/uuid.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import { containedByReference, requireFewContained } from '../resolve/contained.ts';
import {
  type Answer,
  type MissingRecord,
  missingRecords,
  type ReadReference,
  readReference,
  unusable,
  writtenReference,
} from '../resolve/read-reference.ts';
import { facilityRecordId } from '../resolve/record-id.ts';
import type { ReferenceResolver } from '../resolve/resolve-references.ts';
import type { EntryReason, Unit, UnitEntry } from '../run/unit.ts';
import type { KnownRecords } from '../wait/waiting.store.ts';
import type { ElementTally } from './element-tally.ts';
import { withMappedClasses } from './mapped-classes.ts';
import type { MappedRecord } from './resource-importer.ts';
import { sourceVersion } from './source-version.ts';
import { reportedPath, requireUnderstood } from './understood.ts';

/** A referenced record that a resource cannot do without is not there, and may come with what is imported later. */
class ReferencedRecordMissing extends Error {
  override name = 'ReferencedRecordMissing';
}

export interface MapRequest {
  scope: FacilityScope;
  unit: Unit;
  resolver: ReferenceResolver;
  /** True while referenced records that are not there may come with what is imported later. */
  moreToCome: boolean;
  /** URLs of modifier extensions and implicit rules that are understood. */
  understood: ReadonlySet<string>;
  entries: readonly EntryToMap[];
}

export interface EntryToMap {
  entry: UnitEntry;
  resource: JsonObject;
  /** False where its JSON text has no element that may change the meaning of the others. */
  mayModify: boolean;
  /** True where the class is one that a terminology map led to. */
  hasMappedClass?: boolean;
}

/** What is told of the resources of a unit that are mapped, beside their rows. */
export interface MapOutcome {
  rejected: EntryReason[];
  /** Numbers of the entries whose referenced records may still come. */
  waiting: number[];
  /** Element paths and how often they were met. */
  notKept: ElementTally;
  unresolved: ElementTally;
  /** Numbers of the entries that have unresolved references. */
  unresolvedIn: number[];
  /** True when an optional referenced record was left out that may still come. */
  gaveUp: boolean;
}

export interface MappedRecords {
  rows: MappedRecord[];
  /** Records that miss an optional referenced record. */
  incomplete: IncompleteRecord[];
}

export interface IncompleteRecord {
  entry: UnitEntry;
  resource: JsonObject;
  referenced: readonly MissingRecord[];
  known: KnownRecords;
}

/** Adds to `outcome` what is told of the resources. */
export async function mapResources(
  db: Queryable,
  request: MapRequest,
  outcome: MapOutcome,
): Promise<MappedRecords> {
  const mapped: MappedRecords = { rows: [], incomplete: [] };
  const pause = createPauses();
  let left = await withMappedClasses(db, request.scope, request.entries);
  while (left.length > 0) {
    const later: typeof left = [];
    for (const item of left) {
      if (!mapOne(item, request, { outcome, mapped })) later.push(item);
      await pause();
    }
    left = later;
    if (left.length > 0) await request.resolver.ask(db);
  }
  return mapped;
}

/** False when references have to be looked up first. */
function mapOne(
  item: EntryToMap,
  request: MapRequest,
  { outcome, mapped }: { outcome: MapOutcome; mapped: MappedRecords },
): boolean {
  const { entry, resource } = item;
  const reader = ElementReader.of(resource, request.scope.timeZone);
  const context = new EntryMapContext(item, request);
  try {
    if (item.mayModify) requireUnderstood(resource, reader.path, request.understood);
    requireFewContained(resource, reader.path);
    const row = entry.importer.map(reader, context);
    if (context.pending) return false;
    mapped.rows.push({ ...row, source: sourceVersion(resource) });
    const changed = [...reader.unread(), ...context.changed];
    if (item.hasMappedClass === true) changed.push(`${reader.path}.class`);
    if (typeof resource.id === 'string' && !isUuid(resource.id)) changed.push(`${reader.path}.id`);
    // Every record of a server has `meta`: a label that asks for discretion would not be seen among them.
    if (hasSecurityLabel(resource)) changed.push(`${reader.path}.meta.security`);
    for (const path of changed) outcome.notKept.add(reportedPath(path), entry.number);
    for (const path of context.unresolved) outcome.unresolved.add(path, entry.number);
    if (context.unresolved.length > 0) outcome.unresolvedIn.push(entry.number);
    outcome.gaveUp ||= context.gaveUp;
    const { missing: referenced, known } = context;
    if (referenced.length > 0) mapped.incomplete.push({ entry, resource, referenced, known });
  } catch (error) {
    if (context.pending) return false;
    if (error instanceof ReferencedRecordMissing) outcome.waiting.push(entry.number);
    else if (error instanceof ResourceRejected) outcome.rejected.push({ entry, reason: error.message });
    else throw error;
  }
  return true;
}

function hasSecurityLabel({ meta }: JsonObject): boolean {
  const { security } = (meta ?? {}) as JsonObject;
  return Array.isArray(security) && security.length > 0;
}

class EntryMapContext implements ReadContext {
  readonly scope: FacilityScope;
  readonly id: string;
  readonly #item: EntryToMap;
  readonly #request: MapRequest;
  /** Read with the first reference to one. */
  #contained: ReturnType<typeof containedByReference> | undefined;
  /** True when an answer was not known: the result must be thrown away. */
  pending = false;
  gaveUp = false;
  readonly changed: string[] = [];
  readonly unresolved: string[] = [];
  /** Optional referenced records that are not there. */
  readonly missing: MissingRecord[] = [];
  /** What only the Bundle could answer. */
  readonly known: Record<string, ReferencedRecord | null>;

  constructor(item: EntryToMap, request: MapRequest) {
    this.scope = request.scope;
    this.id = item.entry.target.id;
    this.known = { ...item.entry.known };
    this.#item = item;
    this.#request = request;
  }

  get hasOwnId(): boolean {
    return this.id === facilityRecordId(this.scope.facilityId, this.#item.entry.id);
  }

  notKept(elementPath: string): void {
    this.changed.push(elementPath);
  }

  requiredReference(parent: ElementReader, name: string, types: readonly string[]): ReferencedRecord {
    const reader = parent.required(name, parent.child(name));
    const reference = this.#read(reader);
    if (reference.display !== undefined) this.notKept(`${reader.path}.display`);
    const answer = this.#answer(reader, reference, types);
    if (answer === 'pending') return { type: '', id: '' };
    if (typeof answer === 'object') return answer;
    if (answer === 'missing' && this.#request.moreToCome) throw new ReferencedRecordMissing();
    return parent.fail(name, unusable(reference, answer, types.join(' or ')));
  }

  reference(parent: ElementReader, name: string, types: readonly string[]): ReferenceValue | undefined {
    const reader = parent.child(name);
    return reader === undefined ? undefined : this.#optional(reader, types);
  }

  references(parent: ElementReader, name: string, types: readonly string[]): ReferenceValue[] {
    return parent.children(name).map((reader) => this.#optional(reader, types));
  }

  #optional(reader: ElementReader, types: readonly string[]): ReferenceValue {
    const reference = this.#withContained(this.#read(reader));
    const answer = this.#answer(reader, reference, types);
    if (answer === 'pending') return { target: undefined, display: undefined };
    if (typeof answer === 'object')
      return { target: answer, display: this.#displayOf(reader, reference, answer) };
    if (reference.parsed?.kind === 'conditional' && answer !== 'wrong-type')
      this.#failConditional(reader, reference.parsed.type, answer === 'several');
    if (answer === 'missing') {
      this.gaveUp ||= this.#request.moreToCome;
      const taken = types.filter((type) => this.#request.resolver.knows(type));
      this.missing.push(...missingRecords(reference, taken));
    }
    const isOnlyName = reference.text === undefined && !reference.identified;
    if (!isOnlyName) this.unresolved.push(reader.path);
    const isStray = !types.includes('Patient') && this.#isOfPatient(reference);
    const display = isStray ? undefined : (reference.display ?? writtenReference(reference));
    // Nothing of what was given is left.
    if (display === undefined) this.notKept(reader.path);
    return { target: undefined, display, isOnlyName };
  }

  /** In an element that takes no patient, it will lead to none: a name there would stay for good. */
  #isOfPatient({ text, parsed, type }: ReadReference): boolean {
    if (text === undefined || parsed === undefined) return type === 'Patient';
    const named = 'type' in parsed ? parsed.type : this.#inBundle(text)?.type;
    return named === 'Patient';
  }

  /** A patient who is here has the name, and privacy settings say who learns it. */
  #displayOf(
    reader: ElementReader,
    { display }: ReadReference,
    { type }: ReferencedRecord,
  ): string | undefined {
    if (type !== 'Patient' || display === undefined) return display;
    this.notKept(`${reader.path}.display`);
    return undefined;
  }

  /** A reference to a contained resource says what that resource says of itself. */
  #withContained(reference: ReadReference): ReadReference {
    if (reference.parsed?.kind !== 'contained' || reference.text === undefined) return reference;
    this.#contained ??= containedByReference(this.#item.resource);
    const { type, key, display } = this.#contained.get(reference.text) ?? {};
    const said = { text: undefined, parsed: undefined, type, key, identified: true, value: undefined };
    return { ...said, display: reference.display ?? display };
  }

  /** An identifier beside a reference is not looked for, and has no place. */
  #read(reader: ElementReader): ReadReference {
    const reference = readReference(reader);
    if (reference.text !== undefined && reference.identified) this.notKept(`${reader.path}.identifier`);
    return reference;
  }

  #failConditional(reader: ElementReader, type: string, several: boolean): never {
    if (several) reader.fail('', 'is a conditional reference, and several records match it');
    if (this.#request.moreToCome) throw new ReferencedRecordMissing();
    const missing = `no ${type} with that identifier is in the file or at this facility`;
    return reader.fail('', `is a conditional reference, but ${missing}. Import it first.`);
  }

  #answer(reader: ElementReader, reference: ReadReference, types: readonly string[]): Answer | 'wrong-type' {
    const answer = this.#find(reader, reference, types);
    if (answer === 'pending') this.pending = true;
    if (typeof answer === 'object' && !types.includes(answer.type)) return 'wrong-type';
    return answer;
  }

  #find(reader: ElementReader, reference: ReadReference, types: readonly string[]): Answer | 'wrong-type' {
    const { text, parsed, key } = reference;
    if (text === undefined || parsed === undefined) {
      const wanted = reference.type === undefined ? types : types.filter((type) => type === reference.type);
      return key === undefined
        ? 'wrong-type'
        : this.#first(wanted, (type) => this.#request.resolver.byIdentifier(type, key));
    }
    const inBundle = this.#inBundle(text);
    if (inBundle !== undefined) return inBundle ?? 'wrong-type';
    if (parsed.kind === 'uuid')
      return this.#first(types, (type) => this.#request.resolver.byId(type, parsed.id));
    if (parsed.kind === 'literal') {
      if (!types.includes(parsed.type) || !this.#request.resolver.knows(parsed.type)) return 'wrong-type';
      return this.#request.resolver.byId(parsed.type, parsed.id);
    }
    if (parsed.kind === 'conditional') {
      if (!types.includes(parsed.type)) return 'wrong-type';
      if (parsed.key === undefined)
        return reader.fail(
          '',
          'is a conditional reference, but does not have the form Type?identifier=system|value',
        );
      return this.#request.resolver.byIdentifier(parsed.type, parsed.key);
    }
    return 'wrong-type';
  }

  /** The entry of the Bundle that the resource came in; null when it is of a type that is not taken. */
  #inBundle(text: string): ReferencedRecord | null | undefined {
    const known = this.known[text];
    if (known !== undefined) return known;
    const found = this.#request.unit.find(text) ?? (this.#request.unit.isOther(text) ? null : undefined);
    if (found !== undefined) this.known[text] = found;
    return found;
  }

  /**
   * The first answer other than "not there", in the order of the types. While one is not known, no later one counts, so
   * that it does not matter what was asked before.
   */
  #first(types: readonly string[], ask: (type: string) => Answer): Answer {
    let first: Answer = 'missing';
    for (const type of types) {
      const answer = ask(type);
      if (first === 'missing') first = answer;
      if (first !== 'missing' && first !== 'pending') break;
    }
    return first;
  }
}
