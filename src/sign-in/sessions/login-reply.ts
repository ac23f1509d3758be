/** The login response; refresh answers in the same shape. Contract: SIGN-IN-7. */

import type { Static } from 'typebox';
import { named } from '../../platform/http/named-schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { UserTypeSchema } from '../administration/account.schema.ts';

export const LoginResponse = named(
  'LoginResponse',
  Type.Object(
    {
      accessToken: Type.String({ description: 'JWT, valid for about 15 minutes' }),
      refreshToken: Type.String({ description: 'exchangeable once' }),
      userType: UserTypeSchema,
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
