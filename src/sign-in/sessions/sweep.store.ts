/** Removes what sign-in no longer needs, a bounded batch at a time. Runs over every organisation. */
import type { Queryable } from '../../platform/db/database.ts';

/** Each takes what to remove before, and how many rows at most; and answers how many it removed. */
type SweepStep = (db: Queryable, before: Date, limit: number) => Promise<number>;

function step(name: string, text: string): SweepStep {
  return async (db, before, limit) => {
    const { rowCount } = await db.query({ name, text, values: [before, limit] });
    return rowCount ?? 0;
  };
}

/** Sealed pairs whose window has ended. Skips what an exchange is erasing at the moment, so that neither waits. */
export const eraseReplacements = step(
  'sweep-replacements',
  `
      with ended as (
        select organisation_id, token_hash
        from refresh_token
        where sealed_replacement is not null
          and exchanged_at < $1
        limit $2
        for no key update skip locked
      )
      update refresh_token t
      set sealed_replacement = null
      from ended
      where t.organisation_id = ended.organisation_id
        and t.token_hash = ended.token_hash`,
);

interface Deletion {
  table: string;
  key: readonly string[];
  /** Where rows are looked for; the table, as `t`, when not given. */
  from?: string;
  where: string;
  /** Asked once more of the row that is deleted: somebody may have changed it meanwhile. */
  still?: string;
}

function deletion(name: string, { table, key, from = `${table} t`, where, still }: Deletion): SweepStep {
  return step(
    name,
    `
      with ended as (
        select ${key.map((column) => `t.${column}`).join(', ')}
        from ${from}
        where ${where}
        limit $2
      )
      delete from ${table} t
      using ended
      where ${key.map((column) => `t.${column} = ended.${column}`).join(' and ')}
        and ${still ?? 'true'}`,
  );
}

const TOKEN_KEY = ['organisation_id', 'token_hash'];
const COUNTER_KEY = ['identity_hash', 'network'];

export const deleteExpiredTokens = deletion('sweep-refresh-tokens', {
  table: 'refresh_token',
  key: TOKEN_KEY,
  where: 't.expires_at < $1',
});

/** Tokens of sessions that were revoked; sessions that expired lose theirs by {@link deleteExpiredTokens}. */
export const deleteTokensOfRevokedSessions = deletion('sweep-revoked-tokens', {
  table: 'refresh_token',
  key: TOKEN_KEY,
  from: 'session s join refresh_token t on t.organisation_id = s.organisation_id and t.session_id = s.id',
  where: 's.revoked_at < $1',
});

export const deleteEndedSessions = deletion('sweep-sessions', {
  table: 'session',
  key: ['organisation_id', 'id'],
  where: `(t.expires_at < $1 or t.revoked_at < $1)
          and not exists (
            select
            from refresh_token r
            where r.organisation_id = t.organisation_id
              and r.session_id = t.id
          )`,
});

export const deleteEndedSetupLinks = deletion('sweep-setup-links', {
  table: 'password_setup_link',
  key: TOKEN_KEY,
  where: 't.expires_at < $1',
});

export const deleteIdleCounters = deletion('sweep-counters', {
  table: 'sign_in_counter',
  key: COUNTER_KEY,
  where: 't.updated_at < $1 and (t.locked_until is null or t.locked_until < $1)',
  still: 't.updated_at < $1',
});

export const deleteForgottenNetworks = deletion('sweep-networks', {
  table: 'sign_in_network',
  key: COUNTER_KEY,
  where: 't.last_sign_in_at < $1',
  still: 't.last_sign_in_at < $1',
});
