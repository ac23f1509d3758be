/** Locks by network behind a proxy that forwards the port of its client beside the address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { useEmptyApi } from '../../../test-support/service/api.ts';
import { addAccount, addTenant, cheapPasswords, PASSWORD } from '../../../test-support/sign-in/sign-in.ts';

const api = await useEmptyApi({ env: { TRUST_PROXY: 'loopback' } });

test('one network cannot lock out another that signed in before, where the proxy forwards ports [SEC-2]', async () => {
  const tenant = await addTenant(api.database);
  const { userId } = await addAccount({ database: api.database, passwords: cheapPasswords() }, tenant);
  const signIn = async (from: string, credential: string) => {
    const body = { identity: userId, credential, userType: 'EHR' };
    return (await api.call('/auth/login', { body, headers: { 'x-forwarded-for': from } })).status;
  };
  assert.equal(await signIn('192.0.2.7:49152', PASSWORD), 200);
  for (let failure = 0; failure < 5; failure += 1)
    assert.equal(await signIn(`198.51.100.7:${5_000 + failure}`, 'a wrong passphrase'), 403);
  assert.equal(await signIn('198.51.100.7:6000', PASSWORD), 429);
  assert.equal(await signIn('192.0.2.8:49153', PASSWORD), 200);
});
