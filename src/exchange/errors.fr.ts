/** The words of `errors.ts` in French. */
import type { Words } from '../platform/words/words.ts';

export const french = {
  bad_connection_setting: ({ problem }: { problem: Words }) => problem.fr,
  callback_signature:
    'La réponse n’est pas signée avec un secret de cette connexion. Signez exactement les octets du corps.',
  assigned_id_conflict:
    'La plateforme d’échange a déjà attribué un autre identifiant à ce patient. Rien n’a été modifié, et la réponse est gardée pour examen.',
  connection_disabled: 'La connexion est désactivée : rien n’a été envoyé. Activez-la, puis testez-la.',
  tested_just_now: (_: { retryAfterSeconds: number }) =>
    'Cette connexion a été testée il y a moins de 5 secondes, ou un test est en cours. Attendez le nombre de secondes de l’en-tête retry-after, puis testez-la à nouveau.',
  no_waiting_secret: 'Il n’y a pas de nouveau secret d’envoi à activer. Renouvelez d’abord le secret.',
  not_held:
    'Au moins un des envois nommés n’est pas retenu, ou ne correspond pas aux autres filtres. Rien n’a été modifié. Seuls les envois retenus peuvent être renvoyés ou ignorés ; listez-les avec status=held.',
  payload_removed:
    'Le message de cet envoi a été supprimé. Le service garde les messages un temps limité après l’envoi (DELIVERY_PAYLOAD_DAYS).',
};
