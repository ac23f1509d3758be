/**
 * Patients: shared by the facilities at which they are registered, and reached by an import as far as it may.
 * Contract: IN-22.
 */

import { PATIENT } from '../../../clinical/resources/patient.fhir.ts';
import { keptPatient, PATIENT_MAPPING, storedPatient } from '../../../patients/kept/patient-text.fhir.ts';
import type { ResourceImporter, WriteContext } from '../map/resource-importer.ts';
import { patientLookup } from '../resolve/lookups.store.ts';
import { otherPersons, SHARED_IDENTIFIER, sharingIdentifiers } from '../resolve/patient-identity.ts';
import { registerPatients } from '../resolve/registration.store.ts';
import { inheritNames } from '../write/replaced-names.store.ts';
import {
  type BeforeChange,
  type TextRendering,
  WrittenByAnother,
  writeRecords,
} from '../write/write-records.ts';
import { linkedTo } from './links-elsewhere.store.ts';
import { withLinksElsewhere } from './links-elsewhere.ts';

const OTHER_PERSON =
  'Patient differs from the record with this id in name, birth date and sex, so it may be another person. Give another person another id. A correction must keep one of the three';

const LONG_CHAIN =
  'Patient replaces, or is replaced by, too many others, one by way of another. Link the records of a person to the current one';

const RENDERING: TextRendering = {
  mapping: PATIENT_MAPPING,
  render: (row) => keptPatient(storedPatient(row)),
};

export const patientImporter: ResourceImporter = {
  type: 'Patient',
  order: 40,
  shared: true,
  lookup: patientLookup,
  table: PATIENT.table,
  map: PATIENT.read,
  complete: withLinksElsewhere,
  async write(rows, context) {
    const beforeChange = refuseOtherPersons(context);
    const result = await writeRecords(context, {
      table: PATIENT.table,
      rows,
      beforeChange,
      rendering: RENDERING,
    });
    const there = [...result.updated, ...result.unchanged, ...result.older];
    await keepToFacility(there, context);
    await register([...result.created, ...there], context, result.created);
    const written = [...result.created, ...result.updated];
    await context.dryRun?.bringReplaced(PATIENT.table, written);
    context.refuse('Patient', await inheritNames(context.client, context.scope, written), LONG_CHAIN);
    context.notice('Patient', await sharingIdentifiers(context, written), SHARED_IDENTIFIER);
    return result;
  },
  keep: (ids, context) => register(ids, context),
  async passed(rows, context) {
    if (await refuseOtherPersons(context)(rows))
      await register(
        rows.map(({ id }) => id),
        context,
      );
  },
};

function refuseOtherPersons(context: WriteContext): BeforeChange {
  return async (rows) => {
    const ids = await otherPersons(context, rows);
    context.refuse('Patient', ids, OTHER_PERSON);
    return ids.length === 0;
  };
}

/**
 * A facility that may not link patients neither changes nor learns of those of another. The ids were free when
 * `place-ids.ts` chose them. Another import may have added one since: this looks again, after writing.
 */
async function keepToFacility(ids: readonly string[], { client, scope, reach }: WriteContext): Promise<void> {
  if (reach === 'organisation' || ids.length === 0) return;
  const elsewhere = (await patientLookup.elsewhere?.(client, scope, ids)) ?? [];
  if (elsewhere.length > 0) throw new WrittenByAnother();
}

/** `created`: those whom nobody can have linked before. */
async function register(
  ids: readonly string[],
  context: WriteContext,
  created: readonly string[] = [],
): Promise<void> {
  const { client, scope, dryRun } = context;
  context.patientsTouched(ids);
  const registered = await registerPatients(context, ids);
  context.patientsRegistered(registered);
  const known = new Set(registered).difference(new Set(created));
  // What exchanges are told of a patient names the linked ones who are registered here.
  if (known.size > 0 && dryRun === undefined)
    context.patientsRegistered(await linkedTo(client, scope, [...known]));
}
