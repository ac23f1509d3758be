/**
 * Counts local codes without a standard one, where they go out and where an import brings them. A read never waits for
 * it: counts are gathered in memory and added to the database every few seconds (docs/adr/0032). A crash loses those few
 * seconds.
 * Contract: TERM-16.
 */
import type { Coding } from '../../fhir/coded.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { isWholeDatabase, type OrganisationWork } from '../../tenancy/organisations/organisation-work.ts';
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
] as const;
export type UnmappedPlace = (typeof UNMAPPED_PLACES)[number];

export interface UnmappedRecorder {
  /** Count each of these codings once at this place. Give what `unmappedCodings` found; returns at once. */
  met(scope: FacilityScope, place: UnmappedPlace, codings: Iterable<Coding>): void;
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
  let held = new Map<string, HeldCode>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;

  function hold(code: HeldCode): void {
    const key = JSON.stringify([
      code.organisationId,
      code.facilityId,
      code.place,
      code.localSystem,
      code.localCode,
    ]);
    const known = held.get(key);
    if (known !== undefined) known.count += code.count;
    else if (held.size < MAX_HELD) held.set(key, code);
  }

  async function write(): Promise<void> {
    const codes = Map.groupBy(held.values(), ({ organisationId }) => organisationId);
    held = new Map();
    for (const [organisationId, met] of codes) await writeOf(organisationId, met);
  }

  /** One that fails rests, and keeps its codes for later. */
  async function writeOf(organisationId: string, met: HeldCode[]): Promise<void> {
    const { db, work, onError } = options;
    try {
      if (closed || work === undefined || work.restMs(organisationId) === 0) {
        await addMetCodes(db, { organisationId }, { met, now: options.now() });
        work?.succeeded(organisationId);
        return;
      }
    } catch (error) {
      if (work === undefined || isWholeDatabase(error)) onError(error);
      else work.failed(organisationId, error);
    }
    for (const code of met) hold(code);
    schedule();
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(() => (held.size === 0 ? undefined : write()));
    return writing;
  }

  function schedule(): void {
    if (timer !== undefined || closed) return;
    timer = setTimeout(() => void flush(), options.flushAfterMs ?? FLUSH_AFTER_MS);
    timer.unref();
  }

  return {
    met(scope, place, codings) {
      for (const { system = '', code, display } of codings) {
        if (code === undefined || !fits(code, MAX_CODE_BYTES) || !fits(system, MAX_SYSTEM_BYTES)) continue;
        const { organisationId, facilityId } = scope;
        const local = { localSystem: system, localCode: code, localDisplay: display ?? null };
        hold({ organisationId, facilityId, place, count: 1, ...local });
      }
      if (held.size > 0) schedule();
    },
    flush,
    async close() {
      closed = true;
      await flush();
    },
  };
}

function fits(text: string, maxBytes: number): boolean {
  return Buffer.byteLength(text) <= maxBytes;
}
