import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../platform/domain-error.ts';
import { checkedName } from './name.ts';

test('a name is kept as it is, without the spaces around it', () => {
  for (const name of [
    'Lagos Hospitals',
    'Ọ̀ṣun Clinic',
    '診療所',
    'a'.repeat(200),
    'مستشفى\u200f 1',
    'בית חולים',
    '👩‍⚕️ & Co. "St. Mary\'s" <1>',
  ])
    assert.equal(checkedName(`  ${name}\n`), name);
});

test('a name is one line of text', () => {
  for (const name of ['', '   ', '\n', 'a'.repeat(201)])
    assert.throws(
      () => checkedName(name),
      (error) =>
        error instanceof DomainError && error.code === 'name_length' && /1 to 200/.test(error.message),
    );
  const controls = ['a\nb', 'a\tb', 'a\0b', 'a\u001b[2Jb', 'a\u007fb', 'a\u0085b', 'a\u2028b', 'a\ud800b'];
  const nothingShown = ['\u200b', '\u00ad\u2060', '\u202e'];
  const directions = Array.from(
    '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069',
    (mark) => `a${mark}b`,
  );
  for (const name of [...controls, ...nothingShown, ...directions])
    assert.throws(
      () => checkedName(name),
      (error) =>
        error instanceof DomainError && error.code === 'name_not_one_line' && /one line/.test(error.message),
    );
});
