import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { helpText, readOptions } from './options.ts';

const PARTS = ['encounters', 'lab', 'import'];
const read = (...args: string[]) => readOptions(args, PARTS);

describe('options of the benchmark', () => {
  test('without arguments: every part, full size', () => {
    assert.deepEqual(read(), {
      help: false,
      parts: PARTS,
      quick: false,
      records: 1_000_000,
      seconds: 8,
      rounds: 3,
      importData: undefined,
      copies: 100,
      markdown: false,
    });
  });

  test('--quick is smaller, and what is given counts', () => {
    const { records, seconds, copies } = read('--quick');
    assert.deepEqual({ records, seconds, copies }, { records: 100_000, seconds: 2, copies: 40 });
    const given = read('--quick', '--records', '20000', '--seconds', '5', '--rounds', '7', '--markdown');
    assert.deepEqual([given.records, given.seconds, given.rounds, given.markdown], [20_000, 5, 7, true]);
  });

  test('parts keep their own order', () => {
    assert.deepEqual(read('import', 'encounters').parts, ['encounters', 'import']);
  });

  test('a folder is copied 20 times, unless more are asked for', () => {
    assert.equal(read('--import-data', 'records').copies, 20);
    assert.equal(read('--import-data', 'records', '--copies', '3').copies, 3);
  });

  test('what is wrong is named', () => {
    assert.throws(() => read('labs'), {
      message: 'There is no part labs. The parts are: encounters, lab, import.',
    });
    for (const wrong of ['0', '-1', '2.5', 'many', ''])
      assert.throws(() => read(`--rounds=${wrong}`), {
        message: `--rounds takes a whole number from 1, not ${wrong}.`,
      });
    assert.throws(() => read('--fast'), /--fast/);
  });

  test('the help names every part', () => {
    const help = helpText([{ name: 'lab', summary: 'laboratory orders' }]);
    assert.match(help, /^ {2}lab +laboratory orders$/m);
  });
});
