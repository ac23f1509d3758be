/** What an exchange says in a callback, and what it is answered. */
import type { Static } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { Choice, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';

export const CallbackBody = named(
  'Callback',
  Type.Object({
    deliveryId: Type.String({ description: 'The `deliveryId` of the envelope that the exchange received.' }),
    status: Choice(['accepted', 'rejected']),
    assignedId: Type.Optional(
      Nullable(
        Type.String({ minLength: 1, maxLength: 256 }),
        'The id that the exchange assigned to the patient. Required when accepted.',
      ),
    ),
    message: Type.Optional(Nullable(Type.String({ maxLength: 4_000 }))),
  }),
);
export type Confirmation = Static<typeof CallbackBody>;

/** Every repeat of the same bytes is answered as the first time. */
export const ConfirmedSchema = named(
  'ConfirmedCallback',
  Type.Object(
    {
      deliveryId: Type.String(),
      status: Type.String(),
      assignedId: NullableText(),
    },
    {
      examples: [
        {
          deliveryId: '01a1fc08-424a-7d97-b9c6-c8abb2ae8675',
          status: 'accepted',
          assignedId: 'HIE-000042',
        },
      ],
    },
  ),
);
export type Confirmed = Static<typeof ConfirmedSchema>;
