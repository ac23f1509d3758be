/**
 * Fetch as FHIR: a record is loaded in scope, allowed by the patient's privacy setting, traced, translated and
 * written.
 * Contract: ACC-4, FETCH-22, LOG-2.
 */
import type { Coding } from '../../fhir/coded.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { utf8Of } from '../../platform/utf8.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { AccessAction, AccessLog } from '../../privacy/access-log/access-log.ts';
import { authoriseAccess } from '../../privacy/authorise-access.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { RecordName } from '../../tenancy/record-names.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import { mayStartMap } from '../../terminology/lookup/code-systems.ts';
import type { Translator } from '../../terminology/lookup/translate.ts';
import type { Translations } from '../../terminology/maps/apply-map.ts';
import type { UnmappedPlace, UnmappedRecorder } from '../../terminology/unmapped/record-unmapped.ts';
import type { UnmappedCode } from '../content/coded-content.ts';
import { type Loaded, onceAuthorised, type RecordKey, type RecordPatient } from './record-loader.ts';

export interface FetchDependencies {
  db: Queryable;
  /** Absolute base address of the API. */
  publicBaseUrl: string;
  accessLog: AccessLog;
  translator: Translator;
  unmapped: UnmappedRecorder;
}

/** An answer as it is sent, and the local codes in it that no map leads from. */
export interface WrittenAnswer {
  /** JSON, in pieces. */
  pieces: readonly string[];
  unmapped: readonly UnmappedCode[];
}

export interface ClinicalSource<RecordType> {
  /** What it is called in a 404: `The laboratory order`. */
  name: RecordName;
  /** For the access log. */
  action: AccessAction;
  resourceType: string;
  load: (key: RecordKey) => Promise<Loaded<RecordType> | undefined>;
  /** The id of the record that replaced this one, which is gone. */
  findReplacement?: (scope: FacilityScope, id: string) => Promise<string | undefined>;
  /** Codings to look up in the terminology maps. */
  codings: (record: RecordType) => Coding[];
  write: (record: RecordType, translations: Translations, scope: FacilityScope) => WrittenAnswer;
  /** Where codes of a resource of this type count as unmapped. */
  placeOf: (resourceType: string) => UnmappedPlace;
}

/** Answers the bytes of JSON. 404 outside the scope; 403 when the purpose is refused. */
export function createClinicalFetch<RecordType>(
  { accessLog, translator, unmapped }: Pick<FetchDependencies, 'accessLog' | 'translator' | 'unmapped'>,
  source: ClinicalSource<RecordType>,
): (id: string, context: FacilityContext) => Promise<Buffer> {
  const { action, resourceType } = source;
  return async function fetch(givenId, context) {
    if (!isUuid(givenId)) throw notFound(source.name);
    const { scope } = context;
    const id = givenId.toLowerCase();
    const authorise = (patient: RecordPatient) =>
      authoriseAccess(accessLog, context, { ...patient, action, resourceType, resourceId: id });
    const loaded = await source.load({ scope, id }).catch(onceAuthorised(authorise));
    if (loaded === undefined) return fetch(await requireReplacement(source, scope, id), context);
    const { record, patientId, refusedPurposes } = loaded;
    // An answer waits for what takes longer, not for both.
    const [translations] = await Promise.all([
      translator.translate(scope, source.codings(record).filter(mayStartMap)),
      authorise({ patientId, refusedPurposes }),
    ]);
    const written = source.write(record, translations, scope);
    for (const code of written.unmapped) unmapped.met(scope, source.placeOf(code.resourceType), [code]);
    return utf8Of(written.pieces);
  };
}

/** The id of the record that replaced one that is gone; 404 where none did. */
export async function requireReplacement(
  { name, findReplacement }: Pick<ClinicalSource<never>, 'name' | 'findReplacement'>,
  scope: FacilityScope,
  id: string,
): Promise<string> {
  const replacement = await findReplacement?.(scope, id);
  if (replacement === undefined) throw notFound(name);
  return replacement;
}
