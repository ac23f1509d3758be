/** What an import refuses, and what goes on beside it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { administer } from '../../../test-support/database/template.ts';
import { pathsOf, replaced } from '../../../test-support/http/bad-input.ts';
import {
  bundle,
  conditionalCreate,
  encounter,
  NUMBER,
  organization,
  patient,
  practitioner,
  urnOf,
} from '../../../test-support/records/clinic.ts';
import { countsOf, lines, useImportTest } from '../../../test-support/records/import.ts';
import type { PatientChange } from '../../patients/patient.ts';
import type { Client } from '../../platform/db/database.ts';
import { outageOf } from '../../platform/db/unavailable.ts';
import { facilityRecordId, recordId } from './resolve/record-id.ts';
import { dataFault } from './run/import-transaction.ts';
import { DEFAULT_LIMITS } from './source/limits.ts';
import { WrittenByAnother } from './write/write-records.ts';

const t = await useImportTest();

describe('rejections', () => {
  test('a bad resource rejects its whole Bundle with entry and reason, and the import goes on [IN-12, IN-13]', async () => {
    const [lost, kept] = [patient(), patient()];
    const bad = encounter(urnOf(lost), { status: 'closed' });
    const document = await t.run([bundle([lost, bad]), bundle([kept])]);
    assert.deepEqual(document.resources, { Patient: 1 });
    assert.equal(document.bundles, 1);
    assert.equal(document.files, 2);
    assert.deepEqual(document.rejected, [
      {
        file: '0.json',
        entry: 2,
        resourceType: 'Encounter',
        reason:
          'Encounter.status is not one of planned, in-progress, finished, cancelled, entered-in-error, arrived, triaged, onleave',
      },
    ]);
    assert.deepEqual(await t.rows('select id from patient where id = $1', [lost.id]), []);
  });

  test('every bad entry of a Bundle is named at once', async () => {
    const document = await t.run([
      bundle([patient({ gender: 'f' }), patient(), patient({ birthDate: '2023-02-30' })]),
    ]);
    assert.deepEqual(
      document.rejected.map(({ entry, reason }) => [entry, reason]),
      [
        [1, 'Patient.gender is not one of male, female, other, unknown'],
        [3, 'Patient.birthDate is not a FHIR date, or that day does not exist'],
      ],
    );
  });

  test('an object that cannot be made into text is a value like any other, wherever it stands [IN-13]', async () => {
    const someone = patient({
      contained: [{ resourceType: 'Organization', id: 'o', name: 'Clinic' }],
      managingOrganization: { reference: '#o' },
    });
    const rules = { implicitRules: 'urn:example:rules', modifierExtension: [{ url: 'urn:example:e' }] };
    const whole = bundle([someone, encounter(urnOf(someone)), { ...patient(), ...rules }]);
    const [first, ...others] = whole.entry as object[];
    const request = { method: 'PUT', url: `Patient/${someone.id}` };
    const document = { ...whole, entry: [{ ...first, request }, ...others] };
    const changed = pathsOf(document).map((path) => replaced(document, path, { toString: '' }));
    assert.ok(changed.length > 60, `${changed.length} places`);
    const { rejected } = await t.run(changed as object[]);
    assert.ok(rejected.length > 30);
    for (const { reason } of rejected) assert.doesNotMatch(reason, /unexpected/);
  });

  test('files of another format are named, with what to do [IN-31]', async () => {
    const text = JSON.stringify(patient());
    const utf16 = 'is UTF-16 or UTF-32. Convert it to UTF-8';
    const packed = 'is compressed in another way than gzip. Unpack it first';
    const tar = Buffer.alloc(512);
    tar.write('patient.json');
    tar.write('ustar', 257);
    for (const [bytes, reason] of [
      [Buffer.from(`\ufeff${text}`, 'utf16le'), utf16],
      [Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), utf16],
      [Buffer.from(text, 'utf16le'), utf16],
      [Buffer.from(text, 'utf16le').swap16(), utf16],
      [gzipSync(text), 'is gzip within gzip. Unpack it once'],
      [tar, 'is a tar archive. Unpack it, and import the files in it'],
      [Buffer.from('PK\x03\x04'), 'is a ZIP archive. Unpack it, and import the files in it'],
      [Buffer.from('MSH|^~\\&|LAB|'), 'is HL7 v2. Send FHIR as JSON'],
      [Buffer.from('BZh91AY'), packed],
      [Buffer.from('28b52ffd2000', 'hex'), packed],
      [Buffer.from('fd377a585a00', 'hex'), packed],
    ] as const) {
      const { rejected, resources } = await t.run([bytes]);
      assert.deepEqual(resources, {});
      assert.deepEqual(rejected, [{ file: '0.json', entry: null, reason }]);
    }
  });

  test('where a file, line or entry is not JSON is told, and never what stands there [IN-31]', async () => {
    const text = JSON.stringify(patient());
    const pretty = JSON.stringify(patient(), null, 2);
    const several =
      'has more than one JSON document. Put each on a line of its own (NDJSON), or all into a Bundle';
    const off = 'is not valid JSON: it breaks off';
    const last = pretty.split('\n').length;
    for (const [document, entry, reason] of [
      [pretty.replace(/\n}$/, ',\n}'), null, `is not valid JSON from its line ${last}, character 1 on`],
      [`${pretty}\n${pretty}`, null, several],
      [text + text, null, several],
      [text.slice(0, -3), null, `${off}. Nothing of it was taken`],
      [JSON.stringify(bundle([patient()])).slice(0, -1), null, `${off}. Nothing of it was taken`],
      [`${text}\n{"resourceType":"Patient",}`, 2, 'The line is not valid JSON from its character 27 on'],
      [`${text}\n{"resourceType":'Patient'}`, 2, 'The line is not valid JSON'],
      [`${text}\n${text.slice(0, -3)}`, 2, `The line ${off}`],
      // Of what stands beside the entries the place is not told: the entries were taken out of it.
      ['{"resourceType":"Bundle","entry":[{}],"type":batch}', null, 'is not valid JSON'],
    ] as const) {
      const { rejected } = await t.run([document]);
      assert.deepEqual([rejected.at(-1)?.entry, rejected.at(-1)?.reason], [entry, reason]);
    }
  });

  test('a misspelt type is rejected, with the type that was meant; other types are counted [IN-6, IN-57]', async () => {
    const of = (resourceType: string) => ({ ...patient(), resourceType });
    const reason = (meant: string) =>
      `resourceType is not a resource type of FHIR R4. Did you mean ${meant}?`;
    const someone = patient();
    const inBundle = await t.run([bundle([someone, of('Patiant'), of('Claim')])]);
    assert.deepEqual(
      [inBundle.rejected, inBundle.resources, inBundle.notTaken],
      [[{ file: '0.json', entry: 2, reason: reason('Patient') }], {}, {}],
    );
    // A DeviceRequest is one of R4, and only two letters from a ServiceRequest.
    const others = ['Claim', 'DeviceRequest', 'ActorDefinition', 'Okafor'];
    const each = await t.run([lines([someone, of('encounter'), ...others.map(of)])]);
    assert.deepEqual(
      [each.rejected, each.resources, each.notTaken],
      [
        [{ file: '0.json', entry: 2, reason: reason('Encounter') }],
        { Patient: 1 },
        Object.fromEntries(others.map((name) => [name, 1])),
      ],
    );
    const alone = await t.run([
      of('Organisation'),
      { ...bundle([someone]), resourceType: 'Bundel' },
      of('x'.repeat(1_000_000)),
    ]);
    assert.deepEqual(
      alone.rejected.map((rejected) => rejected.reason),
      [
        `is JSON, but not FHIR: ${reason('Organization')}`,
        `is JSON, but not FHIR: ${reason('Bundle')}`,
        'is JSON, but not FHIR: resourceType is missing or is not a FHIR resource type',
      ],
    );
  });

  test('the lines after many of a misspelt type are read [IN-57]', async () => {
    const organisation = { ...organization(), resourceType: 'Organisation' };
    const many = Array.from({ length: DEFAULT_LIMITS.maxFaults + 1 }, () => organisation);
    const { rejectedCount, resources } = await t.run([lines([...many, patient()])]);
    assert.deepEqual([rejectedCount, resources], [many.length, { Patient: 1 }]);
  });

  test('documents that are no FHIR JSON [IN-31]', async () => {
    const reasonFor = async (document: string | Uint8Array) => {
      const { rejected, resources } = await t.run([document]);
      assert.deepEqual([rejected.length, resources], [1, {}]);
      return [rejected[0]?.entry, rejected[0]?.reason];
    };
    assert.deepEqual(await reasonFor(' \n'), [null, 'is empty']);
    assert.deepEqual(await reasonFor('notes'), [null, 'is not valid JSON']);
    assert.deepEqual(await reasonFor('<Patient/>'), [null, 'is XML or HTML. Send FHIR as JSON']);
    assert.deepEqual(await reasonFor('[{"resourceType":"Patient"}]'), [
      null,
      'is a JSON list. Send a Bundle, one resource, or NDJSON with a resource on each line',
    ]);
    assert.deepEqual(await reasonFor('{"id":"1"}'), [
      null,
      'is JSON, but not FHIR: resourceType is missing or is not a FHIR resource type',
    ]);
    assert.deepEqual(await reasonFor(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])), [
      null,
      'is not valid UTF-8. Convert it to UTF-8',
    ]);
    assert.deepEqual(
      await reasonFor(
        '{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient"}},{"resource":',
      ),
      [2, 'ends in the middle of its entries. Nothing of it was taken'],
    );
    for (const entry of ['{"resource":{"resourceType":"Patient"}}', 'null'])
      assert.deepEqual(await reasonFor(`{"resourceType":"Bundle","type":"batch","entry":${entry}}`), [
        null,
        'is a Bundle, but its entry is not a list',
      ]);
    assert.deepEqual(await reasonFor('{"resourceType":"Bundle","type":"batch","entry":[{}]}'), [
      1,
      'The entry has no resource',
    ]);
    assert.deepEqual(
      await reasonFor(
        '{"resourceType":"Bundle","type":"batch","entry":[{"request":{"method":"DELETE","url":"Encounter/1"}}]}',
      ),
      [
        1,
        'request.method is DELETE, but an import deletes nothing. Leave the entry out, or send the record with the status entered-in-error',
      ],
    );
    assert.deepEqual(
      await reasonFor(
        '{"resourceType":"Bundle","type":"batch","entry":[{"resource":{"resourceType":"Patient","x" 1}}]}',
      ),
      [1, 'The entry is not valid JSON from its character 43 on'],
    );
  });

  test('deep nesting and absurd decimals are refused, not fatal', async () => {
    const deep = `{"resourceType":"Patient","extension":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    const absurd = '{"resourceType":"Location","position":{"longitude":1e999,"latitude":0}}';
    const kept = patient();
    const document = await t.run([deep, absurd, kept]);
    assert.equal(document.rejectedCount, 2);
    assert.deepEqual(document.resources, { Patient: 1 });
  });

  test('what only the database refuses is a rejection too, and spares the lines beside it', async () => {
    await administer(t.database.url, [
      'alter table location add constraint no_such_place check (latitude <> 2)',
    ]);
    const location = (latitude: number) =>
      JSON.stringify({ resourceType: 'Location', id: randomUUID(), position: { longitude: 0, latitude } });
    const document = await t.run([[1, 2, 3].map(location).join('\n')]);
    assert.deepEqual(document.resources, { Location: 2 });
    assert.deepEqual(document.rejected, [
      {
        file: '0.json',
        entry: 2,
        reason: 'The resource could not be stored (SQLSTATE 23514, no_such_place)',
      },
    ]);
  });

  test('the same id twice in a Bundle: taken when the content is the same, refused otherwise', async () => {
    const someone = patient();
    assert.deepEqual((await t.run([bundle([someone, someone])])).resources, { Patient: 2 });
    const document = await t.run([bundle([someone, { ...someone, gender: 'male' }])]);
    assert.match(document.rejected[0]?.reason ?? '', /same type and id as entry 1/);
    const { id: _, ...one } = someone;
    const nameless = await t.run([bundle([one, { ...one, gender: 'male' }])]);
    assert.match(nameless.rejected[0]?.reason ?? '', /no id, .* first identifier .* same record as entry 1/);
  });

  test('two records under one fullUrl: nobody knows which one a reference means', async () => {
    const [one, other] = [patient(), patient()];
    for (const fullUrl of [
      'urn:uuid:6F1A7C1E-0b5f-4d5c-8a34-0a7b1f0c9d11',
      urnOf(one),
      'https://a.example/1',
    ]) {
      const entries = [one, other].map((resource) => ({ fullUrl, resource }));
      const { rejected, resources } = await t.run([bundle([...entries, encounter(fullUrl)])]);
      assert.deepEqual(resources, {});
      assert.deepEqual(
        rejected.map(({ entry, reason }) => [entry, reason]),
        [[2, 'The entry has the same fullUrl as entry 1, but is another record']],
      );
    }
  });

  test('the id of a record here beside the id that its source gave it: one of the two is refused', async () => {
    const [someone, other] = [patient({ id: `p-${randomUUID()}` }), patient()];
    const idHere = facilityRecordId(t.scope.facilityId, recordId('Patient', String(someone.id)));
    const twice = [{ ...someone, id: idHere }, someone, other];
    for (const document of [bundle(twice), lines(twice)]) {
      for (const dryRun of [true, false]) {
        const { rejected, resources } = await t.run([document], { dryRun });
        assert.deepEqual(
          rejected.map(({ entry, reason }) => [entry, reason]),
          [[1, 'Patient.id is the id that the service gave to the record of entry 2. Send that record once']],
        );
        assert.deepEqual(resources, typeof document === 'string' ? { Patient: 2 } : {});
      }
    }
  });

  test('reasons and reports carry no values, not even as element names [IN-25]', async () => {
    const document = await t.run([
      { ...patient({ gender: 'SECRET-1' }) },
      { ...patient(), 'SECRET-2 Rivers': 1 },
      encounter('Patient/SECRET-3'),
    ]);
    assert.doesNotMatch(JSON.stringify(document), /SECRET/);
    assert.deepEqual(countsOf(document.notKept), { 'Patient.(unknown element)': 1 });
  });
});

describe('limits', () => {
  const limits = { ...DEFAULT_LIMITS, maxEntries: 3, linesAtOnce: 3 };

  test('a Bundle of too many entries is refused whole', async () => {
    const { rejected, resources } = await t.run([bundle([patient(), patient(), patient(), patient()])], {
      deps: { limits },
    });
    assert.deepEqual(resources, {});
    assert.deepEqual(rejected[0]?.reason, 'has more than the limit of 3 entries. Split it.');
  });

  test('a Bundle with more names than are held in mind is refused whole', async () => {
    const limits = { ...DEFAULT_LIMITS, maxIndexBytes: 20_000 };
    const many = Array.from({ length: 200 }, (_, index) => ({ system: NUMBER, value: `N${index}` }));
    const { rejected, resources } = await t.run([bundle([patient({ identifier: many })])], {
      deps: { limits },
    });
    assert.deepEqual(resources, {});
    assert.match(rejected[0]?.reason ?? '', /^has too many ids, addresses and identifiers/);
  });

  test('lines past the limit are not read; those before it are taken', async () => {
    const limits = { ...DEFAULT_LIMITS, maxLines: 2 };
    const document = await t.run([lines([patient(), patient(), patient()])], { deps: { limits } });
    assert.deepEqual(
      document.rejected.map(({ entry, reason }) => [entry, reason]),
      [[3, 'is after the limit of 2 lines. Split the file.']],
    );
    assert.deepEqual(document.resources, { Patient: 2 });
  });

  test('lines before the limit that wait for each other are taken, or named', async () => {
    const late = patient();
    const early = [encounter(`Patient/${String(late.id)}`), encounter('Patient/nobody')];
    const document = await t.run([lines([...early, patient(), late, patient()])], {
      deps: { limits: { ...DEFAULT_LIMITS, linesAtOnce: 2, maxLines: 4 } },
    });
    assert.deepEqual(document.resources, { Encounter: 1, Patient: 2 });
    assert.deepEqual(
      document.rejected.map(({ entry }) => entry),
      [2, 5],
    );
  });

  test('NDJSON of any number of lines is taken, some at a time', async () => {
    const someone = patient();
    const resources = [
      ...Array.from({ length: 9 }, () => patient()),
      someone,
      encounter(urnOf(someone)),
      { a: 1 },
    ];
    const document = await t.run([lines(resources), practitioner()], { deps: { limits } });
    assert.deepEqual(document.resources, { Encounter: 1, Patient: 10, Practitioner: 1 });
    assert.deepEqual(
      document.rejected.map(({ entry }) => entry),
      [12],
    );
    // What refers to a later part waits for it.
    const late = patient();
    const early = encounter(`Patient/${String(late.id)}`);
    const waited = await t.run([lines([early, patient(), patient(), patient(), late])], { deps: { limits } });
    assert.deepEqual(waited.rejected, []);
    assert.deepEqual(waited.resources, { Encounter: 1, Patient: 4 });
  });
});

describe('what an index cannot hold', () => {
  const LONGEST = { system: `urn:${'ß'.repeat(510)}`, value: '界'.repeat(300) };

  test('identifiers up to the limits are stored and found, of every type', async () => {
    const identifier = [LONGEST];
    const someone = patient({ identifier, name: [{ family: '界'.repeat(1_024) }] });
    const visit = encounter(urnOf(someone), { identifier });
    const all = [organization({ identifier }), practitioner({ identifier }), someone, visit];
    assert.deepEqual((await t.run([bundle(all)])).rejected, []);
    const again = conditionalCreate(practitioner({ identifier }));
    assert.deepEqual((await t.run([bundle([again])])).unchanged, { Practitioner: 1 });
  });

  test('longer ones reject the Bundle or line, and the others are taken', async () => {
    const random = Array.from({ length: 100 }, () => randomUUID()).join('');
    const long = patient({ identifier: [{ system: NUMBER, value: random }] });
    const far = organization({ identifier: [{ system: `urn:${random}`, value: '1' }] });
    const named = practitioner({ name: [{ family: random }] });
    const { rejected, resources } = await t.run([bundle([long]), lines([far, patient()]), named]);
    assert.deepEqual(
      rejected.map(({ reason }) => reason),
      [
        'Patient.identifier.value is longer than the limit of 900 bytes',
        'Organization.identifier.system is longer than the limit of 1024 bytes',
        'Practitioner.name.family is longer than the limit of 1024 characters',
      ],
    );
    assert.deepEqual(resources, { Patient: 1 });
  });

  test('what PostgreSQL has no room for is a fault of the data (SQLSTATE class 54)', () => {
    assert.equal(dataFault({ code: '54000' }), 'could not be stored (SQLSTATE 54000)');
    assert.equal(dataFault({ code: '57014' }), undefined);
  });

  test('what another import wrote meanwhile is none: the caller is asked to try again', () => {
    assert.equal(outageOf(new WrittenByAnother()), 'conflict');
  });
});

describe('unexpected failures', () => {
  const failing = (code: string) => ({
    onPatientsChanged: async (client: Client, _scope: unknown, changed: readonly PatientChange[]) => {
      if (changed.length === 2)
        await client.query(`do $$ begin raise exception 'a secret' using errcode = '${code}'; end $$`);
    },
  });
  const files = () => [patient(), bundle([patient(), patient()]), patient()];

  test('of one source: the others are taken, and all is reported', async () => {
    const document = await t.run(files(), { deps: failing('XX000'), keepGoing: true });
    assert.deepEqual(document.resources, { Patient: 2 });
    assert.deepEqual(document.rejected, [
      {
        file: '1.json',
        entry: null,
        reason:
          'stopped with an unexpected failure (XX000). What was imported before is counted. Import it again',
      },
    ]);
  });

  for (const code of ['57P01', '53100'])
    test(`a database that is gone or full ends the run, and what was done is reported (${code})`, async () => {
      const document = await t.run(files(), { deps: failing(code), keepGoing: true });
      assert.deepEqual(document.resources, { Patient: 1 });
      assert.deepEqual(
        document.rejected.map(({ file, reason }) => [file, reason]),
        [
          [
            '1.json',
            `stopped, because the database cannot be reached or takes no writes (${code}). What was imported before is counted. Import it again later`,
          ],
          [
            '2.json',
            'was not imported, because the database cannot be reached or takes no writes. Import it again later',
          ],
        ],
      );
    });
});
