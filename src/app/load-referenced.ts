/** Records that published resources refer to, from the features that hold them. */

import { loadNamedResults } from '../clinical/observations/named-results.store.ts';
import { encounterResource } from '../encounters/encounter.fhir.ts';
import { createEncounterReader, type LoadedEncounter } from '../encounters/encounter.store.ts';
import {
  type ParticipationDependencies,
  withMappedParticipations,
} from '../encounters/mapped-participations.ts';
import { patientResource } from '../patients/patient.fhir.ts';
import { loadPatients } from '../patients/patient.store.ts';
import type { Queryable } from '../platform/db/database.ts';
import { isUuid } from '../platform/uuid.ts';
import { type ResourceKey, splitKey } from '../publish/plan/content.fhir.ts';
import { loadDirectory } from '../publish/plan/directory.store.ts';
import type { LoadedRecord, LoadReferenced } from '../publish/plan/referenced-records.ts';
import type { FacilityScope } from '../tenancy/scope.ts';
import { createTranslator } from '../terminology/lookup/translate.ts';

export function createLoadReferenced(
  db: Queryable,
  unmapped: ParticipationDependencies['unmapped'],
): LoadReferenced {
  const readEncounter = createEncounterReader(db);
  const participations = { translator: createTranslator({ db }), unmapped };
  return async (scope, keys) => {
    const ids = (type: string) => idsOf(keys, type);
    const [patients, encounters, results, directory] = await Promise.all([
      ids('Patient').length === 0 ? undefined : loadPatients(db, scope, ids('Patient')),
      Promise.all(ids('Encounter').map((id) => readEncounter({ scope, id }))),
      ids('Observation').length === 0 ? [] : loadNamedResults(db, scope, ids('Observation')),
      loadDirectory(db, scope, {
        practitioners: ids('Practitioner'),
        organisations: ids('Organization'),
        locations: ids('Location'),
      }),
    ]);
    return [
      ...[...(patients?.values() ?? [])].map(
        // Without links: a publish sends nobody but those whom the record is about.
        (patient): LoadedRecord => ({
          resource: { ...patientResource({ ...patient, links: [] }) },
          patient,
        }),
      ),
      ...(await Promise.all(
        encounters.flatMap((loaded) =>
          loaded === undefined ? [] : [encounterRecord(participations, scope, loaded)],
        ),
      )),
      ...results.map(
        ({ id, patient }): LoadedRecord => ({ resource: { resourceType: 'Observation', id }, patient }),
      ),
      ...directory.map((resource): LoadedRecord => ({ resource })),
    ];
  };
}

async function encounterRecord(
  participations: ParticipationDependencies,
  scope: FacilityScope,
  { encounter, refusedPurposes }: LoadedEncounter,
): Promise<LoadedRecord> {
  const [known = encounter] = await withMappedParticipations(participations, scope, [encounter]);
  return {
    resource: encounterResource(known),
    patient: { id: encounter.patientId, refusedPurposes },
  };
}

function idsOf(keys: readonly ResourceKey[], type: string): string[] {
  return keys.map(splitKey).flatMap((key) => (key.type === type && isUuid(key.id) ? [key.id] : []));
}
