/** How accounts look over HTTP to those who manage them. */
import type { Static } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { Choice, Instant, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { USER_TYPES } from '../accounts/account.store.ts';
import { EMAIL_MAX_LENGTH } from '../accounts/email.ts';
import { ACCOUNT_STATES, type ListedAccount } from './list-accounts.ts';

const USER_ID = '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43';
const FACILITY_ID = '1ad45065-64ba-4128-b0b5-1666625efdaf';
const ROLE_ID = '6d0b7a51-1f4a-4c52-9b53-0d8a3a2f7c11';
const EMAIL = 'ris@example.org';
const MADE_AT = '2026-01-10T08:00:00.000Z';

export const UserTypeSchema = Choice(USER_TYPES);
const email = Type.String({ minLength: 3, maxLength: EMAIL_MAX_LENGTH });
const facilityIds = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: 1_000,
  description: 'The first is the default facility.',
});
const password = Choice(
  ['generated', 'setup-link'] as const,
  'A password that is shown once, or a link, good for 72 hours, with which the person sets one.',
);
const mustChangePassword = Type.Boolean({
  description: 'Whether the password must be changed before the account can be used.',
});
/** A member with a misspelt name would otherwise be left out without a word. */
const closed = { additionalProperties: false };

export const NewAccountBody = named(
  'NewAccount',
  Type.Object(
    {
      email,
      userType: UserTypeSchema,
      roleId: Type.String(),
      facilityIds: Type.Optional(facilityIds),
      password: Type.Optional(password),
      mustChangePassword: Type.Optional(mustChangePassword),
    },
    closed,
  ),
);
export const NEW_ACCOUNT_EXAMPLE = {
  email: EMAIL,
  userType: 'EHR',
  roleId: ROLE_ID,
  facilityIds: [FACILITY_ID],
  password: 'generated',
};

export const AccountChangesBody = named(
  'AccountChanges',
  Type.Partial(Type.Object({ email, roleId: Type.String(), facilityIds }), closed),
);

export const PasswordResetBody = named(
  'PasswordReset',
  Type.Object(
    { password: Type.Optional(password), mustChangePassword: Type.Optional(mustChangePassword) },
    closed,
  ),
);

const onlyHere = 'Shown only in this answer.';
export const IssuedAccountSchema = named(
  'IssuedAccount',
  Type.Object(
    {
      userId: Type.String(),
      email: Type.String(),
      password: Type.Optional(Type.String({ description: onlyHere })),
      setupLink: Type.Optional(Type.String({ description: onlyHere })),
    },
    { examples: [{ userId: USER_ID, email: EMAIL, password: '24 characters' }] },
  ),
);

export const AccountSchema = named(
  'Account',
  Type.Object(
    {
      userId: Type.String(),
      email: Type.String(),
      userType: UserTypeSchema,
      role: named('AccountRole', Type.Object({ id: Type.String(), name: Type.String() })),
      facilityIds: Type.Array(Type.String(), { description: 'The default facility first.' }),
      defaultFacilityId: Nullable(Type.String()),
      state: Choice(ACCOUNT_STATES),
      disabled: Type.Boolean(),
      locked: Type.Boolean({
        description: 'true: after failed sign-ins it is locked for at least one network.',
      }),
      mustChangePassword: Type.Boolean(),
      requiresPasswordSetup: Type.Boolean(),
      secondFactor: Type.Boolean(),
      createdAt: Instant(),
      lastUsedAt: Nullable(
        Instant('The last sign-in, refresh or call at the console, of a session that is still kept.'),
      ),
      liveSessions: Type.Integer(),
    },
    {
      examples: [
        {
          userId: USER_ID,
          email: EMAIL,
          userType: 'EHR',
          role: { id: ROLE_ID, name: 'reader' },
          facilityIds: [FACILITY_ID],
          defaultFacilityId: FACILITY_ID,
          state: 'active',
          disabled: false,
          locked: false,
          mustChangePassword: false,
          requiresPasswordSetup: false,
          secondFactor: false,
          createdAt: MADE_AT,
          lastUsedAt: MADE_AT,
          liveSessions: 1,
        },
      ],
    },
  ),
);

export function accountView(account: ListedAccount): Static<typeof AccountSchema> {
  const { roleId, roleName, ...members } = account;
  return { ...members, role: { id: roleId, name: roleName } };
}

export const SessionSchema = named(
  'AccountSession',
  Type.Object(
    {
      id: Type.String(),
      createdAt: Instant(),
      lastUsedAt: Instant('The sign-in, the last refresh, or the last call at the console.'),
      expiresAt: Instant(),
      userAgent: NullableText('What the browser says it is; null for a system.'),
      network: NullableText('Where the person signed in from; null for a system.'),
    },
    {
      examples: [
        {
          id: '9f3c2f0e-7c0b-4f6c-8a38-4d3b6f0a9e55',
          createdAt: MADE_AT,
          lastUsedAt: MADE_AT,
          expiresAt: '2026-04-10T08:00:00.000Z',
          userAgent: null,
          network: null,
        },
      ],
    },
  ),
);

export const AccountParams = Type.Object({ accountId: Type.String() });
export const SessionParams = Type.Object({ accountId: Type.String(), sessionId: Type.String() });
