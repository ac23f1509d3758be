/** What a browser says of itself: operators read it on a terminal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRaw } from '../../../test-support/http/raw-http.ts';
import { useEmptyApi } from '../../../test-support/service/api.ts';
import { runCommand } from '../../../test-support/service/command.ts';
import { addConsoleTenant, addPerson } from '../../../test-support/sign-in/console-people.ts';
import { PASSWORD } from '../../../test-support/sign-in/sign-in.ts';

const api = await useEmptyApi();

test('control characters of a browser reach no terminal', async () => {
  const { email } = await addPerson(api, await addConsoleTenant(api));
  const { status } = await sendRaw(Number(new URL(api.origin).port), {
    method: 'POST',
    target: '/console/api/session',
    headers: {
      'content-type': 'application/json',
      'x-interchange-console': '1',
      'user-agent': 'Mozilla/5.0\u009b2J\u009b31m\u0085Firefox',
    },
    body: Buffer.from(JSON.stringify({ email, password: PASSWORD })),
  });
  assert.equal(status, 200);
  const { stdout, stderr } = await runCommand(['account', 'sessions', '--email', email], { env: api.env });
  assert.match(stdout, /Firefox/, stderr);
  assert.equal(/[\p{Cc}]/u.test(stdout.trimEnd()), false, JSON.stringify(stdout));
});
