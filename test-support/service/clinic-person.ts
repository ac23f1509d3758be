/** A person at the console of a real process, with an authenticator app. */
import assert from 'node:assert/strict';
import type pg from 'pg';
import { codesOf } from '../sign-in/second-factor.ts';
import type { Clinic } from './clinic-process.ts';

const EMAIL = 'person@example.org';

export interface ClinicPerson {
  /** With the password and a code of the app. */
  signIn(): Promise<void>;
}

/** Made by a command; the app is added over HTTP. `owner`: of the database, to have a code of this half minute again. */
export async function addPersonWithApp(clinic: Clinic, owner: pg.Client): Promise<ClinicPerson> {
  const create = ['account', 'create', ...clinic.place, '--email', EMAIL, '--role', 'all', '--type', 'STAFF'];
  const { password } = JSON.parse(await clinic.command(...create, '--json'));
  let cookie: string | undefined;
  const call = async (path: string, body: object) => {
    const answer = await fetch(new URL(`/console/api${path}`, clinic.baseUrl()), {
      method: 'POST',
      headers: {
        connection: 'close',
        'content-type': 'application/json',
        'x-interchange-console': '1',
        ...(cookie === undefined ? {} : { cookie }),
      },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return JSON.parse(text);
  };
  const begin = () => call('/session', { email: EMAIL, password });
  const codeOf = (secret: string) => codesOf({ clock: { now: new Date() } }, secret)();
  await begin();
  const { secret } = await call('/second-factor/totp', { password });
  await call('/second-factor/totp/confirm', { code: codeOf(secret) });
  return {
    async signIn() {
      await owner.query('update account_totp set last_step = 0');
      assert.equal((await begin()).state, 'second-factor');
      assert.equal((await call('/session/totp', { code: codeOf(secret) })).state, 'signed-in');
    },
  };
}
