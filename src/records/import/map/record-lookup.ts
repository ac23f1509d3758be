/** How an import finds stored records of one type. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';

/** Whose patients an import may find and change: those of its facility, or of the whole organisation. */
export type ImportReach = 'facility' | 'organisation';

/** A business identifier to look for. */
export interface IdentifierKey {
  readonly system: string;
  readonly value: string;
}

export interface IdentifierMatch extends IdentifierKey {
  readonly id: string;
}

/** How references find records of a type that are stored already. Set-based: one query a call. */
export interface RecordLookup {
  /** For records that facilities share: those of `ids` that the organisation has and this facility has not. */
  elsewhere?(db: Queryable, scope: FacilityScope, ids: readonly string[]): Promise<string[]>;
  /** Those of `ids` that a record of this facility may refer to. */
  existing(db: Queryable, scope: FacilityScope, ids: readonly string[]): Promise<string[]>;
  /**
   * Records that carry one of the identifiers; of very many that carry the same one, some. With `organisation`, patients of
   * other facilities are found too: for conditional creates and updates.
   */
  byIdentifier(
    db: Queryable,
    scope: FacilityScope,
    keys: readonly IdentifierKey[],
    reach: ImportReach,
  ): Promise<IdentifierMatch[]>;
}
