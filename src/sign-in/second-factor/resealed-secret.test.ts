/** Codes of an authenticator app while a rotation of the master key seals its secret anew. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { callDuring } from '../../../test-support/call-during.ts';
import { useEmptyApi } from '../../../test-support/service/api.ts';
import { addConsoleTenant, addSignedIn, signInAs } from '../../../test-support/sign-in/console-people.ts';
import { addTelephone, codesOf } from '../../../test-support/sign-in/second-factor.ts';
import { PASSWORD } from '../../../test-support/sign-in/sign-in.ts';
import { insertDataKey } from '../../platform/crypto/data-key.store.ts';
import { openUnderAny } from '../../platform/crypto/key-ring.ts';
import { createMasterKey, wrapDataKey } from '../../platform/crypto/master-key.ts';
import { withPool } from '../../platform/db/database.ts';
import { SEALED_TOTP_SECRETS } from './totp.ts';

const api = await useEmptyApi();

test('a code is taken although the secret is sealed anew while it is looked at [SIGN-IN-73]', async () => {
  const { account, browser } = await addSignedIn(api, await addConsoleTenant(api));
  const telephone = await addTelephone(api, browser);
  const next = await signInAs(api, account, 'second-factor');
  const { status, text } = await callDuring(api.database.pool, {
    change: async (rotation) => {
      const resealed = [];
      for (const row of await SEALED_TOTP_SECRETS.list(rotation)) {
        const plain = await api.keys.open(row.sealedFor, row.sealed);
        resealed.push({ ...row, resealed: await api.keys.seal(rotation, row.sealedFor, plain) });
      }
      await SEALED_TOTP_SECRETS.replace(rotation, resealed);
    },
    call: () => next.call('/session/totp', { body: { code: telephone.code(1) } }),
  });
  assert.equal(status, 200, text);
});

test('a secret that is confirmed after a rotation is sealed under the newest data key [SIGN-IN-73]', async () => {
  const { account, browser } = await addSignedIn(api, await addConsoleTenant(api));
  const begun = await browser.call('/second-factor/totp', { body: { password: PASSWORD } });
  assert.equal(begun.status, 200, begun.text);
  const masterKey = createMasterKey(Buffer.from(api.env.MASTER_KEY ?? '', 'hex'));
  const newest = randomBytes(32);
  const wrapped = wrapDataKey(masterKey, 2, newest);
  await withPool({ url: api.database.adminUrl, max: 1, applicationName: 'test' }, (owner) =>
    insertDataKey(owner, { number: 2, masterKeyId: masterKey.id, wrapped }),
  );
  const code = codesOf(api, begun.json.secret)();
  const confirmed = await browser.call('/second-factor/totp/confirm', { body: { code } });
  assert.equal(confirmed.status, 200, confirmed.text);
  const rows = await SEALED_TOTP_SECRETS.list(api.database.pool);
  const [own] = rows.filter(({ id }) => id[1] === account.userId);
  assert.ok(own);
  assert.ok(openUnderAny([newest], own.sealedFor, own.sealed));
});
