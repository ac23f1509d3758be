import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { shellWord } from './shell-word.ts';

const onPosix = { skip: process.platform === 'win32' && 'it has no POSIX shell' };

test('a text is one word of a shell, whatever is in it', onPosix, () => {
  assert.equal(shellWord('/srv/backup/2026-03-01'), '/srv/backup/2026-03-01');
  for (const text of ['', '/srv/my backups', "it's", '$HOME `id` "x" \\', '*', 'é', 'two\nlines'])
    assert.equal(execFileSync('/bin/sh', ['-c', `printf %s ${shellWord(text)}`]).toString(), text);
});
