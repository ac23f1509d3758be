/**
 * The checks of a caller around a request, and once more before its answer is released.
 * Contract: SIGN-IN-23, ACC-13, ACC-14, ACC-18, ACC-19.
 */
import { isDeepStrictEqual } from 'node:util';
import { unauthorized } from '../../platform/http/errors.ts';
import type { RequestHeaders } from '../../platform/http/route.ts';
import type { Access } from '../../tenancy/callers/access.ts';
import type { Caller, TokenIdentity } from '../../tenancy/callers/caller.ts';
import type { CallerDirectory, CallerEntry } from '../../tenancy/callers/caller-directory.ts';
import { checkGrants, checkPasswordFlags, resolveScope } from '../../tenancy/callers/check-access.ts';
import { tenancyError } from '../../tenancy/errors.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { ChangeNotifications } from '../runtime/change-notifications.ts';

export interface CallerCheckDependencies {
  /** Who a token was given to; throws 401. */
  verifyAccessToken: (token: string, now: Date) => Promise<TokenIdentity>;
  callers: Pick<CallerDirectory, 'find'>;
  changes: Pick<ChangeNotifications, 'mark' | 'receivedUntil'>;
  /** Full address of the page where a password is changed. */
  passwordPage: string;
}

/** Who a request comes from, by what proves it at its entrance, and nothing else; throws 401. */
export type Identify = (headers: RequestHeaders, now: Date) => Promise<TokenIdentity>;

/** A caller that passed the checks. */
export interface CheckedCaller {
  identity: TokenIdentity;
  entry: CallerEntry;
  /** Present on facility routes. */
  scope?: FacilityScope;
  /** Every change that was committed before this mark must be known before the answer leaves. */
  mark: number;
}

type OnScope = (scope: FacilityScope) => void;

export interface CallerCheck {
  /** The first look, before the body is read. `onScope` is told the facility, also where the caller is refused there. */
  check(headers: RequestHeaders, now: Date, onScope?: OnScope): Promise<CheckedCaller>;
  /**
   * Once the body is there: nothing happens for a caller who lost the right while the body was on its way. A read goes on,
   * and `confirm` tells. Throws like `check`.
   */
  admit(checked: CheckedCaller, headers: RequestHeaders, now: Date): Promise<CheckedCaller>;
  /**
   * Before the answer of a read leaves: makes sure that every change which was committed before the request came in is
   * known, and checks again when one may concern this caller. Throws like `check`. Resolves to the caller as it is now when
   * the request must be answered anew, because it now means another scope or the caller has other rights.
   */
  confirm(checked: CheckedCaller, headers: RequestHeaders, now: Date): Promise<CheckedCaller | undefined>;
}

/**
 * Routes that are no `reads` wait until every earlier change is known before they do anything. Reads do not: their access
 * log entry is written on the connection that brings the changes, and `confirm` looks once more before the data leaves
 * (docs/adr/0004).
 */
export function createCallerCheck(
  deps: CallerCheckDependencies,
  access: Exclude<Access, { kind: 'open' }>,
  reads: boolean,
  identify: Identify = async (headers, now) => deps.verifyAccessToken(bearerToken(headers), now),
): CallerCheck {
  async function check(headers: RequestHeaders, now: Date, onScope?: OnScope): Promise<CheckedCaller> {
    const identity = await identify(headers, now);
    const mark = deps.changes.mark();
    const attempt = async () => {
      const entry = await find(identity);
      return { identity, mark, entry, ...scopeOf(entry.caller, headers, onScope) };
    };
    try {
      return await attempt();
    } catch {
      // A refusal must not come from what was granted a moment ago elsewhere.
      await deps.changes.receivedUntil(mark);
      return attempt();
    }
  }

  async function find(identity: TokenIdentity): Promise<CallerEntry> {
    const entry = await deps.callers.find(identity);
    if (entry === undefined) throw tenancyError('session_ended');
    return entry;
  }

  function scopeOf(caller: Caller, headers: RequestHeaders, onScope?: OnScope): { scope?: FacilityScope } {
    if (access.kind !== 'facility') return {};
    let scope: FacilityScope;
    try {
      scope = resolveScope(caller, headers);
      onScope?.(scope);
    } finally {
      // What it throws is told instead of a fault of the headers.
      checkPasswordFlags(caller, deps.passwordPage);
    }
    checkGrants(caller, scope, access);
    return { scope };
  }

  return {
    check,
    async admit(checked, headers, now) {
      // What was committed while the body was on its way must be known before the answer leaves.
      if (reads) return { ...checked, mark: deps.changes.mark() };
      await deps.changes.receivedUntil(deps.changes.mark());
      return check(headers, now);
    },
    async confirm(checked, headers, now) {
      if (!reads) return undefined;
      await deps.changes.receivedUntil(checked.mark);
      if (checked.entry.current) return undefined;
      const renewed = await check(headers, now);
      return mayDoTheSame(renewed, checked) ? undefined : renewed;
    },
  };
}

/** Some answers depend on more of the caller's rights than the call needs: docs/adr/0094. */
function mayDoTheSame(renewed: CheckedCaller, checked: CheckedCaller): boolean {
  const rights = ({ scope, entry: { caller } }: CheckedCaller) => [
    scope,
    caller.permissions,
    caller.facilities,
  ];
  return isDeepStrictEqual(rights(renewed), rights(checked));
}

/** RFC 6750 section 2.1. */
function bearerToken(headers: RequestHeaders): string {
  const value = headers.authorization;
  const token =
    typeof value === 'string' ? /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(value)?.[1] : undefined;
  if (token === undefined)
    throw unauthorized(
      value === undefined
        ? {
            en: 'The access token is missing. Send the header Authorization: Bearer <accessToken>.',
            fr: 'Le jeton d’accès manque. Envoyez l’en-tête Authorization: Bearer <accessToken>.',
          }
        : {
            en: 'The header Authorization holds no access token. Send it in this form: Authorization: Bearer <accessToken>.',
            fr: 'L’en-tête Authorization n’a pas de jeton d’accès. Envoyez-le sous cette forme : Authorization: Bearer <accessToken>.',
          },
      'token_missing',
      'Bearer',
    );
  return token;
}
