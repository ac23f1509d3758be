/** Calls of the service that note in the ledger what was sent and what was answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from './ledger.ts';

export interface Request {
  method?: string;
  token?: string | undefined;
  headers?: Record<string, string>;
  /** Sent as JSON, unless it is text already. */
  body?: unknown;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON as a caller reads it
  json: any;
}

export interface Client {
  /** Undefined: it was not answered, and nobody knows what became of it. */
  call(flow: string, path: string, request?: Request): Promise<Answer | undefined>;
  /** Send it until it is answered with one of these statuses. */
  insist(flow: string, path: string, request: Request & { until?: readonly number[] }): Promise<Answer>;
  /** Until the service says that it is ready. Throws when it does not come back. */
  untilReady(): Promise<void>;
  /** A token that is good for some minutes more. */
  token(): Promise<string>;
}

export interface Credentials {
  identity: string;
  credential: string;
}

const TIMEOUT_MS = 20_000;
const CALLS_ON_A_CONNECTION = 10;
/** Longer than any outage that is made here. */
const INSIST_MS = 180_000;
const TOKEN_GOOD_MS = 600_000;
/** What the service answers when it, its database or a server that it needs cannot do something at the moment. */
const LATER = [429, 502, 503];

export function createClient(baseUrl: string, ledger: Ledger, credentials: Credentials): Client {
  let held: { token: string; until: number } | undefined;
  let calls = 0;

  async function call(flow: string, path: string, request: Request = {}): Promise<Answer | undefined> {
    const counts = ledger.flows.get(flow) ?? { sent: 0, answered: 0, later: 0, unanswered: 0 };
    ledger.flows.set(flow, counts);
    counts.sent += 1;
    calls += 1;
    // A new connection now and then, so that every process of the service gets calls.
    const connection: Record<string, string> =
      calls % CALLS_ON_A_CONNECTION === 0 ? { connection: 'close' } : {};
    const answer = await send(baseUrl + path, { ...request, headers: { ...request.headers, ...connection } });
    if (answer === undefined) counts.unanswered += 1;
    else if (LATER.includes(answer.status)) counts.later += 1;
    else counts.answered += 1;
    if (answer?.status === 500) ledger.faults.push(`${flow}: answered 500`);
    return answer;
  }

  async function insist(
    flow: string,
    path: string,
    { until = [200], ...request }: Request & { until?: readonly number[] },
  ): Promise<Answer> {
    const end = performance.now() + INSIST_MS;
    for (;;) {
      const answer = await call(flow, path, request);
      if (answer !== undefined && until.includes(answer.status)) return answer;
      if (answer !== undefined && ![...LATER, 401, 409, 500].includes(answer.status))
        throw new Error(`${flow}: answered ${answer.status} (${String(answer.json?.message).slice(0, 200)})`);
      if (answer?.status === 401) throw new Error(`${flow}: a good token was refused`);
      if (performance.now() > end) throw new Error(`${flow}: not answered for ${INSIST_MS / 1_000} s`);
      await sleep(100);
    }
  }

  return {
    call,
    insist,
    async untilReady() {
      const end = performance.now() + INSIST_MS;
      while ((await send(new URL('/readyz', baseUrl).href, {}))?.status !== 200) {
        if (performance.now() > end) throw new Error(`the service is not ready after ${INSIST_MS / 1_000} s`);
        await sleep(100);
      }
    },
    async token() {
      if (held === undefined || performance.now() > held.until) {
        const { json } = await insist('sign-in', '/auth/login', {
          body: { ...credentials, userType: 'EHR' },
        });
        held = { token: String(json.accessToken), until: performance.now() + TOKEN_GOOD_MS };
      }
      return held.token;
    },
  };
}

async function send(url: string, { method, token, headers, body }: Request): Promise<Answer | undefined> {
  const isText = typeof body === 'string';
  try {
    const response = await fetch(url, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  } catch {
    return undefined;
  }
}
