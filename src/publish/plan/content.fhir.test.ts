import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FhirResource } from '../../clinical/fetch/fhir-resource.ts';
import { parseFhirJson } from '../../fhir/json.ts';
import {
  businessIdentifier,
  hasIdentifier,
  publishLevels,
  referencedKeys,
  rewriteReferences,
  sentBody,
  withOwnIdentifier,
  withoutOwnVersion,
} from './content.fhir.ts';

const ORGANISATION = '7f0c0000-0000-4000-8000-000000000001';
const observation = (id: string, ...members: string[]): FhirResource => ({
  resourceType: 'Observation',
  id,
  ...(members.length === 0
    ? {}
    : { hasMember: members.map((member) => ({ reference: `Observation/${member}` })) }),
});
const levelsOf = (resources: FhirResource[]) =>
  publishLevels(resources).map((level) => level.map(({ resource }) => resource.id));

describe('levels', () => {
  test('the order, its results, its studies, its reports; what is referred to first of all [PUB-22]', () => {
    const types = ['DiagnosticReport', 'Observation', 'Patient', 'ImagingStudy', 'ServiceRequest'];
    const resources = types.map((resourceType) => ({ resourceType, id: resourceType }));
    assert.deepEqual(levelsOf(resources), [
      ['Patient'],
      ['ServiceRequest'],
      ['Observation'],
      ['ImagingStudy'],
      ['DiagnosticReport'],
    ]);
  });

  test('a panel comes after its members, those in a circle go last together', () => {
    assert.deepEqual(levelsOf([observation('a', 'b'), observation('b', 'c'), observation('c')]), [
      ['c'],
      ['b'],
      ['a'],
    ]);
    assert.deepEqual(levelsOf([observation('a', 'b'), observation('b', 'a'), observation('c')]), [
      ['c'],
      ['a', 'b'],
    ]);
    assert.deepEqual(levelsOf([observation('a', 'a')]), [['a']]);
  });

  test('every resource is in one level, and none before what it refers to unless in a circle', () => {
    const graph = fc.array(fc.array(fc.nat(11), { maxLength: 3 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(graph, (edges) => {
        const resources = edges.map((to, index) =>
          observation(String(index), ...to.filter((n) => n < index).map(String)),
        );
        const levels = levelsOf(resources);
        assert.deepEqual(levels.flat().sort(), resources.map(({ id }) => id).sort());
        const levelOf = new Map(levels.flatMap((level, index) => level.map((id) => [id, index] as const)));
        for (const resource of resources)
          for (const key of referencedKeys(JSON.stringify(resource)))
            assert.ok((levelOf.get(key.split('/')[1] ?? '') ?? 0) < (levelOf.get(resource.id) ?? 0));
      }),
    );
  });
});

describe('references', () => {
  const report = parseFhirJson(
    `{"resourceType":"DiagnosticReport","id":"r","subject":{"reference":"Patient/p","display":"D"},
      "result":[{"reference":"Observation/1"},{"reference":"#inner"},{"display":"only"}],
      "performer":[{"reference":"urn:uuid:9"},{"reference":"https://other.example/Patient/2"}],
      "extension":[{"valueDecimal":1.20}],"_status":{"extension":[null]}}`,
  ) as FhirResource;

  test('only those to records of ours count', () => {
    assert.deepEqual([...referencedKeys(JSON.stringify(report))], ['Patient/p', 'Observation/1']);
  });

  test('text that looks like one is none', () => {
    const note = { resourceType: 'Observation', id: 'x', note: [{ text: '{"reference":"Patient/p"}' }] };
    assert.equal(referencedKeys(JSON.stringify(note)).size, 0);
  });

  test('one inside another is found and replaced too', () => {
    const assigner = { reference: 'Organization/o' };
    const subject = { reference: 'Patient/p', identifier: { value: 'v', assigner } };
    const resource = { resourceType: 'Observation', id: 'x', subject };
    assert.deepEqual([...referencedKeys(JSON.stringify(resource))], ['Patient/p', 'Organization/o']);
    const changed = rewriteReferences(resource, (key, reference) => ({
      ...reference,
      reference: `${key}-1`,
    }));
    assert.deepEqual(changed.subject, {
      reference: 'Patient/p-1',
      identifier: { value: 'v', assigner: { reference: 'Organization/o-1' } },
    });
  });

  test('are replaced where they are, decimals stay to the digit, the source is not changed [PUB-21]', () => {
    const before = JSON.stringify(report);
    const changed = rewriteReferences(report, (key, reference) =>
      key === 'Observation/1' ? { ...reference, reference: 'Observation/77' } : undefined,
    );
    assert.equal(JSON.stringify(changed), before.replace('Observation/1', 'Observation/77'));
    assert.match(JSON.stringify(changed), /"valueDecimal":1\.20/);
    assert.equal(JSON.stringify(report), before);
  });

  test('a resource with nothing to replace stays the same object', () => {
    assert.equal(
      rewriteReferences(report, () => undefined),
      report,
    );
  });
});

describe('identifiers', () => {
  const own = { system: `urn:uuid:${ORGANISATION}`, value: 'x' };
  test('the official one is used, then the usual, then the first; old ones never; ours at last', () => {
    const named = (identifier: object[]) =>
      businessIdentifier(ORGANISATION, { resourceType: 'Patient', id: 'x', identifier }, 'x');
    const a = { system: 's', value: 'a' };
    const official = { use: 'official', system: 's', value: 'o' };
    const usual = { ...a, use: 'usual' };
    assert.equal(named([a, usual, official]), official);
    assert.equal(named([a, usual]), usual);
    assert.deepEqual(named([a]), a);
    const others = [
      { ...a, use: 'old' },
      { ...a, use: 'temp' },
      { value: 'no system' },
      { system: 'no value' },
    ];
    assert.deepEqual(named(others), own);
    assert.deepEqual(businessIdentifier(ORGANISATION, undefined, 'x'), own);
  });

  test('ours is added once', () => {
    const with1 = withOwnIdentifier(
      { resourceType: 'Patient', id: 'x', identifier: [{ value: 'a' }] },
      ORGANISATION,
    );
    assert.deepEqual(with1.identifier, [{ value: 'a' }, own]);
    assert.equal(withOwnIdentifier(with1, ORGANISATION), with1);
    assert.deepEqual(withOwnIdentifier(observation('x'), ORGANISATION).identifier, [own]);
  });

  test('ours is told from another value of ours, and from the same value of others', () => {
    assert.equal(hasIdentifier([{ ...own, value: 'y' }], own), false);
    assert.equal(hasIdentifier([{ ...own, system: 's' }], own), false);
  });
});

test('a body carries the id of the target, or none; never our version', () => {
  const resource = {
    resourceType: 'Patient',
    id: 'x',
    meta: { versionId: '3', lastUpdated: 'now' },
    active: true,
  };
  const bare = withoutOwnVersion(resource);
  assert.equal(sentBody(bare, 'x'), '{"resourceType":"Patient","id":"x","active":true}');
  assert.equal(sentBody(bare, '77'), '{"resourceType":"Patient","id":"77","active":true}');
  assert.equal(sentBody(bare, undefined), '{"resourceType":"Patient","active":true}');
  const profiled = withoutOwnVersion({ ...resource, meta: { versionId: '3', profile: ['p'] } });
  assert.deepEqual(profiled.meta, { profile: ['p'] });
});
