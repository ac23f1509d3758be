/** The resources of one publish as a target shall see them: in levels, with references that it can follow. */
import type { Reference } from '../fhir/coded.ts';
import type { FhirResource } from '../observations/fhir-resource.ts';
import {
  businessIdentifier,
  keyOf,
  logicalReference,
  publishLevels,
  type ResourceKey,
  referencedKeys,
  rewriteReferences,
  splitKey,
  withOwnIdentifier,
  withoutOwnVersion,
} from './content.fhir.ts';
import type { IdPolicy, ReferencePolicy } from './target.ts';

export interface RenderingInput {
  resources: readonly FhirResource[];
  referenced: readonly FhirResource[];
  organisationId: string;
  target: { idPolicy: IdPolicy; referencePolicy: ReferencePolicy };
}

export interface Rendering {
  /** What is sent, in order; those of one level may be sent at once. */
  levels: FhirResource[][];
  /** Everything that is sent or referred to. */
  keys: ResourceKey[];
  /** Ids at the target, to be added to as they become known. */
  known: Map<ResourceKey, string>;
  /** Ready to be sent, once the levels before it are stored. `id` is still ours. */
  render(resource: FhirResource): FhirResource;
  /** References that cannot be followed at the target, because what they name is sent later. */
  forward(resource: FhirResource): ResourceKey[];
}

export function createRendering({
  resources,
  referenced,
  organisationId,
  target,
}: RenderingInput): Rendering {
  const { idPolicy, referencePolicy } = target;
  const sent = referencePolicy === 'send' ? [...referenced, ...resources] : [...resources];
  const levels = publishLevels(sent.map(withoutOwnVersion));
  const levelOf = new Map<ResourceKey, number>();
  for (const [index, level] of levels.entries())
    for (const resource of level) levelOf.set(keyOf(resource), index);
  const loaded = new Map([...referenced, ...resources].map((resource) => [keyOf(resource), resource]));
  const keys = new Set<ResourceKey>([
    ...levelOf.keys(),
    ...sent.flatMap((resource) => [...referencedKeys(resource)]),
  ]);
  const known = new Map<ResourceKey, string>();

  function replace(key: ResourceKey, reference: Reference, own: number): Reference | undefined {
    const { type, id } = splitKey(key);
    const level = levelOf.get(key);
    const serverId = known.get(key);
    const logical = () =>
      logicalReference(type, businessIdentifier(organisationId, loaded.get(key), id), reference.display);
    if (level === undefined && referencePolicy === 'logical') return logical();
    if (level !== undefined && level >= own) return logical();
    if (serverId !== undefined)
      return serverId === id ? undefined : { ...reference, reference: `${type}/${serverId}` };
    return level === undefined && referencePolicy === 'send' ? logical() : undefined;
  }

  return {
    levels,
    keys: [...keys].filter((key) => UUID.test(splitKey(key).id)),
    known,
    render(resource) {
      const own = levelOf.get(keyOf(resource)) ?? 0;
      const rewritten = rewriteReferences(resource, (key, reference) => replace(key, reference, own));
      return idPolicy === 'server' ? withOwnIdentifier(rewritten, organisationId) : rewritten;
    },
    forward(resource) {
      const own = levelOf.get(keyOf(resource)) ?? 0;
      return [...referencedKeys(resource)].filter(
        (key) => key !== keyOf(resource) && (levelOf.get(key) ?? -1) >= own,
      );
    },
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
