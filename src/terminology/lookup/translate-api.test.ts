/** Look-up of a code over HTTP. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  entry,
  LOINC,
  type TerminologyCalls,
  terminologyCalls,
} from '../../../test-support/http/terminology-calls.ts';
import { startTestApi, type TestApi } from '../../../test-support/service/api.ts';

let api: TestApi;
let tenant: TerminologyCalls['tenant'];
let manager: TerminologyCalls['manager'];
let put: TerminologyCalls['put'];
let get: TerminologyCalls['get'];
let atSister: TerminologyCalls['atSister'];

before(async () => {
  api = await startTestApi();
});
after(() => api.close());
beforeEach(async () => {
  ({ tenant, manager, put, get, atSister } = await terminologyCalls(api));
});

describe('GET /terminology/maps/$translate', () => {
  test('answers FHIR Parameters, the entry of the facility first [TERM-15]', async () => {
    await put({ ...entry, targetDisplay: 'Hemoglobin' });
    const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });
    const match = (valueCoding: object) => ({
      name: 'match',
      part: [
        { name: 'equivalence', valueCode: 'equivalent' },
        { name: 'concept', valueCoding },
      ],
    });
    const result = { name: 'result', valueBoolean: true };
    const first = await get('/maps/$translate?system=urn:lab&code=HGB');
    assert.equal(first.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
    assert.deepEqual(
      first.json,
      parameters(result, match({ system: LOINC, code: '718-7', display: 'Hemoglobin' })),
    );
    await put({ ...entry, targetCode: '20509-6', facilityId: tenant.facilityId });
    const own = await get('/maps/$translate?system=urn:lab&code=HGB');
    assert.deepEqual(own.json, parameters(result, match({ system: LOINC, code: '20509-6' })));
    const sister = await get('/maps/$translate?system=urn:lab&code=HGB', atSister());
    assert.deepEqual(sister.json, first.json);
  });

  test('says when there is nothing, and when someone decided so', async () => {
    const message = { name: 'message', valueString: 'No terminology map has a standard code for this code.' };
    const nothing = [{ name: 'result', valueBoolean: false }, message];
    await put(entry);
    for (const query of [
      'system=urn:lab&code=none',
      'code=HGB',
      'system=urn:lab&code=HGB&targetsystem=urn:other',
    ])
      assert.deepEqual((await get(`/maps/$translate?${query}`)).json.parameter, nothing, query);
    await put({ ...entry, targetCode: null, equivalence: 'unmatched' });
    const decided = { name: 'match', part: [{ name: 'equivalence', valueCode: 'unmatched' }] };
    assert.deepEqual((await get('/maps/$translate?system=urn:lab&code=HGB')).json.parameter, [
      ...nothing,
      decided,
    ]);
    const stranger = await api.createAccount(await api.createTenant());
    assert.deepEqual(
      (await get('/maps/$translate?system=urn:lab&code=HGB', {}, stranger)).json.parameter,
      nothing,
    );
  });

  test('400 without a code, 406 for XML', async () => {
    assert.equal((await get('/maps/$translate?system=urn:lab')).status, 400);
    assert.equal((await get('/maps/$translate?code=')).status, 400);
    assert.equal((await get('/maps/$translate?code=A', { accept: 'application/fhir+xml' })).status, 406);
  });
});

test('a change on one node is in the next answer of another [TERM-4]', async () => {
  const other = await api.addNode();
  const ask = async () =>
    (await other.call('/terminology/maps/$translate?system=urn:lab&code=HGB', { token: manager.token })).json
      .parameter[0].valueBoolean;
  assert.equal(await ask(), false);
  await put(entry);
  assert.equal(await ask(), true);
});
