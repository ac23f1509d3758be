/** Removes what sign-in no longer needs, a bounded batch at a time. */
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
  /** Besides the organisation. */
  key: readonly string[];
  /** Where rows are looked for; the table, as `t`, when not given. */
  from?: string;
  where: string;
  /** Asked once more of the row that is deleted: somebody may have changed it meanwhile. */
  still?: string;
}

function deletion({ table, key, from = `${table} t`, where, still }: Deletion): string {
  return `
      with ended as (
        select ${key.map((column) => `t.${column}`).join(', ')}
        from ${from}
        where ${where}
        limit $2
      )
      delete from ${table} t
      using ended
      where ${key.map((column) => `t.${column} = ended.${column}`).join(' and ')}
        and ${still ?? 'true'}`;
}

function organisationDeletion(name: string, { where, ...rest }: Deletion): OrganisationStep {
  const own = 't.organisation_id = $3';
  return organisationStep(name, deletion({ ...rest, where: `${own} and ${where}`, still: own }));
}

export const deleteExpiredTokens = organisationDeletion('sweep-refresh-tokens', {
  table: 'refresh_token',
  key: ['token_hash'],
  where: 't.expires_at < $1',
});

/** Tokens of sessions that were revoked; sessions that expired lose theirs by {@link deleteExpiredTokens}. */
export const deleteTokensOfRevokedSessions = organisationDeletion('sweep-revoked-tokens', {
  table: 'refresh_token',
  key: ['token_hash'],
  from: 'session s join refresh_token t on t.session_id = s.id',
  where: 's.organisation_id = $3 and s.revoked_at < $1',
});

export const deleteEndedSessions = organisationDeletion('sweep-sessions', {
  table: 'session',
  key: ['id'],
  where: `(t.expires_at < $1 or t.revoked_at < $1)
          and not exists (
            select
            from refresh_token r
            where r.organisation_id = $3
              and r.session_id = t.id
          )`,
});

export const deleteEndedSetupLinks = organisationDeletion('sweep-setup-links', {
  table: 'password_setup_link',
  key: ['token_hash'],
  where: 't.expires_at < $1',
});

const COUNTER_KEY = ['identity_hash', 'network'];

export const deleteIdleCounters = step(
  'sweep-counters',
  deletion({
    table: 'sign_in_counter',
    key: COUNTER_KEY,
    where: 't.updated_at < $1 and (t.locked_until is null or t.locked_until < $1)',
    still: 't.updated_at < $1',
  }),
);

export const deleteForgottenNetworks = step(
  'sweep-networks',
  deletion({
    table: 'sign_in_network',
    key: COUNTER_KEY,
    where: 't.last_sign_in_at < $1',
    still: 't.last_sign_in_at < $1',
  }),
);
