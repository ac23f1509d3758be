import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FhirAnswer } from './fhir-client.ts';
import { foundIds, issuesOf, storedAs } from './read-answer.ts';

type Answered = Extract<FhirAnswer, { kind: 'answered' }>;
const answer = (given: Partial<Answered>): Answered => ({
  kind: 'answered',
  status: 201,
  retryAfterMs: undefined,
  etag: undefined,
  location: undefined,
  body: '',
  ...given,
});
const stored = (given: Partial<Answered>, putId?: string) =>
  storedAs(answer(given), { type: 'Observation', putId });

describe('where an answer says that a resource is stored', () => {
  test('the body, then ETag and Location [PUB-20]', () => {
    const body = '{"resourceType":"Observation","id":"a1","meta":{"versionId":"7"}}';
    assert.deepEqual(stored({ body }), { id: 'a1', versionId: '7' });
    assert.deepEqual(stored({ body, etag: 'W/"8"', location: 'https://x/Observation/zz/_history/9' }), {
      id: 'a1',
      versionId: '7',
    });
    const bare = '{"resourceType":"Observation","id":"a1"}';
    assert.deepEqual(stored({ body: bare, etag: 'W/"8"' }), { id: 'a1', versionId: '8' });
    assert.deepEqual(stored({ body: bare }), { id: 'a1', versionId: null });
  });

  test('an empty body or object, or an OperationOutcome: Location, or the address of the PUT', () => {
    const outcome = '{"resourceType":"OperationOutcome","issue":[]}';
    for (const body of ['', ' ', '{}', outcome, undefined]) {
      assert.deepEqual(stored({ body, location: 'https://x/fhir/Observation/a1/_history/3' }), {
        id: 'a1',
        versionId: '3',
      });
      assert.deepEqual(stored({ body, location: '/fhir/Observation/a1' }), { id: 'a1', versionId: null });
      assert.deepEqual(stored({ body, etag: '"5"' }, 'mine'), { id: 'mine', versionId: '5' });
      assert.equal(stored({ body }), undefined);
    }
  });

  test('an OperationOutcome with an error stored nothing, whatever the status says', () => {
    const outcome = (severity: string) =>
      `{"resourceType":"OperationOutcome","issue":[{"severity":"warning"},{"severity":"${severity}"}]}`;
    const location = 'https://x/fhir/Observation/a1';
    for (const severity of ['error', 'fatal']) {
      assert.equal(stored({ body: outcome(severity) }, 'mine'), undefined);
      assert.equal(stored({ body: outcome(severity), location }), undefined);
    }
    for (const severity of ['warning', 'information'])
      assert.deepEqual(stored({ body: outcome(severity) }, 'mine'), { id: 'mine', versionId: null });
  });

  test('a body that begins with a byte order mark, or is echoed without an id [PUB-20]', () => {
    const marked = '\ufeff{"resourceType":"Observation","id":"a1"}';
    assert.deepEqual(stored({ body: marked }), { id: 'a1', versionId: null });
    const location = 'https://x/fhir/Observation/a1/_history/3';
    const echoed = '{"resourceType":"Observation","status":"final"}';
    assert.deepEqual(stored({ body: echoed, location }), { id: 'a1', versionId: '3' });
    const withNull = '{"resourceType":"Observation","id":null}';
    assert.deepEqual(stored({ body: withNull, location }), { id: 'a1', versionId: '3' });
    assert.equal(stored({ body: '{"resourceType":"Observation","id":7}', location }), undefined);
  });

  test('an object that says an id and no type [PUB-20]', () => {
    for (const putId of ['a1', undefined])
      assert.deepEqual(stored({ body: '{"id":"a1"}' }, putId), { id: 'a1', versionId: null });
    const location = 'https://x/fhir/Observation/a1/_history/3';
    for (const body of ['{"message":"created"}', '{"id":"message-7"}'])
      assert.deepEqual(stored({ body, location }), { id: 'a1', versionId: '3' });
    assert.equal(stored({ body: '{"id":7}' }), undefined);
    assert.equal(stored({ status: 202, body: '{"id":"job-1"}' }), undefined);
  });

  test('what is no answer of a FHIR server, or of another type, is none', () => {
    for (const body of [
      '{"resourceType":"Observa',
      '<html></html>',
      '[]',
      'null',
      '{"resourceType":"Patient","id":"a1"}',
      '{"resourceType":"Observation"}',
      '{"resourceType":"Observation","id":"../x"}',
      '{"resourceType":"Observation","id":7}',
      '{"resourceType":"Observation","id":".."}',
      '{"resourceType":"Observation","id":"."}',
    ])
      assert.equal(stored({ body }, 'mine'), undefined, body);
    for (const location of [
      'https://x/Patient/a1',
      'https://x/Observation/a 1',
      'https://x/Observation/..',
      'https://x/',
    ])
      assert.equal(stored({ location }), undefined, location);
  });
});

describe('what a search found', () => {
  const wanted = { type: 'Observation', system: 's', value: 'v' };
  const bundle = (...resources: object[]) =>
    answer({
      body: JSON.stringify({
        resourceType: 'Bundle',
        type: 'searchset',
        entry: resources.map((resource) => ({ resource })),
      }),
    });
  const right = { resourceType: 'Observation', id: 'a1', identifier: [{ system: 's', value: 'v' }] };

  test('counts only what carries the identifier: a server may ignore what it was asked for', () => {
    const others = [
      { ...right, id: 'a2', identifier: [{ system: 's', value: 'w' }] },
      { ...right, id: 'a3', identifier: [{ value: 'v' }] },
      { resourceType: 'Observation', id: 'a4' },
      { ...right, resourceType: 'Patient' },
      { resourceType: 'OperationOutcome' },
    ];
    assert.deepEqual(
      foundIds(bundle(...others, right), wanted)?.map(({ id, versionId }) => [id, versionId]),
      [['a1', null]],
    );
    assert.deepEqual(foundIds(bundle(), wanted), []);
    assert.deepEqual(foundIds(answer({ body: '{"resourceType":"Bundle","type":"searchset"}' }), wanted), []);
  });

  test('an entry that is none is left out', () => {
    const body = JSON.stringify({
      resourceType: 'Bundle',
      type: 'searchset',
      entry: [null, 7, {}, { resource: null }, { resource: right }],
    });
    assert.deepEqual(
      foundIds(answer({ body }), wanted)?.map(({ id }) => id),
      ['a1'],
    );
  });

  test('what is no searchset is no answer', () => {
    for (const body of ['', '{}', '{"resourceType":"Bundle","type":"history"}', '<html>'])
      assert.equal(foundIds(answer({ body }), wanted), undefined, body);
  });
});

test('issues of what is no OperationOutcome are none', () => {
  assert.deepEqual(issuesOf({ kind: 'unanswered', code: 'TIMEOUT', reached: true }), []);
  for (const body of ['', 'x', '{"resourceType":"OperationOutcome","issue":7}', '{"resourceType":"Patient"}'])
    assert.deepEqual(issuesOf(answer({ body })), []);
  assert.deepEqual(
    issuesOf(answer({ body: '{"resourceType":"OperationOutcome","issue":[null,{"code":"value"}]}' })),
    [{ code: 'value' }],
  );
});
