/** What the records of a directory share: Practitioner, Organization and Location. */
import { businessIdentifiers, type Identifier } from '../../fhir/coded.ts';
import { dataTypeList, IDENTIFIER } from './data-type-list.ts';
import { type Derived, type Element, onlyStored } from './element.ts';

/** The source's identifiers, and our own where none of them says both system and value. All three types share a table. */
export function directoryIdentifiers(
  resourceType: 'Practitioner' | 'Organization' | 'Location',
): Element<{ identifier?: Identifier[]; id: string }> {
  return {
    ...dataTypeList(IDENTIFIER, {
      table: 'directory_identifier',
      parent: 'record_id',
      alias: 'i',
      member: 'identifier',
      fixed: { resource_type: resourceType },
    }),
    write: (output, name, { identifier, id }, { organisationId }) =>
      output.json(name, businessIdentifiers(identifier, organisationId, id)),
  };
}

/** A record under an id that is no UUID is the facility's own; every facility finds the others. */
export function sourceFacility(): Derived {
  return onlyStored('source_facility_id', 'uuid', ({ context }) =>
    context.hasOwnId ? context.scope.facilityId : undefined,
  );
}
