/** Location (https://hl7.org/fhir/R4/location.html) as rows. */

import type { RecordRow } from '../../../clinical/description/describe.ts';
import {
  address,
  codeableConcept,
  contactPoint,
  identifier,
  list,
  optional,
} from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import type { MapContext } from '../map/resource-importer.ts';
import { identifierRows } from '../write/directory-identifiers.ts';

const STATUSES = ['active', 'suspended', 'inactive'] as const;

export function locationFromFhir(location: ElementReader, context: MapContext): RecordRow {
  const managing = context.reference(location, 'managingOrganization', ['Organization']);
  if (managing?.display !== undefined) context.notKept('Location.managingOrganization.display');
  const position = location.child('position');
  return {
    id: context.id,
    values: {
      status: location.code('status', STATUSES),
      name: location.string('name'),
      type: list(location.children('type').map(codeableConcept)),
      telecom: list(location.children('telecom').map(contactPoint)),
      address: optional(location.child('address'), address),
      longitude: position?.required('longitude', position.decimal('longitude')),
      latitude: position?.required('latitude', position.decimal('latitude')),
      managing_organisation_id: managing?.target?.id,
    },
    children: {
      directory_identifier: identifierRows(list(location.children('identifier').map(identifier)) ?? []),
    },
  };
}
