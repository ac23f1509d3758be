/** Fills the slots of the text that an Observation is kept as (docs/adr/0148). Pure. Contract: FETCH-11, TERM-1. */
import type { CodeableConcept, Coding } from '../../fhir/coded.ts';
import { parseFhirJson } from '../../fhir/json.ts';
import { referencesIn } from '../../fhir/reference.ts';
import { applyMap, type Translations } from '../../terminology/maps/apply-map.ts';
import { codingsOf, unmappedAmong } from '../content/coded-content.ts';
import { officially } from '../content/official-display.ts';
import { codeMembers, type SummarisedText, writeResource } from '../fetch/collection.fhir.ts';
import type { FhirResource } from '../fetch/fhir-resource.ts';
import { joinPressures } from '../observations/blood-pressure.fhir.ts';
import { asVitalSign, hasVitalSignCode } from '../observations/vital-sign.fhir.ts';
import { CODE_IN_SLOT, NOT_IN_PROFILE, PART, SLOT, SLOT_KINDS } from './observation-text.fhir.ts';

/** An Observation as it is kept. It is taken apart when it is written: many wait for that at a time. */
export interface KeptObservation {
  id: string;
  /** The order that it is under. */
  orderId: string | undefined;
  text: string;
}

export function openObservation(id: string, orderId: string, text: string): KeptObservation {
  return { id, orderId: orderId === '' ? undefined : orderId, text };
}

const LOOKED_UP: ReadonlySet<string | undefined> = new Set([
  SLOT_KINDS.code,
  SLOT_KINDS.componentCode,
  SLOT_KINDS.lookedUp,
]);

/** The codings of the slots that are looked up in the maps. */
export function slotCodings({ text }: { text: string }): Coding[] {
  const concepts: CodeableConcept[] = [];
  for (let begin = text.indexOf(SLOT); begin !== -1; ) {
    const end = text.indexOf(SLOT, begin + 1);
    if (end === -1) throw new SyntaxError('a slot of a kept text has no end');
    if (LOOKED_UP.has(text[begin + 1])) concepts.push(conceptIn(text.slice(begin + 1, end)));
    begin = text.indexOf(SLOT, end + 1);
  }
  return codingsOf(concepts);
}

/** What slots are filled with. */
export interface Filling {
  translations: Translations;
  /** True for the answer of a laboratory order. */
  inLaboratoryOrder: boolean;
}

export function fillObservation(kept: KeptObservation, filling: Filling): SummarisedText {
  const filled = filledText(kept, filling);
  return filled.needsProfile ? vitalSign(resourceIn(filled), filled.summary, filling.translations) : filled;
}

/**
 * The Observations of one vital set: a systolic and a diastolic pressure that belong together are one. Those that follow
 * their profiles already are no pressures.
 */
export function fillVitalSet(kept: readonly KeptObservation[], translations: Translations): SummarisedText[] {
  const texts = kept.map((one) => ({
    ...filledText(one, { translations, inLaboratoryOrder: false }),
    inOrder: one.orderId !== undefined,
  }));
  // Only pressures, and signs whose code a map decides, still need their profile.
  if (!texts.some(({ needsProfile }) => needsProfile)) return texts;
  const joined = joinedOf(texts.filter(({ needsProfile }) => needsProfile));
  const parts = texts.filter(({ id, needsProfile }) => needsProfile && !joined.has(id));
  const gone = new Set(parts.map(keyOf));
  const isLed = ({ json }: { json: string }) => referencesIn(json).some((key) => gone.has(key));
  const changed =
    gone.size > 0 && texts.some((one) => !one.needsProfile && isLed(one))
      ? joinedOf(texts.filter((one) => one.needsProfile || isLed(one)))
      : joined;
  return texts.flatMap((text) => {
    const resource = changed.get(text.id);
    if (resource === undefined) return gone.has(keyOf(text)) ? [] : [text];
    if (text.needsProfile) return [vitalSign(resource, text.summary, translations)];
    return [{ ...text, json: JSON.stringify(resource) }];
  });
}

function keyOf({ id }: { id: string }): string {
  return `Observation/${id}`;
}

function joinedOf(texts: readonly (FilledText & { inOrder: boolean })[]): Map<string, FhirResource> {
  const members = texts.map((text) => ({ resource: resourceIn(text), inOrder: text.inOrder }));
  return new Map(joinPressures(members).map((resource) => [resource.id, resource]));
}

interface FilledText extends SummarisedText {
  /** True for a vital sign whose text does not follow its profile yet. */
  needsProfile: boolean;
}

function filledText(kept: KeptObservation, { translations, inLaboratoryOrder }: Filling): FilledText {
  return fillSlots({ resourceType: 'Observation', ...kept }, translations, (slot) =>
    memberOf(slot, kept, inLaboratoryOrder),
  );
}

/** A resource as it is kept. */
export interface KeptResource {
  resourceType: string;
  id: string;
  text: string;
}

/** Fills the text of a resource that is no Observation (`keptResource`). */
export function fillResource(kept: KeptResource, translations: Translations): SummarisedText {
  return fillSlots(kept, translations, () => '');
}

function fillSlots(
  { resourceType, id, text }: KeptResource,
  translations: Translations,
  memberIn: (slot: string) => string,
): FilledText {
  const [keptCode, quoted, body] = partsOf(text);
  const summary = JSON.parse(quoted) as string;
  const needsProfile = keptCode === NOT_IN_PROFILE;
  if (!body.includes(SLOT))
    return { resourceType, id, json: body, code: keptCode, summary, unmapped: NONE, needsProfile };
  // Text, a slot, text and so on.
  const pieces = body.split(SLOT);
  const codes: CodeableConcept[] = [];
  let json = pieces[0] ?? '';
  for (let place = 1; place < pieces.length; place += 2) {
    const slot = pieces[place] ?? '';
    const concept = conceptOf(slot, translations);
    if (concept !== undefined && SAYS_WHAT.has(slot[0])) codes.push(concept);
    json += concept === undefined ? memberIn(slot) : JSON.stringify(concept);
    json += pieces[place + 1] ?? '';
  }
  // Codes of components come after the code of the whole.
  const code = keptCode === CODE_IN_SLOT ? codes[0] : undefined;
  return {
    resourceType,
    id,
    json,
    code: code === undefined ? keptCode : codeMembers(code),
    summary,
    unmapped: codes.length === 0 ? NONE : unmappedAmong({ resourceType, id }, codes, translations),
    needsProfile: needsProfile || (code !== undefined && hasVitalSignCode(code)),
  };
}

/** What stands before the resource, and the resource. */
function partsOf(text: string): [code: string, summary: string, body: string] {
  const afterCode = text.indexOf(PART);
  const afterSummary = text.indexOf(PART, afterCode + 1);
  return [text.slice(0, afterCode), text.slice(afterCode + 1, afterSummary), text.slice(afterSummary + 1)];
}

/** The text with what its order decides. Slots for the maps stay. */
export function settleOrder(kept: KeptObservation, inLaboratoryOrder: boolean): string {
  const [first = '', ...rest] = kept.text.split(SLOT);
  return rest.reduce((text, piece, index) => {
    if (index % 2 === 1) return text + piece;
    return text + (isMember(piece) ? memberOf(piece, kept, inLaboratoryOrder) : `${SLOT}${piece}${SLOT}`);
  }, first);
}

const NONE: readonly never[] = [];
/** Kinds of the concepts that say what was measured. */
const SAYS_WHAT: ReadonlySet<string | undefined> = new Set([SLOT_KINDS.code, SLOT_KINDS.componentCode]);

/** The concept in a slot as the maps make it; undefined for a slot of a member. */
function conceptOf(slot: string, translations: Translations): CodeableConcept | undefined {
  return isMember(slot) ? undefined : officially(applyMap(conceptIn(slot), translations));
}

function isMember(slot: string): boolean {
  return slot[0] === SLOT_KINDS.order || slot[0] === SLOT_KINDS.laboratory;
}

function memberOf(slot: string, { orderId }: KeptObservation, inLaboratoryOrder: boolean): string {
  if (slot[0] === SLOT_KINDS.order) return basedOn(orderId, slot.slice(1));
  return inLaboratoryOrder ? slot.slice(1) : '';
}

/** As an object, to be looked into or changed before it is sent. */
export function resourceIn({ json }: { json: string }): FhirResource {
  return parseFhirJson(json) as FhirResource;
}

function vitalSign(plain: FhirResource, summary: string, translations: Translations): SummarisedText {
  const written = writeResource(asVitalSign(plain), translations);
  return { ...written, code: codeMembers(written.resource.code as CodeableConcept), summary };
}

function conceptIn(slot: string): CodeableConcept {
  return JSON.parse(slot.slice(1)) as CodeableConcept;
}

/** The order that the result is under goes before what the source named. */
function basedOn(orderId: string | undefined, others: string): string {
  const order = orderId === undefined ? '' : `{"reference":"ServiceRequest/${orderId}"}`;
  const both = [order, others].filter((one) => one !== '').join(',');
  return both === '' ? '' : `,"basedOn":[${both}]`;
}
