import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResourceRejected } from '../../../fhir/reading/json-resource.ts';
import { identifierQuery, parseReference, withoutVersion } from './parse-reference.ts';
import { facilityRecordId, recordId, recordIdOf } from './record-id.ts';

const UUID = '6f1a7c1e-0b5f-4d5c-8a34-0a7b1f0c9d11';

test('what a reference points at [IN-8]', () => {
  const cases: [string, ReturnType<typeof parseReference>][] = [
    ['Patient/f001', { kind: 'literal', type: 'Patient', id: 'f001' }],
    ['Patient/1/_history/7', { kind: 'literal', type: 'Patient', id: '1' }],
    ['https://a.example/fhir/Patient/1', { kind: 'literal', type: 'Patient', id: '1' }],
    [`urn:uuid:${UUID.toUpperCase()}`, { kind: 'uuid', id: UUID }],
    ['urn:uuid:nonsense', { kind: 'other' }],
    ['urn:oid:1.2.3', { kind: 'other' }],
    ['#p1', { kind: 'contained' }],
    ['https://a.example/anything', { kind: 'other' }],
    [
      'Practitioner?identifier=http://a.example/n|7',
      { kind: 'conditional', type: 'Practitioner', key: { system: 'http://a.example/n', value: '7' } },
    ],
    ['Practitioner?name=x', { kind: 'conditional', type: 'Practitioner', key: undefined }],
    ['?identifier=a|b', { kind: 'other' }],
  ];
  for (const [text, expected] of cases) assert.deepEqual(parseReference(text), expected, text);
  assert.equal(withoutVersion('urn:uuid:a'), 'urn:uuid:a');
});

test('an identifier query is one system and one value, with the escapes of FHIR search', () => {
  assert.deepEqual(identifierQuery('identifier=a%7Cb'), { system: 'a', value: 'b' });
  assert.deepEqual(identifierQuery(String.raw`identifier=a|x\|y\,z\\`), { system: 'a', value: 'x|y,z\\' });
  assert.deepEqual(identifierQuery('identifier=a|b=c'), { system: 'a', value: 'b=c' });
  for (const query of [
    'identifier=b',
    'identifier=|b',
    'identifier=a|',
    'identifier=a|b,c|d',
    'identifier=a|b&x=1',
    'identifier=%zz|b',
    '',
  ])
    assert.equal(identifierQuery(query), undefined, query);
});

test('ids: a UUID stays, others are made from type and id, and never change', () => {
  assert.equal(recordId('Patient', UUID.toUpperCase()), UUID);
  assert.equal(recordId('Patient', 'f001'), recordId('Patient', 'f001'));
  assert.notEqual(recordId('Patient', 'f001'), recordId('Encounter', 'f001'));
  // Stored records depend on this value: it must be the same in every release.
  assert.equal(recordId('Patient', 'f001'), 'a8f8ef67-f525-52b6-90ea-dc0581ed62fe');
  assert.match(
    recordId('Patient', 'f001'),
    /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test('the id at a facility is the one that docs/import.md says how to make', () => {
  // By that Python program.
  assert.equal(
    facilityRecordId('0b3ffb86-acef-43c8-b995-f43cc83784d2', recordId('Patient', '1234')),
    'c065abe0-aef7-55c4-916c-b38fc9f0e038',
  );
});

test('a resource without an id: fullUrl, then identifier, then content', () => {
  const idOf = (resource: object, fullUrl?: string) => recordIdOf(resource as never, 'Patient', fullUrl);
  assert.equal(idOf({}, `urn:uuid:${UUID}`), UUID);
  assert.equal(idOf({}, 'https://a.example/Patient/f001'), recordId('Patient', 'f001'));
  const identified = { identifier: [{ value: 'x' }, { system: 's', value: 'v' }] };
  assert.equal(idOf(identified), idOf({ ...identified, gender: 'male' }));
  assert.equal(idOf({ gender: 'male' }), idOf({ gender: 'male' }));
  assert.notEqual(idOf({ gender: 'male' }), idOf({ gender: 'female' }));
  for (const id of ['', 'a b', 'x'.repeat(65), 7, null])
    assert.throws(
      () => idOf({ id }),
      new ResourceRejected('Patient.id is not a FHIR id: 1 to 64 letters, digits, - and .'),
    );
});
