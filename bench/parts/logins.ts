/** Logins beside raw Argon2id, each alone and while Encounters are read. */

import { hashArgon2id } from '../../src/sign-in/credentials/argon2id.ts';
import { DEFAULT_SIGN_IN_SETTINGS } from '../../src/sign-in/settings.ts';
import type { Bench, Part, Row } from '../bench.ts';
import { compare, load } from '../compare.ts';
import { measureArgon2id } from '../floors/argon2id.ts';
import { describe, type Load, type Measurement, measure } from '../measure.ts';
import { encounterReads, type Reads, withReads } from '../reads.ts';
import { PLACE, withService } from '../records/open-records.ts';
import { createAccounts } from '../records/sign-in.ts';
import { times } from '../report.ts';

const { hashConcurrency } = DEFAULT_SIGN_IN_SETTINGS;
const PASSWORD = 'a password of the benchmark';
/** Always some are waiting for a place, and never so many that one is refused. */
const LOGIN_CONNECTIONS = 4 * hashConcurrency;
/** Fewer than elsewhere: what a login does to a read shows where reads do not wait for each other. */
const READ_CONNECTIONS = 8;
/** So many that no account has two logins under way. */
const ACCOUNTS = 64;

export const logins: Part = {
  name: 'logins',
  summary: 'logins, alone and while Encounters are read',
  measure: (bench) => withReads(bench, {}, (reads) => measureLogins(bench, reads)),
};

async function measureLogins(bench: Bench, { records, service, of }: Reads): Promise<Row[]> {
  const login = await loginsOf(records.databaseUrl, service.url);
  const reads: Load = { ...of(encounterReads(records.size)), connections: READ_CONNECTIONS };
  let readsBeside: Measurement | undefined;
  const result = await compare(bench, {
    b: ({ seconds }) => measureArgon2id(seconds, hashConcurrency),
    logins: load(login),
    reads: load(reads),
    'b beside reads': async ({ seconds }) =>
      (await Promise.all([measureArgon2id(seconds, hashConcurrency), measure(reads, { seconds })]))[0],
    'logins beside reads': async ({ seconds }) => {
      const [measured, beside] = await Promise.all([
        measure(login, { seconds }),
        measure(reads, { seconds }),
      ]);
      readsBeside = beside;
      return measured;
    },
    'reads beside logins': async () => {
      if (readsBeside === undefined) throw new Error('The step before measures the reads.');
      return readsBeside;
    },
  });
  return [
    {
      what: `Floor (b), ${hashConcurrency} at once`,
      measured: describe(result.of('b')),
      reached: '',
      aim: '',
    },
    {
      what: 'Logins',
      measured: describe(result.of('logins')),
      reached: `${times(result.ratio('logins', 'b'))} of (b)`,
      aim: '0.9 of (b)',
    },
    {
      what: `Logins while ${READ_CONNECTIONS} connections read Encounters`,
      measured: describe(result.of('logins beside reads')),
      reached: `${times(result.ratio('logins beside reads', 'b beside reads'))} of (b) beside the same reads`,
      aim: '0.9 of (b)',
    },
    {
      what: 'These reads',
      measured: describe(result.of('reads beside logins')),
      reached: `p99 ${times(result.p99Ratio('reads beside logins', 'reads'))} times that without logins`,
      aim: 'p99 within 2 times',
    },
  ];
}

export async function loginsOf(databaseUrl: string, url: string): Promise<Load> {
  const passwordHash = await hashArgon2id(PASSWORD);
  const accounts = await withService(databaseUrl, (db) =>
    createAccounts(db, PLACE, { count: ACCOUNTS, passwordHash }),
  );
  let index = 0;
  return {
    url,
    headers: { 'content-type': 'application/json' },
    connections: LOGIN_CONNECTIONS,
    next() {
      index += 1;
      const identity = accounts[index % ACCOUNTS]?.userId;
      const body = JSON.stringify({ identity, credential: PASSWORD, userType: 'EHR' });
      return { path: '/api/v1/auth/login', method: 'POST', body };
    },
  };
}
