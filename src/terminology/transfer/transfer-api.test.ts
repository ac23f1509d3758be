/** Import and export of terminology maps over HTTP. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fhirFaults } from '../../../test-support/fhir/fhir-validator.ts';
import { entry, HEADER, LOINC, useTerminologyCalls } from '../../../test-support/http/terminology-calls.ts';

const calls = useTerminologyCalls();

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
    const misspelt = await calls.csvImport(
      `${HEADER},equivalance\nurn:lab,X,,https://LOINC.org/,718-8,,narrower\n`,
    );
    assert.deepEqual(
      [misspelt.json.created, misspelt.json.rejected[0].reason, misspelt.json.ignored],
      [0, `target system must be written ${LOINC}`, { equivalance: 1 }],
    );
    const dry = await calls.csvImport(file, '?dryRun=true');
    const { changes, preview, ...counts } = dry.json;
    assert.match(preview, /^[0-9a-f]+$/);
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
    assert.deepEqual((await calls.csvImport(file)).json, report);
    assert.deepEqual((await calls.csvImport(file)).json, { ...report, created: 0, unchanged: 1 });
    const [item] = (await calls.get('/maps')).json.items;
    assert.deepEqual([item.localCode, item.updatedBy], ['HGB', calls.manager.userId]);
  });

  test('is held to the preview that somebody looked at: 409 when an entry of it was changed since [TERM-25]', async () => {
    const lines = ['OLD', 'NEW', 'GONE'].map((code) => `urn:held,${code},,${LOINC},718-7,`);
    const file = [HEADER, ...lines].join('\n');
    const key = (localCode: string) => ({ localSystem: 'urn:held', localCode, targetSystem: LOINC });
    const put = (localCode: string, targetCode: string) => calls.put({ ...key(localCode), targetCode });
    const remove = (localCode: string) =>
      calls.api.call(`/terminology/maps?${new URLSearchParams(key(localCode))}`, {
        method: 'DELETE',
        token: calls.manager.token,
      });
    const look = async () => (await calls.csvImport(file, '?dryRun=true')).json.preview;
    const take = (preview: string) => calls.csvImport(file, `?preview=${preview}`);
    await put('OLD', '2345-7');
    await put('GONE', '718-7');
    for (const meanwhile of [
      () => put('OLD', '2339-0'),
      () => put('NEW', '2345-7'),
      () => remove('GONE'),
      () => put('OLD', '718-7'),
    ]) {
      const preview = await look();
      assert.equal(await look(), preview, 'a preview changes nothing');
      assert.ok((await meanwhile()).status < 300);
      const refused = await take(preview);
      assert.equal(refused.status, 409);
      assert.match(
        refused.json.message,
        /^The maps were changed after the preview, .* Nothing was changed\./,
      );
    }
    const preview = await look();
    await put('BESIDE', '2345-7');
    const { status, json } = await take(preview);
    assert.deepEqual([status, json.created, json.changed, json.unchanged], [200, 1, 1, 1]);
    assert.equal(json.preview, undefined);
  });

  test('is held to its preview in what it writes and where: another file or another map is 409 [TERM-25]', async () => {
    const fileOf = (targetCode: string, display = '') =>
      `${HEADER}\nurn:bound,HB,${display},${LOINC},${targetCode},`;
    const { preview } = (await calls.csvImport(fileOf('718-7'), '?dryRun=true')).json;
    for (const [file, level] of [
      [fileOf('2345-7'), 'organisation'],
      [fileOf('718-7', 'Haemoglobin'), 'organisation'],
      [fileOf('718-7'), 'facility'],
    ] as const) {
      const refused = await calls.csvImport(file, `?preview=${preview}&level=${level}`);
      assert.equal(refused.status, 409, refused.text);
    }
    const { json } = await calls.csvImport(fileOf('718-7'), `?preview=${preview}`);
    assert.equal(json.created, 1, 'nothing was kept of the others');
  });

  test('takes CSV with other columns', async () => {
    const query = new URLSearchParams({
      columns: 'local_code=itemid,target_code=concept',
      localSystem: 'urn:lab',
      targetSystem: LOINC,
      level: 'facility',
    });
    const answer = await calls.csvImport('itemid (source),concept\n50801,19991-9\n', `?${query}`);
    assert.equal(answer.json.created, 1, answer.text);
    const [item] = (await calls.get('/maps?level=facility')).json.items;
    assert.deepEqual(
      [item.localCode, item.targetCode, item.facilityId],
      ['50801', '19991-9', calls.tenant.facilityId],
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
    const answer = await calls.csvImport(JSON.stringify(body), '', headers);
    assert.deepEqual(
      [answer.status, answer.json.created, answer.json.ignored],
      [200, 1, { 'group.unmapped': 1 }],
    );
  });

  test('reasons are in French for who asks for it, and the same as ever for others [TERM-24]', async () => {
    const good = `urn:lab,FR,,${LOINC},718-7,`;
    const file = `${HEADER}\n${good}\n${good}\nurn:lab,BAD,,${LOINC},718-8,\nurn:lab,FEW\n`;
    const send = (more: Record<string, string>) =>
      calls.csvImport(file, '?dryRun=true', { 'content-type': 'text/csv', ...more });
    const { headers, json } = await send({ 'accept-language': 'fr' });
    assert.equal(headers.get('content-language'), 'fr');
    assert.deepEqual(
      json.rejected.map(({ reason }: { reason: string }) => reason),
      [
        'l’entrée associe le même code local au même système que la ligne 2, qui l’emporte',
        'le code standard a un mauvais chiffre de contrôle LOINC ; cherchez un chiffre mal saisi',
        'la ligne a 2 cellules, alors que l’en-tête en a 6',
      ],
    );
    const plain = await send({});
    assert.match(plain.json.rejected[0].reason, /^maps the same local code to the same system as line 2,/);
    assert.equal(plain.headers.get('content-language'), null);
    assert.equal((await send({ 'accept-language': 'en, fr' })).text, plain.text);
  });

  test('400 for what is no such file, with the reason', async () => {
    const fhir = { 'content-type': 'application/fhir+json' };
    for (const [answer, message] of [
      [await calls.csvImport(''), /empty/],
      [await calls.csvImport(`${HEADER.replaceAll(',', ';')}\n`), /semicolons/],
      [await calls.csvImport(Buffer.from([0x61, 0xff, 0x0a])), /UTF-8/],
      [await calls.csvImport(HEADER, '?columns=x'), /columns/],
      [await calls.csvImport('{', '', fhir), /not valid JSON/],
      [await calls.csvImport(`${HEADER}\n`, '', fhir), /was taken for JSON/],
      [
        await calls.csvImport('\ufeff {"resourceType":"ConceptMap"}'),
        /Send a ConceptMap as application\/fhir\+json/,
      ],
      [await calls.csvImport('[code]\nA\n'), /has no column local_system/],
      [await calls.csvImport('{"resourceType":"Patient"}', '', fhir), /not a FHIR ConceptMap/],
      [await calls.csvImport('['.repeat(65) + ']'.repeat(65), '', fhir), /nested deeper than 64 levels/],
    ] as const) {
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.json.message, message);
    }
    for (const type of ['text/plain', 'application/fhir+json; fhirVersion=5.0'])
      assert.equal((await calls.csvImport('x', '', { 'content-type': type })).status, 415);
    assert.equal((await calls.csvImport(new Uint8Array(8 * 1_048_576 + 1))).status, 413);
  });
});

describe('GET /terminology/maps/export', () => {
  test('gives the file that the import takes, for the level that was asked for', async () => {
    await calls.put({ ...entry, localDisplay: '=Hb' });
    await calls.put({ ...entry, facilityId: calls.tenant.facilityId, targetCode: '20509-6' });
    const csv = await calls.get('/maps/export?format=csv');
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="terminology-maps.csv"');
    assert.equal(csv.text, `${HEADER}\r\nurn:lab,HGB,'=Hb,${LOINC},718-7,\r\n`);
    assert.equal((await calls.csvImport(csv.text)).json.unchanged, 1);
    const map = await calls.get('/maps/export?format=conceptmap&level=facility');
    assert.equal(map.headers.get('content-type'), 'application/fhir+json');
    assert.deepEqual(map.json.group, [
      {
        source: 'urn:lab',
        target: LOINC,
        element: [{ code: 'HGB', target: [{ code: '20509-6', equivalence: 'equivalent' }] }],
      },
    ]);
    const headers = { 'content-type': 'application/fhir+json' };
    assert.equal((await calls.csvImport(map.text, '?level=facility', headers)).json.unchanged, 1);
    assert.deepEqual(fhirFaults(map.json), [], 'valid R4 for validators that are not ours');
  });

  test('400 for another format, or none', async () => {
    assert.equal((await calls.get('/maps/export')).status, 400);
    assert.equal((await calls.get('/maps/export?format=xml')).status, 400);
  });
});
