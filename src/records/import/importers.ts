/** Every resource type that is taken, and the order they are written in: what is referred to comes first. */
import { diagnosticReportImporter } from './diagnostic-report.importer.ts';
import { encounterFromFhir } from './encounter.from-fhir.ts';
import { imagingStudyImporter } from './imaging-study.importer.ts';
import { locationFromFhir } from './location.from-fhir.ts';
import { directoryLookup, encounterLookup, patientLookup } from './lookups.store.ts';
import { observationImporter } from './observation.importer.ts';
import { organizationFromFhir } from './organization.from-fhir.ts';
import { patientFromFhir } from './patient.from-fhir.ts';
import { practitionerFromFhir } from './practitioner.from-fhir.ts';
import { ENCOUNTER, LOCATION, ORGANIZATION, PATIENT, PRACTITIONER } from './record-tables.ts';
import { registerPatients } from './registration.store.ts';
import type { ResourceImporter, WriteContext } from './resource-importer.ts';
import { serviceRequestImporter } from './service-request.importer.ts';
import { type RecordRow, type RecordTable, writeRecords } from './write-records.ts';

type RowImporter = ResourceImporter<RecordRow>;

const organization: RowImporter = {
  type: 'Organization',
  order: 10,
  shared: true,
  lookup: directoryLookup('Organization', 'provider_organisation'),
  map: organizationFromFhir,
  write: writeTo(ORGANIZATION),
};

const location: RowImporter = {
  type: 'Location',
  order: 20,
  shared: true,
  lookup: directoryLookup('Location', 'location'),
  map: locationFromFhir,
  write: writeTo(LOCATION),
};

const practitioner: RowImporter = {
  type: 'Practitioner',
  order: 30,
  shared: true,
  lookup: directoryLookup('Practitioner', 'practitioner'),
  map: practitionerFromFhir,
  write: writeTo(PRACTITIONER),
};

const patient: RowImporter = {
  type: 'Patient',
  order: 40,
  shared: true,
  lookup: patientLookup,
  map: patientFromFhir,
  async write(rows, context) {
    const result = await writeRecords(context.client, context.scope, PATIENT, rows);
    await refuseElsewhere([...result.updated, ...result.unchanged], context);
    const ids = rows.map(({ id }) => id);
    context.patientsTouched(ids);
    context.patientsRegistered(await registerPatients(context.client, context.scope, ids));
    return result;
  },
  async keep(ids, context) {
    context.patientsTouched(ids);
    context.patientsRegistered(await registerPatients(context.client, context.scope, ids));
  },
};

/**
 * A facility that may not link patients neither changes nor learns of those of another. Looked at after writing:
 * by then a row that another import had just added is there to be seen.
 */
async function refuseElsewhere(ids: readonly string[], context: WriteContext): Promise<void> {
  if (context.reach === 'organisation' || ids.length === 0) return;
  const elsewhere = await patientLookup.elsewhere?.(context.client, context.scope, ids);
  const reason = 'Patient.id cannot be used at this facility; leave it out or use another';
  context.refuse('Patient', elsewhere ?? [], reason);
}

const encounter: RowImporter = {
  type: 'Encounter',
  order: 50,
  lookup: encounterLookup,
  map: encounterFromFhir,
  async write(rows, context) {
    context.patientsTouched(rows.map(({ values }) => String(values.patient_id)));
    return writeRecords(context.client, context.scope, ENCOUNTER, rows);
  },
};

/** Add a type here (see `resource-importer.ts`). */
export const IMPORTERS: ReadonlyMap<string, ResourceImporter> = new Map(
  [
    organization,
    location,
    practitioner,
    patient,
    encounter,
    serviceRequestImporter,
    imagingStudyImporter,
    observationImporter,
    diagnosticReportImporter,
  ].map((importer) => [importer.type, importer as ResourceImporter]),
);

function writeTo(table: RecordTable): RowImporter['write'] {
  return (rows, { client, scope }) => writeRecords(client, scope, table, rows);
}
