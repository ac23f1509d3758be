import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { cpuMs } from '../../../test-support/cpu-time.ts';
import { DomainError } from '../../platform/domain-error.ts';
import type { MapEntry } from '../maps/map-entry.ts';
import { parseColumns } from './csv-header.ts';
import { csvText, readCsvRows } from './csv-maps.ts';
import type { ImportRow, MapReadOptions } from './import-row.ts';

const HEADER = 'local_system,local_code,local_display,target_system,target_code,target_display';
const LOINC = 'http://loinc.org';

type Options = Partial<MapReadOptions>;

async function rowsOf(file: string | Uint8Array, options: Options = {}): Promise<ImportRow[]> {
  const source = Readable.from([Buffer.from(file)]);
  return Array.fromAsync(readCsvRows(source, { ignored: new Map(), ...options }));
}

async function refusalOf(file: string | Uint8Array, options: Options = {}): Promise<string> {
  const error = await rowsOf(file, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof DomainError && error.code === 'bad_map_file', 'the file must be refused');
  return error.message;
}

const given = (localCode: string, localDisplay: string) => ({
  localSystem: 'urn:lab',
  localCode,
  localDisplay,
  targetSystem: LOINC,
  targetCode: '718-7',
  targetDisplay: 'Hemoglobin',
});

describe('reading', () => {
  test('tells lines, also after quoted line ends, blank lines and CRLF', async () => {
    const end = `${LOINC},718-7,Hemoglobin`;
    const file = `${HEADER}\r\nurn:lab,A,"two\r\nlines",${end}\r\n\r\nurn:lab,B,"a ""b"", c",${end}\r\nurn:lab,C,"x\ny",${end}`;
    assert.deepEqual(await rowsOf(file), [
      { line: 2, given: given('A', 'two\r\nlines') },
      { line: 5, given: given('B', 'a "b", c') },
      { line: 6, given: given('C', 'x\ny') },
    ]);
  });

  test('takes line ends that are not all of one kind', async () => {
    const row = (code: string) => `urn:lab,${code},x,${LOINC},718-7,Hemoglobin`;
    const lines = [HEADER, row('A'), row('B'), row('C')];
    for (const ends of ['\r\n \n \n \n', '\n \r\n \n \r\n', '\r \r \r \r']) {
      const file = lines.map((line, index) => line + ends.split(' ')[index]).join('');
      assert.deepEqual(
        await rowsOf(file),
        ['A', 'B', 'C'].map((code, index) => ({ line: index + 2, given: given(code, 'x') })),
        JSON.stringify(ends),
      );
    }
  });

  test('takes a byte order mark, plain line ends, any order of columns and columns that it does not know', async () => {
    const file = `\ufefftarget_code,note,local_code,local_system,target_system\n718-7,n,A,urn:lab,${LOINC}\n`;
    const expected = { localSystem: 'urn:lab', localCode: 'A', targetSystem: LOINC, targetCode: '718-7' };
    assert.deepEqual(await rowsOf(file), [{ line: 2, given: expected }]);
  });

  test('tells the columns that it does not read, with their rows', async () => {
    const ignored = new Map<string, number>();
    const file = `${HEADER},equivalance,Comment,target_code,\nurn:lab,A,,${LOINC},718-7,,narrower,x,1,\nurn:lab,B,,${LOINC},718-7,,,,,\n`;
    await rowsOf(file, { ignored });
    assert.deepEqual([...ignored], Object.entries({ equivalance: 2, Comment: 2, target_code: 2 }));
    const constant = new Map<string, number>();
    await rowsOf(file, { ignored: constant, targetSystem: LOINC });
    assert.equal(constant.get('target_system'), 2);
    const wide = new Map<string, number>();
    await rowsOf(`${HEADER},${Array.from({ length: 500 }, (_, i) => `c${i}`).join(',')}\nurn:lab,A\n`, {
      ignored: wide,
    });
    assert.equal(wide.size, 100);
  });
  test('takes UTF-8 that is cut anywhere', async () => {
    const bytes = Buffer.from(`${HEADER}\nurn:lab,A,Hämoglobin 血,${LOINC},718-7,Hemoglobin\n`);
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const source = Readable.from([bytes.subarray(0, cut), bytes.subarray(cut)]);
      const [row] = await Array.fromAsync(readCsvRows(source, { ignored: new Map() }));
      assert.equal(row?.given.localDisplay, 'Hämoglobin 血');
    }
  });

  test('takes other columns by name, with or without what stands in parentheses, and systems for all rows', async () => {
    const columns = parseColumns('local_code=itemid,local_display = label ,target_code=concept_code');
    assert.ok(typeof columns !== 'string');
    const file = 'itemid (source),label,concept_code\n50801,Alveolar,19991-9\n';
    assert.deepEqual(await rowsOf(file, { columns, localSystem: 'urn:lab', targetSystem: LOINC }), [
      {
        line: 2,
        given: {
          localSystem: 'urn:lab',
          localCode: '50801',
          localDisplay: 'Alveolar',
          targetSystem: LOINC,
          targetCode: '19991-9',
        },
      },
    ]);
  });

  test('reports a row with too few or too many cells', async () => {
    const rows = await rowsOf(`${HEADER}\nurn:lab,A\nurn:lab,A,b,${LOINC},718-7,c,d\n`);
    assert.deepEqual(
      rows.map(({ fault }) => fault?.en),
      ['has 2 cells, but the header has 6', 'has 7 cells, but the header has 6'],
    );
  });

  test('reads no further ahead than a few chunks', async () => {
    let chunks = 0;
    async function* endless() {
      yield Buffer.from(`${HEADER}\n`);
      for (;;) {
        chunks += 1;
        yield Buffer.from(`urn:lab,A${chunks},b,${LOINC},718-7,c\n`.repeat(100));
      }
    }
    const rows = readCsvRows(Readable.from(endless()), { ignored: new Map() });
    for (let taken = 0; taken < 5_000; taken += 1) await rows.next();
    await rows.return(undefined);
    assert.ok(chunks < 200, `${chunks} chunks of 100 rows were read for 5,000 rows`);
  });
});

describe('a file that is refused, with what to do', () => {
  test('empty', async () => assert.equal(await refusalOf(''), 'The file is empty.'));
  test('separated by semicolons or tabs', async () => {
    assert.match(await refusalOf(`${HEADER.replaceAll(',', ';')}\na;b\n`), /separated by semicolons/);
    assert.match(await refusalOf(HEADER.replaceAll(',', '\t')), /separated by tabs/);
  });
  test('not UTF-8', async () => {
    const file = Buffer.concat([
      Buffer.from(`${HEADER}\nurn:lab,A,`),
      Buffer.from([0xe4]),
      Buffer.from(',x,y,z\n'),
    ]);
    assert.match(await refusalOf(file), /not UTF-8/);
    assert.match(await refusalOf(Buffer.from(HEADER, 'utf16le')), /no column|not UTF-8/);
  });
  test('a quote that is never closed', async () => {
    assert.match(await refusalOf(`${HEADER}\nurn:lab,"A,b\n`), /quotation mark that is not closed/);
    assert.match(
      await refusalOf(`${HEADER}\nurn:lab,"A,b\n${'x'.repeat(70_000)}`),
      /more than 65536 characters/,
    );
  });
  test('a header that is long beyond all use, at once and in a short message', async () => {
    for (const filling of [' ', '(', ' (', '() ', 'x']) {
      const spentMs = await cpuMs(async () => {
        const message = await refusalOf(`"x${filling.repeat(30_000)}y"`);
        assert.ok(message.length < 2_000);
      });
      assert.ok(spentMs < 1_000, JSON.stringify(filling));
    }
    assert.ok(
      (await refusalOf(Array.from({ length: 2_000 }, (_, n) => `column${n}`).join(','))).length < 2_000,
    );
  });
  test('a column that is missing', async () => {
    assert.match(
      await refusalOf('local_code,target_code\n'),
      /no column local_system.*\(columns: local_system=.*\(localSystem\)/,
    );
    const columns = new Map([['local_code', 'item'] as const]);
    assert.match(await refusalOf(`${HEADER}\n`, { columns }), /no column item\. It has: local_system, /);
  });
});

test('columns that are not given as asked are explained', () => {
  for (const text of [
    '',
    'local_code',
    'code=x',
    'local_code=',
    '__proto__=x',
    'local_code=a,,target_code=b',
  ])
    assert.throws(() => parseColumns(text), { code: 'bad_request' }, text);
});

describe('writing', () => {
  const entry: MapEntry = { ...given('A', 'b'), equivalence: 'equivalent', comment: null };
  const written = async (entries: MapEntry[], withRelation = false) => {
    async function* pages() {
      yield entries;
    }
    return (await Array.fromAsync(csvText(pages(), { withRelation }))).join('');
  };

  test('has the header of the import, and CRLF [TERM-11]', async () => {
    assert.equal(await written([entry]), `${HEADER}\r\nurn:lab,A,b,${LOINC},718-7,Hemoglobin\r\n`);
    assert.equal(await written([]), `${HEADER}\r\n`);
  });

  test('adds the relation where it is asked for', async () => {
    const narrower: MapEntry = { ...entry, equivalence: 'narrower', comment: 'arterial, only' };
    const text = await written([narrower], true);
    assert.equal(
      text,
      `${HEADER},equivalence,comment\r\nurn:lab,A,b,${LOINC},718-7,Hemoglobin,narrower,"arterial, only"\r\n`,
    );
  });

  test('stops at an entry whose relation the header has no column for', async () => {
    for (const change of [{ equivalence: 'narrower', comment: 'c' }, { comment: 'c' }] as const)
      await assert.rejects(written([entry, { ...entry, ...change }]), { code: 'export_overtaken' });
  });

  test('leaves no cell that a spreadsheet takes for a formula', async () => {
    for (const display of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1+1', "'=1+1", "''-1"]) {
      const text = await written([{ ...entry, localDisplay: display }]);
      assert.ok(text.includes(`,'${display},`), text);
      assert.equal((await rowsOf(text))[0]?.given.localDisplay, display);
    }
  });

  test('is read back as it was, whatever the texts are', async () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    const hostile = fc.constantFrom('"', ',', '\r\n', '\n', "'", '=', '+', '-', '@', ';', 'ä', '血', ' ');
    const mixed = fc
      .array(fc.oneof(text, hostile), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(mixed, mixed, async (localCode, localDisplay) => {
        fc.pre(localCode.isWellFormed() && localDisplay.isWellFormed());
        const [row] = await rowsOf(await written([{ ...entry, localCode, localDisplay }]));
        assert.deepEqual(row?.given, { ...given(localCode, localDisplay) });
        assert.equal(row?.fault, undefined);
      }),
    );
  });
});
