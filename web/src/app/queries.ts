/** What the console has read, for how long it counts as fresh, and for whom it is. Contract: WEB-66, WEB-75. */
import { QueryClient } from '@tanstack/react-query';
import { onAnswer } from '../api/api.ts';
import { AnswerLost, ApiError } from '../api/api-error.ts';
import { type Session, type SignedIn, sessionQuery } from '../api/session.ts';
import { dismissAll } from '../blocks/page/announcements.tsx';
import { keepTextsOf } from './unaddressed-texts.ts';
import { isSomethingTyped } from './unsaved-forms.ts';

const RETRIES = 2;
/** For so long, what was read is not asked for again. */
export const FRESH_MS = 15_000;

export const queries = new QueryClient({
  defaultOptions: {
    // Without a network it fails at once and says so: what waited for one would be sent when nobody is there any more.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: FRESH_MS,
      refetchOnWindowFocus: false,
      // Nobody need be there when the network comes back.
      refetchOnReconnect: false,
      // A refusal stays one; only what may pass by itself is tried again, and not while there is no network to try it on.
      retry: (failures, error) => failures < RETRIES && navigator.onLine && isPassing(error),
    },
  },
});

/** It may be gone with the next try. */
export function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 502);
}

/** Who is signed in, as this tab knows it. */
let person: SignedIn | undefined;

/** Their session ended by itself while what they typed was not saved. */
let awaited: SignedIn | undefined;

/** For whom alone the page stays, hidden, until somebody signs in. */
export function awaitedPerson(): SignedIn | undefined {
  return awaited;
}

/** The other tabs share the cookie. A tab that sees another session than before tells them, and they look. Contract: WEB-79. */
const tabs = new BroadcastChannel('interchange-session');
tabs.onmessage = () => void readSessionAgain();

/** The session ended by itself: the person did not sign out. */
let wasEnded = false;

export function sessionWasEnded(): boolean {
  return wasEnded;
}

/** The sign-in page shows at the same address. */
export function endSession(how: 'signed-out' | 'ended'): void {
  wasEnded = how === 'ended';
  if (how === 'signed-out') {
    person = undefined;
    forget();
    dismissAll();
    tabs.postMessage('changed');
  }
  queries.setQueryData(sessionQuery.queryKey, null);
}

queries.getQueryCache().subscribe(({ type, query }) => {
  if (type !== 'updated' || isRead(query) || query.state.status !== 'success') return;
  const session = query.state.data as Session | null;
  const now = session?.state === 'signed-in' ? session : undefined;
  if (nameOf(now) !== nameOf(person)) {
    changeSession(now);
    tabs.postMessage('changed');
  }
  person = now;
  keepTextsOf(nameOf(now));
});

/** Names a session: its end stays, however much it is used. */
function nameOf(session: SignedIn | undefined): string | undefined {
  return session && `${session.account.userId} ${session.endsAt}`;
}

/** What was read goes, but for what a page shows that stays: the next person may not read it. */
function changeSession(now: SignedIn | undefined): void {
  const before = awaited ?? person;
  // What was said to the person before, or that they were not signed in any more.
  if (now !== undefined && now.account.userId !== person?.account.userId) dismissAll();
  if (person !== undefined) {
    wasEnded ||= now === undefined;
    awaited = isSomethingTyped() ? person : undefined;
  }
  if (now !== undefined && now.account.userId === before?.account.userId) nothingIsFresh();
  else if (now === undefined && awaited !== undefined) keepWhatIsShown();
  else forget();
}

/** No page stays, nor what was read for it. */
function forget(): void {
  awaited = undefined;
  queries.removeQueries({ predicate: isRead });
}

/** The hidden page shows it again, however long it waits. What other pages have read goes. */
function keepWhatIsShown(): void {
  const cache = queries.getQueryCache();
  for (const query of cache.findAll({ predicate: isRead }))
    if (query.getObserversCount() === 0) cache.remove(query);
    else query.setOptions({ ...query.options, gcTime: Number.POSITIVE_INFINITY });
}

/** All but the session. */
function isRead({ queryKey }: { queryKey: readonly unknown[] }): boolean {
  return queryKey[0] !== 'session';
}

/** Somebody has signed in or gone a step further, or what the session says of the account was changed. */
export async function readSessionAgain(): Promise<void> {
  await queries.refetchQueries({ queryKey: sessionQuery.queryKey });
}

/** Everything but the session is read again: another facility was chosen. */
export async function readAllAgain(): Promise<void> {
  await queries.resetQueries({ predicate: isRead });
}

/**
 * Why a change that somebody asked for failed. Where it is not known whether it was made, what is shown is read again, so
 * that they can look. Contract: WEB-80.
 */
export function faultOfChange(error: unknown): unknown {
  if (!(error instanceof ApiError && error.isAnswerLost)) return error;
  void queries.invalidateQueries({ predicate: isRead });
  // The facility and the second factors of the person are shown from it.
  void readSessionAgain();
  return new AnswerLost('The answer did not come.', { cause: error });
}

/** For what changes something without a form and without a question. Rejects as {@link faultOfChange} says. */
export async function asChange<Value>(change: Promise<Value>): Promise<Value> {
  try {
    return await change;
  } catch (error) {
    throw faultOfChange(error);
  }
}

/** Nothing that was read before counts as fresh: a page that is gone to reads again. Contract: WEB-10. */
function nothingIsFresh(): void {
  void queries.invalidateQueries({ predicate: isRead, refetchType: 'none' });
}

/** Answers of dry runs of maps, whose reasons are in the language that was asked for. */
const WORDED = new Set<unknown>(['preview', 'check']);

/** What the service worded is asked for again: another language was chosen. Contract: WEB-69. */
export async function readWordsAgain(): Promise<void> {
  await queries.resetQueries({
    predicate: ({ queryKey: [area, what], state }) =>
      area !== 'session' && (state.status === 'error' || (area === 'terminology' && WORDED.has(what))),
  });
}

onAnswer((method, status) => {
  if (status === 401) {
    endSession('ended');
    // It may be the answer to a call of the session before.
    void queries.refetchQueries({ queryKey: sessionQuery.queryKey }, { cancelRefetch: false });
  }
  // The navigation and the facility are those of the session: what was taken away is in them no more. Contract: WEB-6, WEB-7.
  if ((status === 403 || status === 404) && person !== undefined)
    void queries.refetchQueries({ queryKey: sessionQuery.queryKey }, { cancelRefetch: false });
  if (method !== 'GET' && status < 300) nothingIsFresh();
});
