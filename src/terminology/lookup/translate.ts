/**
 * Looks local codes up in the terminology maps of a facility.
 *
 * Every call reads the database, so that a changed map shows in the next fetch on every node; calls that
 * arrive together for one organisation share one statement (docs/adr/0030).
 * Contract: TERM-4.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Coding } from '../../fhir/coded.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { createOrganisationBatcher } from '../../tenancy/organisations/organisation-batch.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import {
  NO_TRANSLATIONS,
  type StandardCoding,
  type Translations,
  translationKey,
} from '../maps/apply-map.ts';
import { LOINC, officialDisplay } from './code-systems.ts';
import { type LookUp, lookUpCodes } from './translation.store.ts';

const MAX_LOOK_UPS_IN_STATEMENT = 256;
const MAX_STATEMENTS_IN_FLIGHT = 4;

/** A coding as a source gave it. */
export type LocalCoding = Pick<Coding, 'system' | 'code'>;

export interface Translator {
  /**
   * What the maps say about these codings, a facility's map before its organisation's. Repeats, codings
   * without a code and LOINC codings may be given and cost nothing. Give the answer to `applyMap`.
   */
  translate(scope: FacilityScope, codings: Iterable<LocalCoding>): Promise<Translations>;
}

export function createTranslator(deps: { db: Queryable }): Translator {
  const lookUp = createOrganisationBatcher<LookUp, Translations>({
    load: (organisationId, lookUps) => lookUpCodes(deps.db, { organisationId }, lookUps),
    maxKeys: MAX_LOOK_UPS_IN_STATEMENT,
    maxInFlight: MAX_STATEMENTS_IN_FLIGHT,
  });
  return {
    async translate(scope, codings) {
      const wanted = distinctLocal(codings);
      if (wanted.length === 0) return NO_TRANSLATIONS;
      return withOfficialDisplays(await lookUp({ scope, codings: wanted }));
    },
  };
}

/** What the maps say about these codings. `areMapsSame` asks later whether they still say it. */
export async function translateWatched(
  translator: Translator,
  scope: FacilityScope,
  codings: readonly LocalCoding[],
): Promise<{ translations: Translations; areMapsSame: () => Promise<boolean> }> {
  const translations = await translator.translate(scope, codings);
  return {
    translations,
    areMapsSame: async () => isDeepStrictEqual(await translator.translate(scope, codings), translations),
  };
}

function distinctLocal(codings: Iterable<LocalCoding>): LookUp['codings'] {
  const wanted = new Map<string, { system: string; code: string }>();
  for (const { system = '', code } of codings) {
    if (code === undefined || code === '' || system === LOINC) continue;
    wanted.set(translationKey({ system, code }), { system, code });
  }
  return [...wanted.values()];
}

function withOfficialDisplays(translations: Translations): Translations {
  return new Map([...translations].map(([key, targets]) => [key, targets.map(officialTarget)]));
}

/** What a map leads to, with the official display where the service knows it. */
export function officialTarget(target: StandardCoding): StandardCoding {
  const display = target.system === LOINC ? officialDisplay(target.code) : undefined;
  return display === undefined ? target : { ...target, display };
}
