import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { foldPhone, foldText, patientSearchKeys, searchTerms, sortName } from './search-key.ts';

test('folding drops case, accents, apostrophes and repeated spaces [PAT-3]', () => {
  assert.equal(foldText('  José   O’NEIL '), 'jose oneil');
  assert.equal(foldText("O'Neil"), 'oneil');
  assert.equal(foldText('GROẞMANN'), foldText('Großmann'));
  assert.equal(foldText('Großmann'), foldText('GROSSMANN'));
  assert.equal(foldText('Μάριος'), foldText('ΜΑΡΙΟΣ'));
  assert.equal(foldText('ﬁn'), 'fin');
});

test('folding what is folded changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      assert.equal(foldText(foldText(text)), foldText(text));
    }),
  );
});

test('a key is not cut inside a character [PAT-2]', () => {
  const many = (count: number) => '𠮷'.repeat(count);
  const [long, cut] = [`a${many(150)}`, `a${many(99)}`];
  const widened = `æb${many(99)}`;
  assert.deepEqual(
    patientSearchKeys({
      names: [{ family: long }, { family: widened }],
      identifiers: [{ value: long }],
      telecoms: [{ system: 'email', value: long }],
    }),
    [
      { kind: 'email', key: cut },
      { kind: 'identifier', key: cut },
      { kind: 'name', key: `aeb${many(98)}` },
      { kind: 'name', key: cut },
      { kind: 'name', key: widened },
    ],
  );
  assert.equal(sortName([{ family: long }]), cut);
  assert.deepEqual(searchTerms(long).nameStarts, [cut]);
});

test('every part of a name is a key, whole and by its words [PAT-2]', () => {
  const keys = patientSearchKeys({
    names: [{ family: 'van der Berg', given: ['Anne-Marie', 'Zoë'], text: 'Zoë Berg' }],
    identifiers: [{ value: 'MRN-0007' }, {}],
    telecoms: [
      { system: 'phone', value: '+1 (555) 010-2030' },
      { system: 'email', value: 'Anne@Example.org' },
      { system: 'url', value: 'https://example.org' },
    ],
  });
  const of = (kind: string) => keys.filter((key) => key.kind === kind).map(({ key }) => key);
  assert.deepEqual(of('name'), [
    'anne',
    'anne-marie',
    'berg',
    'der',
    'marie',
    'van',
    'van der berg',
    'zoe',
    'zoe berg',
  ]);
  assert.deepEqual(of('identifier'), ['mrn-0007']);
  assert.deepEqual(of('phone'), ['15550102030']);
  assert.deepEqual(of('email'), ['anne@example.org']);
});

test('a word with a hyphen is a key also among other words, and whichever hyphen it has [PAT-2]', () => {
  const keysOf = (text: string) =>
    patientSearchKeys({ names: [{ text }], identifiers: [], telecoms: [] }).map(({ key }) => key);
  assert.deepEqual(keysOf('Ng Mary-Ann'), ['ann', 'mary', 'mary-ann', 'ng', 'ng mary-ann']);
  for (const hyphen of ['\u2010', '\u2011', '\u2013']) {
    const keys = keysOf(`Al${hyphen}Sayed`);
    for (const { nameStarts } of ['al-sayed', 'sayed', `AL${hyphen}SAY`].map(searchTerms))
      assert.ok(keys.some((key) => key.startsWith(nameStarts[0] ?? '?')));
  }
  // What is copied from a letter has the hyphen of the letter.
  assert.equal(searchTerms('555\u2011378\u20132854').phone, '5553782854');
  const found = keysOf('Al-Sayed').some((key) =>
    key.startsWith(searchTerms('al\u2011say').nameStarts[0] ?? '?'),
  );
  assert.ok(found);
});

test('letters that are no accents are found by those of a plain keyboard, and by themselves [PAT-3]', () => {
  for (const [name, typed] of [
    ['Łukasz', 'lukasz'],
    ['Søren', 'soren'],
    ['Đorđević', 'dordevic'],
    ['Guðrún', 'gudrun'],
    ['Þór', 'THOR'],
    ['Ægir', 'aegir'],
    ['Œuvrard', 'oeuvrard'],
    ['Yıldız', 'yildiz'],
  ] as const) {
    const keys = patientSearchKeys({ names: [{ family: name }], identifiers: [], telecoms: [] });
    for (const search of [name, name.toUpperCase(), typed])
      assert.ok(
        keys.some(({ key }) => key === searchTerms(search).nameStarts[0]),
        `${search}: ${name}`,
      );
    // A process of the version before looks for the letter itself.
    assert.ok(keys.some(({ key }) => key === foldText(name)));
  }
});

test('every sign that stands for an apostrophe is none [PAT-3]', () => {
  for (const sign of [
    "'",
    '\u2019',
    '\u2018',
    '\u02bc',
    '`',
    '\u00b4',
    '\u1ffd',
    '\u02bb',
    '\u201b',
    '\u2032',
    '\uff07',
  ])
    assert.deepEqual(searchTerms(`O${sign}Neil`).nameStarts, ['oneil'], sign);
});

test('a phone number is one however it is written [PAT-2]', () => {
  for (const [text, phone] of [
    ['tel:+49-30-555-0177', '49305550177'],
    ['555-1234 x12', '555123412'],
    ['(030) 555 88 ext. 9', '030555889'],
    ['+44 20 7946 0018;ext=5', '4420794600185'],
    ['０３０ ７７７１', '0307771'],
    ['٠٨٠٣ ٥٥٥ ٠١١٢', '08035550112'],
    ['۹۸۷ x۵', '9875'],
    [' *31#030 555/1 ', '310305551'],
  ] as const) {
    assert.equal(searchTerms(text).phone, phone, text);
    assert.equal(foldPhone(text), phone, text);
  }
  for (const text of ['x12', 'Room 5', 'MRN-0042', 'tel:', '12 ext'])
    assert.equal(searchTerms(text).phone, '', text);
});

test('a search is read as name starts, an identifier, a phone or an email [PAT-2]', () => {
  assert.deepEqual(searchTerms('  Zoë  BERG '), {
    nameStarts: ['zoe', 'berg'],
    identifier: 'zoe berg',
    phone: '',
    email: '',
  });
  assert.equal(searchTerms('(555) 010-2030').phone, foldPhone('555 010 2030'));
  assert.equal(searchTerms('Anne@Example.ORG').email, 'anne@example.org');
  assert.deepEqual(searchTerms('   ').nameStarts, []);
});

test('lists are ordered by the official name, family first', () => {
  assert.equal(
    sortName([
      { use: 'nickname', text: 'Zed' },
      { use: 'official', family: 'Öz', given: ['Ada'] },
    ]),
    'oz ada',
  );
  assert.equal(sortName([{ text: 'Ada Öz' }]), 'ada oz');
  assert.equal(sortName([]), '');
});
