/** The JSON shapes of the console's session. */

import { named } from '../../platform/http/named-schema.ts';
import { Instant, Nullable } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { CONSOLE_STAGES } from '../../tenancy/callers/caller.ts';
import { SECOND_FACTOR_METHODS } from '../second-factor/second-factor.ts';

const text = (description: string) => Type.String({ description });
const uuid = () => Type.String({ format: 'uuid' });

const state = Type.Enum(CONSOLE_STAGES, {
  description:
    '`second-factor`: one has to be proven. `enrol-second-factor`: the role requires one, and there is none yet. Either has to be done within five minutes of the password.',
});
const methods = Type.Array(Type.Enum(SECOND_FACTOR_METHODS), {
  description: 'What proves the second factor, in the state `second-factor`.',
});

export const SessionState = named(
  'SessionState',
  Type.Object(
    { state, methods: Type.Optional(methods) },
    { examples: [{ state: 'second-factor', methods: ['totp', 'recovery-code'] }] },
  ),
);

const signedIn = Type.Partial(
  Type.Object({
    methods,
    account: named(
      'SignedInAccount',
      Type.Object({
        userId: uuid(),
        email: text('Address of the account.'),
        role: text('Name of its role.'),
        mustChangePassword: Type.Boolean(),
      }),
    ),
    organisation: named('SignedInOrganisation', Type.Object({ id: uuid(), name: Type.String() })),
    facilities: Type.Array(
      named(
        'SignedInFacility',
        Type.Object({
          id: uuid(),
          name: Type.String(),
          timeZone: text('Name of the IANA time zone database.'),
          modules: Type.Array(Type.String()),
        }),
      ),
    ),
    everyFacility: Type.Boolean(),
    defaultFacilityId: Nullable(uuid()),
    permissions: Type.Array(Type.String()),
    secondFactor: named(
      'SecondFactorState',
      Type.Object({
        required: Type.Boolean({ description: 'The role requires one.' }),
        totp: Type.Boolean({ description: 'There is an authenticator app.' }),
        passkeys: Type.Integer({ description: 'How many there are.' }),
        recoveryCodesLeft: Type.Integer(),
      }),
    ),
    idleEndsAt: Instant(),
    endsAt: Instant(),
    publicBaseUrl: text('Base address of the API.'),
  }),
);

/** Without what an unfinished sign-in is not told. */
export const ConsoleSessionSchema = named(
  'ConsoleSession',
  Type.Object(
    { state, ...signedIn.properties },
    {
      examples: [
        {
          state: 'signed-in',
          account: {
            userId: '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43',
            email: 'ada@example.org',
            role: 'administrator',
            mustChangePassword: false,
          },
          organisation: { id: '7f0c1a8e-2b54-4a6e-8f0d-1c2b3a4d5e6f', name: 'Example Hospitals' },
          facilities: [
            {
              id: '91d2c3b4-5a69-4788-97a6-b5c4d3e2f1a0',
              name: 'Main Hospital',
              timeZone: 'Africa/Lagos',
              modules: ['encounters', 'lab'],
            },
          ],
          everyFacility: true,
          defaultFacilityId: '91d2c3b4-5a69-4788-97a6-b5c4d3e2f1a0',
          permissions: ['patients.patients.get', 'patients.patients.list'],
          secondFactor: { required: false, totp: true, passkeys: 0, recoveryCodesLeft: 10 },
          idleEndsAt: '2026-03-01T12:30:00.000Z',
          endsAt: '2026-03-02T00:00:00.000Z',
          publicBaseUrl: 'https://interchange.example.org/api/v1',
        },
      ],
    },
  ),
);
