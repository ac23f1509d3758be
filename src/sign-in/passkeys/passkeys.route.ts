/** Passkeys: to finish a sign-in, and those of one's own account. Contract: SIGN-IN-62, SIGN-IN-66, SIGN-IN-67. */

import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { named } from '../../platform/http/named-schema.ts';
import { listSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Instant, Nullable } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, consoleRoute } from '../../tenancy/callers/access.ts';
import type { ConsoleCookie } from '../console/console-cookie.ts';
import { SessionState } from '../console/session.schema.ts';
import { ADDING } from '../second-factor/manage-factors.route.ts';
import { PASSWORD_EXAMPLE, PasswordBody } from '../second-factor/second-factor.schema.ts';
import { signInFailures } from '../sign-in-responses.ts';
import {
  addPasskey,
  beginPasskey,
  type PasskeyDependencies,
  readPasskeys,
  removePasskey,
} from './manage-passkeys.ts';
import { askForPasskey, provePasskey } from './prove-passkey.ts';

type Dependencies = PasskeyDependencies & { consoleCookie: ConsoleCookie };

const NO_NAME = 'The address of the service has no name that passkeys could belong to.';
const bytes = () => Type.String({ minLength: 1, maxLength: 20_000, description: 'base64url' });
const credential = { id: bytes(), rawId: bytes(), type: Type.Literal('public-key') };

const Attestation = Type.Unsafe<RegistrationResponseJSON>(
  named(
    'RegistrationResponseJSON',
    Type.Object({
      ...credential,
      response: named(
        'AuthenticatorAttestationResponseJSON',
        Type.Object({
          clientDataJSON: bytes(),
          attestationObject: bytes(),
          transports: Type.Optional(
            Type.Array(Type.String({ maxLength: 32 }), {
              maxItems: 16,
              description: 'As the browser tells them.',
            }),
          ),
        }),
      ),
    }),
  ),
);
const Assertion = Type.Unsafe<AuthenticationResponseJSON>(
  named(
    'AuthenticationResponseJSON',
    Type.Object({
      ...credential,
      response: named(
        'AuthenticatorAssertionResponseJSON',
        Type.Object({ clientDataJSON: bytes(), authenticatorData: bytes(), signature: bytes() }),
      ),
    }),
  ),
);
const CREDENTIAL = { id: 'dGhlIGNyZWRlbnRpYWw', rawId: 'dGhlIGNyZWRlbnRpYWw', type: 'public-key' };

const options = <Options>(title: string, example: object) =>
  Type.Unsafe<Options>({ type: 'object', title, description: `${title} of WebAuthn.`, examples: [example] });

export function askForPasskeyRoute(deps: Dependencies): Route<Access> {
  return consoleRoute(['second-factor'], {
    docs: {
      operationId: 'askForPasskey',
      summary: 'Get the challenge for a passkey that finishes the sign-in',
      description: 'It can be answered once, within five minutes.',
    },
    responses: {
      200: {
        description: 'What `navigator.credentials.get` takes',
        schema: options<PublicKeyCredentialRequestOptionsJSON>('PublicKeyCredentialRequestOptionsJSON', {
          challenge: 'YSBjaGFsbGVuZ2U',
          rpId: 'interchange.example.org',
          userVerification: 'required',
        }),
      },
      409: { description: NO_NAME },
    },
    handle: async (_, context) => ({ body: await askForPasskey(deps, context) }),
  });
}

export function provePasskeyRoute(deps: Dependencies): Route<Access> {
  return consoleRoute(['second-factor'], {
    docs: {
      operationId: 'provePasskey',
      summary: 'Finish a sign-in with a passkey',
      description:
        'A wrong answer counts as a failed sign-in, with the same lock. The answer sets another cookie.',
    },
    body: named('PasskeyProof', Type.Object({ response: Assertion })),
    bodyExample: {
      response: {
        ...CREDENTIAL,
        response: { clientDataJSON: 'e30', authenticatorData: 'AAAA', signature: 'AAAA' },
      },
    },
    responses: {
      200: { description: 'Signed in', schema: SessionState, headers: ['set-cookie'] },
      ...signInFailures,
      409: { description: 'The sign-in is finished already.' },
    },
    handle: async ({ body: { response } }, context) => {
      const token = await provePasskey(deps, response, context);
      return { body: { state: 'signed-in' }, headers: { 'set-cookie': deps.consoleCookie.set(token) } };
    },
  });
}

export function beginPasskeyRoute(deps: Dependencies): Route<Access> {
  return consoleRoute(ADDING, {
    docs: {
      operationId: 'beginPasskey',
      summary: 'Begin to add a passkey',
      description: 'The challenge can be answered once, within five minutes.',
    },
    body: PasswordBody,
    bodyExample: PASSWORD_EXAMPLE,
    responses: {
      200: {
        description: 'What `navigator.credentials.create` takes',
        schema: options<PublicKeyCredentialCreationOptionsJSON>('PublicKeyCredentialCreationOptionsJSON', {
          challenge: 'YSBjaGFsbGVuZ2U',
          rp: { id: 'interchange.example.org', name: 'interchange' },
        }),
      },
      ...signInFailures,
      409: { description: NO_NAME },
    },
    handle: async ({ body: { password } }, context) => ({
      body: await beginPasskey(deps, password, context),
    }),
  });
}

const AddedPasskey = named(
  'AddedPasskey',
  Type.Object(
    {
      id: Type.String({ format: 'uuid' }),
      recoveryCodes: Type.Optional(
        Type.Array(Type.String(), {
          description: 'Shown once, if this is the first second factor of the account.',
        }),
      ),
    },
    { examples: [{ id: '2a1b0c9d-8e7f-4061-9253-a4b5c6d7e8f9' }] },
  ),
);

export function addPasskeyRoute(deps: Dependencies): Route<Access> {
  return consoleRoute(ADDING, {
    docs: {
      operationId: 'addPasskey',
      summary: 'Add a passkey',
      description:
        'If this is the first second factor of the account, its other sessions end. The answer sets another cookie.',
    },
    body: named(
      'NewPasskey',
      Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }), response: Attestation }),
    ),
    bodyExample: {
      name: 'my laptop',
      response: { ...CREDENTIAL, response: { clientDataJSON: 'e30', attestationObject: 'AAAA' } },
    },
    responses: {
      200: { description: 'The passkey is added', schema: AddedPasskey, headers: ['set-cookie'] },
      403: { description: 'The answer is not good, or the challenge was used or is too old.' },
      409: { description: 'The passkey is known already, or there are 20.' },
    },
    handle: async ({ body }, context) => {
      const { token, ...added } = await addPasskey(deps, body, context);
      return { body: added, headers: { 'set-cookie': deps.consoleCookie.set(token) } };
    },
  });
}

const Passkey = named(
  'Passkey',
  Type.Object(
    {
      id: Type.String({ format: 'uuid' }),
      name: Type.String(),
      createdAt: Instant(),
      lastUsedAt: Nullable(Instant()),
    },
    {
      examples: [
        {
          id: '2a1b0c9d-8e7f-4061-9253-a4b5c6d7e8f9',
          name: 'my laptop',
          createdAt: '2026-03-01T08:00:00.000Z',
          lastUsedAt: null,
        },
      ],
    },
  ),
);

export function listPasskeysRoute(deps: Dependencies): Route<Access> {
  return consoleRoute(['signed-in'], {
    docs: { operationId: 'listPasskeys', summary: 'List your own passkeys' },
    responses: { 200: { description: 'The oldest first', schema: listSchema(Passkey) } },
    handle: async (_, { caller }) => ({ body: { items: await readPasskeys(deps, caller) } }),
  });
}

export function removePasskeyRoute(deps: Dependencies): Route<Access> {
  return consoleRoute(['signed-in'], {
    docs: {
      operationId: 'removePasskey',
      summary: 'Remove a passkey',
      description: 'If it was the last second factor, the recovery codes are removed too.',
    },
    params: Type.Object({ passkeyId: Type.String({ format: 'uuid' }) }),
    body: PasswordBody,
    bodyExample: PASSWORD_EXAMPLE,
    responses: { 204: { description: 'The passkey is removed' }, ...signInFailures },
    handle: async ({ params: { passkeyId }, body: { password } }, context) => {
      await removePasskey(deps, { passkeyId, password }, context);
      return { status: 204 };
    },
  });
}
