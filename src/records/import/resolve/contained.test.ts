/** References to contained resources: what these say of themselves is not lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LICENCE, patient, practitioner, type Resource } from '../../../../test-support/records/clinic.ts';
import { countsOf, useImportTest } from '../../../../test-support/records/import.ts';
import { containedByReference } from './contained.ts';

const someone = patient();
const doctor = practitioner({ identifier: [{ system: LICENCE, value: 'L-1' }] });

const t = await useImportTest();
await t.run([someone, doctor]);

const ID = '7d000000-0000-4000-8000-000000000001';
/** An Observation by whoever is contained. */
const result = (contained: object | undefined, performer: object): Resource => ({
  resourceType: 'Observation',
  id: ID,
  ...(contained === undefined ? {} : { contained: [contained] }),
  status: 'final',
  code: { text: 'Potassium' },
  subject: { reference: `Patient/${someone.id}` },
  performer: [performer],
});

/** The performer that is stored, and what the report says of it. */
async function performerOf(contained: object | undefined, performer: object = { reference: '#p' }) {
  const document = await t.run([result(contained, performer)]);
  assert.deepEqual(document.rejected, []);
  const [row] = await t.rows<{ performer: unknown }>('select performer from observation where id = $1', [ID]);
  const named = (elements: typeof document.notKept) => countsOf(elements)['Observation.performer'] ?? 0;
  return [row?.performer, named(document.unresolved), named(document.notKept)];
}

const person = (more: object) => ({ resourceType: 'Practitioner', id: 'p', ...more });

test('a contained performer is who has the identifier, else is called by the name, else by the identifier [IN-46]', async () => {
  for (const [contained, stored] of [
    [
      person({ identifier: [{ system: LICENCE, value: 'L-1' }], name: [{ text: 'Dr. Brook' }] }),
      { id: doctor.id, type: 'Practitioner', display: 'Dr. Brook' },
    ],
    [
      person({ identifier: [{ system: LICENCE, value: 'L-2' }], name: [{ family: 'Lee', given: ['Ann'] }] }),
      { display: 'Ann Lee' },
    ],
    [person({ identifier: [{ system: LICENCE, value: 'L-2' }] }), { display: 'L-2' }],
    [person({ identifier: [{ value: 'no system' }] }), { display: 'no system' }],
    [{ resourceType: 'Organization', id: 'p', name: 'Hill Laboratory' }, { display: 'Hill Laboratory' }],
    [
      { resourceType: 'PractitionerRole', id: 'p', practitioner: { display: 'Dr. Grey' } },
      { display: 'Dr. Grey' },
    ],
  ] as const) {
    const [performer, unresolved, notKept] = await performerOf(contained);
    assert.deepEqual(performer, [stored], JSON.stringify(contained));
    assert.deepEqual([unresolved, notKept], ['id' in stored ? 0 : 1, 0]);
  }
});

test('the display of the reference wins over the name [IN-46]', async () => {
  const [performer] = await performerOf(person({ name: [{ text: 'Dr. Brook' }] }), {
    reference: '#p',
    display: 'On duty',
  });
  assert.deepEqual(performer, [{ display: 'On duty' }]);
});

test('one that says nothing of itself is named as not kept [IN-7, IN-46]', async () => {
  for (const contained of [
    undefined,
    person({}),
    person({ name: [null], identifier: 7 }),
    person({ name: 'bad\0name' }),
    person({ identifier: [{ system: LICENCE, value: 'bad\0value' }] }),
    { resourceType: 'Practitioner', id: 'other', name: [{ text: 'Somebody else' }] },
  ])
    assert.deepEqual(await performerOf(contained), [null, 1, 1], JSON.stringify(contained));
});

test('of several with one id the first is meant; 1,000 are taken, and more are refused [IN-50]', async () => {
  const named = (text: string) => person({ name: [{ text }] });
  const many = Array.from({ length: 1_000 }, (_, index) => named(index === 0 ? 'First' : 'Later'));
  const all = (contained: object[]) => ({ ...result(undefined, { reference: '#p' }), contained });
  assert.deepEqual((await t.run([all(many)])).rejected, []);
  const [row] = await t.rows<{ performer: unknown }>('select performer from observation where id = $1', [ID]);
  assert.deepEqual(row?.performer, [{ display: 'First' }]);
  const { rejected } = await t.run([all([...many, named('One more')])]);
  assert.deepEqual(
    rejected.map(({ reason }) => reason),
    ['Observation.contained has more than 1000 resources. Send some of them as resources of their own'],
  );
});

test('a contained resource is read once, whatever the number of references [IN-46]', () => {
  let reads = 0;
  const counted = {
    resourceType: 'Practitioner',
    get id() {
      reads += 1;
      return 'p';
    },
  };
  const contained = containedByReference({ contained: [counted, counted] });
  for (let reference = 0; reference < 50; reference += 1) contained.get(reference === 0 ? '#p' : '#z');
  assert.equal(reads, 2);
});
