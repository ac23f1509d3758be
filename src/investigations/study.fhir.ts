/**
 * An imaging study as FHIR R4 ImagingStudy (https://hl7.org/fhir/R4/imagingstudy.html). Pure.
 * Contract: HTTP-30, FETCH-7.
 */
import {
  annotations,
  type EmitContext,
  encounterReference,
  type FhirResource,
  identifiers,
  reference,
  references,
} from '../clinical/fetch/fhir-resource.ts';
import { withOrder } from '../clinical/observations/observation.fhir.ts';
import type { RecordPointer } from '../clinical/observations/observation.ts';
import type { SeriesRecord, StudyRecord } from './investigation.ts';

/** The resource; `order` is named in `basedOn` where the source named none. */
export function studyResource(study: StudyRecord, context: EmitContext, order?: RecordPointer): FhirResource {
  return {
    resourceType: 'ImagingStudy',
    id: study.id,
    identifier: identifiers(context, study.id, study.identifier),
    status: study.status,
    modality: study.modality,
    subject: { reference: `Patient/${study.patientId}` },
    encounter: encounterReference(study.encounterId, study.encounterDisplay),
    started: study.started,
    basedOn: references(withOrder(study.basedOn, order)),
    referrer: reference(study.referrer),
    interpreter: references(study.interpreter),
    numberOfSeries: study.numberOfSeries,
    numberOfInstances: study.numberOfInstances,
    procedureReference: reference(study.procedureReference),
    procedureCode: study.procedureCode,
    location: reference(study.location),
    reasonCode: study.reasonCode,
    reasonReference: references(study.reasonReference),
    note: annotations(study.note),
    description: study.description,
    series: study.series?.map(seriesElement),
  };
}

function seriesElement(series: SeriesRecord) {
  return {
    uid: series.uid,
    number: series.number,
    modality: series.modality,
    description: series.description,
    numberOfInstances: series.numberOfInstances,
    bodySite: series.bodySite,
    laterality: series.laterality,
    specimen: references(series.specimen),
    started: series.started,
    performer: series.performer?.map((performer) => ({
      function: performer.function,
      actor: reference(performer.actor),
    })),
    instance: series.instances?.map(({ uid, sopClass, number, title }) => ({ uid, sopClass, number, title })),
  };
}
