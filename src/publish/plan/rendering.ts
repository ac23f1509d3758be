/**
 * The resources of one publish as a FHIR server shall see them: in levels, with references that it can follow.
 * Contract: PUB-21, PUB-23, PUB-24.
 */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { ownIdentifier, type Reference } from '../../fhir/coded.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { IdPolicy, ReferencePolicy } from '../servers/fhir-server.ts';
import {
  businessIdentifier,
  keyOf,
  logicalReference,
  publishLevels,
  type ResourceKey,
  rewriteReferences,
  splitKey,
  withOwnIdentifier,
  withoutOwnVersion,
} from './content.fhir.ts';
import type { Referenced } from './referenced-records.ts';
import { SENT_AHEAD } from './resource-types.ts';

export interface RenderingInput {
  resources: readonly FhirResource[];
  referenced: Referenced;
  organisationId: string;
  server: { idPolicy: IdPolicy; referencePolicy: ReferencePolicy };
}

export interface Rendering extends RenderingInput {
  /** What is sent, in order; those of one level may be sent at once. */
  levels: FhirResource[][];
  /** Everything that is sent or referred to. */
  keys: ResourceKey[];
  /** Ids at the server, to be added to as they become known. */
  known: Map<ResourceKey, string>;
  /** What is sent: the number of its level, and what it refers to. */
  sent: ReadonlyMap<ResourceKey, { level: number; refersTo: ReadonlySet<ResourceKey> }>;
  /** As they are stored here, also what is only referred to. */
  loaded: ReadonlyMap<ResourceKey, FhirResource>;
}

export function createRendering(input: RenderingInput): Rendering {
  const { resources, referenced, server } = input;
  const all = [...referenced.records, ...resources];
  const sent = server.referencePolicy === 'send' ? all : resources;
  const levels = publishLevels(sent.map(withoutOwnVersion));
  const items = levels.flatMap((level, index) => level.map((item) => ({ ...item, level: index })));
  const named = new Set(items.flatMap(({ key, refersTo }) => [key, ...refersTo]));
  return {
    ...input,
    levels: levels.map((level) => level.map(({ resource }) => resource)),
    keys: [...named].filter((key) => isUuid(splitKey(key).id)),
    known: new Map(),
    sent: new Map(items.map((item) => [item.key, item])),
    loaded: new Map(all.map((resource) => [keyOf(resource), resource])),
  };
}

/** A resource ready to be sent, once the levels before it are stored. `id` is still ours. */
export function render(rendering: Rendering, resource: FhirResource): FhirResource {
  const { organisationId, server } = rendering;
  const { level, refersTo } = sentAs(rendering, resource);
  const atServer = (key: ResourceKey, reference: Reference) =>
    referenceAtServer(rendering, key, { reference, level });
  // Most resources stay as they are, and are not walked through.
  const isReadable = refersTo.values().every((key) => atServer(key, {}) === undefined);
  const readable = isReadable ? resource : rewriteReferences(resource, atServer);
  return server.idPolicy === 'server' ? withOwnIdentifier(readable, organisationId) : readable;
}

/** How a resource of `level` refers to `key` at the server; undefined: as it does here. */
function referenceAtServer(
  { sent, known, loaded, referenced, organisationId, server }: Rendering,
  key: ResourceKey,
  { reference, level }: { reference: Reference; level: number },
): Reference | undefined {
  const { type, id } = splitKey(key);
  if (referenced.withheld.has(key))
    return logicalReference(type, ownIdentifier(organisationId, id), undefined);
  const byIdentifier = () =>
    logicalReference(type, businessIdentifier(organisationId, loaded.get(key), id), reference.display);
  const sentIn = sent.get(key)?.level;
  if (sentIn === undefined ? server.referencePolicy === 'logical' : sentIn >= level) return byIdentifier();
  const serverId = known.get(key);
  if (serverId !== undefined)
    return serverId === id ? undefined : { ...reference, reference: `${type}/${serverId}` };
  return sentIn === undefined && server.referencePolicy === 'send' ? byIdentifier() : undefined;
}

/** References to what is neither sent nor known to be at the server, where it should be one of these. */
export function unknownReferences(rendering: Rendering, resource: FhirResource): ResourceKey[] {
  const { sent, known, referenced, server } = rendering;
  const isExpected = (key: ResourceKey) =>
    server.referencePolicy === 'send' ||
    (server.idPolicy === 'server' && !SENT_AHEAD.has(splitKey(key).type));
  return [...sentAs(rendering, resource).refersTo].filter(
    (key) => !sent.has(key) && !known.has(key) && !referenced.withheld.has(key) && isExpected(key),
  );
}

/** References that cannot be followed at the server, because what they name is sent later. */
export function forwardReferences(rendering: Rendering, resource: FhirResource): ResourceKey[] {
  const { level, refersTo } = sentAs(rendering, resource);
  return [...refersTo].filter(
    (key) => key !== keyOf(resource) && (rendering.sent.get(key)?.level ?? -1) >= level,
  );
}

function sentAs({ sent }: Rendering, resource: FhirResource) {
  return sent.get(keyOf(resource)) ?? { level: 0, refersTo: new Set<ResourceKey>() };
}
