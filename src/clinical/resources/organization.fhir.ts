/** Organization (https://hl7.org/fhir/R4/organization.html): a hospital or company that a record names. */
import { address, compact, contactPoint } from '../../fhir/reading/datatypes.ts';
import type { ElementReader } from '../../fhir/reading/element-reader.ts';
import { describeResource } from '../description/describe.ts';
import { directoryIdentifiers, sourceFacility } from '../description/directory.ts';
import { boolean, concepts, jsonList, string } from '../description/kinds.ts';
import type { ReadContext } from '../description/read-context.ts';

export const ORGANIZATION = describeResource('Organization', {
  table: 'provider_organisation',
  reach: 'organisation',
  elements: {
    active: boolean('active'),
    name: string('name'),
    type: concepts('type'),
    telecom: jsonList('telecom', countingHome(contactPoint), withoutHome),
    address: jsonList('address', countingHome(address), withoutHome),
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

interface Used {
  use?: string;
}

function countingHome<Value extends Used>(read: (reader: ElementReader) => Value | undefined) {
  return (reader: ElementReader, context: ReadContext): Value | undefined => {
    const value = read(reader);
    if (value?.use === 'home') context.notKept(`${reader.path}.use`);
    return value;
  };
}

/** R4 invariants org-2 and org-3: nothing of an organisation is of use `home`. It goes out without a use. */
function withoutHome<Value extends Used>(value: Value): object | undefined {
  return value.use === 'home' ? compact({ ...value, use: undefined }) : value;
}
