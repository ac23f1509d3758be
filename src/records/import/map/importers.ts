/**
 * Every resource type that is taken, and the order they are written in: what is referred to comes first.
 * Contract: IN-5, IN-58.
 */

import type { Description, RecordRow } from '../../../clinical/description/describe.ts';
import type { Column } from '../../../clinical/description/element.ts';
import type { DescribedType } from '../../../clinical/description/r4-elements.ts';
import {
  keptObservation,
  OBSERVATION_MAPPING,
  storedObservation,
} from '../../../clinical/kept/observation-text.fhir.ts';
import { DIAGNOSTIC_REPORT } from '../../../clinical/resources/diagnostic-report.fhir.ts';
import { ENCOUNTER } from '../../../clinical/resources/encounter.fhir.ts';
import { IMAGING_STUDY } from '../../../clinical/resources/imaging-study.fhir.ts';
import { LOCATION } from '../../../clinical/resources/location.fhir.ts';
import { hasUnfitUnit, OBSERVATION } from '../../../clinical/resources/observation.fhir.ts';
import { ORGANIZATION } from '../../../clinical/resources/organization.fhir.ts';
import { PRACTITIONER } from '../../../clinical/resources/practitioner.fhir.ts';
import { SERVICE_REQUEST } from '../../../clinical/resources/service-request.fhir.ts';
import { SPECIMEN } from '../../../clinical/resources/specimen.fhir.ts';
import { ENCOUNTER_MAPPING, encounterElements, storedEncounter } from '../../../encounters/encounter.fhir.ts';
import { ENCOUNTER_CLASS_DISPLAY } from '../../../fhir/act-code.ts';
import { noteTouched } from '../group/group-records.ts';
import { directoryLookup, encounterLookup, facilityLookup, patientsOf } from '../resolve/lookups.store.ts';
import { patientImporter } from '../resources/patient.importer.ts';
import { type TextRendering, writeRecords } from '../write/write-records.ts';
import type { RecordLookup } from './record-lookup.ts';
import type { PatientRecords, ResourceImporter } from './resource-importer.ts';

/** Filled when records are grouped; where their patient is new, already when they are inserted. */
const UNDER_ORDER: Column = ['order_id', 'uuid'];

const UNKNOWN_CLASS = `has a class of the system HL7 v3 ActCode that is none of ${Object.keys(ENCOUNTER_CLASS_DISPLAY).join(', ')}. It was taken, and is sent as it is. If it is wrong, correct it in the source`;

const UNFIT_UNIT =
  'is a vital sign with a value whose unit is missing or does not fit. It was taken, and is sent with a note of what was reported instead of the value. If the unit is wrong, correct it in the source';

/** Add a type here (see `resource-importer.ts`). */
export const IMPORTERS: ReadonlyMap<string, ResourceImporter> = new Map(
  [
    directoryRecord(ORGANIZATION, 10),
    directoryRecord(LOCATION, 20),
    directoryRecord(PRACTITIONER, 30),
    patientImporter,
    clinicalRecord(ENCOUNTER, {
      order: 50,
      kind: 'encounters',
      lookup: encounterLookup,
      rendering: { mapping: ENCOUNTER_MAPPING, render: renderedEncounter },
      isGrouped: ({ values }) => values.part_of_id !== undefined,
      unusual: { is: hasUnknownClass, reason: UNKNOWN_CLASS },
    }),
    clinicalRecord(SPECIMEN, { order: 55, kind: 'specimens' }),
    clinicalRecord(SERVICE_REQUEST, { order: 60, kind: 'orders' }),
    clinicalRecord(IMAGING_STUDY, { order: 70, kind: 'studies', places: [UNDER_ORDER] }),
    clinicalRecord(OBSERVATION, {
      order: 80,
      kind: 'observations',
      places: [UNDER_ORDER, ['vital_set_id', 'uuid']],
      rendering: { mapping: OBSERVATION_MAPPING, render: renderedObservation },
      unusual: { is: hasUnfitUnit, reason: UNFIT_UNIT },
    }),
    clinicalRecord(DIAGNOSTIC_REPORT, { order: 90, kind: 'reports', places: [UNDER_ORDER] }),
  ].map((importer) => [importer.type, importer]),
);

function renderedEncounter(row: RecordRow, organisationId: string): string {
  return encounterElements(storedEncounter(row), organisationId);
}

function renderedObservation(row: RecordRow, organisationId: string): string {
  return keptObservation(storedObservation(row), organisationId);
}

function hasUnknownClass({ values }: RecordRow): boolean {
  return !Object.hasOwn(ENCOUNTER_CLASS_DISPLAY, String(values.class_code));
}

/** Organizations, Locations and Practitioners: the directory of an organisation (docs/adr/0080). */
function directoryRecord(
  { resourceType, table, read }: Description<DescribedType, never>,
  order: number,
): ResourceImporter {
  return {
    type: resourceType,
    order,
    shared: true,
    lookup: directoryLookup(resourceType, table.name),
    table,
    map: read,
    write: (rows, context) => writeRecords(context, { table, rows }),
  };
}

interface ClinicalOptions extends Pick<ResourceImporter, 'order'> {
  kind: PatientRecords;
  lookup?: RecordLookup;
  places?: readonly Column[];
  rendering?: TextRendering;
  /** False for a record whose change concerns no other. */
  isGrouped?: (row: RecordRow) => boolean;
  /** What is taken, and named in the report as it is to be looked at. */
  unusual?: { is: (row: RecordRow) => boolean; reason: string };
}

/** What belongs to a patient, and is put into orders and vital sets at the end. */
function clinicalRecord(
  { resourceType, table, read }: Description<DescribedType, never>,
  {
    order,
    kind,
    lookup = facilityLookup(table.name),
    places,
    rendering,
    isGrouped = () => true,
    unusual,
  }: ClinicalOptions,
): ResourceImporter {
  return {
    type: resourceType,
    order,
    kind,
    lookup,
    table,
    map: read,
    async write(rows, context) {
      const result = await writeRecords(context, { table, rows, rendering, places });
      if (context.placement === undefined) noteTouched(context, kind, rows.filter(isGrouped), result);
      if (unusual !== undefined) {
        const written = new Set([...result.created, ...result.updated]);
        const looked = rows.filter((row) => written.has(row.id) && unusual.is(row));
        context.notice(
          resourceType,
          looked.map(({ id }) => id),
          unusual.reason,
        );
      }
      return result;
    },
    // Nothing is written of records that were found in place of new ones. Whom they are about has an access all the same.
    async keep(ids, { client, scope, patientsTouched }) {
      patientsTouched(await patientsOf(client, scope, { table: table.name, ids }));
    },
  };
}
