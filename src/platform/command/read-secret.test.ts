import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { readSecret } from './read-secret.ts';

const given = (...pieces: Buffer[]) => readSecret(Readable.from(pieces), 'password');

test('a secret is one line of UTF-8, without its line break [CMD-6]', async () => {
  const bytes = Buffer.from('pässword\r\n');
  // The pieces of a pipe may end inside of a character.
  assert.equal(await given(bytes.subarray(0, 2), bytes.subarray(2)), 'pässword');
  assert.equal(
    await given(Buffer.from('\ufeffsecret\n')),
    'secret',
    'without the mark that some programs begin with',
  );
  for (const text of ['', '\n', 'two\nlines', 'n\0l'])
    await assert.rejects(given(Buffer.from(text)), /one line/);
});

test('bytes of another encoding are refused: all of them would become the same secret [CMD-6]', async () => {
  for (const text of ['p\xe4ssword', 'p\xe5ssword'])
    await assert.rejects(given(Buffer.from(text, 'latin1')), {
      name: 'UsageError',
      message: 'The password on standard input is not valid UTF-8. Give it in UTF-8.',
    });
});
