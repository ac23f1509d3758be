/**
 * Fetch as FHIR: a record is loaded in scope, allowed by the patient's privacy setting, traced, translated and
 * written.
 *
 * What was written is kept, within a bound of bytes, for as long as it is current: every fetch asks the
 * database for the record's version in the one round trip that also loads it when it has changed, and asks
 * the terminology maps again for every local code (docs/adr/0041).
 * Contract: ACC-4, FETCH-22, LOG-2.
 */
import { LRUCache } from 'lru-cache';
import type { Coding } from '../../fhir/coded.ts';
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
import type { Loaded, RecordKey } from './record-loader.ts';

/** Bytes of written answers that one kind of fetch keeps at most. */
const KEPT_BYTES = 8 * 1024 * 1024;

export interface FetchDependencies {
  accessLog: AccessLog;
  translator: Translator;
  unmapped: UnmappedRecorder;
}

/** An answer as it is sent, and the local codes in it that no map leads from. */
export interface WrittenAnswer {
  /** JSON. */
  text: string;
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

/** An answer that is kept: good while the record has this version and the maps say the same. */
interface Kept {
  version: number;
  codings: readonly Coding[];
  /** What the maps said when it was written. */
  said: string;
  bytes: Buffer;
  unmapped: readonly UnmappedCode[];
}

/** What the maps say of some codings. */
interface LookedUp {
  codings: readonly Coding[];
  translations: Translations;
}

/** Answers the bytes of JSON. 404 outside the scope; 403 when the purpose is refused. */
export function createClinicalFetch<RecordType>(
  { accessLog, translator, unmapped }: FetchDependencies,
  source: ClinicalSource<RecordType>,
): (id: string, context: FacilityContext) => Promise<Buffer> {
  const kept = new LRUCache<string, Kept>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + 1,
  });

  const lookedUp = (record: RecordType) => source.codings(record).filter(mayStartMap);

  const authorise = (
    { patientId, refusedPurposes }: Loaded<RecordType>,
    resourceId: string,
    context: FacilityContext,
  ) => {
    const { action, resourceType } = source;
    const trace = { patientId, action, resourceType, resourceId };
    return authoriseAccess(accessLog, context, { ...trace, refusedPurposes });
  };

  /**
   * `loaded` has no record where the one that is held is current, but the maps say something else of it now. By the time
   * that it is loaded anew it may be of another patient, who is asked as well.
   */
  async function write(
    key: RecordKey,
    loaded: Loaded<RecordType>,
    looked: LookedUp,
    context: FacilityContext,
  ): Promise<Kept | undefined> {
    const { version, record } = loaded;
    if (record === undefined) {
      const whole = await source.load({ ...key, heldVersion: null });
      if (whole?.record === undefined) return undefined;
      if (whole.patientId !== loaded.patientId) await authorise(whole, key.id, context);
      return write(key, whole, await lookUp(key.scope, lookedUp(whole.record)), context);
    }
    const { text, unmapped: local } = source.write(record, looked.translations, key.scope);
    const said = textOf(looked.translations);
    return { version, codings: looked.codings, said, bytes: Buffer.from(text), unmapped: local };
  }

  async function lookUp(scope: FacilityScope, codings: readonly Coding[]): Promise<LookedUp> {
    return { codings, translations: await translator.translate(scope, codings) };
  }

  return async function fetch(givenId, context) {
    if (!isUuid(givenId)) throw notFound(source.name);
    const { scope } = context;
    const id = givenId.toLowerCase();
    const name = `${scope.organisationId}/${scope.facilityId}/${scope.timeZone}/${id}`;
    const held = kept.get(name);
    const key = { scope, id, heldVersion: held?.version ?? null };
    const loaded = await source.load(key);
    if (loaded === undefined) return fetch(await requireReplacement(source, scope, id), context);
    const codings = loaded.record === undefined ? held?.codings : lookedUp(loaded.record);
    // An order waits for what takes longer, not for both.
    const [looked] = await Promise.all([lookUp(scope, codings ?? []), authorise(loaded, id, context)]);
    const isCurrent = loaded.record === undefined && textOf(looked.translations) === held?.said;
    const current = isCurrent ? held : await write(key, loaded, looked, context);
    if (current === undefined) throw notFound(source.name);
    if (!isCurrent) kept.set(name, current);
    for (const code of current.unmapped) unmapped.met(scope, source.placeOf(code.resourceType), [code]);
    return current.bytes;
  };
}

/** 404 where the record was not replaced by another. */
async function requireReplacement(
  { name, findReplacement }: Pick<ClinicalSource<never>, 'name' | 'findReplacement'>,
  scope: FacilityScope,
  id: string,
): Promise<string> {
  const replacement = await findReplacement?.(scope, id);
  if (replacement === undefined) throw notFound(name);
  return replacement;
}

function textOf(translations: Translations): string {
  return translations.size === 0 ? '' : JSON.stringify([...translations]);
}
