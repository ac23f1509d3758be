/** Who is calling: the live facts about an account that every check is made from. */
import type { Module } from '../organisations/modules.ts';

export interface FacilityGrant {
  readonly modules: ReadonlySet<Module | string>;
  readonly timeZone: string;
}

export interface Caller {
  readonly accountId: string;
  readonly sessionId: string;
  readonly organisationId: string;
  readonly userType: 'EHR' | 'STAFF';
  readonly mustChangePassword: boolean;
  readonly requiresPasswordSetup: boolean;
  readonly permissions: ReadonlySet<string>;
  readonly defaultFacilityId: string | null;
  /** Facilities that the account may use, by id. */
  readonly facilities: ReadonlyMap<string, FacilityGrant>;
}

/** How far somebody has signed in at the console. */
export const CONSOLE_STAGES = ['signed-in', 'second-factor', 'enrol-second-factor'] as const;
export type ConsoleStage = (typeof CONSOLE_STAGES)[number];

/** What a verified access token says: nothing but who and which session (RFC 9068 claims `sub`, `sid`). */
export interface TokenIdentity {
  readonly accountId: string;
  readonly sessionId: string;
  /** Of a session of the console, which a cookie proves. */
  readonly stage?: ConsoleStage;
}
