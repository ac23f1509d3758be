/** The terminology commands, from their arguments to their output. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, beforeEach, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { createTestDatabase } from '../../../test-support/database/database.ts';
import { createPlace } from '../../../test-support/records/place.ts';
import { asCommand } from '../../../test-support/service/worded-errors.ts';
import { type CommandEnvironment, CommandError, UsageError } from '../../platform/command/command.ts';
import { createKeyRing } from '../../platform/crypto/key-ring.ts';
import { createCursorCodec } from '../../platform/http/cursor.ts';
import { createFacility } from '../../tenancy/organisations/facilities.ts';
import { translateCodeCommand } from '../lookup/translate-code.command.ts';
import { exportMapsCommand } from '../transfer/export-maps.command.ts';
import { importMapsCommand } from '../transfer/import-maps.command.ts';
import { listUnmappedCommand } from '../unmapped/list-unmapped.command.ts';
import { createUnmappedRecorder } from '../unmapped/record-unmapped.ts';
import { listMapsCommand } from './list-maps.command.ts';

const LOINC = 'http://loinc.org';
const HEADER = 'local_system,local_code,local_display,target_system,target_code,target_display';
const FILE = `${HEADER}\nurn:lab,HGB,Hb,${LOINC},718-7,Hemoglobin\nurn:lab,GLU,Glucose,${LOINC},2345-7,\n`;
let organisation: string;
let facility: string;

const database = await createTestDatabase();
const folder = await mkdtemp(join(tmpdir(), 'terminology-'));
after(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  ({ organisationId: organisation, facilityId: facility } = await createPlace(database.pool));
});

type Make = (environment: CommandEnvironment) => Command;

async function run(
  make: Make,
  argv: readonly string[],
  options: { stdin?: string; organisation?: string } = {},
) {
  let printed: { document: unknown; text: string } | undefined;
  let failed = false;
  const keys = createKeyRing(Buffer.alloc(32));
  const environment: CommandEnvironment = {
    withSession: (work) =>
      work({
        db: database.pool,
        adminUrl: database.adminUrl,
        keys,
        cursors: createCursorCodec(keys.derive('cursor')),
        publicBaseUrl: '',
      }),
    print: (document, text) => {
      assert.equal(printed, undefined, 'one document is printed');
      printed = { document, text };
    },
    json: true,
    fail: () => {
      failed = true;
    },
    env: {},
    stdout: process.stdout,
    stdin: Readable.from([Buffer.from(options.stdin ?? '')]),
    stderr: process.stderr,
    now: () => new Date('2026-01-02T03:04:05Z'),
  };
  const all = ['--organisation', options.organisation ?? organisation, ...argv];
  const quiet = { writeErr: () => undefined, writeOut: () => undefined };
  const command = make(environment).exitOverride().configureOutput(quiet);
  await asCommand(command.parseAsync(all, { from: 'user' }));
  assert.ok(printed !== undefined);
  return { document: JSON.parse(JSON.stringify(printed.document)), text: printed.text, failed };
}

async function fileOf(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe('terminology import', () => {
  test('takes CSV; again changes nothing [TERM-10, TERM-11, CMD-11]', async () => {
    const path = await fileOf('maps.csv', FILE);
    const { document, text } = await run(importMapsCommand, [path]);
    const report = {
      read: 2,
      created: 2,
      changed: 0,
      unchanged: 0,
      rejectedCount: 0,
      rejected: [],
      ignored: {},
    };
    assert.deepEqual(document, report);
    assert.equal(text, '2 entries: 2 created, 0 changed, 0 unchanged, 0 left out');
    assert.deepEqual((await run(importMapsCommand, [path])).document, {
      ...report,
      created: 0,
      unchanged: 2,
    });
  });

  test('takes another header by --columns, also in several, and tells each gap by its line [CMD-27]', async () => {
    const path = await fileOf('items.csv', 'itemid (code),label,loinc\n1,One,718-7\n2,Two,\n3,Three,718-9\n');
    const { document, text } = await run(importMapsCommand, [
      path,
      '--local-system',
      'urn:lab',
      '--target-system',
      LOINC,
      '--columns',
      'local_code=itemid,local_display=label',
      '--columns',
      'target_code=loinc',
    ]);
    assert.deepEqual([document.created, document.rejectedCount], [1, 2]);
    assert.deepEqual(text.split('\n'), [
      'line 3: "2" has no target code',
      'line 4: "3" target code has a wrong LOINC check digit; look for a mistyped digit',
      '3 entries: 1 created, 0 changed, 0 unchanged, 2 left out',
    ]);
  });

  test('takes a ConceptMap, also from standard input, and for one facility [TERM-10, CMD-11]', async () => {
    const element = [
      { code: 'HGB', target: [{ code: '718-7', equivalence: 'equal' }] },
      { code: 'X', target: [{}] },
    ];
    const stdin = `\ufeff\n${JSON.stringify({ resourceType: 'ConceptMap', group: [{ target: LOINC, element }] })}`;
    const { document, text } = await run(importMapsCommand, ['-', '--facility', facility], { stdin });
    assert.equal(document.created, 1);
    assert.match(text, /^ConceptMap\.group\[0\]\.element\[1\]\.target\[0\]: "X" has no equivalence/);
    const { items } = (await run(listMapsCommand, ['--facility', facility])).document;
    assert.deepEqual([items[0].localCode, items[0].facilityId, items[0].updatedBy], ['HGB', facility, null]);
  });

  test('--dry-run keeps nothing', async () => {
    const { text, document } = await run(importMapsCommand, [await fileOf('dry.csv', FILE), '--dry-run']);
    assert.match(text, /2 created.*\(dry run: nothing was kept\)$/);
    assert.equal((document as { dryRun?: boolean }).dryRun, true);
    assert.deepEqual((await run(listMapsCommand, [])).document, { items: [], nextCursor: null });
  });

  test('--dry-run prints a line for each change, with the old and new values [TERM-23]', async () => {
    await run(importMapsCommand, [await fileOf('old.csv', FILE)]);
    const changed = FILE.replace('718-7,Hemoglobin', '718-8,').replace('2345-7,', '2339-0,"In ""blood"""');
    const added = Array.from({ length: 203 }, (_, at) => `urn:lab,N${at},,${LOINC},718-7,\n`);
    const path = await fileOf('new.csv', changed + added.join(''));
    const { text, document } = await run(importMapsCommand, [path, '--dry-run']);
    const lines = text.split('\n');
    assert.deepEqual(
      [lines[0], lines[1], ...lines.slice(-4)],
      [
        `line 3: changed urn:lab|GLU in ${LOINC}: target_code "2345-7" → "2339-0", target_display (none) → "In \\"blood\\""`,
        `line 4: created urn:lab|N0 in ${LOINC}: target_code "718-7", equivalence "equivalent"`,
        `line 203: created urn:lab|N199 in ${LOINC}: target_code "718-7", equivalence "equivalent"`,
        '… and 3 more created',
        'line 2: "HGB" target code has a wrong LOINC check digit; look for a mistyped digit',
        '205 entries: 203 created, 1 changed, 0 unchanged, 1 left out (dry run: nothing was kept)',
      ],
    );
    assert.equal((document as { changes: object[] }).changes.length, 201);
  });

  test('is exit code 1 when nothing of the file can be taken, and 0 when something can', async () => {
    const bad = `${HEADER}\nurn:lab,A,,${LOINC},718-8,\n`;
    for (const [content, fails] of [
      [bad, true],
      [`${bad}urn:lab,B,,${LOINC},718-7,\n`, false],
    ] as const) {
      const { failed } = await run(importMapsCommand, [await fileOf('some.csv', content)]);
      assert.equal(failed, fails);
    }
  });

  test('explains what it cannot do', async () => {
    const path = await fileOf('good.csv', FILE);
    const refused = (
      argv: string[],
      error: typeof UsageError | typeof CommandError,
      message: RegExp,
      of = organisation,
    ) =>
      assert.rejects(run(importMapsCommand, argv, { organisation: of }), (thrown: unknown) => {
        assert.ok(thrown instanceof error, String(thrown));
        assert.match(thrown.message, message);
        return true;
      });
    await refused([path], UsageError, /--organisation must be a UUID/, 'x');
    await refused([path], CommandError, /no organisation/, randomUUID());
    await refused([path, '--facility', randomUUID()], CommandError, /no facility/);
    await refused([path, '--columns', 'code=x'], UsageError, /local_code=itemid/);
    const options = /\(localSystem\).*On the command line: --columns local_system=.*, or --local-system\.$/;
    const lesser = await fileOf('no-systems.csv', 'local_code,target_code\nGLU,2345-7\n');
    await refused([lesser], CommandError, options);
    await refused(
      [join(folder, 'absent.csv')],
      CommandError,
      /^There is no file \S+absent\.csv\. Check the path\.$/,
    );
    await refused([folder], CommandError, /^\S+ is a folder\. Give one file\.$/);
    await refused([await fileOf('semicolons.csv', HEADER.replaceAll(',', ';'))], CommandError, /semicolons/);
    await refused([await fileOf('broken.json', '{"resourceType":')], CommandError, /not valid JSON/);
  });
});

describe('terminology export', () => {
  for (const format of ['csv', 'conceptmap']) {
    test(`writes ${format} that the import takes back [TERM-14]`, async () => {
      await run(importMapsCommand, [await fileOf('in.csv', FILE)]);
      const output = join(folder, `out.${format}`);
      const { document } = await run(exportMapsCommand, ['--format', format, '--output', output]);
      assert.deepEqual(document, { format, output });
      const report = (await run(importMapsCommand, [output])).document;
      assert.deepEqual([report.read, report.unchanged], [2, 2]);
      if (format === 'conceptmap')
        assert.equal(JSON.parse(await readFile(output, 'utf8')).resourceType, 'ConceptMap');
    });
  }

  test('replaces a file that exists, and says so in its help', async () => {
    await run(importMapsCommand, [await fileOf('in.csv', FILE)]);
    const output = await fileOf('before.csv', 'x'.repeat(10_000));
    await run(exportMapsCommand, ['--output', output]);
    assert.match(await readFile(output, 'utf8'), /^local_system,[^x]+$/);
    const help = exportMapsCommand({} as CommandEnvironment).helpInformation();
    assert.match(help, /one that exists is\s+replaced/);
  });

  test('does not blame the file when the database fails', async () => {
    const rows = Array.from(
      { length: 8_000 },
      (_, index) => `urn:lab,${index},${'x'.repeat(100)},${LOINC},718-7,`,
    );
    await run(importMapsCommand, [await fileOf('many.csv', [HEADER, ...rows].join('\n'))]);
    const output = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [output]);
    const failed = assert.rejects(run(exportMapsCommand, ['--output', output]), { code: '42P01' });
    const reader = createReadStream(output);
    await once(reader, 'readable');
    const owner = await database.connectOwner();
    await owner.query('alter table terminology_map rename to terminology_map_away');
    try {
      reader.resume();
      await failed;
    } finally {
      await owner.query('alter table terminology_map_away rename to terminology_map');
      await owner.end();
    }
  });

  test('explains what it cannot do', async () => {
    await assert.rejects(run(exportMapsCommand, []), UsageError);
    await assert.rejects(
      run(exportMapsCommand, ['--output', join(folder, 'no', 'such', 'folder')]),
      (error: Error) =>
        error instanceof CommandError &&
        /The file \S+folder cannot be written \(ENOENT\)\. Check the path, .*--output/.test(error.message),
    );
    await assert.rejects(run(exportMapsCommand, ['--format', 'xml']), { code: 'commander.invalidArgument' });
  });
});

test('terminology list searches, and goes on where a page ended', async () => {
  await run(importMapsCommand, [await fileOf('list.csv', FILE)]);
  const first = await run(listMapsCommand, ['--limit', '1']);
  assert.deepEqual([first.document.items.length, first.document.items[0].localCode], [1, 'GLU']);
  assert.match(first.text, /^urn:lab\|GLU → http:\/\/loinc.org\|2345-7\nmore: --cursor /);
  const second = await run(listMapsCommand, ['--limit', '1', '--cursor', first.document.nextCursor]);
  assert.deepEqual([second.document.items[0].localCode, second.document.nextCursor], ['HGB', null]);
  assert.equal((await run(listMapsCommand, ['--search', 'hemo'])).document.items.length, 1);
  await assert.rejects(run(listMapsCommand, ['--limit', '0']), UsageError);
});

test('terminology list and unmapped refuse a cursor of another list in words of the command line [HTTP-21]', async () => {
  const { document } = await run(listMapsCommand, ['--limit', '1']);
  for (const [command, cursor] of [
    [listMapsCommand, 'zzz'],
    [listUnmappedCommand, document.nextCursor],
  ] as const)
    await assert.rejects(run(command, ['--cursor', cursor]), (error: Error) => {
      assert.ok(error instanceof UsageError);
      assert.equal(
        error.message,
        '--cursor does not belong to this list. Copy it unchanged from the previous page, and give the same options.',
      );
      return true;
    });
});

test('terminology translate answers as the next fetch will [TERM-15]', async () => {
  await run(importMapsCommand, [await fileOf('translate.csv', FILE)]);
  const { document, text } = await run(translateCodeCommand, [
    '--facility',
    facility,
    '--system',
    'urn:lab',
    '--code',
    'HGB',
  ]);
  assert.equal(text, 'http://loinc.org|718-7 Hemoglobin (equivalent)');
  assert.deepEqual(document.parameter[0], { name: 'result', valueBoolean: true });
  const nothing = await run(translateCodeCommand, ['--system', 'urn:lab', '--code', 'none']);
  assert.equal(nothing.text, 'No terminology map has a standard code for this code.');
  assert.equal(nothing.document.parameter[0].valueBoolean, false);
});

test('terminology unmapped lists the codes of one facility or of all', async () => {
  const failed = (error: unknown) => assert.fail(String(error));
  const recorder = createUnmappedRecorder({ db: database.pool, now: () => new Date(), onError: failed });
  const scope = { organisationId: organisation, facilityId: facility, timeZone: 'UTC' };
  recorder.met(scope, 'lab.result', [{ system: 'urn:lab', code: 'X', display: 'An X' }]);
  await recorder.close();
  const { document, text } = await run(listUnmappedCommand, []);
  assert.deepEqual([document.items[0].localCode, document.items[0].facilityId], ['X', facility]);
  assert.equal(text, '1  urn:lab|X An X (lab.result 1)');
  const other = (await createFacility(database.pool, { organisationId: organisation, name: 'Other' })).id;
  assert.equal((await run(listUnmappedCommand, ['--facility', other])).text, 'No unmapped codes.');
  const further = createUnmappedRecorder({ db: database.pool, now: () => new Date(), onError: failed });
  further.met({ ...scope, facilityId: other }, 'lab.result', [
    { system: 'urn:lab', code: 'X', display: 'An X' },
  ]);
  await further.close();
  const ofBoth = (await run(listUnmappedCommand, [])).text.split('\n').sort();
  const line = '1  urn:lab|X An X (lab.result 1)';
  assert.deepEqual(ofBoth, [facility, other].map((id) => `${line} at facility ${id}`).sort());
});
