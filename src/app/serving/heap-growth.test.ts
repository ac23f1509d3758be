import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { HEAP_GROWTH } from './serve.ts';

test('the Node.js that runs the service knows the flag of V8 that it sets', () => {
  const [name = '', value] = HEAP_GROWTH.split('=');
  assert.ok(execFileSync(process.execPath, ['--v8-options']).includes(`${name} (`));
  assert.match(value ?? '', /^\d+$/);
});
