/**
 * Every resource type that is taken, and the order they are written in: what is referred to comes first.
 * Contract: IN-5.
 */

import { directoryLookup, encounterLookup } from '../resolve/lookups.store.ts';
import { diagnosticReportImporter } from '../resources/diagnostic-report.importer.ts';
import { encounterFromFhir } from '../resources/encounter.from-fhir.ts';
import { imagingStudyImporter } from '../resources/imaging-study.importer.ts';
import { locationFromFhir } from '../resources/location.from-fhir.ts';
import { observationImporter } from '../resources/observation.importer.ts';
import { organizationFromFhir } from '../resources/organization.from-fhir.ts';
import { patientImporter } from '../resources/patient.importer.ts';
import { practitionerFromFhir } from '../resources/practitioner.from-fhir.ts';
import { serviceRequestImporter } from '../resources/service-request.importer.ts';
import type { RecordTable } from '../write/record-table.ts';
import { ENCOUNTER, LOCATION, ORGANIZATION, PRACTITIONER } from '../write/record-tables.ts';
import { type RecordRow, writeRecords } from '../write/write-records.ts';
import type { ResourceImporter } from './resource-importer.ts';

type RowImporter = ResourceImporter<RecordRow>;

const organization: RowImporter = {
  type: 'Organization',
  order: 10,
  shared: true,
  lookup: directoryLookup('Organization', 'provider_organisation'),
  tables: [ORGANIZATION],
  map: inDirectory(organizationFromFhir),
  write: writeTo(ORGANIZATION),
};

const location: RowImporter = {
  type: 'Location',
  order: 20,
  shared: true,
  lookup: directoryLookup('Location', 'location'),
  tables: [LOCATION],
  map: inDirectory(locationFromFhir),
  write: writeTo(LOCATION),
};

const practitioner: RowImporter = {
  type: 'Practitioner',
  order: 30,
  shared: true,
  lookup: directoryLookup('Practitioner', 'practitioner'),
  tables: [PRACTITIONER],
  map: inDirectory(practitionerFromFhir),
  write: writeTo(PRACTITIONER),
};

const encounter: RowImporter = {
  type: 'Encounter',
  order: 50,
  lookup: encounterLookup,
  tables: [ENCOUNTER],
  map: encounterFromFhir,
  async write(rows, context) {
    context.patientsTouched(rows.map(({ values }) => String(values.patient_id)));
    return writeRecords(context, { table: ENCOUNTER, rows });
  },
};

/** Add a type here (see `resource-importer.ts`). */
export const IMPORTERS: ReadonlyMap<string, ResourceImporter> = new Map(
  [
    organization,
    location,
    practitioner,
    patientImporter,
    encounter,
    serviceRequestImporter,
    imagingStudyImporter,
    observationImporter,
    diagnosticReportImporter,
  ].map((importer) => [importer.type, importer as ResourceImporter]),
);

/** A record under an id that is no UUID is the facility's own; every facility finds the others. */
function inDirectory(map: RowImporter['map']): RowImporter['map'] {
  return (resource, context) => {
    const row = map(resource, context);
    const facilityId = context.hasOwnId ? context.scope.facilityId : undefined;
    return { ...row, values: { ...row.values, source_facility_id: facilityId } };
  };
}

function writeTo(table: RecordTable): RowImporter['write'] {
  return (rows, context) => writeRecords(context, { table, rows });
}
