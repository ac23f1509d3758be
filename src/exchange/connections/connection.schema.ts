/** How connections look over HTTP and with `--json`. */

import type { Static } from 'typebox';
import { PurposeOfUseSchema } from '../../fhir/purpose-of-use.ts';
import { named } from '../../platform/http/named-schema.ts';
import { Choice, Instant, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';

/** What may be set; the rules are in connection.ts. */
const settable = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  address: Type.String({
    maxLength: 2_000,
    description:
      'The address that deliveries are posted to: https, on the public internet unless the operator allows others.',
  }),
  clientId: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'The id of this service at the exchange.',
  }),
  callbackHeader: Type.String({
    maxLength: 100,
    description: 'The header that carries the signature of callbacks.',
  }),
  identifierSystem: Type.String({
    maxLength: 500,
    description: 'The `system` of the ids that the exchange assigns.',
  }),
  purposeOfUse: PurposeOfUseSchema,
  maxInFlight: Type.Integer({
    minimum: 1,
    maximum: 256,
    description: 'How many requests one worker process sends at once.',
  }),
  timeoutMs: Type.Integer({ minimum: 100, maximum: 120_000 }),
};
const settings = Type.Object(settable);
export type ConnectionSettings = Static<typeof settings> & {
  /** Null: every facility of the organisation. */
  facilityIds: string[] | null;
};
const facilityIds = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: 1_000,
  description: 'The facilities whose patients are delivered.',
});

/** A setting with a misspelt name would otherwise be left as it is without a word. */
const closed = { additionalProperties: false };
export const NewConnectionBody = named(
  'NewConnection',
  Type.Object(
    {
      ...Type.Partial(settings).properties,
      name: settable.name,
      address: settable.address,
      clientId: settable.clientId,
      facilityIds: Type.Optional(facilityIds),
    },
    closed,
  ),
);
export const ConnectionChangesBody = named(
  'ConnectionChanges',
  Type.Partial(Type.Object({ ...settable, facilityIds }), closed),
);

const ID = '906fa990-12a1-4f92-a7c1-2daa3aaee448';
const CALLBACK_URL = `https://records.example.org/api/v1/exchange/connections/${ID}/callback`;
const MADE_AT = '2026-01-10T08:00:00.000Z';
const SECRET = {
  createdAt: MADE_AT,
  activeFrom: MADE_AT,
  goodUntil: null,
  lastUsedAt: null,
  lastUsedFor: null,
};
const CONNECTION_EXAMPLE = {
  id: ID,
  organisationId: '0c7d2a90-8b1f-4f5e-9a36-d4e5f6a7b8c9',
  name: 'National exchange',
  address: 'https://exchange.example.org/patients',
  clientId: 'hospital-7',
  callbackHeader: 'x-signature',
  identifierSystem: `urn:uuid:${ID}`,
  purposeOfUse: 'OPS',
  maxInFlight: 16,
  timeoutMs: 10_000,
  callbackUrl: CALLBACK_URL,
  facilityIds: ['1ad45065-64ba-4128-b0b5-1666625efdaf'],
  enabled: true,
  createdAt: MADE_AT,
  circuitOpenSince: null,
  secrets: [
    { id: '88b601ff-bc62-4f5c-a94a-42227b78f9d3', direction: 'outbound', ...SECRET },
    { id: '1080b8ca-7255-4a52-9cac-489c38074afa', direction: 'callback', ...SECRET },
  ],
};

export const ConnectionSchema = named(
  'Connection',
  Type.Object(
    {
      id: Type.String(),
      organisationId: Type.String(),
      ...settable,
      callbackUrl: Type.String(),
      facilityIds: Nullable(Type.Array(Type.String())),
      enabled: Type.Boolean(),
      createdAt: Instant(),
      circuitOpenSince: Nullable(
        Instant('Since when the service considers the exchange down; null while it answers.'),
      ),
      secrets: Type.Array(
        named(
          'ConnectionSecret',
          Type.Object({
            id: Type.String(),
            direction: Choice(['outbound', 'callback']),
            createdAt: Instant(),
            activeFrom: Nullable(
              Instant('An outbound secret signs from this time on. null: it waits to be activated.'),
            ),
            goodUntil: Nullable(Instant()),
            lastUsedAt: Nullable(Instant()),
            lastUsedFor: NullableText(),
          }),
        ),
      ),
    },
    { examples: [CONNECTION_EXAMPLE] },
  ),
);
export type Connection = Omit<Static<typeof ConnectionSchema>, 'callbackUrl'>;
export type SecretStatus = Connection['secrets'][number];
export const CreatedConnectionSchema = named(
  'CreatedConnection',
  Type.Object(
    {
      id: Type.String(),
      outboundSecret: Type.String({ description: 'Shown only in this answer.' }),
      callbackSecret: Type.String({ description: 'Shown only in this answer.' }),
      callbackUrl: Type.String(),
    },
    {
      examples: [
        {
          id: ID,
          outboundSecret: '43 characters of base64url',
          callbackSecret: '43 other characters of base64url',
          callbackUrl: CALLBACK_URL,
        },
      ],
    },
  ),
);
/** Shown once. */
export type CreatedConnection = Static<typeof CreatedConnectionSchema>;
export const RotationBody = named(
  'SecretRotation',
  Type.Object(
    {
      direction: Type.Optional(Choice(['outbound', 'callback'])),
      overlapSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 7_776_000,
          default: 86_400,
          description:
            'How long callbacks with the old secret are accepted too. 0: both old secrets end at once.',
        }),
      ),
      activateAt: Type.Optional(
        Type.String({
          maxLength: 40,
          description:
            'When the new outbound secret begins to sign: a date-time with a zone, within 90 days. If absent, it begins when you activate it.',
        }),
      ),
      activateNow: Type.Optional(
        Type.Boolean({ description: 'If true, the new outbound secret signs from the next request on.' }),
      ),
    },
    closed,
  ),
);
export const RotatedSchema = named(
  'RotatedSecrets',
  Type.Object(
    {
      id: Type.String(),
      outboundSecret: Type.Optional(Type.String({ description: 'Shown only in this answer.' })),
      outboundActiveFrom: Type.Optional(
        Nullable(
          Type.String({
            format: 'date-time',
            description:
              'The old secret signs until this time. null: it signs until you activate the new one.',
          }),
        ),
      ),
      discardedWaiting: Type.Optional(
        Type.Boolean({
          description:
            'If true, an earlier new outbound secret that waited to be activated was deleted. It was never used.',
        }),
      ),
      callbackSecret: Type.Optional(Type.String({ description: 'Shown only in this answer.' })),
      oldGoodUntil: Type.Optional(
        Type.String({
          format: 'date-time',
          description: 'Callbacks with the old secret are accepted until this time.',
        }),
      ),
      callbackUrl: Type.String(),
    },
    {
      examples: [
        {
          id: ID,
          callbackSecret: '43 characters of base64url',
          oldGoodUntil: '2026-01-11T08:00:00.000Z',
          callbackUrl: CALLBACK_URL,
        },
      ],
    },
  ),
);
/** Shown once; only of the directions that were rotated. */
export type RotatedSecrets = Static<typeof RotatedSchema>;
export const ConnectionParams = Type.Object({
  connectionId: Type.String({ description: 'UUID of the connection.' }),
});

export function connectionView(
  connection: Connection,
  publicBaseUrl: string,
): Static<typeof ConnectionSchema> {
  return { ...connection, callbackUrl: callbackUrl(publicBaseUrl, connection.id) };
}

/** Where the exchange posts its callbacks. */
export function callbackUrl(publicBaseUrl: string, connectionId: string): string {
  return `${publicBaseUrl}/exchange/connections/${connectionId}/callback`;
}
