/**
 * The answers of "Fetch as FHIR" (docs/lab.md): a collection Bundle, and summaries that are taken from the resources
 * themselves. Each resource is written as JSON once and used in both places. Pure.
 * Contract: FETCH-5, FETCH-10, FETCH-11, FETCH-12, FETCH-13, FETCH-14, FETCH-15, FETCH-16.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import { parseDateTime } from '../../fhir/date-time.ts';
import { LOINC } from '../../terminology/lookup/code-systems.ts';
import type { FhirResource } from './fhir-resource.ts';

/** A resource with its JSON text. */
export interface WrittenResource {
  resource: FhirResource;
  json: string;
}

export function writeResource(resource: FhirResource): WrittenResource {
  return { resource, json: JSON.stringify(resource) };
}

/**
 * A Bundle of type `collection`, as JSON text. `fullUrl` is absolute and ends in the id, so that the relative
 * references inside resolve against it (FHIR R4, "Bundle").
 */
export function collectionJson(publicBaseUrl: string, resources: readonly WrittenResource[]): string {
  const entries = resources.map(({ resource, json }) => {
    const fullUrl = JSON.stringify(`${publicBaseUrl}/fhir/${resource.resourceType}/${resource.id}`);
    return `{"fullUrl":${fullUrl},"resource":${json}}`;
  });
  const entry = entries.length === 0 ? '' : `,"entry":[${entries.join(',')}]`;
  return `{"resourceType":"Bundle","type":"collection"${entry}}`;
}

/** The resource with its summary, as JSON text: the summary's members come before `resource`. */
export function summaryJson(
  { resource, json }: WrittenResource,
  summary: Readonly<Record<string, string | undefined>>,
): string {
  const head = JSON.stringify({ localId: resource.id, resourceType: resource.resourceType, ...summary });
  return `${head.slice(0, -1)},"resource":${json}}`;
}

/** `orders`: status and code of each ServiceRequest. */
export function orderSummary(written: WrittenResource): string {
  const { resource } = written;
  return summaryJson(written, {
    status: String(resource.status),
    ...summaryCode(resource.code as CodeableConcept | undefined),
  });
}

/** `observations`: code and time of each Observation; `timeZone` is for dates without a time. */
export function observationSummary(written: WrittenResource, timeZone: string): string {
  return summaryJson(written, {
    ...summaryCode(written.resource.code as CodeableConcept | undefined),
    ...occurrenceTimes(written.resource, timeZone),
  });
}

/** `reports`: the conclusion of each DiagnosticReport; empty where it has none. */
export function reportSummary(written: WrittenResource): string {
  return summaryJson(written, { conclusion: (written.resource.conclusion as string | undefined) ?? '' });
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
 * When it was observed: `effective[x]`, else `issued`. A Period counts by its start or else its end, a Timing by its
 * first event. `occurredAt` is an ISO 8601 UTC timestamp; of a day it is midnight in `timeZone`. A month or a year has
 * none: its first instant may be of another month in UTC. `occurredOn` is the date as it was written, where it has no
 * time of day.
 */
export function occurrenceTimes(
  resource: FhirResource,
  timeZone: string,
): { occurredAt: string | undefined; occurredOn: string | undefined } {
  const written = parseDateTime(occurrenceText(resource));
  const isPoint = written?.precision === 'time' || written?.precision === 'day';
  return {
    occurredAt: isPoint ? written.span(timeZone).start.toISOString() : undefined,
    occurredOn: written?.precision === 'time' ? undefined : written?.text,
  };
}

/** As the resource has it; empty where it has no time at all. */
function occurrenceText(resource: FhirResource): string {
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
