/** What a load of an order or a vital set answers. */
import type { FacilityScope } from '../../tenancy/scope.ts';

/** What one caller asks for. `heldVersion` is the version whose record it still has; null for none. */
export interface RecordKey {
  scope: FacilityScope;
  id: string;
  heldVersion: number | null;
}

export interface Loaded<RecordType> {
  patientId: string;
  /** Purposes that the patient refuses. */
  refusedPurposes: readonly string[];
  version: number;
  /** Absent where the held version is the current one. */
  record: RecordType | undefined;
}
