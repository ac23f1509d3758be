/** What is refused of connections, deliveries and callbacks, and how it is worded. */
import { DomainError, domainErrors } from '../platform/domain-error.ts';
import type { Words } from '../platform/words/words.ts';
import { french } from './errors.fr.ts';

export const exchangeError = domainErrors(
  {
    bad_connection_setting: {
      status: 400,
      exitCode: 2,
      text: ({ problem }: { problem: Words }) => problem.en,
      example: {
        problem: {
          en: 'The name must be one line of 1 to 200 characters, without marks that change the direction of text.',
          fr: 'Le nom doit être une seule ligne de 1 à 200 caractères, sans marque qui change le sens du texte.',
        },
      },
    },
    callback_signature: {
      status: 401,
      // RFC 9110 section 15.5.2: a 401 has a challenge.
      headers: { 'www-authenticate': 'Signature' },
      text: 'The callback is not signed with a secret of this connection. Sign the exact bytes of the body.',
    },
    assigned_id_conflict: {
      status: 409,
      text: 'The exchange has already assigned another id to this patient. Nothing was changed, and the callback is kept for review.',
    },
    connection_disabled: {
      status: 409,
      text: 'The connection is disabled, so nothing was sent. Enable it, then test it.',
    },
    tested_just_now: {
      status: 429,
      text: (_: { retryAfterSeconds: number }) =>
        'This connection was tested less than 5 seconds ago, or a test of it is under way. Wait for the seconds in the header retry-after, then test it again.',
    },
    no_waiting_secret: {
      status: 409,
      text: 'There is no new outbound secret to activate. Rotate the secret first.',
      command:
        'There is no new outbound secret to activate. Make one with: npx interchange connection rotate-secret --id CONNECTION',
    },
    not_held: {
      status: 409,
      text: 'At least one of the named deliveries is not held, or does not match the other filters. Nothing was changed. Only held deliveries can be replayed or skipped; list them with status=held.',
      command:
        'At least one of the named deliveries is not held, or does not match the other options. Nothing was changed. Look at a delivery with: npx interchange delivery show --id ID. To try at once what waits for its next try: npx interchange connection enable --id CONNECTION',
    },
    payload_removed: {
      status: 410,
      text: 'The payload of this delivery was removed. The service keeps payloads for a limited time after the delivery (DELIVERY_PAYLOAD_DAYS).',
    },
    no_open_facility: {
      text: 'The exchange module is off at every facility that the connection covers, so nothing was queued. Turn the module on first. To see what is on: npx interchange facility list --organisation ID',
    },
    closed_meanwhile: {
      text: 'The connection was disabled, or the exchange module was turned off at every facility that it covers, before all patients were looked at. What was queued until then stays. When the connection is open again, run the command again.',
    },
    bad_option: { exitCode: 2, text: ({ problem }: { problem: string }) => problem },
    unknown_connection: {
      text: ({ id }: { id: string }) =>
        `There is no connection ${id}. List connections with: npx interchange connection list`,
    },
    unknown_delivery: {
      text: 'There is no such delivery. List held deliveries with: npx interchange delivery list --status held',
    },
    delivery_not_read: {
      text: 'No such delivery was found. The database refused some organisations, so it may be in one of these. The log of the database says why.',
    },
  },
  french,
);

/** Codes of tenancy, in words that fit connections and callbacks. */
function inOwnWords(code: string, status: number, { en, fr }: Words): DomainError {
  return new DomainError(code, { values: {}, wording: { status, text: en }, french: fr });
}

export const facilityRefused = () =>
  inOwnWords('tenancy_refused', 403, {
    en: 'This account may not use every facility of the connection. Ask the operator, or leave those facilities out.',
    fr: 'Ce compte n’a pas accès à tous les établissements de la connexion. Adressez-vous à l’opérateur, ou omettez ces établissements.',
  });

/** An exchange sends no facility headers: its connection says whose deliveries it may confirm. */
export const notOfConnection = () =>
  inOwnWords('not_found', 404, {
    en: 'This connection has no such delivery. Send the deliveryId of the envelope that you received.',
    fr: 'Cet envoi n’est pas de cette connexion. Envoyez le deliveryId de l’enveloppe que vous avez reçue.',
  });
