/** What the console has read, and for how long it counts as fresh. */
import { QueryClient } from '@tanstack/react-query';
import { onSessionEnd } from '../api/api.ts';
import { ApiError } from '../api/api-error.ts';
import { sessionQuery } from '../api/session.ts';

const RETRIES = 2;

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      refetchOnWindowFocus: false,
      // Nobody need be there when the network comes back.
      refetchOnReconnect: false,
      // A refusal stays one; only what may pass by itself is tried again.
      retry: (failures, error) => failures < RETRIES && isPassing(error),
    },
  },
});

function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}

/** The session ended by itself: the person did not sign out. */
let wasEnded = false;

export function sessionWasEnded(): boolean {
  return wasEnded;
}

/** The sign-in page shows at the same address, and what was read goes: the next person may not read it. */
export function endSession(how: 'signed-out' | 'ended'): void {
  wasEnded = how === 'ended';
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
  queries.setQueryData(sessionQuery.queryKey, null);
}

/** Everything but the session is read again: another facility was chosen. */
export async function readAllAgain(): Promise<void> {
  await queries.resetQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

onSessionEnd(() => endSession('ended'));
