/** Removes what sign-in no longer needs, a bounded batch at a time. */
import { exactly } from '../../platform/db/by-key.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { OrganisationScope } from '../../tenancy/scope.ts';

interface SweepBatch {
  before: Date;
  /** Rows at most. */
  limit: number;
}

/** Answers how many rows it removed. */
type SweepStep = (db: Queryable, batch: SweepBatch) => Promise<number>;
type OrganisationStep = (db: Queryable, scope: OrganisationScope, batch: SweepBatch) => Promise<number>;

/** `$1` is the time, `$2` the limit. */
function step(name: string, text: string): SweepStep {
  return async (db, { before, limit }) => {
    const { rowCount } = await db.query({ name, text, values: [before, limit] });
    return rowCount ?? 0;
  };
}

/** `$3` is the organisation. */
function organisationStep(name: string, text: string): OrganisationStep {
  return async (db, { organisationId }, { before, limit }) => {
    const { rowCount } = await db.query({ name, text, values: [before, limit, organisationId] });
    return rowCount ?? 0;
  };
}

/** Sealed pairs whose window has ended. Skips what an exchange is erasing at the moment, so that neither waits. */
export const eraseReplacements = organisationStep(
  'sweep-replacements',
  `
      with ended as (
        select token_hash
        from refresh_token
        where organisation_id = $3
          and sealed_replacement is not null
          and exchanged_at < $1
        limit $2
        for no key update skip locked
      )
      update refresh_token t
      set sealed_replacement = null
      from ended
      where t.organisation_id = $3
        and t.token_hash = ended.token_hash`,
);

interface Deletion {
  table: string;
  key: string;
  /** Selects keys of rows that ended, those first that ended first: an index has them in this order, and is read no further. */
  ended: string;
}

/** Its rows by their key alone: in a table without statistics the planner may read all of an organisation for more. */
function organisationDeletion(name: string, { table, key, ended }: Deletion): OrganisationStep {
  return organisationStep(
    name,
    `
      with ended as materialized (
        ${ended}
        limit $2
      )
      delete from ${table}
      where organisation_id = $3
        and ${key} = any(array(select ${key} from ended))`,
  );
}

export const deleteExpiredTokens = organisationDeletion('sweep-refresh-tokens', {
  table: 'refresh_token',
  key: 'token_hash',
  ended: `select token_hash
        from refresh_token
        where organisation_id = $3
          and expires_at < $1
        order by expires_at`,
});

/** Tokens of the session `s`, by the index on sessions, whatever the planner knows. */
const tokensOfSession = (columns: string) => `
          select ${columns}
          from refresh_token t
          where t.organisation_id = $3
            and ${exactly('t.session_id', 's.id')}
          order by t.session_id`;

/** Tokens of sessions that were revoked; sessions that expired lose theirs by {@link deleteExpiredTokens}. */
export const deleteTokensOfRevokedSessions = organisationDeletion('sweep-revoked-tokens', {
  table: 'refresh_token',
  key: 'token_hash',
  ended: `select t.token_hash
        from (
          select id
          from session
          where organisation_id = $3
            and revoked_at < $1
          order by revoked_at
          offset 0
        ) s
        cross join lateral (${tokensOfSession('t.token_hash')}
          offset 0
        ) t`,
});

/** Without tokens: sessions that ended by `column`, which says when. Not "exists", for which the planner may read all tokens. */
const sessionsEnded = (column: 'expires_at' | 'revoked_at'): Deletion => ({
  table: 'session',
  key: 'id',
  ended: `select s.id
        from session s
        where s.organisation_id = $3
          and s.${column} < $1
          and (${tokensOfSession('true')}
            limit 1
          ) is null
        order by s.${column}`,
});

export const deleteExpiredSessions = organisationDeletion(
  'sweep-expired-sessions',
  sessionsEnded('expires_at'),
);
export const deleteRevokedSessions = organisationDeletion(
  'sweep-revoked-sessions',
  sessionsEnded('revoked_at'),
);

export const deleteEndedSetupLinks = organisationDeletion('sweep-setup-links', {
  table: 'password_setup_link',
  key: 'token_hash',
  ended: `select token_hash
        from password_setup_link
        where organisation_id = $3
          and expires_at < $1
        order by expires_at`,
});

/** Of counters or networks. `column` is asked once more of the row that is deleted: somebody may have changed it meanwhile. */
function counterDeletion(
  table: string,
  { column, where = 'true' }: { column: string; where?: string },
): string {
  return `
      with ended as (
        select t.identity_hash, t.network
        from ${table} t
        where t.${column} < $1
          and ${where}
        limit $2
      )
      delete from ${table} t
      using ended
      where t.identity_hash = ended.identity_hash
        and t.network = ended.network
        and t.${column} < $1`;
}

export const deleteIdleCounters = step(
  'sweep-counters',
  counterDeletion('sign_in_counter', {
    column: 'updated_at',
    where: '(t.locked_until is null or t.locked_until < $1)',
  }),
);

export const deleteForgottenNetworks = step(
  'sweep-networks',
  counterDeletion('sign_in_network', { column: 'last_sign_in_at' }),
);
