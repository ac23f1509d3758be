/**
 * What sign-in reports to the log: names of events and ids, never an identity as it was sent.
 * Contract: SEC-12.
 */
import type { Log } from '../platform/log/log.ts';

/** The words of each event. */
const MESSAGES = {
  'sign-in.succeeded': 'signed in',
  'sign-in.failed': 'sign-in refused',
  'sign-in.locked': 'sign-in locked after repeated failures',
  'sign-in.refresh-token-reused': 'a refresh token was used again too late, so its session was ended',
  'sign-in.logged-out': 'logged out',
  'sign-in.password-changed': 'password changed',
  'sign-in.password-set-up': 'first password set',
  'sign-in.second-factor-asked': 'the password was right, and the console asks for a second factor',
  'sign-in.second-factor-failed': 'second factor refused',
  'sign-in.second-factor-added': 'second factor added',
  'sign-in.second-factor-removed': 'second factor removed',
  'sign-in.recovery-codes-made': 'new recovery codes made; the earlier ones work no longer',
  'sign-in.recovery-code-used': 'signed in with a recovery code',
  'sign-in.session-ended': 'a person ended a session of their own',
} as const;

export type SignInEvent = keyof typeof MESSAGES;

interface AuditedIds {
  correlationId: string;
  /** Left out where the identity is none of ours: it may be a password in the wrong field. */
  accountId?: string | undefined;
  organisationId?: string | undefined;
  sessionId?: string | undefined;
}

export type Audit = (event: SignInEvent, ids: AuditedIds) => void;

export function createAudit(log: Pick<Log, 'info'>): Audit {
  return (event, ids) => log.info({ event, ...ids }, MESSAGES[event]);
}
