/** Organization (https://hl7.org/fhir/R4/organization.html) as rows of `provider_organisation`. */
import { address, codeableConcept, contactPoint, identifier, list } from './datatypes.ts';
import type { ElementReader } from './element-reader.ts';
import { identifierRows } from './record-rows.ts';
import type { MapContext } from './resource-importer.ts';
import type { RecordRow } from './write-records.ts';

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
