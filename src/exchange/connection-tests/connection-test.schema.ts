/** How the test of a connection went, as HTTP answers it. */
import type { Static } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { Choice, Nullable, NullableText } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';

export const CONNECTION_TEST_RESULTS = [
  'taken',
  'not-authorised',
  'redirected',
  'failing',
  'not-taken',
  'unanswered',
  'unreachable',
  'address-refused',
] as const;

export const ConnectionTestSchema = named(
  'ConnectionTest',
  Type.Object(
    {
      status: Nullable(Type.Integer(), 'HTTP status of the answer. null: there was none.'),
      /** Until the answer, or until it was given up. */
      latencyMs: Type.Integer(),
      result: Choice(
        CONNECTION_TEST_RESULTS,
        'What that means; it stays when the words of `message` change.',
      ),
      cause: NullableText(
        'Why there was no answer, such as ECONNREFUSED. null: there was one, or nothing was sent.',
      ),
      message: Type.String(),
    },
    {
      examples: [
        {
          status: 202,
          latencyMs: 38,
          result: 'taken',
          cause: null,
          message: 'The exchange took the test request.',
        },
      ],
    },
  ),
);
export type ConnectionTest = Static<typeof ConnectionTestSchema>;
