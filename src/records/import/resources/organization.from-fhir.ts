/** Organization (https://hl7.org/fhir/R4/organization.html) as rows of `provider_organisation`. */

import type { RecordRow } from '../../../clinical/description/describe.ts';
import { address, codeableConcept, contactPoint, identifier, list } from '../../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../../fhir/reading/element-reader.ts';
import type { MapContext } from '../map/resource-importer.ts';
import { identifierRows } from '../write/directory-identifiers.ts';

export function organizationFromFhir(organization: ElementReader, { id }: Pick<MapContext, 'id'>): RecordRow {
  return {
    id,
    values: {
      active: organization.boolean('active'),
      name: organization.string('name'),
      type: list(organization.children('type').map(codeableConcept)),
      telecom: list(organization.children('telecom').map(contactPoint)),
      address: list(organization.children('address').map(address)),
    },
    children: {
      directory_identifier: identifierRows(list(organization.children('identifier').map(identifier)) ?? []),
    },
  };
}
