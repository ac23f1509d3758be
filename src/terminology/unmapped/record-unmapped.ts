/**
 * Counts local codes without a standard one, where they go out and where an import brings them. A read never waits for
 * it: counts are gathered in memory and added to the database every few seconds (docs/adr/0032). A crash loses those few
 * seconds.
 * Contract: TERM-16.
 */
import type { Queryable } from '../../platform/db/database.ts';
import { createHeldCounts } from '../../tenancy/organisations/held-counts.ts';
import type { OrganisationWork } from '../../tenancy/organisations/organisation-work.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { addMetCodes, type MetCode } from './unmapped.store.ts';

const FLUSH_AFTER_MS = 5_000;
/** Codes held in memory; what is met beyond them until the next flush is not counted. */
const MAX_HELD = 10_000;
/** Longer codes are no codes; they are not kept. In bytes: both stand in the key of an index row. */
const MAX_CODE_BYTES = 200;
const MAX_SYSTEM_BYTES = 500;

/** What unmapped codes are met in. */
export const UNMAPPED_PLACES = [
  'lab.order',
  'lab.result',
  'lab.report',
  'imaging.order',
  'imaging.report',
  'vitals.sign',
  'encounter.participation',
] as const;
export type UnmappedPlace = (typeof UNMAPPED_PLACES)[number];

/** As a Coding has them. */
export interface MetCoding {
  readonly system?: string | undefined;
  readonly code?: string | undefined;
  readonly display?: string | undefined;
}

export interface UnmappedRecorder {
  /** Count each of these codings once at this place. Give what `unmappedCodings` found; returns at once. */
  met(scope: FacilityScope, place: UnmappedPlace, codings: Iterable<MetCoding>): void;
  /** Write what is held. Rejects never: what could not be written is tried again with the next flush. */
  flush(): Promise<void>;
  /** Stop the timer and write what is held. */
  close(): Promise<void>;
}

export interface UnmappedRecorderOptions {
  db: Queryable;
  now: () => Date;
  flushAfterMs?: number;
  /** Notes the organisations whose codes cannot be counted, in place of `onError`. */
  work?: OrganisationWork;
  onError: (error: unknown) => void;
}

interface HeldCode extends MetCode {
  organisationId: string;
}

export function createUnmappedRecorder(options: UnmappedRecorderOptions): UnmappedRecorder {
  const { db, work, onError } = options;
  const counts = createHeldCounts<HeldCode>({
    keyOf: ({ organisationId, facilityId, place, localSystem, localCode }) =>
      JSON.stringify([organisationId, facilityId, place, localSystem, localCode]),
    write: (organisationId, met) => addMetCodes(db, { organisationId }, { met, now: options.now() }),
    flushAfterMs: options.flushAfterMs ?? FLUSH_AFTER_MS,
    maxHeld: MAX_HELD,
    work,
    onError,
  });
  return {
    met({ organisationId, facilityId }, place, codings) {
      for (const { system = '', code, display } of codings) {
        if (code === undefined || !fits(code, MAX_CODE_BYTES) || !fits(system, MAX_SYSTEM_BYTES)) continue;
        const local = { localSystem: system, localCode: code, localDisplay: display ?? null };
        counts.hold({ organisationId, facilityId, place, count: 1, ...local });
      }
    },
    flush: counts.flush,
    close: counts.close,
  };
}

function fits(text: string, maxBytes: number): boolean {
  return Buffer.byteLength(text) <= maxBytes;
}
