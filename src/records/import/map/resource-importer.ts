/**
 * How one FHIR resource type is taken into the internal model.
 *
 * A type is added in one place: write a {@link ResourceImporter} and list it in `importers.ts`. The import of one Bundle
 * (or of one run of single resources, which is handled as if it were one) goes through the types by `order`. Resources of
 * a type come in chunks of some hundreds: `map` is called for each, then `write` once for the chunk, inside the Bundle's
 * transaction.
 *
 * `map` may be called more than once for the same resource: while some of its references are not looked up yet, the
 * result is thrown away. It must be pure.
 */

import type { RecordRow, RecordTable } from '../../../clinical/description/describe.ts';
import type { Values } from '../../../clinical/description/element.ts';
import type { ReadContext } from '../../../clinical/description/read-context.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import type { JsonObject } from '../../../fhir/reading/json-resource.ts';
import type { Client } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { DryRun } from '../write/dry-run-tables.store.ts';
import type { ImportReach, RecordLookup } from './record-lookup.ts';
import type { SourceVersion } from './source-version.ts';

/** A row that `map` made. `content_digest` is added by whoever writes it (see `write-records.ts`). */
export interface MappedRecord extends RecordRow {
  /** Which version of it the source says this is. */
  readonly source?: SourceVersion;
}

/** Clinical records that a Bundle, or a run of single resources, created or changed; by id. */
export interface TouchedRecords {
  readonly orders: Set<string>;
  readonly reports: Set<string>;
  readonly studies: Set<string>;
  readonly observations: Set<string>;
  readonly specimens: Set<string>;
  /** Those that are parts of other visits. */
  readonly encounters: Set<string>;
  /** Orders that are about another patient now. */
  readonly reassignedOrders: Set<string>;
  /** What was a member of a panel that changed, and is none of it any more. */
  readonly formerMembers: Set<string>;
  /** Whom all of these are about, and were about before. */
  readonly patients: Set<string>;
}

/** Where the records of a unit are put when they are inserted: they are new, and so are their patients. */
export interface RecordPlacement {
  /** Columns that only the insert of a record fills, by its id. */
  readonly columns: ReadonlyMap<string, Values>;
  /** The orders among the records: their disciplines and times follow from what was put under them. */
  readonly orders: ReadonlySet<string>;
}

/** Kinds of records that belong to a patient. */
export type PatientRecords = Exclude<keyof TouchedRecords, 'reassignedOrders' | 'formerMembers' | 'patients'>;

export interface WriteContext {
  /** The client of the Bundle's transaction. */
  readonly client: Client;
  readonly scope: FacilityScope;
  /** Whose patients it may find and change. */
  readonly reach: ImportReach;
  /** The tables of a dry run; undefined where what is written is kept. */
  readonly dryRun: DryRun | undefined;
  /** What was written so far and is to be grouped. */
  readonly touched: TouchedRecords;
  /** Undefined where records are grouped once they are written. */
  placement: RecordPlacement | undefined;
  /** Tell which patients the records that came are about, or were about before, for the access log. */
  patientsTouched(patientIds: Iterable<string>): void;
  /** Tell which patients were registered at the facility just now, and who links to them: for the exchange, they changed. */
  patientsRegistered(patientIds: Iterable<string>): void;
  /** Reject the entries of this type that are stored under these ids; everything is rolled back. */
  refuse(type: string, ids: Iterable<string>, reason: string): void;
  /**
   * The same, for what refers to a record of another patient. While more is to come they wait instead: that record may
   * have moved to their patient in what comes later.
   */
  refuseForeign(type: string, ids: Iterable<string>, element: string): void;
  /** Name the entries of this type that are stored under these ids in the report: they are taken, and to be looked at. */
  notice(type: string, ids: Iterable<string>, reason: string): void;
}

/** Which of the ids that were handed in were inserted, changed, already the same, or there in a newer version. */
export interface WriteResult {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  readonly unchanged: readonly string[];
  /** Of `unchanged`: those that came in an older version than the one that is stored, with the same content. */
  readonly overtaken: readonly string[];
  readonly older: readonly string[];
}

export interface ResourceImporter {
  /** FHIR resource type. */
  readonly type: string;
  /** Lower orders are written first: what is referred to before what refers to it. */
  readonly order: number;
  /** Of records that belong to a patient. */
  readonly kind?: PatientRecords;
  /** True where many files carry the same records: they are written by id, so that imports do not deadlock. */
  readonly shared?: boolean;
  /** How references find stored records of this type. */
  readonly lookup: RecordLookup;
  /** Where its records are written. */
  readonly table: RecordTable;
  /**
   * The rows of one resource. Throws `ResourceRejected` (usually through the reader) with a reason that
   * names the element and never its value. Elements that the reader was not asked for are counted as not kept.
   */
  map(resource: ElementReader, context: ReadContext): RecordRow;
  /**
   * The rows as they are to be written. What a resource misses here, the stored record may have of another facility.
   * `missing`: the resources that miss a referenced record, by the id of the record.
   */
  complete?(
    rows: readonly MappedRecord[],
    missing: ReadonlyMap<string, JsonObject>,
    context: WriteContext,
  ): Promise<readonly MappedRecord[]>;
  /** Upsert the rows, set-based, doing nothing for those whose content is stored already. */
  write(rows: readonly MappedRecord[], context: WriteContext): Promise<WriteResult>;
  /** Records that entries stand for and that are left as they are (conditional creates that found one). */
  keep?(ids: readonly string[], context: WriteContext): Promise<void>;
  /** Rows that are not written, because a later entry of the import has the same records. */
  passed?(rows: readonly MappedRecord[], context: WriteContext): Promise<void>;
}
