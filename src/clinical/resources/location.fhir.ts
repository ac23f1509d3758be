/** Location (https://hl7.org/fhir/R4/location.html). */
import type { Decimal } from '../../fhir/json.ts';
import { address, contactPoint } from '../../fhir/reading/datatypes.ts';
import { DIGITS_MAX } from '../../fhir/reading/measured.ts';
import { numbers } from '../content/document.ts';
import { describeResource } from '../description/describe.ts';
import { directoryIdentifiers, sourceFacility } from '../description/directory.ts';
import type { Element } from '../description/element.ts';
import { code, concepts, json, jsonList, string } from '../description/kinds.ts';
import { referenceTo } from '../description/pointer.ts';

const STATUSES = ['active', 'suspended', 'inactive'] as const;

export const LOCATION = describeResource('Location', {
  table: 'location',
  reach: 'organisation',
  elements: {
    status: code('status', STATUSES),
    name: string('name'),
    type: concepts('type'),
    telecom: jsonList('telecom', contactPoint),
    address: json('address', address),
    position: position(),
    managingOrganization: managingOrganization(),
    identifier: directoryIdentifiers('Location'),
    sourceFacilityId: sourceFacility(),
  },
  notKept: {
    operationalStatus: 'it is about a bed at one moment',
    alias: 'no column holds it yet',
    description: 'no column holds it yet',
    mode: 'no column holds it yet',
    physicalType: 'no column holds it yet',
    partOf: 'places inside of places are not held',
    hoursOfOperation: 'no column holds it yet',
    availabilityExceptions: 'no column holds it yet',
    endpoint: 'endpoints are not held',
  },
});

/** Both are 1..1; the altitude is not kept. */
function position(): Element<{ longitude?: number | Decimal; latitude?: number | Decimal }> {
  return {
    columns: [
      ['longitude', 'numeric'],
      ['latitude', 'numeric'],
    ],
    fields: ({ alias }) => numbers(alias, ['longitude', 'latitude']),
    read(reader, name) {
      const at = reader.child(name);
      return {
        values: {
          longitude: at?.required('longitude', at.decimal('longitude', DIGITS_MAX)),
          latitude: at?.required('latitude', at.decimal('latitude', DIGITS_MAX)),
        },
      };
    },
    write(output, name, { longitude, latitude }) {
      if (longitude === undefined || latitude === undefined) return;
      output.object(name, (at) => {
        at.value('longitude', longitude);
        at.value('latitude', latitude);
      });
    },
  };
}

/** Only one that is here; what it was called is not kept. */
function managingOrganization(): Element<{ managingOrganisationId?: string }> {
  return {
    columns: [['managing_organisation_id', 'uuid']],
    fields: ({ alias }) => [{ name: 'managingOrganisationId', sql: `${alias}.managing_organisation_id` }],
    read(reader, name, context) {
      const managing = context.reference(reader, name, ['Organization']);
      if (managing?.display !== undefined) context.notKept(`${reader.path}.${name}.display`);
      return { values: { managing_organisation_id: managing?.target?.id } };
    },
    write: (output, name, { managingOrganisationId: id }) =>
      output.json(name, referenceTo({ type: 'Organization', id })),
  };
}
