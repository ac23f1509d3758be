/**
 * What of a dry run its caller may read: what a read or fetch of the same record would give (docs/adr/0071).
 * Contract: PUB-48.
 */

import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import type { Reference } from '../../fhir/coded.ts';
import type { Module } from '../../tenancy/organisations/modules.ts';
import type { Permission } from '../../tenancy/roles/permissions.ts';
import type { SubjectKind } from '../runs/run.store.ts';
import { keyOf } from './content.fhir.ts';
import type { ReadyToSend } from './prepare-publish.ts';

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
export function readableContents(ready: ReadyToSend): { own: FhirResource[]; referred: FhirResource[] } {
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
