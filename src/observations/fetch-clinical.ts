/**
 * Fetch as FHIR (specification, "Fetch as FHIR"): a record is loaded in scope, allowed by the patient's
 * privacy setting, traced, translated and written.
 *
 * What was written is kept, within a bound of bytes, for as long as it is current: every fetch asks the
 * database for the record's version in the one round trip that also loads it when it has changed, and asks
 * the terminology maps again for every local code (docs/adr/0041).
 */
import { LRUCache } from 'lru-cache';
import type { Coding } from '../fhir/coded.ts';
import { notFound } from '../platform/http/errors.ts';
import type { AccessLog } from '../privacy/access-log.ts';
import { authoriseAccess } from '../privacy/authorise-access.ts';
import type { FacilityContext } from '../tenancy/access.ts';
import { isUuid } from '../tenancy/check-access.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import type { Translations } from '../terminology/apply-map.ts';
import type { UnmappedPlace, UnmappedRecorder } from '../terminology/record-unmapped.ts';
import type { Translator } from '../terminology/translate.ts';
import type { UnmappedCode } from './coded-content.ts';
import type { Loaded, RecordKey } from './loaded.ts';

/** Characters of written answers that one kind of fetch keeps at most. */
const KEPT_CHARACTERS = 64 * 1024 * 1024;

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
  name: string;
  /** For the access log. */
  action: string;
  resourceType: string;
  load: (key: RecordKey) => Promise<Loaded<RecordType> | undefined>;
  /** Codings to look up in the terminology maps. */
  codings: (record: RecordType) => Coding[];
  write: (record: RecordType, translations: Translations, scope: FacilityScope) => WrittenAnswer;
  /** Where codes of a resource of this type count as unmapped. */
  placeOf: (resourceType: string) => UnmappedPlace;
}

interface Written<RecordType> {
  version: number;
  record: RecordType;
  codings: Coding[];
  /** What the maps said when it was written. */
  translations: string;
  answer: WrittenAnswer;
}

/** 404 outside the scope; 403 when the purpose is refused. Answers JSON text. */
export function createClinicalFetch<RecordType extends object>(
  { accessLog, translator, unmapped }: FetchDependencies,
  source: ClinicalSource<RecordType>,
): (id: string, context: FacilityContext) => Promise<string> {
  const kept = new LRUCache<string, Written<RecordType>>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ answer }) => 2 * answer.text.length,
  });

  return async (givenId, context) => {
    if (!isUuid(givenId)) throw notFound(source.name);
    const { scope } = context;
    const id = givenId.toLowerCase();
    const key = `${scope.organisationId}/${scope.facilityId}/${id}`;
    const held = kept.get(key);
    const loaded = await source.load({ scope, id, heldVersion: held?.version ?? null });
    if (loaded === undefined) throw notFound(source.name);
    const { patientId, refusedPurposes } = loaded;
    const trace = { patientId, action: source.action, resourceType: source.resourceType, resourceId: id };
    const current = currentRecord(loaded, held);
    const codings = current === held?.record ? held.codings : source.codings(current);
    const [translations] = await Promise.all([
      translator.translate(scope, codings),
      authoriseAccess(accessLog, context, { ...trace, refusedPurposes }),
    ]);
    const said = JSON.stringify([...translations]);
    const same = held !== undefined && current === held.record && said === held.translations;
    const answer = same ? held.answer : source.write(current, translations, scope);
    if (!same)
      kept.set(key, { version: loaded.version, record: current, codings, translations: said, answer });
    for (const code of answer.unmapped) unmapped.met(scope, source.placeOf(code.resourceType), [plain(code)]);
    return answer.text;
  };
}

function plain({ system, code, display }: UnmappedCode): Coding {
  return {
    code,
    ...(system === undefined ? {} : { system }),
    ...(display === undefined ? {} : { display }),
  };
}

function currentRecord<RecordType>(
  { record }: Loaded<RecordType>,
  held: Written<RecordType> | undefined,
): RecordType {
  const current = record ?? held?.record;
  if (current === undefined) throw new Error('a load without a held version answered no record');
  return current;
}
