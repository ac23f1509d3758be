/** Calls as a browser makes them from a page of the console: with the cookie that it keeps, and the header. */
import { type ConsoleCookie, createConsoleCookie } from '../../src/sign-in/console/console-cookie.ts';
import { insertConsoleSession } from '../../src/sign-in/console/console-session.store.ts';
import { newOrganisationToken } from '../../src/sign-in/organisation-token.ts';
import { secondsAfter } from '../../src/sign-in/settings.ts';
import type { Answer, CallOptions, TestAccount, TestApi, TestNode } from './api.ts';

export interface ConsoleClient {
  /** `name=value`, as the browser would send it; undefined when there is none. */
  cookie: string | undefined;
  /** Below /console/api. */
  call(path: string, options?: CallOptions): Promise<Answer>;
}

/** A browser without a session, or with this cookie. */
export function openBrowser(node: TestNode, cookie?: string): ConsoleClient {
  const client: ConsoleClient = {
    cookie,
    async call(path, options = {}) {
      const answer = await node.call(`${node.origin}/console/api${path}`, {
        ...options,
        headers: {
          'sec-fetch-site': 'same-origin',
          'x-interchange-console': '1',
          ...(client.cookie === undefined ? {} : { cookie: client.cookie }),
          ...options.headers,
        },
      });
      const set = answer.headers.get('set-cookie');
      if (set !== null) client.cookie = /Max-Age=0/.test(set) ? undefined : set.split(';')[0];
      return answer;
    },
  };
  return client;
}

/** A browser whose session of the account has just begun. */
export async function signInAtConsole(
  api: TestApi,
  account: TestAccount,
  node: TestNode = api,
): Promise<ConsoleClient & { sessionId: string }> {
  const { organisationId, userId: accountId } = account;
  const token = newOrganisationToken(organisationId);
  const sessionId = crypto.randomUUID();
  const createdAt = api.clock.now;
  await insertConsoleSession(
    api.database.pool,
    { organisationId },
    {
      id: sessionId,
      accountId,
      createdAt,
      expiresAt: secondsAfter(createdAt, 1_800),
      tokenHash: token.hash,
      endsAt: secondsAfter(createdAt, 12 * 3_600),
      userAgent: 'a browser',
      network: '127.0.0.0/24',
    },
  );
  return Object.assign(openBrowser(node, `${cookieOf(node).name}=${token.text}`), { sessionId });
}

export function cookieOf(node: TestNode): ConsoleCookie {
  return createConsoleCookie(node.runtime.config.publicBaseUrl ?? node.baseUrl);
}
