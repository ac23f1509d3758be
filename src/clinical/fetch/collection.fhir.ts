/**
 * The answers of "Fetch as FHIR" (docs/lab.md): a collection Bundle, and summaries that are taken from the resources
 * themselves. Each resource is written as JSON once and used in both places. Pure.
 * Contract: FETCH-5, FETCH-10, FETCH-11, FETCH-12, FETCH-13, FETCH-14, FETCH-15, FETCH-16.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import { instantText, parseDateTime } from '../../fhir/date-time.ts';
import { firstValue } from '../../platform/json-depth.ts';
import { LOINC } from '../../terminology/lookup/code-systems.ts';
import type { Translations } from '../../terminology/maps/apply-map.ts';
import { type UnmappedCode, unmappedCodes } from '../content/coded-content.ts';
import type { FhirResource } from './fhir-resource.ts';

/** The JSON text of a resource. */
interface WrittenText {
  resourceType: string;
  id: string;
  json: string;
  /** Its local codes that no map leads from. */
  unmapped: readonly UnmappedCode[];
}

/** A resource with its JSON text. */
export interface WrittenResource extends WrittenText {
  resource: FhirResource;
}

/** `translations` were applied to it. */
export function writeResource(resource: FhirResource, translations: Translations): WrittenResource {
  const { resourceType, id } = resource;
  const unmapped = unmappedCodes(resource, translations);
  return { resourceType, id, resource, json: JSON.stringify(resource), unmapped };
}

/**
 * A Bundle of type `collection`, as JSON text. `fullUrl` is absolute and ends in the id, so that the relative
 * references inside resolve against it (FHIR R4, "Bundle").
 */
export function collectionJson(publicBaseUrl: string, resources: readonly WrittenText[]): string[] {
  // Types and ids have nothing to escape.
  const base = JSON.stringify(`${publicBaseUrl}/fhir/`).slice(0, -1);
  const head = '{"resourceType":"Bundle","type":"collection"';
  if (resources.length === 0) return [`${head}}`];
  const entries = listed(resources, ({ resourceType, id }) => `{"fullUrl":${base}${resourceType}/${id}"`);
  return [`${head},"entry":[`, ...entries, ']}'];
}

/**
 * The JSON text of one entry of the Bundle in an answer; undefined where there is none. It is cut out: to parse the answer of
 * a large order takes seconds, in which nobody else is answered.
 */
export function entryJson(answer: Buffer, resourceType: string, id: string): string | undefined {
  // A string that has these characters has backslashes among them.
  const address = `/fhir/${resourceType}/${id}","resource":`;
  const found = answer.indexOf(address);
  return found === -1 ? undefined : firstValue(answer.toString('utf8', found + address.length));
}

/** A resource with what its summary takes of it. */
export interface SummarisedText extends WrittenText {
  /** `code` and `codeSystem`, as JSON members. */
  code: string;
  /** Of an Observation its time, as the resource has it; of others, more members as JSON. Empty for nothing. */
  summary: string;
}

/** `observations`: code and time of each Observation; `timeZone` is for dates without a time. */
export function observationSummaries(written: readonly SummarisedText[], timeZone: string): string[] {
  // The results of an order were mostly observed at the same time.
  const known = new Map<string, string>();
  const timesIn = (occurrence: string) => {
    const members = JSON.stringify(timesOf(occurrence, timeZone)).slice(1, -1);
    return members === '' ? '' : `,${members}`;
  };
  return listed(written, ({ id, code, summary: occurrence }) => {
    const times = known.get(occurrence) ?? timesIn(occurrence);
    known.set(occurrence, times);
    return `{"localId":"${id}","resourceType":"Observation",${code}${times}`;
  });
}

/** Objects with commas between them, in pieces: `begin` gives the members before `resource`. */
function listed<Item extends WrittenText>(items: readonly Item[], begin: (item: Item) => string): string[] {
  const pieces: string[] = [];
  for (const item of items) {
    pieces.push(`${pieces.length === 0 ? '' : '},'}${begin(item)},"resource":`, item.json);
  }
  if (pieces.length > 0) pieces.push('}');
  return pieces;
}

/** `code` and `codeSystem` of a summary, as JSON members. */
export function codeMembers(concept: CodeableConcept | undefined): string {
  return JSON.stringify(summaryCode(concept)).slice(1, -1);
}

/** What the summary of an order takes of it, beside its code. */
export function orderSummary({ status }: FhirResource): string {
  return `"status":${JSON.stringify(status)}`;
}

/** `orders`: status and code of each ServiceRequest. */
export function orderSummaries(written: readonly SummarisedText[]): string[] {
  return listed(
    written,
    ({ id, code, summary }) => `{"localId":"${id}","resourceType":"ServiceRequest",${summary},${code}`,
  );
}

/** What the summary of a report takes of it: its conclusion, empty where it has none. */
export function reportSummary({ conclusion = '' }: FhirResource): string {
  return `"conclusion":${JSON.stringify(conclusion)}`;
}

/** `reports`: the conclusion of each DiagnosticReport. */
export function reportSummaries(written: readonly SummarisedText[]): string[] {
  return listed(
    written,
    ({ id, summary }) => `{"localId":"${id}","resourceType":"DiagnosticReport",${summary}`,
  );
}

/**
 * The LOINC code; without one, the local code; for text alone, the text. `codeSystem` tells them apart: it is
 * undefined where the resource names none.
 */
export function summaryCode(concept: CodeableConcept | undefined): {
  code: string;
  codeSystem: string | undefined;
} {
  const codings = concept?.coding ?? [];
  const loinc = codings.find(({ system, code }) => system === LOINC && code !== undefined);
  const coded = loinc ?? codings.find(({ code }) => code !== undefined);
  return { code: coded?.code ?? concept?.text ?? '', codeSystem: coded?.system };
}

/**
 * When it was observed, of {@link occurrenceText}. `occurredAt` is an ISO 8601 UTC timestamp; of a day it is midnight in
 * `timeZone`. A month or a year has none: its first instant may be of another month in UTC. `occurredOn` is the date as it
 * was written, where it has no time of day.
 */
export function timesOf(
  text: string,
  timeZone: string,
): { occurredAt: string | undefined; occurredOn: string | undefined } {
  const written = parseDateTime(text);
  const isPoint = written?.precision === 'time' || written?.precision === 'day';
  return {
    occurredAt: isPoint ? instantText(written.span(timeZone).start) : undefined,
    occurredOn: written?.precision === 'time' ? undefined : written?.text,
  };
}

/**
 * `effective[x]`, else `issued`, as the resource has it; empty where it has no time at all. A Period counts by its start or
 * else its end, a Timing by its first event.
 */
export function occurrenceText(resource: FhirResource): string {
  const period = resource.effectivePeriod as { start?: string; end?: string } | undefined;
  const timing = resource.effectiveTiming as { event?: string[] } | undefined;
  const text =
    resource.effectiveDateTime ??
    resource.effectiveInstant ??
    period?.start ??
    period?.end ??
    timing?.event?.[0] ??
    resource.issued;
  return typeof text === 'string' ? text : '';
}
