/** The login response; refresh answers in the same shape. Contract: SIGN-IN-7. */

import type { Static } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { Choice } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { USER_TYPES } from '../accounts/account.store.ts';

export const LoginResponse = named(
  'LoginResponse',
  Type.Object(
    {
      accessToken: Type.String({ description: 'JWT, valid for about 15 minutes' }),
      refreshToken: Type.String({ description: 'exchangeable once' }),
      userType: Choice(USER_TYPES),
      mustChangePassword: Type.Boolean(),
    },
    {
      examples: [
        {
          accessToken: 'eyJ0eXAiOiJhdCtqd3QiLCJhbGciOiJFZERTQSJ9.…',
          refreshToken: 'The token to send to /auth/refresh, once.',
          userType: 'EHR',
          mustChangePassword: false,
        },
      ],
    },
  ),
);

export type LoginReply = Static<typeof LoginResponse>;
