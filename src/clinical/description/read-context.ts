/** What the reader of a resource needs beside it: the facility, and what its references lead to. */
import type { ElementReader } from '../../fhir/reading/element-reader.ts';

/** A record that a reference points at. `id` is the id that it is stored under (a lower-case UUID). */
export interface ReferencedRecord {
  readonly type: string;
  readonly id: string;
}

/** What is left of a Reference element. Without `target` it points at no record that is here. */
export interface ReferenceValue {
  readonly target: ReferencedRecord | undefined;
  /**
   * `Reference.display`, but not of a patient who is here. Without it and without `target`, the reference as it was
   * written.
   */
  readonly display: string | undefined;
  /** True where it points at no record at all: nobody is missing who could come later. */
  readonly isOnlyName?: boolean;
}

export interface ReadContext {
  /** Id that the resource will be stored under. */
  readonly id: string;
  /** Dates without a time are days of this zone. */
  readonly scope: { readonly timeZone: string; readonly facilityId: string };
  /** True when the id was made for the facility of the import, which alone finds the record (docs/adr/0080). */
  readonly hasOwnId: boolean;
  /**
   * The referenced record of `parent.<name>`, which must be there and be one of `types`: rejects the resource with a
   * reason otherwise.
   */
  requiredReference(parent: ElementReader, name: string, types: readonly string[]): ReferencedRecord;
  /**
   * What `parent.<name>` refers to; undefined when the element is absent. A referenced record that is not there, or is
   * none of `types`, is counted as unresolved; a conditional reference without its one match rejects.
   */
  reference(parent: ElementReader, name: string, types: readonly string[]): ReferenceValue | undefined;
  /** The same for a repeating element. */
  references(parent: ElementReader, name: string, types: readonly string[]): ReferenceValue[];
  /** Count something that was given and is kept in a changed or shortened form, or not at all. */
  notKept(elementPath: string): void;
}
