import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionsIn } from '../../../test-support/fhir/definitions.ts';
import { OFFICIAL_DISPLAYS, officially } from './official-display.ts';

interface CodeSystem {
  resourceType: string;
  url: string;
  concept?: Concept[];
}
interface Concept {
  code: string;
  display?: string;
  concept?: Concept[];
}

test("the displays are those of HL7's code systems", () => {
  const systems = ['valuesets', 'v2-tables', 'v3-codesystems'].flatMap((file) =>
    definitionsIn<CodeSystem>(file),
  );
  for (const [url, displays] of Object.entries(OFFICIAL_DISPLAYS)) {
    const system = systems.find((one) => one.resourceType === 'CodeSystem' && one.url === url);
    const official = new Map(flat(system?.concept ?? []).map(({ code, display }) => [code, display]));
    for (const [code, display] of Object.entries(displays))
      assert.equal(official.get(code), display, `${url} ${code}`);
  }
});

test('another display is replaced; none, and one of an unknown code, stay as they are', () => {
  const loinc = 'http://loinc.org';
  assert.deepEqual(
    officially({
      coding: [
        { system: loinc, code: '29463-7', display: 'Body Weight' },
        { system: loinc, code: '8867-4' },
        { system: loinc, code: '2951-2', display: 'Sodium' },
        { system: 'https://hospital.example', code: 'laboratory', display: 'lab' },
      ],
      text: 'Body Weight',
    }),
    {
      coding: [
        { system: loinc, code: '29463-7', display: 'Body weight' },
        { system: loinc, code: '8867-4' },
        { system: loinc, code: '2951-2', display: 'Sodium' },
        { system: 'https://hospital.example', code: 'laboratory', display: 'lab' },
      ],
      text: 'Body Weight',
    },
  );
});

function flat(concepts: readonly Concept[]): Concept[] {
  return concepts.flatMap((concept) => [concept, ...flat(concept.concept ?? [])]);
}
