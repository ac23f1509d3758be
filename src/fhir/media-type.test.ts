import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptsFhirJson } from './media-type.ts';

const cases: [accept: string | undefined, format: string | undefined, accepted: boolean][] = [
  [undefined, undefined, true],
  ['', undefined, true],
  ['*/*', undefined, true],
  ['application/*', undefined, true],
  ['application/json', undefined, true],
  ['application/fhir+json', undefined, true],
  ['Application/FHIR+JSON; charset=utf-8', undefined, true],
  ['application/fhir+json; fhirVersion=4.0', undefined, true],
  ['application/fhir+json; fhirVersion="4.0"', undefined, true],
  ['application/fhir+json; fhirVersion=4.0.1', undefined, true],
  ['application/fhir+json; fhirVersion="5.0"', undefined, false],
  ['text/html, application/xhtml+xml, */*;q=0.8', undefined, true],
  ['application/fhir+xml, application/fhir+json;q=0.5', undefined, true],
  ['application/json;q=0, */*', undefined, true],
  ['application/fhir+json; fhirVersion=5.0', undefined, false],
  ['application/fhir+xml', undefined, false],
  ['application/json+fhir', undefined, true],
  ['application/json+fhir;q=0, */*', undefined, false],
  ['text/html', undefined, false],
  ['*/*;q=0', undefined, false],
  ['application/fhir+json;q=0, */*', undefined, false],
  ['application/*;q=0, */*', undefined, false],
  ['application/json;q=0', undefined, false],
  ['application/json;q=high', undefined, false],
  [',;=,', undefined, false],
  ['application/fhir+xml', 'json', true],
  ['application/fhir+xml', 'application/fhir+json', true],
  ['application/fhir+xml', 'application/fhir json', true],
  ['application/fhir+xml', 'application/json', true],
  ['application/fhir+xml', 'application/fhir+json; charset=utf-8', true],
  ['application/fhir+xml', 'application/fhir json;fhirVersion=4.0', true],
  ['application/fhir+xml', 'application/fhir+json ; charset=utf-8', true],
  ['application/fhir+xml', 'application/fhir json ;fhirVersion=4.0', true],
  ['application/json', 'application/fhir+json; fhirVersion=5.0', false],
  ['application/json', 'application/fhir+xml; fhirVersion=4.0', false],
  ['application/json', 'xml', false],
  ['application/json', '', false],
];

for (const [accept, format, accepted] of cases)
  test(`Accept ${accept} with _format ${format} is ${accepted ? 'answered' : 'refused'} [ENC-35]`, () => {
    assert.equal(acceptsFhirJson(accept, format), accepted);
  });
