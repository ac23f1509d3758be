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

export const deleteExpiredTokens = step(
  'sweep-refresh-tokens',
  `
      with ended as (
        select organisation_id, token_hash
        from refresh_token
        where expires_at < $1
        limit $2
      )
      delete from refresh_token t
      using ended
      where t.organisation_id = ended.organisation_id
        and t.token_hash = ended.token_hash`,
);

/** Tokens of sessions that were revoked; sessions that expired lose theirs by {@link deleteExpiredTokens}. */
export const deleteTokensOfRevokedSessions = step(
  'sweep-revoked-tokens',
  `
      with ended as (
        select t.organisation_id, t.token_hash
        from session s
        join refresh_token t
          on t.organisation_id = s.organisation_id
          and t.session_id = s.id
        where s.revoked_at < $1
        limit $2
      )
      delete from refresh_token t
      using ended
      where t.organisation_id = ended.organisation_id
        and t.token_hash = ended.token_hash`,
);

export const deleteEndedSessions = step(
  'sweep-sessions',
  `
      with ended as (
        select s.organisation_id, s.id
        from session s
        where (s.expires_at < $1 or s.revoked_at < $1)
          and not exists (
            select
            from refresh_token t
            where t.organisation_id = s.organisation_id
              and t.session_id = s.id
          )
        limit $2
      )
      delete from session s
      using ended
      where s.organisation_id = ended.organisation_id
        and s.id = ended.id`,
);

export const deleteEndedSetupLinks = step(
  'sweep-setup-links',
  `
      with ended as (
        select organisation_id, token_hash
        from password_setup_link
        where expires_at < $1
        limit $2
      )
      delete from password_setup_link l
      using ended
      where l.organisation_id = ended.organisation_id
        and l.token_hash = ended.token_hash`,
);

export const deleteIdleCounters = step(
  'sweep-counters',
  `
      with idle as (
        select identity_hash, network
        from sign_in_counter
        where updated_at < $1
          and (locked_until is null or locked_until < $1)
        limit $2
      )
      delete from sign_in_counter c
      using idle
      where c.identity_hash = idle.identity_hash
        and c.network = idle.network
        and c.updated_at < $1`,
);

export const deleteForgottenNetworks = step(
  'sweep-networks',
  `
      with idle as (
        select identity_hash, network
        from sign_in_network
        where last_sign_in_at < $1
        limit $2
      )
      delete from sign_in_network n
      using idle
      where n.identity_hash = idle.identity_hash
        and n.network = idle.network
        and n.last_sign_in_at < $1`,
);
