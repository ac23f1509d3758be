/** Observations as they go out, made of their records at once: with these, tests compare what is kept as text. */

import { resourceObject } from '../../src/clinical/description/describe.ts';
import type { EmitContext } from '../../src/clinical/description/element.ts';
import type { FhirResource } from '../../src/clinical/fetch/fhir-resource.ts';
import { joinPressures } from '../../src/clinical/observations/blood-pressure.fhir.ts';
import { asOtherSign, asVitalSign, isVitalSign } from '../../src/clinical/observations/vital-sign.fhir.ts';
import { OBSERVATION, type ObservationRecord } from '../../src/clinical/resources/observation.fhir.ts';

/** What has a LOINC code of the R4 vital-signs profiles follows them. */
export function observationResource(record: ObservationRecord, context: EmitContext): FhirResource {
  return inProfile(resourceObject(OBSERVATION, record, context));
}

/** Of one vital set: a systolic and a diastolic pressure that belong together are one resource. */
export function vitalSetResources(
  records: readonly ObservationRecord[],
  context: EmitContext,
): FhirResource[] {
  const members = records.map((record) => ({
    resource: resourceObject(OBSERVATION, record, context),
    inOrder: record.orderId !== undefined,
  }));
  return joinPressures(members).map(inProfile);
}

function inProfile(resource: FhirResource): FhirResource {
  return isVitalSign(resource) ? asVitalSign(resource) : asOtherSign(resource);
}
