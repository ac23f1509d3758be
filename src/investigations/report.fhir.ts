/**
 * A report as FHIR R4 DiagnosticReport (https://hl7.org/fhir/R4/diagnosticreport.html). Pure.
 * Contract: HTTP-30, FETCH-14.
 */

import {
  type EmitContext,
  encounterReference,
  type FhirResource,
  identifiers,
  references,
  translateAll,
} from '../clinical/fetch/fhir-resource.ts';
import { effectiveElement, withOrder } from '../clinical/observations/observation.fhir.ts';
import type { RecordPointer } from '../clinical/observations/observation.ts';
import type { CodeableConcept } from '../fhir/coded.ts';
import { V2_DIAGNOSTIC_SERVICE } from '../terminology/lookup/code-systems.ts';
import type { Discipline, DocumentRecord, ReportRecord } from './investigation.ts';

/** Categories of HL7 v2 table 0074. */
const CATEGORY: Readonly<Record<Discipline, CodeableConcept | undefined>> = {
  laboratory: { coding: [{ system: V2_DIAGNOSTIC_SERVICE, code: 'LAB', display: 'Laboratory' }] },
  imaging: { coding: [{ system: V2_DIAGNOSTIC_SERVICE, code: 'RAD', display: 'Radiology' }] },
  other: undefined,
};

/** The resource; `order` is named in `basedOn` where the source named none. */
export function reportResource(
  report: ReportRecord,
  context: EmitContext,
  order?: RecordPointer,
): FhirResource {
  const category = report.category ?? [CATEGORY[report.discipline]].filter((item) => item !== undefined);
  return {
    resourceType: 'DiagnosticReport',
    id: report.id,
    identifier: identifiers(context, report.id, report.identifier),
    basedOn: references(withOrder(report.basedOn, order)),
    status: report.status,
    category: category.length === 0 ? undefined : translateAll(context, category),
    code: context.translate(report.code),
    subject: { reference: `Patient/${report.patientId}` },
    encounter: encounterReference(report.encounterId, report.encounterDisplay),
    ...effectiveElement(report),
    issued: report.issued,
    performer: references(report.performer),
    resultsInterpreter: references(report.resultsInterpreter),
    specimen: references(report.specimen),
    result: references(report.results?.map(resultPointer)),
    imagingStudy: references(report.imagingStudy),
    conclusion: report.conclusion,
    conclusionCode: report.conclusionCode,
    presentedForm: report.documents?.map(attachment),
  };
}

function resultPointer({
  observationId,
  display,
}: {
  observationId?: string;
  display?: string;
}): RecordPointer {
  return {
    ...(observationId === undefined ? {} : { type: 'Observation', id: observationId }),
    ...(display === undefined ? {} : { display }),
  };
}

function attachment(document: DocumentRecord) {
  return {
    contentType: document.mediaType,
    language: document.language,
    data: document.content,
    url: document.url,
    size: document.sizeBytes,
    hash: document.sha1,
    title: document.title,
    creation: document.created,
  };
}
