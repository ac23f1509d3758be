/**
 * POST /exchange/connections/<id>/callback: an exchange confirms a delivery.
 * Contract: EXC-34, EXC-36, EXC-38, EXC-42, SEC-18.
 */
import type { Registry } from 'prom-client';
import type { KeyRing } from '../../platform/crypto/key-ring.ts';
import type { Pool } from '../../platform/db/database.ts';
import { DomainError } from '../../platform/domain-error.ts';
import { parseJson } from '../../platform/http/body.ts';
import { requireContentType } from '../../platform/http/content-type.ts';
import { badRequest, HttpError, httpErrorOf } from '../../platform/http/errors.ts';
import { refuseUnusableText } from '../../platform/http/input.ts';
import type { Route } from '../../platform/http/route.ts';
import { checkAtFirstUse } from '../../platform/http/validation/check-at-first-use.ts';
import { Type } from '../../platform/json-schema.ts';
import { type Access, openRoute } from '../../tenancy/callers/access.ts';
import { isOneLine } from '../../tenancy/organisations/name.ts';
import { callbackAnswers } from '../worker/exchange-metrics.ts';
import { createAuthenticateCallback } from './authenticate-callback.ts';
import { CallbackBody, type Confirmation, ConfirmedSchema } from './callback.schema.ts';
import { confirmDelivery } from './confirm-delivery.ts';

const BODY_LIMIT_BYTES = 262_144;

const faultsOfBody = checkAtFirstUse(CallbackBody);

export interface CallbackDependencies {
  db: Pool;
  keys: KeyRing;
  metrics: { registry: Registry };
}

export function callbackRoute(deps: CallbackDependencies): Route<Access> {
  const authenticate = createAuthenticateCallback(deps);
  const answers = callbackAnswers(deps.metrics.registry);
  return openRoute({
    docs: {
      operationId: 'confirmDelivery',
      summary: 'Confirm a delivery (called by an exchange)',
      description:
        'The exchange sends no bearer token. The signature header of the connection (default `x-signature`) carries the hex HMAC-SHA256 of ' +
        'the exact body bytes, with or without `sha256=` in front. The same bytes sent again get the same answer.',
      tag: 'Exchange',
    },
    params: Type.Object({ connectionId: Type.String({ description: 'UUID of the connection.' }) }),
    body: CallbackBody,
    bodyExample: {
      deliveryId: '5f0c9b1e-3d57-4c1a-9d0e-7a1f0b6c2d43',
      status: 'accepted',
      assignedId: 'HIE-20771',
    },
    bodyMode: 'raw',
    bodyLimitBytes: BODY_LIMIT_BYTES,
    responses: {
      200: {
        description: 'The service has recorded the confirmation, now or earlier.',
        schema: ConfirmedSchema,
      },
      401: {
        description:
          'The signature is missing or wrong, or the connection is unknown, is disabled or has no secret.',
      },
      404: { description: 'The delivery does not belong to this connection.' },
      409: { description: 'The exchange has already assigned another id. The callback is kept for review.' },
    },
    handle: async ({ params, body }, context) => {
      const bytes = body as unknown as Uint8Array;
      try {
        const from = await authenticate({ ...params, ...context, body: bytes });
        requireContentType(context.headers, ['application/json']);
        const confirmation = parseConfirmation(bytes);
        const confirmed = await confirmDelivery(deps.db, from, confirmation, { ...context, body: bytes });
        answers.inc({ status: 200 });
        return { body: confirmed };
      } catch (error) {
        const known = error instanceof DomainError ? httpErrorOf(error) : error;
        if (known instanceof HttpError) answers.inc({ status: known.statusCode });
        throw error;
      }
    },
  });
}

function parseConfirmation(bytes: Uint8Array): Confirmation {
  const given = parseJson(bytes);
  refuseUnusableText(given);
  if (faultsOfBody(given).length > 0)
    throw badRequest(
      {
        en: 'The callback must be { deliveryId, status: accepted or rejected, assignedId, message }, with an assignedId of 1 to 256 characters and a message of at most 4000.',
        fr: 'La réponse doit être { deliveryId, status: accepted ou rejected, assignedId, message }, avec un assignedId de 1 à 256 caractères et un message d’au plus 4000.',
      },
      'bad_callback',
    );
  const document = given as Confirmation;
  // It stands for ever, as `value` of an identifier in the FHIR Patient.
  if (typeof document.assignedId === 'string' && !isOneLine(document.assignedId))
    throw badRequest(
      {
        en: 'assignedId must be one line with at least one visible character and no control characters.',
        fr: 'assignedId doit être une seule ligne avec au moins un caractère visible, et sans caractère de contrôle.',
      },
      'bad_callback',
    );
  if (document.status === 'accepted' && typeof document.assignedId !== 'string')
    throw badRequest(
      {
        en: 'assignedId is missing. A callback that accepts must send the id that the exchange assigned to the patient.',
        fr: 'assignedId manque. Une réponse qui accepte doit envoyer l’identifiant que la plateforme d’échange a attribué au patient.',
      },
      'bad_callback',
    );
  return document;
}
