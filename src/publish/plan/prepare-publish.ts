/**
 * What comes before anything is sent: the record in scope, the privacy decision and its trace, the server, the records
 * that are referred to, the ids on record.
 * Contract: PUB-43, PUB-44, PUB-49, PUB-59, PUB-60.
 */
import type { Registry } from 'prom-client';
import type { UnmappedCode } from '../../clinical/content/coded-content.ts';
import { requireReplacement } from '../../clinical/fetch/fetch-clinical.ts';
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { onceAuthorised, type RecordPatient } from '../../clinical/fetch/record-loader.ts';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { DomainError } from '../../platform/domain-error.ts';
import type { Log } from '../../platform/log/log.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { AccessAction, AccessEntry, AccessLog } from '../../privacy/access-log/access-log.ts';
import { accessEntry, authoriseAccess } from '../../privacy/authorise-access.ts';
import { allowsPurpose } from '../../privacy/decide.ts';
import { findRefusedPurposes } from '../../privacy/refused-purposes.store.ts';
import type { ActivityRecorder } from '../../tenancy/activity/record-activity.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { RecordName } from '../../tenancy/record-names.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { UnmappedPlace, UnmappedRecorder } from '../../terminology/unmapped/record-unmapped.ts';
import { publishError } from '../errors.ts';
import type { Subject, SubjectKind } from '../runs/run.store.ts';
import { findRecorded, type RecordedResource } from '../send/resource.store.ts';
import { fhirServerNamed, findFhirServer } from '../servers/fhir-server.store.ts';
import type { LiveFhirServer, LiveFhirServers } from '../servers/live-fhir-servers.ts';
import type { PublishSettings } from '../servers/publish-settings.ts';
import { jsonOf, keyOf, type ResourceKey, referencedKeys, withoutOwnVersion } from './content.fhir.ts';
import { type LoadReferenced, loadReferenced, type Referenced } from './referenced-records.ts';
import { createRendering, type Rendering } from './rendering.ts';

/** An order or a vital set, as its feature loads it. */
export interface PublishableRecord {
  patientId: string;
  refusedPurposes: readonly string[];
  /** Grows with every change. */
  version: number;
  /** Whether the terminology maps still say of its codes what they said when it was loaded. */
  areMapsSame: () => Promise<boolean>;
  resources: readonly FhirResource[];
  unmapped: readonly UnmappedCode[];
}

/** One kind of thing that can be published. */
export interface PublishSource {
  kind: SubjectKind;
  /** As it is called in a 404: `The laboratory order`. */
  name: RecordName;
  /** For the access log. */
  resourceType: string;
  /** The id of the record that replaced one that is gone; without it, none is replaced. */
  findReplacement?: (scope: FacilityScope, id: string) => Promise<string | undefined>;
  /** Undefined: no such record in the scope. */
  load: (scope: FacilityScope, id: string) => Promise<PublishableRecord | undefined>;
  /** Whether it is no longer the version that was loaded. */
  changedSince: (scope: FacilityScope, id: string, version: number) => Promise<boolean>;
  placeOf: (resourceType: string) => UnmappedPlace;
}

export interface PublishRequest {
  id: string;
  /** Name of a FHIR server; undefined: the default one. */
  target: string | undefined;
}

export interface PublisherDependencies {
  db: Queryable;
  accessLog: AccessLog;
  keys: KeyRing;
  log: Log;
  unmapped: Pick<UnmappedRecorder, 'met'>;
  now: () => Date;
  loadReferenced: LoadReferenced;
  metrics: { registry: Registry };
  /** Counts publishes by the hour. */
  activity?: Pick<ActivityRecorder, 'note'>;
  settings?: Partial<PublishSettings>;
}

export type PrepareDependencies = Pick<
  PublisherDependencies,
  'db' | 'accessLog' | 'unmapped' | 'loadReferenced'
> & { servers: LiveFhirServers };

/** Who publishes which kind of record, and what the access log calls it. */
export interface PublishAct {
  source: PublishSource;
  context: FacilityContext;
  action: AccessAction;
}

/** What may be sent, and where to. */
export interface Prepared extends PublishAct, PublishableRecord {
  subject: Subject;
  server: LiveFhirServer;
}

/** Everything that is to be sent. */
export interface ReadyToSend extends Prepared {
  referenced: Referenced;
}

/**
 * 400 for a FHIR server that is not there; 404 outside the scope; 403 when the purpose is refused; 503 without a FHIR
 * server.
 */
export async function preparePublish(
  deps: PrepareDependencies,
  { id: givenId, target: name }: PublishRequest,
  act: PublishAct,
): Promise<Prepared> {
  const { source, context } = act;
  const { scope, purposeOfUse } = context;
  if (name !== undefined && (await findFhirServer(deps.db, scope, name)) === undefined)
    throw publishError('no_such_target');
  if (!isUuid(givenId)) throw notFound(source.name);
  const id = givenId.toLowerCase();
  const [record, found] = await Promise.all([
    source.load(scope, id).catch(onceAuthorised((record) => authorise(deps, act, { id, record }))),
    findFhirServer(deps.db, scope, name ?? null),
  ]);
  if (record === undefined)
    return preparePublish(deps, { id: await requireReplacement(source, scope, id), target: name }, act);
  const usable = found?.enabled === true ? found : undefined;
  // A refusal of the patient is logged and answered first. Only then the caller learns whether there is a FHIR server.
  if (usable !== undefined || !allowsPurpose(record.refusedPurposes, purposeOfUse))
    await authorise(deps, act, { id, record });
  if (usable === undefined) throw noFhirServer(found?.name);
  const server = await deps.servers.of(usable);
  for (const code of record.unmapped) deps.unmapped.met(scope, source.placeOf(code.resourceType), [code]);
  return { ...record, ...act, subject: { kind: source.kind, id }, server };
}

/** The record as it is now. Throws when it is gone, and when its patient refuses the purpose by now, or is another one. */
export async function prepareAgain(deps: PrepareDependencies, prepared: Prepared): Promise<Prepared> {
  const { source, context, subject } = prepared;
  const { scope, purposeOfUse } = context;
  const { id } = subject;
  const record = await source.load(scope, id);
  if (record === undefined) {
    await requireReplacement(source, scope, id);
    throw publishError('order_replaced');
  }
  if (!allowsPurpose(record.refusedPurposes, purposeOfUse) || record.patientId !== prepared.patientId)
    await authorise(deps, prepared, { id, record });
  if (record.patientId !== prepared.patientId) throw publishError('patient_changed');
  const current = { ...prepared, ...record };
  requireMapped(current);
  return current;
}

/**
 * After a wait in the middle of a publish. Throws when the caller has lost the right, and when the patient refuses the purpose
 * by now.
 */
export async function requireStillAllowed(deps: PrepareDependencies, prepared: Prepared): Promise<void> {
  const { source, context, patientId, subject } = prepared;
  await context.stillAllowed();
  const refusedPurposes = await findRefusedPurposes(deps.db, context.scope, patientId);
  if (refusedPurposes === undefined) throw notFound(source.name);
  if (!allowsPurpose(refusedPurposes, context.purposeOfUse))
    await authorise(deps, prepared, { id: subject.id, record: { patientId, refusedPurposes } });
}

/**
 * 409 when one of these has left the record since it was loaded, such as a result that belongs to another patient by now: a
 * publish of that patient may be sending it, for which nothing waits here.
 */
export async function requirePartsOf(
  { source, context, subject, version }: Prepared,
  keys: readonly ResourceKey[],
): Promise<void> {
  if (!(await source.changedSince(context.scope, subject.id, version))) return;
  const record = await source.load(context.scope, subject.id);
  const parts = new Set(record?.resources.map(keyOf));
  if (!keys.every((key) => parts.has(key))) throw publishError('part_moved');
}

/**
 * 503 when the target is not as it was, such as disabled, or at another address: the ids that are recorded now are those of
 * another server then.
 */
export async function requireUnchangedServer(
  { db }: Pick<PrepareDependencies, 'db'>,
  { server }: Prepared,
): Promise<void> {
  // Exactly that one: an organisation may have its own of the same name.
  const found = await fhirServerNamed(db, server);
  if (found?.id === server.id && !found.enabled)
    throw publishError('target_disabled', { target: server.name });
  if (found?.id !== server.id || found.version > server.version)
    throw publishError('target_changed', { target: server.name });
}

/** 422 for local codes without a standard one, unless the server takes them. */
export function requireMapped({ unmapped, server }: Prepared): void {
  if (unmapped.length === 0 || server.allowLocalCodes) return;
  const codes = [...new Set(unmapped.map(({ system, code }) => `${system ?? ''}|${code}`))];
  throw publishError('unmapped_codes', { codes });
}

/** With what the record refers to, as that is now. */
export async function withReferenced(
  { loadReferenced: load }: Pick<PrepareDependencies, 'loadReferenced'>,
  prepared: Prepared,
): Promise<ReadyToSend> {
  const { server, context, patientId } = prepared;
  const { referencePolicy } = server;
  const resources = prepared.resources.map(withoutOwnVersion);
  const named = new Set(resources.flatMap((resource) => [...referencedKeys(jsonOf(resource))]));
  const record = { patientId, resources, named, referencePolicy, purposeOfUse: context.purposeOfUse };
  return { ...prepared, resources, referenced: await loadReferenced(load, context.scope, record) };
}

/** What is sent, with the ids that the server is known to have, and what is on record of it. */
export async function lookUpRecorded(
  db: Queryable,
  ready: ReadyToSend,
): Promise<{ rendering: Rendering; recorded: ReadonlyMap<ResourceKey, RecordedResource> }> {
  const { context, server } = ready;
  const rendering = createRendering({ ...ready, organisationId: context.scope.organisationId });
  const found = await findRecorded(db, context.scope, { server, keys: rendering.keys });
  for (const { key, serverId } of found) if (serverId !== null) rendering.known.set(key, serverId);
  return { rendering, recorded: new Map(found.map((item) => [item.key, item])) };
}

/** Entries for the access log of each other patient whose data is sent or withheld. */
export function otherPatientEntries({ referenced, context, action }: ReadyToSend): AccessEntry[] {
  return [...referenced.otherPatients].map(([patientId, outcome]) =>
    accessEntry(context, { patientId, action, resourceType: 'Patient', resourceId: patientId }, outcome),
  );
}

function authorise(
  { accessLog }: PrepareDependencies,
  { source, context, action }: PublishAct,
  { id, record }: { id: string; record: RecordPatient },
): Promise<void> {
  const { patientId, refusedPurposes } = record;
  return authoriseAccess(accessLog, context, {
    patientId,
    action,
    resourceType: source.resourceType,
    resourceId: id,
    refusedPurposes,
  });
}

function noFhirServer(found: string | undefined): DomainError {
  return found === undefined ? publishError('no_target') : publishError('target_disabled', { target: found });
}
