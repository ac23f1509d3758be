/**
 * GET /encounters/fhir/Encounter and POST /encounters/fhir/Encounter/_search.
 * Contract: ENC-2, ENC-23, ENC-30, ENC-33.
 */
import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { PATIENT_ID } from '../clinical/fetch/fetched-examples.ts';
import { type SearchsetEntry, searchsetJson } from '../fhir/bundle.ts';
import { FHIR_JSON, requireFhirJson } from '../fhir/media-type.ts';
import { informationOutcome } from '../fhir/operation-outcome.ts';
import type { Reply, Route, RouteDocs } from '../platform/http/route.ts';
import { type Access, type FacilityContext, facilityRoute } from '../tenancy/callers/access.ts';
import { encounterJson } from './encounter.fhir.ts';
import { EncounterSearchsetSchema } from './encounter.schema.ts';
import { createSearchEncounters, type SearchEncountersDependencies } from './search-encounters.ts';
import {
  type EncounterSearch,
  EncounterSearchQuery,
  normaliseEncounterQuery,
  parseEncounterSearch,
} from './search-parameters.ts';

export interface SearchEncountersRouteDependencies extends SearchEncountersDependencies {
  /** Absolute base address of the API. */
  publicBaseUrl: string;
}

/** The search by query parameters. */
export function searchEncountersRoute(deps: SearchEncountersRouteDependencies): Route<Access> {
  return searchRoute(deps, 'parsed', {
    operationId: 'searchEncounters',
    summary: 'Search the Encounters of one patient',
    description:
      'Newest first. Follow the `next` link until there is none. The service checks and logs every page again.',
    tag: 'Encounters',
  });
}

/** The same search as a form; its `next` link is a GET. */
export function searchEncountersFormRoute(deps: SearchEncountersRouteDependencies): Route<Access> {
  return searchRoute(deps, 'form', {
    operationId: 'searchEncountersByForm',
    summary: 'Search the Encounters of one patient, with the parameters as a form',
    description:
      'For clients that must not put ids into addresses. Parameters may be in the query or in the form.',
    tag: 'Encounters',
  });
}

function searchRoute(
  deps: SearchEncountersRouteDependencies,
  bodyMode: 'parsed' | 'form',
  docs: RouteDocs,
): Route<Access> {
  const searchEncounters = createSearchEncounters(deps);
  const collection = `${deps.publicBaseUrl}/encounters/fhir/Encounter`;

  async function handle(
    { query }: { query: Static<typeof EncounterSearchQuery> },
    context: FacilityContext,
  ): Promise<Reply> {
    requireFhirJson(context.headers, query._format);
    const search = parseEncounterSearch(query, context.scope.timeZone);
    const { encounters, next, replacedBy } = await searchEncounters(search, context);
    const link = (cursor: string | undefined) =>
      `${collection}?${searchText({ ...search, cursor }, context.purposeOfUse)}`;
    const body = searchsetJson({
      self: link(search.cursor),
      next: next && link(next),
      entries: encounters.map((encounter) => ({
        fullUrl: `${collection}/${encounter.id}`,
        resource: encounterJson(encounter),
      })),
      outcome: replacedBy === null ? undefined : replacedNotice(search.patientId, replacedBy),
    });
    return { contentType: FHIR_JSON, body };
  }

  return facilityRoute(
    {
      permissions: ['encounters.access', 'encounters.fhir.encounter.search'],
      module: 'encounters',
      purposeOfUse: 'required',
    },
    {
      docs,
      query: EncounterSearchQuery,
      normaliseQuery: normaliseEncounterQuery,
      bodyMode,
      bodyExample: { patient: PATIENT_ID, purposeOfUse: 'TREATMENT', _count: 20 },
      responses: {
        200: {
          description: 'One page of the result.',
          schema: EncounterSearchsetSchema,
          mediaType: 'application/fhir+json',
        },
      },
      handle,
    },
  );
}

function replacedNotice(patientId: string, survivorId: string): SearchsetEntry {
  const outcome = informationOutcome(
    `Patient/${patientId} was replaced by Patient/${survivorId}. Search for that patient too.`,
  );
  return { fullUrl: `urn:uuid:${randomUUID()}`, resource: JSON.stringify(outcome) };
}

/** The search as it was understood, defaults included, as a query. */
function searchText(search: EncounterSearch, purposeOfUse: string): string {
  const parameters = new URLSearchParams({ patient: search.patientId, purposeOfUse });
  if (search.id !== undefined) parameters.append('_id', search.id);
  if (search.status !== undefined) parameters.append('status', search.status);
  for (const date of search.dates) parameters.append('date', date);
  parameters.append('_count', String(search.count));
  if (search.cursor !== undefined) parameters.append('cursor', search.cursor);
  if (search.format !== undefined) parameters.append('_format', search.format);
  return parameters.toString();
}
