/** The session of the console: its routes lie below /console/api only, and prove the caller by a cookie. */
import { queryOptions } from '@tanstack/react-query';
import { send } from './api.ts';
import { ApiError } from './api-error.ts';
import type { components } from './schema.d.ts';

type Told = components['schemas']['ConsoleSession'];

/** Of someone who has given everything that the service asks for. */
export type SignedIn = Omit<Required<Told>, 'state' | 'methods'> & { state: 'signed-in' };

export type Facility = SignedIn['facilities'][number];
export type SecondFactorMethod = NonNullable<Told['methods']>[number];

/** The password was right, and something is still missing. */
type Unfinished =
  | { state: 'second-factor'; methods: SecondFactorMethod[] }
  | { state: 'enrol-second-factor' };

export type Session = SignedIn | Unfinished;

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
  staleTime: 60_000,
  // Somebody else may have signed in in another tab.
  refetchOnWindowFocus: 'always',
});

/** null when nobody is signed in. */
async function readSession(): Promise<Session | null> {
  try {
    return (await (await send('GET', '/session')).json()) as Session;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** The cookie comes along with the answer. */
export async function signIn(email: string, password: string): Promise<void> {
  await send('POST', '/session', { email, password });
}

export async function signOut(): Promise<void> {
  await send('DELETE', '/session');
}
