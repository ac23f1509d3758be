/** The caller checks of design 3.1 around a request, and once more before its answer is released. */
import { unauthorized } from '../../platform/http/errors.ts';
import type { Access } from '../../tenancy/access.ts';
import type { Caller, TokenIdentity } from '../../tenancy/caller.ts';
import type { CallerDirectory, CallerEntry } from '../../tenancy/caller-directory.ts';
import { checkGrants, checkPasswordFlags, resolveScope } from '../../tenancy/check-access.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface CallerCheckDependencies {
  /** Who a token was given to; throws 401. */
  verifyAccessToken: (token: string, now: Date) => Promise<TokenIdentity>;
  callers: CallerDirectory;
  /** Resolves once every change that was finished before the call has been heard of. */
  barrier: () => Promise<void>;
}

/** A caller that passed the checks. */
export interface CheckedCaller {
  identity: TokenIdentity;
  entry: CallerEntry;
  /** Present on facility routes. */
  scope?: FacilityScope;
}

export interface CallerCheck {
  check(headers: Headers, now: Date): Promise<CheckedCaller>;
  /**
   * Make sure that nothing which finished before the request came in was missed: checks again when this node
   * has heard of a change since. Throws like `check`.
   */
  confirm(checked: CheckedCaller, headers: Headers, now: Date): Promise<void>;
}

/**
 * `writes` routes wait for the barrier first. Reads do not: writing their access log entry is a barrier by
 * itself, and `confirm` looks once more before the data leaves (docs/adr/0004).
 */
export function createCallerCheck(
  deps: CallerCheckDependencies,
  access: Exclude<Access, { kind: 'open' }>,
  reads: boolean,
): CallerCheck {
  async function find(identity: TokenIdentity, now: Date): Promise<CallerEntry> {
    const entry = await deps.callers.find(identity, now);
    if (entry === undefined) throw unauthorized('The session has ended. Sign in again.', 'session_ended');
    return entry;
  }

  function scopeOf(caller: Caller, headers: Headers): FacilityScope | undefined {
    if (access.kind === 'session') return undefined;
    checkPasswordFlags(caller);
    const scope = resolveScope(caller, headers);
    checkGrants(caller, scope, access);
    return scope;
  }

  async function check(headers: Headers, now: Date): Promise<CheckedCaller> {
    const identity = await deps.verifyAccessToken(bearerToken(headers), now);
    if (!reads) await deps.barrier();
    const entry = await find(identity, now);
    const scope = scopeOf(entry.caller, headers);
    return scope === undefined ? { identity, entry } : { identity, entry, scope };
  }

  return {
    check,
    async confirm(checked, headers, now) {
      if (!checked.entry.current && reads) await check(headers, now);
    },
  };
}

/** RFC 6750 section 2.1. */
function bearerToken(headers: Headers): string {
  const value = headers.authorization;
  const token =
    typeof value === 'string' ? /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(value)?.[1] : undefined;
  if (token === undefined)
    throw unauthorized(
      'The access token is missing. Send the header Authorization: Bearer <accessToken>.',
      'token_missing',
    );
  return token;
}
