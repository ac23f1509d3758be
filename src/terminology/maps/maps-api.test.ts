/** Terminology maps over HTTP: who may call, entries and their changes. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { entry, HEADER, LOINC, useTerminologyCalls } from '../../../test-support/http/terminology-calls.ts';

const calls = useTerminologyCalls();

describe('who may call', () => {
  const guarded: [method: string, path: string, body?: unknown][] = [
    ['GET', '/terminology/maps'],
    ['PUT', '/terminology/maps', entry],
    ['DELETE', '/terminology/maps?localCode=HGB&targetSystem=x'],
    ['POST', '/terminology/maps/import', ''],
    ['GET', '/terminology/maps/export?format=csv'],
    ['GET', '/terminology/maps/$translate?code=HGB'],
    ['GET', '/terminology/maps/changes'],
    ['GET', '/terminology/unmapped'],
  ];
  for (const [method, path, body] of guarded) {
    test(`${method} ${path}: 401 without a token, 403 without the permission, 403 for another tenant [TERM-8]`, async () => {
      const nobody = await calls.api.createAccount(calls.tenant, {
        permissions: ['investigations.lab.list'],
      });
      const stranger = await calls.api.createAccount(await calls.api.createTenant());
      const shared = { method, ...(body === undefined ? {} : { body }) };
      assert.equal((await calls.api.call(path, shared)).status, 401);
      const refused = await calls.api.call(path, { ...shared, token: nobody.token });
      assert.equal(refused.status, 403);
      assert.match(refused.json.message, /permission terminology\.maps\./);
      const headers = { 'x-org-id': calls.tenant.organisationId, 'x-facility-id': calls.tenant.facilityId };
      assert.equal((await calls.api.call(path, { ...shared, token: stranger.token, headers })).status, 403);
    });
  }

  test('terminology.maps.read reads and changes nothing [TERM-8]', async () => {
    const reader = await calls.api.createAccount(calls.tenant, { permissions: ['terminology.maps.read'] });
    for (const path of [
      '/maps',
      '/maps/export?format=csv',
      '/maps/$translate?code=A',
      '/maps/changes',
      '/unmapped',
    ])
      assert.equal((await calls.get(path, {}, reader)).status, 200, path);
    assert.equal((await calls.put(entry, {}, reader)).status, 403);
    const path = '/terminology/maps?localSystem=urn:lab&localCode=HGB&targetSystem=http://loinc.org';
    assert.equal((await calls.api.call(path, { method: 'DELETE', token: reader.token })).status, 403);
    const upload = {
      method: 'POST',
      token: reader.token,
      headers: { 'content-type': 'text/csv' },
      body: HEADER,
    };
    assert.equal((await calls.api.call('/terminology/maps/import', upload)).status, 403);
  });
});

describe('PUT /terminology/maps', () => {
  test('201 with the entry, then 200 and nothing changed, then the next version [TERM-2]', async () => {
    const created = await calls.put(entry);
    assert.equal(created.status, 201);
    assert.deepEqual(created.json, {
      ...entry,
      id: created.json.id,
      facilityId: null,
      localDisplay: null,
      targetDisplay: null,
      equivalence: 'equivalent',
      comment: null,
      version: 1,
      updatedAt: calls.api.clock.now.toISOString(),
      updatedBy: calls.manager.userId,
    });
    const again = await calls.put(entry);
    assert.equal(again.status, 200);
    assert.deepEqual(again.json, created.json);
    const changed = await calls.put({ ...created.json, targetCode: '20509-6' });
    assert.deepEqual([changed.status, changed.json.id, changed.json.version], [200, created.json.id, 2]);
  });

  test('replaces the whole entry; what GET answers can be put as it is', async () => {
    const named = { ...entry, localDisplay: 'Hb', targetDisplay: 'Hemoglobin', comment: 'as agreed' };
    await calls.put(named);
    const [item] = (await calls.get('/maps')).json.items;
    const again = await calls.put(item);
    assert.deepEqual([again.status, again.json], [200, item]);
    const { json } = await calls.put(entry);
    assert.deepEqual(
      [json.localDisplay, json.targetDisplay, json.comment, json.version],
      [null, null, null, 2],
    );
  });

  test('400 that says what is wrong, without repeating what was sent [TERM-6]', async () => {
    for (const [fields, message] of [
      [{ targetCode: '718-8' }, /check digit/],
      [{ targetSystem: 'loinc' }, /must be written http:\/\/loinc.org/],
      [{ targetSystem: 'http://unitsofmeasure.org', targetCode: 'mmHg' }, /UCUM/],
      [{ localCode: '' }, /no local code/],
      [{ localCode: 5 }, /localCode/],
      [{ equivalence: 'same' }, /equivalence/],
      [{ localCode: 'secret\u0000code' }, /NUL/],
    ] as const) {
      const answer = await calls.put({ ...entry, ...fields });
      assert.equal(answer.status, 400, JSON.stringify(fields));
      assert.match(answer.json.message, message);
      assert.doesNotMatch(answer.text, /718-8|secret/);
    }
    for (const [unknown, message] of [
      ['facility', /has the unknown property facility\. Did you mean facilityId\?/],
      ['targetDispaly', /has the unknown property targetDispaly\. Did you mean targetDisplay\?/],
      ['equivalance', /has the unknown property equivalance\. Did you mean equivalence\?/],
      ['level', /has an unknown property\. It may have facilityId, localSystem, .*, comment/],
    ] as const) {
      const answer = await calls.put({ ...entry, localCode: 'NEW', [unknown]: calls.tenant.facilityId });
      assert.equal(answer.status, 400, unknown);
      assert.match(answer.json.message, message);
    }
    assert.deepEqual((await calls.get('/maps?localCode=NEW')).json.items, []);
    const { localCode: _missing, ...incomplete } = entry;
    assert.equal((await calls.put(incomplete)).status, 400);
    assert.equal((await calls.put('{', { 'content-type': 'application/json' })).status, 400);
    assert.equal((await calls.put('x', { 'content-type': 'text/plain' })).status, 415);
  });

  test('an entry of a facility is put at that facility only [TERM-2]', async () => {
    const own = await calls.put({ ...entry, facilityId: calls.tenant.facilityId });
    assert.deepEqual([own.status, own.json.facilityId], [201, calls.tenant.facilityId]);
    assert.equal((await calls.put({ ...entry, facilityId: calls.sisterFacilityId })).status, 403);
    assert.equal(
      (await calls.put({ ...entry, facilityId: calls.sisterFacilityId }, calls.atSister())).status,
      201,
    );
    assert.equal((await calls.put({ ...entry, facilityId: 'nonsense' })).status, 400);
  });
});

describe('GET /terminology/maps', () => {
  test('lists the entries of the organisation and of the facility of the call, and no other', async () => {
    await calls.put(entry);
    await calls.put({ ...entry, facilityId: calls.tenant.facilityId });
    await calls.put({ ...entry, facilityId: calls.sisterFacilityId, localCode: 'ELSE' }, calls.atSister());
    const facilities = async (query: string) =>
      (await calls.get(`/maps${query}`)).json.items.map(
        (item: { facilityId: string | null }) => item.facilityId,
      );
    assert.deepEqual(await facilities(''), [null, calls.tenant.facilityId]);
    assert.deepEqual(await facilities('?level=organisation'), [null]);
    assert.deepEqual(await facilities('?level=facility'), [calls.tenant.facilityId]);
    const stranger = await calls.api.createAccount(await calls.api.createTenant());
    assert.deepEqual((await calls.get('/maps', {}, stranger)).json, { items: [], nextCursor: null });
  });

  test('filters and searches', async () => {
    await calls.put({ ...entry, localDisplay: 'Hämoglobin 100%' });
    await calls.put({ ...entry, localCode: 'GLU', targetCode: '2345-7', targetDisplay: 'Glucose_in Serum' });
    const codes = async (query: string) =>
      (await calls.get(`/maps?${query}`)).json.items.map((item: { localCode: string }) => item.localCode);
    assert.deepEqual(await codes('localSystem=urn:lab'), ['GLU', 'HGB']);
    assert.deepEqual(await codes('localSystem='), []);
    assert.deepEqual(await codes('localCode=GLU'), ['GLU']);
    assert.deepEqual(await codes('targetCode=718-7'), ['HGB']);
    assert.deepEqual(await codes(`targetSystem=${LOINC}&localCode=HGB`), ['HGB']);
    assert.deepEqual(await codes('targetSystem=urn:other'), []);
    assert.deepEqual(await codes(`search=${encodeURIComponent('HÄMO')}`), ['HGB']);
    assert.deepEqual(await codes('search=2345'), ['GLU']);
    assert.deepEqual(
      await codes(`search=${encodeURIComponent('0%')}`),
      ['HGB'],
      'a percent sign is no wildcard',
    );
    assert.deepEqual(await codes('search=e_i'), ['GLU']);
    assert.deepEqual(await codes('search=__'), []);
  });

  test('pages through everything once, in order', async () => {
    const rows = Array.from(
      { length: 25 },
      (_, number) => `urn:lab,C${String(number).padStart(2, '0')},,${LOINC},718-7,`,
    );
    await calls.csvImport(`${HEADER}\n${rows.join('\n')}\n`);
    await calls.csvImport(`${HEADER}\n${rows.slice(0, 5).join('\n')}\n`, '?level=facility');
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await calls.get(`/maps?limit=7${cursor}`);
      assert.equal(page.status, 200);
      seen.push(
        ...page.json.items.map(
          (item: { localCode: string; facilityId: string | null }) =>
            `${item.localCode}${item.facilityId === null ? '' : '+'}`,
        ),
      );
      cursor = page.json.nextCursor === null ? '' : `&cursor=${page.json.nextCursor}`;
    } while (cursor !== '');
    const expected = rows.flatMap((row, number) => {
      const code = row.split(',')[1] ?? '';
      return number < 5 ? [code, `${code}+`] : [code];
    });
    assert.deepEqual(seen, expected);
  });

  test('400 for bad limits, levels and cursors, also one of another facility', async () => {
    await calls.put(entry);
    await calls.put({ ...entry, localCode: 'TWO' });
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'level=all',
      'cursor=abc',
      'search=',
      'limit=1&limit=2',
    ])
      assert.equal((await calls.get(`/maps?${query}`)).status, 400, query);
    const { nextCursor } = (await calls.get('/maps?limit=1')).json;
    assert.equal((await calls.get(`/maps?limit=1&cursor=${nextCursor}`)).status, 200);
    assert.equal((await calls.get(`/maps?limit=1&cursor=${nextCursor}`, calls.atSister())).status, 400);
    assert.equal((await calls.get(`/maps?limit=1&localSystem=urn:lab&cursor=${nextCursor}`)).status, 400);
  });
});

describe('DELETE /terminology/maps', () => {
  const remove = (query: string, account = calls.manager, headers: Record<string, string> = {}) =>
    calls.api.call(`/terminology/maps?${query}`, { method: 'DELETE', token: account.token, headers });
  const key = `localSystem=urn:lab&localCode=HGB&targetSystem=${LOINC}`;

  const NO_ENTRY =
    'The map entry was not found. Check localSystem, localCode and targetSystem. level=facility deletes the entry of the facility in x-facility-id. Without it, the entry of the organisation is deleted.';

  test('204 once, 404 after that, and who did it stays on record [TERM-18]', async () => {
    await calls.put(entry);
    const answer = await remove(key);
    assert.deepEqual([answer.status, answer.text], [204, '']);
    const gone = await remove(key);
    assert.deepEqual([gone.status, gone.json.message], [404, NO_ENTRY]);
    assert.deepEqual((await calls.get('/maps')).json.items, []);
    const { items } = (await calls.get('/maps/changes')).json;
    const changes = items.map((item: { kind: string; version: number; changedBy: string }) => [
      item.kind,
      item.version,
      item.changedBy,
    ]);
    assert.deepEqual(changes, [
      ['deleted', 2, calls.manager.userId],
      ['created', 1, calls.manager.userId],
    ]);
  });

  test('404 for what another tenant or facility has; it stays [TERM-9]', async () => {
    await calls.put(entry);
    await calls.put({ ...entry, facilityId: calls.sisterFacilityId }, calls.atSister());
    const stranger = await calls.api.createAccount(await calls.api.createTenant());
    assert.equal((await remove(key, stranger)).status, 404);
    assert.equal((await remove(`${key}&level=facility`)).status, 404);
    assert.equal((await calls.get('/maps', calls.atSister())).json.items.length, 2);
    assert.equal((await remove(`${key}&level=facility`, calls.manager, calls.atSister())).status, 204);
  });

  test('400 without the key', async () => {
    assert.equal((await remove('localCode=HGB')).status, 400);
    assert.equal((await remove(`targetSystem=${LOINC}`)).status, 400);
  });
});

describe('GET /terminology/maps/changes', () => {
  test('tells each change of the organisation and the facility, newest first, page by page [TERM-18]', async () => {
    await calls.put(entry);
    await calls.put({ ...entry, targetCode: '20509-6' });
    await calls.put({ ...entry, facilityId: calls.sisterFacilityId }, calls.atSister());
    await calls.put({
      ...entry,
      localCode: 'GLU',
      targetCode: '2345-7',
      facilityId: calls.tenant.facilityId,
    });
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await calls.get(`/maps/changes?limit=1${cursor}`);
      for (const item of page.json.items)
        seen.push(`${item.localCode} ${item.version} ${item.kind} ${item.targetCode}`);
      cursor = page.json.nextCursor === null ? '' : `&cursor=${page.json.nextCursor}`;
    } while (cursor !== '');
    assert.deepEqual(seen.toSorted(), [
      'GLU 1 created 2345-7',
      'HGB 1 created 718-7',
      'HGB 2 changed 20509-6',
    ]);
    const ofOne = (await calls.get('/maps/changes?localCode=HGB')).json.items;
    assert.deepEqual(
      ofOne.map((item: { version: number }) => item.version),
      [2, 1],
    );
    const stranger = await calls.api.createAccount(await calls.api.createTenant());
    assert.deepEqual((await calls.get('/maps/changes', {}, stranger)).json.items, []);
    for (const query of ['limit=0', 'cursor=x'])
      assert.equal((await calls.get(`/maps/changes?${query}`)).status, 400);
  });

  test('changes stand in their order, also one that was asked for before another and made after it [TERM-18]', async () => {
    const { clock } = calls.api;
    const began = clock.now.getTime();
    await calls.put(entry);
    clock.now = new Date(began - 2);
    const key = `localSystem=urn:lab&localCode=HGB&targetSystem=${LOINC}`;
    const { token } = calls.manager;
    await calls.api.call(`/terminology/maps?${key}`, { method: 'DELETE', token });
    clock.now = new Date(began - 4);
    const { json } = await calls.put({ ...entry, targetCode: '20509-6' });
    clock.now = new Date(began);
    const { items } = (await calls.get('/maps/changes')).json;
    assert.deepEqual(
      items.map(({ kind, targetCode }: { kind: string; targetCode: string }) => `${kind} ${targetCode}`),
      ['created 20509-6', 'deleted 718-7', 'created 718-7'],
    );
    assert.equal(json.updatedAt, items[0].changedAt);
  });

  test('a change that was made while a clock was wrong gives those after it no time in the future', async () => {
    await calls.put({ ...entry, localCode: 'AHEAD' });
    const { rowCount } = await calls.api.database.pool.query(
      `update terminology_map_change set changed_at = changed_at + interval '1 day' where local_code = 'AHEAD'`,
    );
    assert.equal(rowCount, 1);
    const { json } = await calls.put({ ...entry, localCode: 'RIGHT' });
    assert.ok(Date.parse(json.updatedAt) < calls.api.clock.now.getTime() + 60_000, json.updatedAt);
  });
});
