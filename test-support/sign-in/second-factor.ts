/** What stands in for somebody's telephone: codes of an authenticator app. */
import assert from 'node:assert/strict';
import { Secret, TOTP } from 'otpauth';
import type { TestApi } from '../service/api.ts';
import type { ConsoleClient } from '../service/console.ts';
import { PASSWORD } from './sign-in.ts';

export interface Telephone {
  /** The code of now, or of some steps of half a minute later. */
  code(steps?: number): string;
  secret: string;
  /** Where it is the first factor. */
  recoveryCodes: string[];
}

/** The codes of a secret, by the clock of the test. */
export function codesOf(api: Pick<TestApi, 'clock'>, secret: string): Telephone['code'] {
  const totp = new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });
  return (steps = 0) => totp.generate({ timestamp: api.clock.now.getTime() + steps * 30_000 });
}

/** Adds an authenticator app in a session. The code of now is used up. */
export async function addTelephone(
  api: TestApi,
  browser: ConsoleClient,
  password = PASSWORD,
): Promise<Telephone> {
  const begun = await browser.call('/second-factor/totp', { body: { password } });
  assert.equal(begun.status, 200, begun.text);
  const code = codesOf(api, begun.json.secret);
  const confirmed = await browser.call('/second-factor/totp/confirm', { body: { code: code() } });
  assert.equal(confirmed.status, 200, confirmed.text);
  return { code, secret: begun.json.secret, recoveryCodes: confirmed.json.recoveryCodes };
}
