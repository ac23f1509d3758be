/** Terminology maps over HTTP, against the running API. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startTestApi, type Tenant, type TestAccount, type TestApi } from '../../test-support/api.ts';
import { fhirFaults } from '../../test-support/fhir-validator.ts';

const LOINC = 'http://loinc.org';
const HEADER = 'local_system,local_code,local_display,target_system,target_code,target_display';

let api: TestApi;
let tenant: Tenant;
let sisterFacilityId: string;
let manager: TestAccount;

before(async () => {
  api = await startTestApi();
});
after(() => api.close());
beforeEach(async () => {
  // Maps belong to no module: they work where none is on.
  tenant = await api.createTenant({ modules: [] });
  sisterFacilityId = await api.createFacility(tenant.organisationId);
  const facilityIds = [tenant.facilityId, sisterFacilityId];
  manager = await api.createAccount(tenant, { permissions: ['terminology.maps.manage'], facilityIds });
});

const entry = { localSystem: 'urn:lab', localCode: 'HGB', targetSystem: LOINC, targetCode: '718-7' };
const put = (body: unknown, headers: Record<string, string> = {}, account = manager) =>
  api.call('/terminology/maps', { method: 'PUT', token: account.token, headers, body });
const get = (path: string, headers: Record<string, string> = {}, account = manager) =>
  api.call(`/terminology${path}`, { token: account.token, headers });
const atSister = () => ({ 'x-facility-id': sisterFacilityId });
const csvImport = (body: string | Uint8Array, query = '', headers: Record<string, string> = {}) =>
  api.call(`/terminology/maps/import${query}`, {
    method: 'POST',
    token: manager.token,
    headers: { 'content-type': 'text/csv', ...headers },
    body,
  });

describe('who may call', () => {
  const calls: [method: string, path: string, body?: unknown][] = [
    ['GET', '/terminology/maps'],
    ['PUT', '/terminology/maps', entry],
    ['DELETE', '/terminology/maps?localCode=HGB&targetSystem=x'],
    ['POST', '/terminology/maps/import', ''],
    ['GET', '/terminology/maps/export?format=csv'],
    ['GET', '/terminology/maps/$translate?code=HGB'],
    ['GET', '/terminology/maps/changes'],
    ['GET', '/terminology/unmapped'],
  ];
  for (const [method, path, body] of calls) {
    test(`${method} ${path}: 401 without a token, 403 without the permission, 403 for another tenant [TERM-8]`, async () => {
      const nobody = await api.createAccount(tenant, { permissions: ['investigations.lab.list'] });
      const stranger = await api.createAccount(await api.createTenant());
      const shared = { method, ...(body === undefined ? {} : { body }) };
      assert.equal((await api.call(path, shared)).status, 401);
      const refused = await api.call(path, { ...shared, token: nobody.token });
      assert.equal(refused.status, 403);
      assert.match(refused.json.message, /permission terminology\.maps\./);
      const headers = { 'x-org-id': tenant.organisationId, 'x-facility-id': tenant.facilityId };
      assert.equal((await api.call(path, { ...shared, token: stranger.token, headers })).status, 403);
    });
  }

  test('terminology.maps.read reads and changes nothing [TERM-8]', async () => {
    const reader = await api.createAccount(tenant, { permissions: ['terminology.maps.read'] });
    for (const path of [
      '/maps',
      '/maps/export?format=csv',
      '/maps/$translate?code=A',
      '/maps/changes',
      '/unmapped',
    ])
      assert.equal((await get(path, {}, reader)).status, 200, path);
    assert.equal((await put(entry, {}, reader)).status, 403);
    const path = '/terminology/maps?localSystem=urn:lab&localCode=HGB&targetSystem=http://loinc.org';
    assert.equal((await api.call(path, { method: 'DELETE', token: reader.token })).status, 403);
    const upload = {
      method: 'POST',
      token: reader.token,
      headers: { 'content-type': 'text/csv' },
      body: HEADER,
    };
    assert.equal((await api.call('/terminology/maps/import', upload)).status, 403);
  });
});

describe('PUT /terminology/maps', () => {
  test('201 with the entry, then 200 and nothing changed, then the next version [TERM-2]', async () => {
    const created = await put(entry);
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
      updatedAt: api.clock.now.toISOString(),
      updatedBy: manager.userId,
    });
    const again = await put(entry);
    assert.equal(again.status, 200);
    assert.deepEqual(again.json, created.json);
    const changed = await put({ ...created.json, targetCode: '20509-6' });
    assert.deepEqual([changed.status, changed.json.id, changed.json.version], [200, created.json.id, 2]);
  });

  test('replaces the whole entry; what GET answers can be put as it is', async () => {
    const named = { ...entry, localDisplay: 'Hb', targetDisplay: 'Hemoglobin', comment: 'as agreed' };
    await put(named);
    const [item] = (await get('/maps')).json.items;
    const again = await put(item);
    assert.deepEqual([again.status, again.json], [200, item]);
    const { json } = await put(entry);
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
      const answer = await put({ ...entry, ...fields });
      assert.equal(answer.status, 400, JSON.stringify(fields));
      assert.match(answer.json.message, message);
      assert.doesNotMatch(answer.text, /718-8|secret/);
    }
    for (const unknown of ['facility', 'targetDispaly', 'equivalance', 'level']) {
      const answer = await put({ ...entry, localCode: 'NEW', [unknown]: tenant.facilityId });
      assert.equal(answer.status, 400, unknown);
      assert.match(
        answer.json.message,
        /has an unknown property. It may have facilityId, localSystem, .*, comment/,
      );
    }
    assert.deepEqual((await get('/maps?localCode=NEW')).json.items, []);
    const { localCode: _missing, ...incomplete } = entry;
    assert.equal((await put(incomplete)).status, 400);
    assert.equal((await put('{', { 'content-type': 'application/json' })).status, 400);
    assert.equal((await put('x', { 'content-type': 'text/plain' })).status, 415);
  });

  test('an entry of a facility is put at that facility only [TERM-2]', async () => {
    const own = await put({ ...entry, facilityId: tenant.facilityId });
    assert.deepEqual([own.status, own.json.facilityId], [201, tenant.facilityId]);
    assert.equal((await put({ ...entry, facilityId: sisterFacilityId })).status, 403);
    assert.equal((await put({ ...entry, facilityId: sisterFacilityId }, atSister())).status, 201);
    assert.equal((await put({ ...entry, facilityId: 'nonsense' })).status, 400);
  });
});

describe('GET /terminology/maps', () => {
  test('lists the entries of the organisation and of the facility of the call, and no other', async () => {
    await put(entry);
    await put({ ...entry, facilityId: tenant.facilityId });
    await put({ ...entry, facilityId: sisterFacilityId, localCode: 'ELSE' }, atSister());
    const facilities = async (query: string) =>
      (await get(`/maps${query}`)).json.items.map((item: { facilityId: string | null }) => item.facilityId);
    assert.deepEqual(await facilities(''), [null, tenant.facilityId]);
    assert.deepEqual(await facilities('?level=organisation'), [null]);
    assert.deepEqual(await facilities('?level=facility'), [tenant.facilityId]);
    const stranger = await api.createAccount(await api.createTenant());
    assert.deepEqual((await get('/maps', {}, stranger)).json, { items: [], nextCursor: null });
  });

  test('filters and searches', async () => {
    await put({ ...entry, localDisplay: 'Hämoglobin 100%' });
    await put({ ...entry, localCode: 'GLU', targetCode: '2345-7', targetDisplay: 'Glucose_in Serum' });
    const codes = async (query: string) =>
      (await get(`/maps?${query}`)).json.items.map((item: { localCode: string }) => item.localCode);
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
    await csvImport(`${HEADER}\n${rows.join('\n')}\n`);
    await csvImport(`${HEADER}\n${rows.slice(0, 5).join('\n')}\n`, '?level=facility');
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await get(`/maps?limit=7${cursor}`);
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
    await put(entry);
    await put({ ...entry, localCode: 'TWO' });
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'level=all',
      'cursor=abc',
      'search=',
      'limit=1&limit=2',
    ])
      assert.equal((await get(`/maps?${query}`)).status, 400, query);
    const { nextCursor } = (await get('/maps?limit=1')).json;
    assert.equal((await get(`/maps?limit=1&cursor=${nextCursor}`)).status, 200);
    assert.equal((await get(`/maps?limit=1&cursor=${nextCursor}`, atSister())).status, 400);
    assert.equal((await get(`/maps?limit=1&localSystem=urn:lab&cursor=${nextCursor}`)).status, 400);
  });
});

describe('DELETE /terminology/maps', () => {
  const remove = (query: string, account = manager, headers: Record<string, string> = {}) =>
    api.call(`/terminology/maps?${query}`, { method: 'DELETE', token: account.token, headers });
  const key = `localSystem=urn:lab&localCode=HGB&targetSystem=${LOINC}`;

  test('204 once, 404 after that, and who did it stays on record [TERM-18]', async () => {
    await put(entry);
    const answer = await remove(key);
    assert.deepEqual([answer.status, answer.text], [204, '']);
    assert.equal((await remove(key)).status, 404);
    assert.deepEqual((await get('/maps')).json.items, []);
    const { items } = (await get('/maps/changes')).json;
    const changes = items.map((item: { kind: string; version: number; changedBy: string }) => [
      item.kind,
      item.version,
      item.changedBy,
    ]);
    assert.deepEqual(changes, [
      ['deleted', 2, manager.userId],
      ['created', 1, manager.userId],
    ]);
  });

  test('404 for what another tenant or facility has; it stays [TERM-9]', async () => {
    await put(entry);
    await put({ ...entry, facilityId: sisterFacilityId }, atSister());
    const stranger = await api.createAccount(await api.createTenant());
    assert.equal((await remove(key, stranger)).status, 404);
    assert.equal((await remove(`${key}&level=facility`)).status, 404);
    assert.equal((await get('/maps', atSister())).json.items.length, 2);
    assert.equal((await remove(`${key}&level=facility`, manager, atSister())).status, 204);
  });

  test('400 without the key', async () => {
    assert.equal((await remove('localCode=HGB')).status, 400);
    assert.equal((await remove(`targetSystem=${LOINC}`)).status, 400);
  });
});

describe('POST /terminology/maps/import', () => {
  test('takes CSV, reports gaps by line, and changes nothing the second time [TERM-10, TERM-23]', async () => {
    const file = `${HEADER}\nurn:lab,HGB,Hb,${LOINC},718-7,Hemoglobin\nurn:lab,BAD,,${LOINC},718-8,\n`;
    const rejected = [
      {
        line: 3,
        localCode: 'BAD',
        reason: 'target code has a wrong LOINC check digit; look for a mistyped digit',
      },
    ];
    const report = { read: 2, created: 1, changed: 0, unchanged: 0, rejectedCount: 1, rejected, ignored: {} };
    const misspelt = await csvImport(
      `${HEADER},equivalance\nurn:lab,X,,https://LOINC.org/,718-8,,narrower\n`,
    );
    assert.deepEqual(
      [misspelt.json.created, misspelt.json.rejected[0].reason, misspelt.json.ignored],
      [0, `target system must be written ${LOINC}`, { equivalance: 1 }],
    );
    const dry = await csvImport(file, '?dryRun=true');
    const { changes, ...counts } = dry.json;
    assert.deepEqual([dry.status, counts], [200, report]);
    assert.deepEqual(changes, [
      {
        line: 2,
        kind: 'created',
        localSystem: 'urn:lab',
        localCode: 'HGB',
        targetSystem: LOINC,
        before: null,
        after: {
          localDisplay: 'Hb',
          targetCode: '718-7',
          targetDisplay: 'Hemoglobin',
          equivalence: 'equivalent',
          comment: null,
        },
      },
    ]);
    assert.deepEqual((await csvImport(file)).json, report);
    assert.deepEqual((await csvImport(file)).json, { ...report, created: 0, unchanged: 1 });
    const [item] = (await get('/maps')).json.items;
    assert.deepEqual([item.localCode, item.updatedBy], ['HGB', manager.userId]);
  });

  test('takes CSV with other columns', async () => {
    const query = new URLSearchParams({
      columns: 'local_code=itemid,target_code=concept',
      localSystem: 'urn:lab',
      targetSystem: LOINC,
      level: 'facility',
    });
    const answer = await csvImport('itemid (source),concept\n50801,19991-9\n', `?${query}`);
    assert.equal(answer.json.created, 1, answer.text);
    const [item] = (await get('/maps?level=facility')).json.items;
    assert.deepEqual(
      [item.localCode, item.targetCode, item.facilityId],
      ['50801', '19991-9', tenant.facilityId],
    );
  });

  test('takes a ConceptMap, and tells what of it has no place [TERM-10]', async () => {
    const element = [{ code: 'HGB', target: [{ code: '718-7', equivalence: 'equivalent' }] }];
    const body = {
      resourceType: 'ConceptMap',
      status: 'active',
      group: [{ target: LOINC, element, unmapped: {} }],
    };
    const headers = { 'content-type': 'application/fhir+json' };
    const answer = await csvImport(JSON.stringify(body), '', headers);
    assert.deepEqual(
      [answer.status, answer.json.created, answer.json.ignored],
      [200, 1, { 'group.unmapped': 1 }],
    );
  });

  test('400 for what is no such file, with the reason', async () => {
    const fhir = { 'content-type': 'application/fhir+json' };
    for (const [answer, message] of [
      [await csvImport(''), /empty/],
      [await csvImport(`${HEADER.replaceAll(',', ';')}\n`), /semicolons/],
      [await csvImport(Buffer.from([0x61, 0xff, 0x0a])), /UTF-8/],
      [await csvImport(HEADER, '?columns=x'), /columns/],
      [await csvImport('{', '', fhir), /not valid JSON/],
      [await csvImport('{"resourceType":"Patient"}', '', fhir), /not a FHIR ConceptMap/],
    ] as const) {
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.json.message, message);
    }
    assert.equal((await csvImport('x', '', { 'content-type': 'text/plain' })).status, 415);
    assert.equal((await csvImport(new Uint8Array(8 * 1_048_576 + 1))).status, 413);
  });
});

describe('GET /terminology/maps/export', () => {
  test('gives the file that the import takes, for the level that was asked for', async () => {
    await put({ ...entry, localDisplay: '=Hb' });
    await put({ ...entry, facilityId: tenant.facilityId, targetCode: '20509-6' });
    const csv = await get('/maps/export?format=csv');
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="terminology-maps.csv"');
    assert.equal(csv.text, `${HEADER}\r\nurn:lab,HGB,'=Hb,${LOINC},718-7,\r\n`);
    assert.equal((await csvImport(csv.text)).json.unchanged, 1);
    const map = await get('/maps/export?format=conceptmap&level=facility');
    assert.equal(map.headers.get('content-type'), 'application/fhir+json');
    assert.deepEqual(map.json.group, [
      {
        source: 'urn:lab',
        target: LOINC,
        element: [{ code: 'HGB', target: [{ code: '20509-6', equivalence: 'equivalent' }] }],
      },
    ]);
    const headers = { 'content-type': 'application/fhir+json' };
    assert.equal((await csvImport(map.text, '?level=facility', headers)).json.unchanged, 1);
    assert.deepEqual(fhirFaults(map.json), [], 'valid R4 for validators that are not ours');
  });

  test('400 for another format, or none', async () => {
    assert.equal((await get('/maps/export')).status, 400);
    assert.equal((await get('/maps/export?format=xml')).status, 400);
  });
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

describe('GET /terminology/maps/changes', () => {
  test('tells each change of the organisation and the facility, newest first, page by page [TERM-18]', async () => {
    await put(entry);
    await put({ ...entry, targetCode: '20509-6' });
    await put({ ...entry, facilityId: sisterFacilityId }, atSister());
    await put({ ...entry, localCode: 'GLU', targetCode: '2345-7', facilityId: tenant.facilityId });
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await get(`/maps/changes?limit=1${cursor}`);
      for (const item of page.json.items)
        seen.push(`${item.localCode} ${item.version} ${item.kind} ${item.targetCode}`);
      cursor = page.json.nextCursor === null ? '' : `&cursor=${page.json.nextCursor}`;
    } while (cursor !== '');
    assert.deepEqual(seen.toSorted(), [
      'GLU 1 created 2345-7',
      'HGB 1 created 718-7',
      'HGB 2 changed 20509-6',
    ]);
    const ofOne = (await get('/maps/changes?localCode=HGB')).json.items;
    assert.deepEqual(
      ofOne.map((item: { version: number }) => item.version),
      [2, 1],
    );
    const stranger = await api.createAccount(await api.createTenant());
    assert.deepEqual((await get('/maps/changes', {}, stranger)).json.items, []);
    for (const query of ['limit=0', 'cursor=x'])
      assert.equal((await get(`/maps/changes?${query}`)).status, 400);
  });
});

describe('GET /terminology/unmapped', () => {
  const meet = (facilityId: string, code: string, times: number) =>
    api.database.pool.query({
      text: `insert into terminology_unmapped (organisation_id, facility_id, local_system, local_code, place, met_count, first_met_at, last_met_at)
        values ($1, $2, 'urn:lab', $3, 'lab.result', $4, $5, $5)`,
      values: [tenant.organisationId, facilityId, code, times, api.clock.now],
    });

  test('lists what the facility of the call met, until it is mapped [TERM-16]', async () => {
    await meet(tenant.facilityId, 'RARE', 1);
    await meet(tenant.facilityId, 'HGB', 9);
    await meet(sisterFacilityId, 'ELSE', 5);
    const first = await get('/unmapped?limit=1');
    const at = api.clock.now.toISOString();
    assert.deepEqual(first.json.items, [
      {
        facilityId: tenant.facilityId,
        localSystem: 'urn:lab',
        localCode: 'HGB',
        localDisplay: null,
        count: 9,
        places: [{ place: 'lab.result', count: 9 }],
        firstMetAt: at,
        lastMetAt: at,
      },
    ]);
    const second = await get(`/unmapped?limit=1&cursor=${first.json.nextCursor}`);
    assert.deepEqual([second.json.items[0].localCode, second.json.nextCursor], ['RARE', null]);
    await put(entry);
    const codes = async (query: string) =>
      (await get(`/unmapped${query}`)).json.items.map((item: { localCode: string }) => item.localCode);
    assert.deepEqual(await codes(''), ['RARE']);
    assert.deepEqual(await codes('?place=lab.result'), ['RARE']);
    assert.deepEqual(await codes('?place=lab.order'), []);
  });

  test('400 for bad parameters', async () => {
    for (const query of ['limit=0', 'place=else', 'cursor=x'])
      assert.equal((await get(`/unmapped?${query}`)).status, 400, query);
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
