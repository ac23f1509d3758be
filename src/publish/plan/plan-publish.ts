/**
 * What a publish would send, in order, with its faults; sends nothing (dry run). Its caller sees the contents that a read
 * or fetch of the same record would give (docs/adr/0071).
 * Contract: PUB-47, PUB-48.
 */
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { Reference } from '../../fhir/coded.ts';
import { accessEntry } from '../../privacy/authorise-access.ts';
import type { Module } from '../../tenancy/organisations/modules.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import type { OfRecord, PlannedFault, PlannedRequest, PublishPlan } from '../publish.schema.ts';
import type { SubjectKind } from '../runs/run.store.ts';
import type { FhirServer } from '../servers/fhir-server.ts';
import { contentOf, keyOf, type ResourceKey } from './content.fhir.ts';
import {
  lookUpRecorded,
  otherPatientEntries,
  type PrepareDependencies,
  type PublishAct,
  type PublishRequest,
  preparePublish,
  type ReadyToSend,
  withReferenced,
} from './prepare-publish.ts';
import { saysNotSent } from './referenced-records.ts';
import { forwardReferences, type Rendering, render, unknownReferences } from './rendering.ts';

/** The words of each fault, with the record that is referred to. */
const FAULTS: Readonly<Record<PlannedFault['code'], (key: string | null) => string>> = {
  'code-refused': () => 'has a local code without a standard code, so a publish is answered 422',
  'code-allowed': () => 'has a local code without a standard code; the target allows local codes',
  'sent-later': (key) =>
    `refers to ${key}, which is sent later, so the reference names its identifier instead`,
  'not-sent': (key) => `refers to ${key}, which is not sent and is not known to be at the target`,
};

export async function planPublish(
  deps: PrepareDependencies,
  request: PublishRequest,
  act: PublishAct,
): Promise<OfRecord<PublishPlan>> {
  const ready = await withReferenced(deps, await preparePublish(deps, request, act));
  const { patientId, action } = ready;
  const { own, referred } = readableContents(ready);
  const shownEntries = referred.map(({ resourceType, id }) =>
    // Beside the order or set, which has its entry already.
    accessEntry(ready.context, { patientId, action, resourceType, resourceId: id }, 'allowed'),
  );
  await deps.accessLog.record([...otherPatientEntries(ready), ...shownEntries]);
  const { rendering } = await lookUpRecorded(deps.db, ready);
  const shown = new Set([...own, ...referred].map(keyOf));
  return { recordId: ready.subject.id, ...describePlan(ready, rendering, shown) };
}

/** `shown`: what the caller may read; of everything else the body is left out. */
function describePlan(
  { server, unmapped, referenced }: ReadyToSend,
  rendering: Rendering,
  shown: ReadonlySet<ResourceKey>,
): PublishPlan {
  const requests = rendering.levels.flatMap((level, index) =>
    level.map((resource) => plannedRequest(resource, { server, rendering, shown, step: index + 1 })),
  );
  const all = rendering.levels.flat();
  const ofCode = server.allowLocalCodes ? 'code-allowed' : 'code-refused';
  return {
    target: server.name,
    dryRun: true,
    requests,
    unmapped: unmapped.map(({ resourceType, localId, system = null, code }) => ({
      resourceType,
      localId,
      system,
      code,
    })),
    faults: [
      ...unmapped.map((one) => plannedFault(ofCode, one, null)),
      ...all.flatMap((resource) => referenceFaults(resource, rendering)),
    ],
    ...saysNotSent(all, referenced),
  };
}

function plannedRequest(
  resource: FhirResource,
  {
    server,
    rendering,
    shown,
    step,
  }: { server: FhirServer; rendering: Rendering; shown: ReadonlySet<ResourceKey>; step: number },
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
    ...(shown.has(keyOf(resource)) ? { resource: contentOf(render(rendering, resource), id) } : {}),
  };
}

function referenceFaults(resource: FhirResource, rendering: Rendering): PlannedFault[] {
  const about = { resourceType: resource.resourceType, localId: resource.id };
  return [
    ...forwardReferences(rendering, resource).map((key) => plannedFault('sent-later', about, key)),
    ...unknownReferences(rendering, resource).map((key) => plannedFault('not-sent', about, key)),
  ];
}

function plannedFault(
  code: PlannedFault['code'],
  { resourceType, localId }: Pick<PlannedFault, 'resourceType' | 'localId'>,
  reference: ResourceKey | null,
): PlannedFault {
  return { resourceType, localId, code, reference, fault: FAULTS[code](reference) };
}

/** What a call that reads asks of its caller. */
interface ReadAccess {
  /** Any one of these. */
  permissions: readonly Permission[];
  module: Module;
}

/** As of `…/clinical/fhir` of the order or set. */
const FETCH: Readonly<Record<SubjectKind, ReadAccess>> = {
  'lab-order': { permissions: ['investigations.lab.list'], module: 'lab' },
  'imaging-order': { permissions: ['investigations.imaging.list'], module: 'imaging' },
  'vital-set': { permissions: ['encounters.vitals.read'], module: 'vitals' },
};

/** Of `/patients/base/<id>/clinical/fhir` and `/encounters/fhir/Encounter/<id>`. No call reads the other types. */
const READ: Readonly<Record<string, ReadAccess>> = {
  Patient: { permissions: ['patients.patients.get'], module: 'patients' },
  Encounter: { permissions: ['encounters.access', 'encounters.fhir.encounter.read'], module: 'encounters' },
};

/** Those of the record and of what it refers to that the caller could read by another call. */
function readableContents(ready: ReadyToSend): { own: FhirResource[]; referred: FhirResource[] } {
  const { subject, resources, referenced } = ready;
  return {
    own: mayRead(ready, FETCH[subject.kind]) ? [...resources] : [],
    referred: referenced.records.filter(
      (resource) => isOfPatient(resource, ready.patientId) && mayRead(ready, READ[resource.resourceType]),
    ),
  };
}

function mayRead({ context: { caller, scope } }: ReadyToSend, access: ReadAccess | undefined): boolean {
  if (access === undefined) return false;
  const { permissions, module } = access;
  const modules = caller.facilities.get(scope.facilityId)?.modules;
  return modules?.has(module) === true && permissions.some((one) => caller.permissions.has(one));
}

/** What is sent of other patients is not shown. */
function isOfPatient(resource: FhirResource, patientId: string): boolean {
  const patient = `Patient/${patientId}`;
  return keyOf(resource) === patient || (resource.subject as Reference | undefined)?.reference === patient;
}
