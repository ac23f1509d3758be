/** List the vital sets of one patient (docs/vitals.md). Contract: FETCH-20. */
import {
  type CodedListDependencies,
  type ListRequest,
  listOfPatient,
} from '../../clinical/fetch/list-of-patient.ts';
import { joinedAway } from '../../clinical/resources/observation.fhir.ts';
import { instantFromTimestamp } from '../../platform/db/timestamp.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { listVitalSetPage } from './list-vital-sets.store.ts';

export function listVitalSets(deps: CodedListDependencies, request: ListRequest, context: FacilityContext) {
  return listOfPatient(deps, request, context, {
    name: ['vital-sets'],
    action: 'vital-set.list',
    resourceType: 'Observation',
    load: (key) => listVitalSetPage(deps.db, context.scope, key),
    conceptsOf: ({ pressures }) => pressures.map(({ code }) => code),
    show: (set, patientId, emitted) => ({
      vitalSetId: set.id,
      patientId,
      encounterId: set.encounterId,
      takenAt: instantFromTimestamp(set.sortText),
      vitalSigns: set.signs - joinedAway(set.pressures, emitted),
    }),
  });
}
