/** Look-up of a code over HTTP. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entry, LOINC, useTerminologyCalls } from '../../../test-support/http/terminology-calls.ts';

const calls = useTerminologyCalls();

describe('GET /terminology/maps/$translate', () => {
  test('answers FHIR Parameters, the entry of the facility first [TERM-15]', async () => {
    await calls.put({ ...entry, targetDisplay: 'Hemoglobin' });
    const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });
    const match = (valueCoding: object) => ({
      name: 'match',
      part: [
        { name: 'equivalence', valueCode: 'equivalent' },
        { name: 'concept', valueCoding },
      ],
    });
    const result = { name: 'result', valueBoolean: true };
    const first = await calls.get('/maps/$translate?system=urn:lab&code=HGB');
    assert.equal(first.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
    assert.deepEqual(
      first.json,
      parameters(result, match({ system: LOINC, code: '718-7', display: 'Hemoglobin' })),
    );
    await calls.put({ ...entry, targetCode: '20509-6', facilityId: calls.tenant.facilityId });
    const own = await calls.get('/maps/$translate?system=urn:lab&code=HGB');
    assert.deepEqual(own.json, parameters(result, match({ system: LOINC, code: '20509-6' })));
    const sister = await calls.get('/maps/$translate?system=urn:lab&code=HGB', calls.atSister());
    assert.deepEqual(sister.json, first.json);
  });

  test('tells the display that is sent: the official one, where the service knows it [TERM-15]', async () => {
    await calls.put({ ...entry, targetCode: '8867-4', targetDisplay: 'Pulse' });
    const { json } = await calls.get('/maps/$translate?system=urn:lab&code=HGB');
    const [, { valueCoding }] = json.parameter[1].part;
    assert.deepEqual(valueCoding, { system: LOINC, code: '8867-4', display: 'Heart rate' });
  });

  test('says when there is nothing, and when someone decided so', async () => {
    const message = { name: 'message', valueString: 'No terminology map has a standard code for this code.' };
    const nothing = [{ name: 'result', valueBoolean: false }, message];
    await calls.put(entry);
    for (const query of [
      'system=urn:lab&code=none',
      'code=HGB',
      'system=urn:lab&code=HGB&targetsystem=urn:other',
    ])
      assert.deepEqual((await calls.get(`/maps/$translate?${query}`)).json.parameter, nothing, query);
    await calls.put({ ...entry, targetCode: null, equivalence: 'unmatched' });
    const decided = { name: 'match', part: [{ name: 'equivalence', valueCode: 'unmatched' }] };
    assert.deepEqual((await calls.get('/maps/$translate?system=urn:lab&code=HGB')).json.parameter, [
      ...nothing,
      decided,
    ]);
    const stranger = await calls.api.createAccount(await calls.api.createTenant());
    assert.deepEqual(
      (await calls.get('/maps/$translate?system=urn:lab&code=HGB', {}, stranger)).json.parameter,
      nothing,
    );
  });

  test('400 without a code, 406 for XML', async () => {
    assert.equal((await calls.get('/maps/$translate?system=urn:lab')).status, 400);
    assert.equal((await calls.get('/maps/$translate?code=')).status, 400);
    assert.equal(
      (await calls.get('/maps/$translate?code=A', { accept: 'application/fhir+xml' })).status,
      406,
    );
  });
});

test('a change on one node is in the next answer of another [TERM-4]', async () => {
  const other = await calls.api.addNode();
  const ask = async () =>
    (await other.call('/terminology/maps/$translate?system=urn:lab&code=HGB', { token: calls.manager.token }))
      .json.parameter[0].valueBoolean;
  assert.equal(await ask(), false);
  await calls.put(entry);
  assert.equal(await ask(), true);
});
