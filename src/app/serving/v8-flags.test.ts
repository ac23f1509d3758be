import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { V8_FLAGS } from './serve.ts';

test('the Node.js that runs the service knows the flags of V8 that it sets', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  for (const flag of V8_FLAGS) {
    const [, name, value] = /^--(?:no-)?([a-z-]+)(=\d+)?$/.exec(flag) ?? [];
    const type = value === undefined ? 'bool' : 'int';
    assert.match(known, new RegExp(`  --${name} \\(.*\\)\\s+type: ${type} `), flag);
  }
});
