import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyOf } from './copies.ts';

const PATIENT = '11111111-1111-4111-8111-111111111111';
const ELSEWHERE = '22222222-2222-4222-8222-222222222222';

const bundle = {
  resourceType: 'Bundle' as const,
  type: 'transaction',
  entry: [
    {
      fullUrl: `urn:uuid:${PATIENT}`,
      resource: { resourceType: 'Patient', id: PATIENT, identifier: [{ value: 'M-1' }, { value: PATIENT }] },
    },
    {
      resource: {
        resourceType: 'Encounter',
        id: 'e1',
        subject: { reference: `urn:uuid:${PATIENT}` },
        serviceProvider: { reference: `Organization?identifier=https://example.org|${ELSEWHERE}` },
      },
    },
  ],
};

test('a copy has ids and identifiers of its own, and refers to the same records elsewhere', () => {
  const text = JSON.stringify(copyOf(bundle, 1));
  assert.equal(text.includes(PATIENT), false);
  assert.equal(text.includes(ELSEWHERE), true);
  const [patient, encounter] = copyOf(bundle, 1).entry ?? [];
  const id = patient?.resource?.id ?? '';
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(patient?.fullUrl, `urn:uuid:${id}`);
  assert.deepEqual(patient?.resource?.identifier, [{ value: 'M-1-1' }, { value: id }]);
  assert.equal(JSON.stringify(encounter).includes(id), true);
});

test('the same copy is the same, another one is another', () => {
  assert.deepEqual(copyOf(bundle, 1), copyOf(bundle, 1));
  assert.notDeepEqual(copyOf(bundle, 1), copyOf(bundle, 2));
});
