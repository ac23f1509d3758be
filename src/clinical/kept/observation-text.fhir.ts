/**
 * The text that an Observation is kept as: FHIR R4 JSON with slots for what a fetch decides, and before it what the
 * summary beside the resource takes of it (docs/adr/0148). Pure.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import { OBSERVATION_CATEGORY } from '../../terminology/lookup/code-systems.ts';
import { applyMap, NO_TRANSLATIONS } from '../../terminology/maps/apply-map.ts';
import { mayBeMapped } from '../content/coded-content.ts';
import { officially } from '../content/official-display.ts';
import {
  type Description,
  type Identified,
  type RecordRow,
  resourceObject,
} from '../description/describe.ts';
import type { EmitContext } from '../description/element.ts';
import { hasSystem } from '../description/kinds.ts';
import type { DescribedType } from '../description/r4-elements.ts';
import { codeMembers, occurrenceText } from '../fetch/collection.fhir.ts';
import type { FhirResource } from '../fetch/fhir-resource.ts';
import { mayBeJoined } from '../observations/blood-pressure.fhir.ts';
import { asOtherSign, asVitalSign, isVitalSign } from '../observations/vital-sign.fhir.ts';
import { leavesRoomFor } from '../resources/discipline.ts';
import { OBSERVATION, type ObservationRecord } from '../resources/observation.fhir.ts';
import { membersAsObjects } from './stored-row.fhir.ts';

/**
 * The version of what {@link keptObservation} writes. Raise it by one whenever that changes for an Observation that stays
 * as it is, such as for a new element: kept texts of another version are rendered anew (docs/adr/0120).
 * `observation-text.fhir.test.ts` says when it was forgotten.
 */
export const OBSERVATION_MAPPING = 8;

/** Before and after each slot, and after each part of what stands before the resource: JSON text has neither. */
export const SLOT = '\x1d';
export const PART = '\x1c';

/** What a slot is, in its first character. The rest of it is JSON. */
export const SLOT_KINDS = {
  /** The concept `code`. */
  code: 'C',
  /** The code of a component. */
  componentCode: 'P',
  /** Another concept that is looked up in the maps. */
  lookedUp: 'V',
  /** A concept that is not looked up, but written as the maps say where another one like it is. */
  notLookedUp: 'N',
  /** `basedOn` where the source named no order that is here: what it named. */
  order: 'O',
  /** A member, or an item of one, that only the answer of a laboratory order has. */
  laboratory: 'L',
} as const;

/** In place of what the summary says of the code: it is found when the slots are filled. */
export const CODE_IN_SLOT = '';
/** The same for a vital sign with slots, and for a blood pressure, which a vital set may join: each gets its profile then. */
export const NOT_IN_PROFILE = '!';

/** Stands for the order that a result is under, and is never written. */
const SOME_ORDER = 'order';

export function keptObservation(record: ObservationRecord, organisationId: string): string {
  const { context, slots } = slottedContext(organisationId);
  const uncategorised = isUncategorised(record);
  const whole: ObservationRecord = {
    ...record,
    orderId: SOME_ORDER,
    kind: uncategorised ? 'laboratory' : record.kind,
  };
  const written = resourceObject(OBSERVATION, whole, context);
  const followsProfile = isVitalSign(written);
  const plain = followsProfile ? written : asOtherSign(written);
  const isFinal = followsProfile && slots.size === 0 && !uncategorised && !mayBeJoined(plain);
  const resource = isFinal ? asVitalSign(plain) : plain;
  const code = followsProfile && !isFinal ? NOT_IN_PROFILE : summaryOfCode(resource, slots);
  const namesOrder = record.basedOn?.some(({ id }) => id !== undefined) === true;
  const body = new SlottedText(slots, { namesOrder, uncategorised }).of(resource);
  return keptText(code, occurrenceText(plain), body);
}

/**
 * A resource whose concepts `code` and `category` may be in slots. `summary` is what the summary beside it takes of it, but
 * for its code.
 */
export function keptResource<Row extends object>(
  description: Description<DescribedType, Row>,
  record: Row & Identified,
  { organisationId, summary }: { organisationId: string; summary: (resource: FhirResource) => string },
): string {
  const { context, slots } = slottedContext(organisationId);
  const resource = resourceObject(description, record, context);
  const body = new SlottedText(slots, { namesOrder: true, uncategorised: false }).of(resource);
  return keptText(summaryOfCode(resource, slots), summary(resource), body);
}

function keptText(code: string, summary: string, body: string): string {
  return `${code}${PART}${JSON.stringify(summary)}${PART}${body}`;
}

/** By the concept that is written: the one that it is made of. */
type Slots = ReadonlyMap<unknown, CodeableConcept>;

/** A context that writes what no map changes, and collects what one may. */
function slottedContext(organisationId: string): { context: EmitContext; slots: Slots } {
  const slots = new Map<unknown, CodeableConcept>();
  const translate = (concept: CodeableConcept) => {
    const own = officially(applyMap(concept, NO_TRANSLATIONS));
    if (mayBeMapped(concept)) slots.set(own, concept);
    return own;
  };
  return { context: { organisationId, translate }, slots };
}

/** The record that is read once an import has stored this row. */
export function storedObservation({ id, values, children }: RecordRow): ObservationRecord {
  const ranges = children.observation_reference_range ?? [];
  const rangesOf = (component: number) => {
    const own = ranges.filter((range) => range.component === component).map(membersAsObjects);
    return own.length === 0 ? {} : { referenceRanges: own };
  };
  const components = (children.observation_component ?? []).map((component, position) => ({
    ...membersAsObjects(component),
    ...rangesOf(position),
  }));
  const { issuedSource, ...members } = membersAsObjects(values);
  return {
    ...members,
    id,
    ...(issuedSource === undefined ? {} : { issued: issuedSource }),
    ...(components.length === 0 ? {} : { components }),
    ...rangesOf(-1),
  } as unknown as ObservationRecord;
}

/** A result whose source said no category but its own is of the laboratory that reported it. */
export function isUncategorised(record: ObservationRecord): boolean {
  return (
    record.kind === 'other' &&
    leavesRoomFor('laboratory', record.category) &&
    !hasSystem(record, OBSERVATION_CATEGORY)
  );
}

function summaryOfCode({ code }: FhirResource, slots: Slots): string {
  return slots.has(code) ? CODE_IN_SLOT : codeMembers(code as CodeableConcept | undefined);
}

interface Unsaid {
  namesOrder: boolean;
  uncategorised: boolean;
}

/** Writes the text of a resource. */
class SlottedText {
  private readonly slots: Slots;
  private readonly unsaid: Unsaid;

  constructor(slots: Slots, unsaid: Unsaid) {
    this.slots = slots;
    this.unsaid = unsaid;
  }

  of({ resourceType, id, ...elements }: FhirResource): string {
    const members = Object.entries(elements).map(([name, value]) => this.member(name, value));
    return `{"resourceType":"${resourceType}","id":"${id}"${members.join('')}}`;
  }

  /** With the comma before it. */
  private member(name: string, value: unknown): string {
    if (value === undefined) return '';
    if (name === 'basedOn' && !this.unsaid.namesOrder) {
      const [, ...others] = value as unknown[];
      return slot(SLOT_KINDS.order, others.map((one) => JSON.stringify(one)).join(','));
    }
    if (name === 'category' && this.unsaid.uncategorised) return this.categories(value as object[]);
    return `,"${name}":${this.text(name, value)}`;
  }

  /** The last one is that of a laboratory. */
  private categories(categories: readonly object[]): string {
    const last = JSON.stringify(categories.at(-1));
    const own = categories.slice(0, -1).map((one) => this.text('category', one));
    if (own.length === 0) return slot(SLOT_KINDS.laboratory, `,"category":[${last}]`);
    return `,"category":[${own.join(',')}${slot(SLOT_KINDS.laboratory, `,${last}`)}]`;
  }

  private text(name: string, value: unknown, kind = KINDS[name]): string {
    if (this.slots.size === 0) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map((one) => this.text(name, one)).join(',')}]`;
    if (name === 'component') return this.component(value as object);
    const concept = this.slots.get(value);
    return concept === undefined || kind === undefined
      ? JSON.stringify(value)
      : slot(kind, JSON.stringify(concept));
  }

  private component(component: object): string {
    const members = Object.entries(component).map(
      ([name, value]) =>
        `"${name}":${this.text(name, value, name === 'code' ? SLOT_KINDS.componentCode : KINDS[name])}`,
    );
    return `{${members.join(',')}}`;
  }
}

/** By the element that has the concept. */
const KINDS: Readonly<Record<string, string>> = {
  code: SLOT_KINDS.code,
  valueCodeableConcept: SLOT_KINDS.lookedUp,
  interpretation: SLOT_KINDS.lookedUp,
  category: SLOT_KINDS.notLookedUp,
  dataAbsentReason: SLOT_KINDS.notLookedUp,
};

function slot(kind: string, json: string): string {
  return `${SLOT}${kind}${json}${SLOT}`;
}
