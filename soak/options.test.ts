import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HELP, readOptions } from './options.ts';
import { createRandom } from './random.ts';

test('the options have defaults, and a seed of chance', () => {
  const { seed, ...options } = readOptions([]);
  assert.deepEqual(options, { help: false, minutes: 30, patients: 40, keep: false });
  assert.ok(Number.isInteger(seed) && seed >= 0);
  const given = readOptions(['--minutes', '0.5', '--seed', '7', '--patients', '3', '--keep', '-h']);
  assert.deepEqual(given, { help: true, minutes: 0.5, seed: 7, patients: 3, keep: true });
});

test('what is wrong is said by the name of the option', () => {
  const wrong = [
    ['--minutes', '0'],
    ['--minutes', 'x'],
    ['--minutes', '99999'],
    ['--seed', '-1'],
    ['--seed', '1.5'],
    ['--patients', '0'],
  ];
  for (const [name = '', value = ''] of wrong)
    assert.throws(() => readOptions([`${name}=${value}`]), new RegExp(`^OptionError: ${name} takes`));
  assert.throws(() => readOptions(['--minute', '3']), /^OptionError: .*--minute/);
});

test('the help names every option', () => {
  for (const name of ['minutes', 'seed', 'patients', 'keep', 'help'])
    assert.match(HELP, new RegExp(`--${name}\\b`));
});

test('the same seed and name give the same numbers, another name gives others', () => {
  const numbers = (seed: number, name: string) => {
    const random = createRandom(seed, name);
    return Array.from({ length: 50 }, () => random.between(0, 1_000_000));
  };
  assert.deepEqual(numbers(7, 'a'), numbers(7, 'a'));
  assert.notDeepEqual(numbers(7, 'a'), numbers(7, 'b'));
  assert.notDeepEqual(numbers(7, 'a'), numbers(8, 'a'));
  const random = createRandom(3, 'spread');
  const drawn = Array.from({ length: 1_000 }, () => random.between(1, 4));
  for (const number of [1, 2, 3, 4]) assert.ok(drawn.filter((one) => one === number).length > 150);
});
