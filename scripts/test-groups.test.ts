import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { isForWholeRun, LONG, WHOLE_PROGRAMS } from './test-groups.ts';

test('each file that is named as long is there', () => {
  assert.deepEqual(
    [...WHOLE_PROGRAMS, ...LONG].filter((file) => !existsSync(file)),
    [],
  );
});

test('pages in a browser and whole programs are left to the whole run, and nothing else', () => {
  assert.equal(isForWholeRun('web/src/pages/people/people.test.ts'), true);
  assert.equal(isForWholeRun('src/app/serving/serve.test.ts'), true);
  assert.equal(isForWholeRun('src/publish/send/publish-faults-send.test.ts'), false);
  assert.equal(isForWholeRun('web/src/pages/integration-accounts/quick-start.test.ts'), true);
  assert.equal(isForWholeRun('src/sign-in/sign-in.route.test.ts'), false);
});
