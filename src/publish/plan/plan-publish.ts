/** What a publish would send, in order, with its faults; sends nothing (dry run). Contract: PUB-47. */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { findRecorded } from '../send/resource.store.ts';
import { contentOf, keyOf, type ResourceKey } from './content.fhir.ts';
import { type SaysNotSent, saysNotSent } from './not-sent.ts';
import type { Prepared, ReadyToSend } from './prepare-publish.ts';
import { createRendering, type Rendering } from './rendering.ts';

export interface PlannedRequest {
  resourceType: string;
  localId: string;
  /** The id at the server; null when the server has yet to give one. */
  id: string | null;
  method: 'PUT' | 'POST';
  url: string;
  /** Those of one step are sent at once. */
  step: number;
  /** The body, where the caller may read it. Ids that the server has yet to give stand as ours. */
  resource?: object;
}

export interface PlannedFault {
  resourceType: string;
  localId: string;
  fault: string;
}

export interface PublishPlan extends SaysNotSent {
  target: string;
  dryRun: true;
  requests: PlannedRequest[];
  unmapped: { resourceType: string; localId: string; system: string | null; code: string }[];
  faults: PlannedFault[];
}

/** `readable`: what the caller may read; of everything else the body is left out. */
export async function planPublish(
  db: Queryable,
  prepared: ReadyToSend,
  readable: readonly FhirResource[],
): Promise<PublishPlan> {
  const { server, context, unmapped } = prepared;
  const { scope } = context;
  const rendering = createRendering({ ...prepared, organisationId: scope.organisationId });
  const recorded = await findRecorded(db, scope, { fhirServerId: server.id, keys: rendering.keys });
  for (const { key, serverId } of recorded) if (serverId !== null) rendering.known.set(key, serverId);
  const shown = new Set(readable.map(keyOf));
  const requests = rendering.levels.flatMap((level, index) =>
    level.map((resource) => plannedRequest(resource, { prepared, rendering, shown, step: index + 1 })),
  );
  const faults = unmapped.map(({ resourceType, localId }) => ({
    resourceType,
    localId,
    fault: server.allowLocalCodes
      ? 'has a local code without a standard code; the target allows local codes'
      : 'has a local code without a standard code, so a publish is answered 422',
  }));
  return {
    target: server.name,
    dryRun: true,
    requests,
    unmapped: unmapped.map(({ resourceType, localId, system, code }) => ({
      resourceType,
      localId,
      system: system ?? null,
      code,
    })),
    faults: [
      ...faults,
      ...rendering.levels.flat().flatMap((resource) => referenceFaults(resource, rendering)),
    ],
    ...saysNotSent(rendering.levels.flat(), prepared.referenced),
  };
}

function plannedRequest(
  resource: FhirResource,
  {
    prepared: { server },
    rendering,
    shown,
    step,
  }: { prepared: Prepared; rendering: Rendering; shown: ReadonlySet<ResourceKey>; step: number },
): PlannedRequest {
  const { resourceType, id: localId } = resource;
  const id = rendering.known.get(keyOf(resource)) ?? (server.idPolicy === 'client' ? localId : undefined);
  const url = `${server.base}/${resourceType}${id === undefined ? '' : `/${id}`}`;
  return {
    resourceType,
    localId,
    id: id ?? null,
    method: id === undefined ? 'POST' : 'PUT',
    url,
    step,
    ...(shown.has(keyOf(resource)) ? { resource: contentOf(rendering.render(resource).resource, id) } : {}),
  };
}

function referenceFaults(resource: FhirResource, rendering: Rendering): PlannedFault[] {
  const { resourceType, id: localId } = resource;
  const fault = (text: string): PlannedFault => ({ resourceType, localId, fault: text });
  return [
    ...rendering
      .forward(resource)
      .map((key) =>
        fault(`refers to ${key}, which is sent later, so the reference names its identifier instead`),
      ),
    ...rendering
      .unknown(resource)
      .map((key) => fault(`refers to ${key}, which is not sent and is not known to be at the target`)),
  ];
}
