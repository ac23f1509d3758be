/**
 * The database as the deliveries of one organisation use it: notes what fails, and keeps the connections of the worker
 * free of an organisation that it fails for (docs/adr/0133).
 * Contract: OPS-29.
 */
import { DatabaseError } from 'pg';
import type { Queryable } from '../../platform/db/database.ts';
import { isUnanswered } from '../../platform/db/unavailable.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { isWholeDatabase, type OrganisationWork } from '../../tenancy/organisations/organisation-work.ts';

export interface OrganisationDatabase extends Queryable {
  /** Note why a step failed. False when that says nothing of the organisation. */
  noteFailure(error: unknown): boolean;
  /** Note that a look has succeeded which began at `beganMs`. */
  noteLook(beganMs: number): void;
}

interface Pools {
  db: Queryable;
  /** For organisations that the work fails for. */
  aside?: Queryable;
}

export function createOrganisationDatabase(
  { db, aside = db }: Pools,
  work: OrganisationWork,
  organisationId: string,
): OrganisationDatabase {
  const running = new Set<{ beganMs: number }>();
  let failedMs = Number.NEGATIVE_INFINITY;
  let lookedMs = Number.NEGATIVE_INFINITY;

  function noteFailure(error: unknown): boolean {
    const reason = error instanceof DomainError ? error.cause : error;
    if (!(reason instanceof DatabaseError || isUnanswered(reason)) || isWholeDatabase(reason)) return false;
    failedMs = performance.now();
    work.failed(organisationId, reason);
    return true;
  }

  return {
    noteFailure,
    async query(statement) {
      const one = { beganMs: performance.now() };
      running.add(one);
      try {
        return await (work.isFailing(organisationId) ? aside : db).query(statement);
      } catch (error) {
        noteFailure(error);
        throw error;
      } finally {
        running.delete(one);
      }
    },
    /** A look may succeed while other steps fail: it counts when nothing failed, or was left unanswered, since the last. */
    noteLook(beganMs) {
      const unanswered = [...running].some((one) => one.beganMs < lookedMs);
      if (failedMs < lookedMs && !unanswered) work.succeeded(organisationId);
      lookedMs = beganMs;
    },
  };
}
