/** Refresh: each token once, for the next one. */

import { newRefreshToken } from '../../src/sign-in/sessions/refresh-token.ts';
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load } from '../compare.ts';
import { describe, type Load } from '../measure.ts';
import { type Reads, withReads } from '../reads.ts';
import { PLACE, withService } from '../records/open-records.ts';
import { createAccounts } from '../records/sign-in.ts';
import { times } from '../report.ts';

const CONNECTIONS = 64;
/** More than connections: a request that ends with its connection, at the end of a load, takes its token along. */
const SESSIONS = 4_000;

export const refresh: Part = {
  name: 'refresh',
  summary: 'exchange of refresh tokens',
  measure: (bench) => withReads(bench, {}, (reads) => measureRefresh(bench, reads)),
};

async function measureRefresh(bench: Bench, { records, service, floor }: Reads): Promise<Row[]> {
  const refreshes = refreshesOf(service.url, await firstTokens(records.databaseUrl));
  const result = await compare(bench, { a: load(floor), refresh: load(refreshes) });
  return [
    {
      what: 'Refresh',
      measured: describe(result.of('refresh')),
      reached: `${times(result.ratio('refresh', 'a'))} of (a)`,
      aim: '0.25 of (a)',
    },
  ];
}

export function refreshesOf(url: string, tokens: string[]): Load {
  return {
    url,
    headers: { 'content-type': 'application/json' },
    connections: CONNECTIONS,
    next() {
      const refreshToken = tokens.shift();
      if (refreshToken === undefined) throw new Error('No session is left to refresh.');
      return { path: '/api/v1/auth/refresh', method: 'POST', body: JSON.stringify({ refreshToken }) };
    },
    answered: (body) => void tokens.push((JSON.parse(body) as { refreshToken: string }).refreshToken),
  };
}

export function firstTokens(databaseUrl: string): Promise<string[]> {
  return withService(databaseUrl, async (db) => {
    const sessions = await createAccounts(db, PLACE, { count: SESSIONS });
    const tokens = sessions.map(({ sessionId }) => newRefreshToken(PLACE.organisationId, sessionId));
    await db.query({
      text: `insert into refresh_token (organisation_id, token_hash, session_id, issued_at, expires_at)
        select $1, h, s, now(), now() + interval '1 day' from unnest($2::bytea[], $3::uuid[]) t (h, s)`,
      values: [
        PLACE.organisationId,
        tokens.map(({ hash }) => hash),
        tokens.map(({ sessionId }) => sessionId),
      ],
    });
    return tokens.map(({ text }) => text);
  });
}
