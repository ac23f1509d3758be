/**
 * Calls of the service, with the types of openapi.json: `answered(api.GET('/exchange/deliveries', { params }))`.
 * The caller is the session cookie.
 */
import createClient, { type Middleware } from 'openapi-fetch';
import { apiBase } from '../app/address.ts';
import { arrived, errorOf, unreachable } from './api-error.ts';
import { CONSOLE_HEADER, callHeaders, languageHeader } from './call-headers.ts';
import type { paths } from './schema.d.ts';

type Listener = (method: string, status: number) => void;

let listener: Listener = () => undefined;

/** What to do with each answer: it may have ended the session, been a refusal, or have changed something. */
export function onAnswer(listens: Listener): void {
  listener = listens;
}

/** A call was answered. */
export function tellOf(method: string, status: number): void {
  listener(method, status);
}

/** Without a network they do not leave the browser. */
const unsent = new WeakSet<Request>();

/** A proxy on the way answers so when it has waited long enough for the service, or lost it. */
const GIVEN_UP = new Set([502, 504]);

/** Those of a proxy to what was no read. */
const lost = new WeakSet<Response>();

const callerHeaders: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(callHeaders())) request.headers.set(name, value);
    if (!navigator.onLine) unsent.add(request);
    return request;
  },
  onError({ request }) {
    return unreachable({ isAnswerLost: request.method !== 'GET' && !unsent.has(request) });
  },
  onResponse({ request, response }) {
    tellOf(request.method, response.status);
    if (request.method !== 'GET' && GIVEN_UP.has(response.status)) lost.add(response);
    return undefined;
  },
};

export const api = createClient<paths>({
  baseUrl: apiBase,
  headers: CONSOLE_HEADER,
  credentials: 'same-origin',
  redirect: 'error',
});
api.use(callerHeaders);

export interface Outcome<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The body of the answer; throws an ApiError for every other one. */
export async function answered<Data>(call: Promise<Outcome<Data>>): Promise<Exclude<Data, undefined>> {
  const { data, error, response } = await arrived(call);
  if (!response.ok) throw errorOf(response, error, { isAnswerLost: lost.has(response) });
  return data as Exclude<Data, undefined>;
}

/** What finishes a sign-in or ends it, and what asks for a passkey: nothing but to try again is left to do. */
const STEPS = /^\/(session(\/(totp|recovery-code|passkey))?|(session|second-factor)\/passkey-options)$/;

/** A call below /console/api that openapi.json does not describe, or whose answer is a file. */
export async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const isChange = method !== 'GET' && navigator.onLine && !STEPS.test(path);
  const response = await arrived(
    fetch(apiBase + path, {
      method,
      credentials: 'same-origin',
      redirect: 'error',
      headers: {
        ...CONSOLE_HEADER,
        ...callHeaders(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: JSON.stringify(body),
    }),
    { isAnswerLost: isChange },
  );
  // Reading the session is how the console learns that there is none, or what it lost.
  if (response.ok || path !== '/session') tellOf(method, response.status);
  if (response.ok) return response;
  const isAnswerLost = isChange && GIVEN_UP.has(response.status);
  throw errorOf(response, await response.json().catch(() => undefined), { isAnswerLost });
}

const OPEN_TIMEOUT_MS = 30_000;

/** A call of the API itself, by somebody who is not signed in: calls below /console/api are proved by the cookie. */
export async function sendOpenly(path: `/auth/${string}`, body: object): Promise<unknown> {
  const response = await arrived(
    fetch(`${apiBase}/../../api/v1${path}`, {
      method: 'POST',
      credentials: 'omit',
      redirect: 'error',
      headers: { ...languageHeader(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(OPEN_TIMEOUT_MS),
    }),
  );
  const answer: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw errorOf(response, answer);
  return answer;
}
