/** The list of unmapped codes over HTTP. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entry, useTerminologyCalls } from '../../../test-support/http/terminology-calls.ts';

const calls = useTerminologyCalls();

describe('GET /terminology/unmapped', () => {
  const meet = (facilityId: string, code: string, times: number) =>
    calls.api.database.pool.query({
      text: `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place, met_count, first_met_at, last_met_at)
        values ($1, $2, 'urn:lab', $3, 'lab.result', $4, $5, $5)`,
      values: [calls.tenant.organisationId, facilityId, code, times, calls.api.clock.now],
    });

  test('lists what the facility of the call met, until it is mapped [TERM-16]', async () => {
    await meet(calls.tenant.facilityId, 'RARE', 1);
    await meet(calls.tenant.facilityId, 'HGB', 9);
    await meet(calls.sisterFacilityId, 'ELSE', 5);
    const first = await calls.get('/unmapped?limit=1');
    const at = calls.api.clock.now.toISOString();
    assert.deepEqual(first.json.items, [
      {
        facilityId: calls.tenant.facilityId,
        localSystem: 'urn:lab',
        localCode: 'HGB',
        localDisplay: null,
        count: 9,
        places: [{ place: 'lab.result', count: 9 }],
        firstMetAt: at,
        lastMetAt: at,
      },
    ]);
    const second = await calls.get(`/unmapped?limit=1&cursor=${first.json.nextCursor}`);
    assert.deepEqual([second.json.items[0].localCode, second.json.nextCursor], ['RARE', null]);
    await calls.put(entry);
    const codes = async (query: string) =>
      (await calls.get(`/unmapped${query}`)).json.items.map((item: { localCode: string }) => item.localCode);
    assert.deepEqual(await codes(''), ['RARE']);
    assert.deepEqual(await codes('?place=lab.result'), ['RARE']);
    assert.deepEqual(await codes('?place=lab.order'), []);
  });

  test('400 for bad parameters', async () => {
    for (const query of ['limit=0', 'place=else', 'cursor=x'])
      assert.equal((await calls.get(`/unmapped?${query}`)).status, 400, query);
  });
});
