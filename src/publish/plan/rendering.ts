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
  linked,
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

export interface Rendering {
  /** What is sent, in order; those of one level may be sent at once. */
  levels: FhirResource[][];
  /** Everything that is sent or referred to. */
  keys: ResourceKey[];
  /** Ids at the server, to be added to as they become known. */
  known: Map<ResourceKey, string>;
  /** Ready to be sent, once the levels before it are stored. `id` is still ours. */
  render(resource: FhirResource): FhirResource;
  /** References that cannot be followed at the server, because what they name is sent later. */
  forward(resource: FhirResource): ResourceKey[];
  /** References to what is neither sent nor known to be at the server, where it should be one of these. */
  unknown(resource: FhirResource): ResourceKey[];
}

export function createRendering({
  resources,
  referenced,
  organisationId,
  server,
}: RenderingInput): Rendering {
  const { idPolicy, referencePolicy } = server;
  const { records, withheld } = referenced;
  const sent = referencePolicy === 'send' ? [...records, ...resources] : resources;
  const levels = publishLevels(sent.map((resource) => linked(withoutOwnVersion(resource))));
  const all = levels.flat();
  const levelOf = new Map<ResourceKey, number>();
  for (const [index, level] of levels.entries()) for (const { key } of level) levelOf.set(key, index);
  const items = new Map(all.map((item) => [item.key, item]));
  const loaded = new Map([...records, ...resources].map((resource) => [keyOf(resource), resource]));
  const known = new Map<ResourceKey, string>();

  /** How a resource of the level `own` names `key`; undefined: as it does. */
  function replacement(key: ResourceKey, own: number): 'logical' | `${string}/${string}` | undefined {
    const { type, id } = splitKey(key);
    if (withheld.has(key)) return 'logical';
    const level = levelOf.get(key);
    const serverId = known.get(key);
    if (level === undefined ? referencePolicy === 'logical' : level >= own) return 'logical';
    if (serverId !== undefined) return serverId === id ? undefined : `${type}/${serverId}`;
    return level === undefined && referencePolicy === 'send' ? 'logical' : undefined;
  }

  function replace(key: ResourceKey, reference: Reference, own: number): Reference | undefined {
    const by = replacement(key, own);
    if (by !== 'logical') return by === undefined ? undefined : { ...reference, reference: by };
    const { type, id } = splitKey(key);
    if (withheld.has(key)) return logicalReference(type, ownIdentifier(organisationId, id), undefined);
    return logicalReference(type, businessIdentifier(organisationId, loaded.get(key), id), reference.display);
  }

  function rendered(resource: FhirResource): FhirResource {
    const key = keyOf(resource);
    const own = levelOf.get(key) ?? 0;
    const links = items.get(key)?.refersTo ?? new Set<ResourceKey>();
    if (links.values().every((link) => replacement(link, own) === undefined)) return resource;
    return rewriteReferences(resource, (link, reference) => replace(link, reference, own));
  }

  const linksOf = (resource: FhirResource) => [...(items.get(keyOf(resource))?.refersTo ?? [])];
  const named = new Set(all.flatMap((item) => [item.key, ...item.refersTo]));
  return {
    levels: levels.map((level) => level.map(({ resource }) => resource)),
    keys: [...named].filter((key) => isUuid(splitKey(key).id)),
    known,
    render(resource) {
      const linkedUp = rendered(resource);
      return idPolicy === 'server' ? withOwnIdentifier(linkedUp, organisationId) : linkedUp;
    },
    unknown(resource) {
      const expected = (key: ResourceKey) =>
        referencePolicy === 'send' || (idPolicy === 'server' && !SENT_AHEAD.has(splitKey(key).type));
      return linksOf(resource).filter(
        (key) => !levelOf.has(key) && !known.has(key) && !withheld.has(key) && expected(key),
      );
    },
    forward(resource) {
      const own = levelOf.get(keyOf(resource)) ?? 0;
      const links = linksOf(resource);
      return links.filter((key) => key !== keyOf(resource) && (levelOf.get(key) ?? -1) >= own);
    },
  };
}
