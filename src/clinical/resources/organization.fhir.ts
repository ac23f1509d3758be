/** Organization (https://hl7.org/fhir/R4/organization.html): a hospital or company that a record names. */
import { address, contactPoint } from '../../fhir/reading/datatypes.ts';
import { describeResource } from '../description/describe.ts';
import { directoryIdentifiers, sourceFacility } from '../description/directory.ts';
import { boolean, concepts, jsonList, string } from '../description/kinds.ts';

export const ORGANIZATION = describeResource('Organization', {
  table: 'provider_organisation',
  reach: 'organisation',
  elements: {
    active: boolean('active'),
    name: string('name'),
    type: concepts('type'),
    telecom: jsonList('telecom', contactPoint),
    address: jsonList('address', address),
    identifier: directoryIdentifiers('Organization'),
    sourceFacilityId: sourceFacility(),
  },
  notKept: {
    alias: 'no column holds it yet',
    partOf: 'organisations inside of organisations are not held',
    contact: 'no column holds it yet',
    endpoint: 'endpoints are not held',
  },
});
