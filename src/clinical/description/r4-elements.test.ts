import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionsIn } from '../../../test-support/fhir/definitions.ts';
import { R4_ELEMENTS } from './r4-elements.ts';

interface Definition {
  resourceType: string;
  snapshot?: { element: { path: string }[] };
}

/** What R4 gives every element, and every resource. */
const OF_PARTS = ['id', 'extension', 'modifierExtension'];
const OF_RESOURCES = [...OF_PARTS, 'meta', 'implicitRules', 'language', 'text', 'contained'];

test('the elements are those of the definitions of HL7, in their order', () => {
  const paths = ['profiles-resources', 'profiles-types'].flatMap((file) =>
    definitionsIn<Definition>(file)
      .filter(({ resourceType }) => resourceType === 'StructureDefinition')
      .flatMap(({ snapshot }) => snapshot?.element ?? []),
  );
  const isResource = (owner: string) => paths.some(({ path }) => path === `${owner}.implicitRules`);
  const elementsOf = (owner: string) =>
    paths
      .map(({ path }) => path)
      .filter((path) => path.startsWith(`${owner}.`) && !path.slice(owner.length + 1).includes('.'))
      .map((path) => path.slice(owner.length + 1))
      .filter((name) => !(isResource(owner) ? OF_RESOURCES : OF_PARTS).includes(name));
  for (const [owner, names] of Object.entries(R4_ELEMENTS))
    assert.deepEqual(names.split(' '), [...new Set(elementsOf(owner))], owner);
});
