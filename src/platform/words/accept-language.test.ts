import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from './accept-language.ts';

const FRENCH = [
  'fr',
  'FR',
  'fr-CA',
  'fr-CH-1996',
  'fr, en',
  'fr;q=0.5, en;q=0.4',
  'en;q=0.4, fr;q=0.5',
  'en ; q=0.4 , fr ; q=0.5',
  'fr-FR,fr;q=0.9,en-US;q=0.8,en;q=0.7',
  'de, fr;q=0.2',
  'de, fr;q=0.2, *;q=0.1',
  'en;q=0, *',
  'en;q=0, fr;q=0.001',
  'fr;q=1.000',
  ', ,fr',
  'nonsense here, fr',
  'fr;q=0.3, fr-CA, en;q=0.5',
];

const ENGLISH = [
  undefined,
  '',
  'en',
  'en-GB',
  '*',
  'de',
  'de, *',
  'en, fr',
  'en-US,en;q=0.9,fr;q=0.8',
  'fr;q=0',
  'fr;q=0.000, en;q=0',
  'fr;q=0.1, *;q=0.5',
  '*, fr;q=0.5',
  // No frr and no fry: languages of their own.
  'frr, fry',
  // What is none of RFC 9110 is passed over.
  'fr;q=2',
  'fr;q=-1',
  'fr;q=0.1234',
  'fr;q=',
  'fr;level=1',
  'f r',
  'fr_FR',
  'fr\u0000',
  ';;;',
  'fr/',
];

test('French is spoken to who wants it more than English, or as much and first [HTTP-31]', () => {
  for (const header of FRENCH) assert.equal(languageOf(header), 'fr', header);
});

test('English is spoken to everybody else, and to who sends what cannot be read [HTTP-31]', () => {
  for (const header of ENGLISH) assert.equal(languageOf(header), 'en', String(header));
});

test('a header as long as a request may have is read like any other', () => {
  for (const piece of ['de;q=0.1,', ',', ' ', ';q=', '*;q=0,', 'fr-', 'fr \t;'])
    assert.equal(languageOf(`${piece.repeat(Math.floor(16_000 / piece.length))},en`), 'en', piece);
});
