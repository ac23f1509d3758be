/**
 * GET /.well-known/jwks.json: the public keys of access tokens (RFC 7517 section 5).
 * Contract: SIGN-IN-24.
 */

import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';
import type { SigningKeys } from './signing-keys.ts';

const Jwks = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.Literal('OKP'),
      crv: Type.Literal('Ed25519'),
      x: Type.String(),
      kid: Type.String(),
      alg: Type.Literal('EdDSA'),
      use: Type.Literal('sig'),
    }),
  ),
});

export function jwksRoute(deps: { signingKeys: SigningKeys }): Route<Access> {
  return openRoute({
    docs: {
      operationId: 'readSigningKeys',
      summary: 'Read the public keys of access tokens',
      description:
        'Ed25519 keys as a JWK set. A key stays in the set until every token that it signed has expired.',
      tag: 'Sign-in',
    },
    responses: { 200: { description: 'The JWK set', schema: Jwks } },
    handle: async (_request, { now }) => ({ body: { keys: await deps.signingKeys.published(now) } }),
  });
}
