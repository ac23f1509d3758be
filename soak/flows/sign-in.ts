/** Systems that sign in, refresh, read and sign out, and repeat what was not answered. */
import type { Credentials } from '../client.ts';
import { pause, type World } from '../world.ts';

/** The time in which a refresh token that was exchanged gives the same pair again, less a margin for this machine. */
const WINDOW_MS = 55_000;

export function signIn(credentials: Credentials): (world: World) => Promise<void> {
  return async (world) => {
    const random = world.random('sign-in');
    while (!world.stopping) {
      await oneSession(world, credentials);
      await pause(random, 800);
    }
  };
}

async function oneSession({ client, ledger, stopping }: World, credentials: Credentials): Promise<void> {
  const login = await client.insist('sign-in', '/auth/login', { body: { ...credentials, userType: 'EHR' } });
  const { refreshToken } = login.json;
  // The window runs from the exchange, which may be done though it was not answered.
  const begunMs = performance.now();
  const pair = await refresh({ client, ledger }, refreshToken, begunMs);
  if (pair === undefined) return;
  const again = await refresh({ client, ledger }, refreshToken, begunMs);
  if (again !== undefined && JSON.stringify(again) !== JSON.stringify(pair))
    ledger.faults.push('sign-in: a repeated refresh gave another pair');
  const token = String(pair.accessToken);
  const read = await client.call('sign-in', '/patients/base?limit=1', { token });
  if (read?.status === 401) ledger.faults.push('sign-in: a new token was refused');
  if (stopping) return;
  // A logout that was not answered may have been done: then its repetition is refused.
  const out = await client.insist('sign-in', '/auth/logout', { method: 'POST', token, until: [204, 401] });
  if (out.status !== 204) return;
  const after = await client.call('sign-in', '/patients/base?limit=1', { token });
  if (after !== undefined && after.status !== 401 && after.status < 500)
    ledger.faults.push(`sign-in: a token was answered ${after.status} after its logout`);
}

/** Undefined when the outage lasted longer than the window. */
async function refresh(
  { client, ledger }: Pick<World, 'client' | 'ledger'>,
  refreshToken: string,
  begunMs: number,
): Promise<{ accessToken: string; refreshToken: string } | undefined> {
  const { status, json } = await client.insist('sign-in', '/auth/refresh', {
    body: { refreshToken },
    until: [200, 401],
  });
  if (status === 200) return json;
  if (performance.now() - begunMs < WINDOW_MS)
    ledger.faults.push('sign-in: a refresh that was repeated in its window was refused');
  return undefined;
}
