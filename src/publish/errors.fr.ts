/** The words of `errors.ts` in French. */
import type { Words } from '../platform/words/words.ts';
import { MAX_LISTED, type Stopped } from './error-values.ts';

const stopped = ({ target, record, reason, stored, all }: Stopped) =>
  `La publication vers ${target} s’est arrêtée à ${record} : ${reason.fr}. Cette publication y a stocké ${stored} des ${all} ressources. Publiez à nouveau pour continuer.`;

export const french = {
  no_such_target:
    'Il n’y a pas de cible de ce nom. Corrigez le nom, ou omettez target pour utiliser la cible par défaut.',
  order_replaced:
    'Une autre demande a remplacé celle-ci pendant que la publication attendait. Publiez à nouveau.',
  patient_changed: 'Le dossier appartient désormais à un autre patient. Publiez à nouveau.',
  part_moved:
    'Une partie du dossier est passée à un autre dossier pendant sa publication. Ce qui a été stocké est enregistré. Publiez à nouveau.',
  unmapped_codes: ({ codes }: { codes: readonly string[] }) => {
    const more = codes.length > MAX_LISTED ? ` et ${codes.length - MAX_LISTED} autres` : '';
    return `Ces codes locaux n’ont pas de code standard : ${codes.slice(0, MAX_LISTED).join(', ')}${more}. Rien n’a été envoyé. Associez-les dans les correspondances de terminologie, ou demandez à l’opérateur d’autoriser les codes locaux à la cible.`;
  },
  circuit_open: ({ target, retryAfterSeconds }: { target: string; retryAfterSeconds: number }) =>
    `La cible ${target} n’a pas répondu plusieurs fois de suite. Rien n’a été envoyé. Publiez à nouveau dans ${retryAfterSeconds} secondes.`,
  target_refused: stopped,
  target_unavailable: stopped,
  no_target:
    'Il n’y a pas de cible par défaut. Nommez une cible avec ?target=, ou demandez à l’opérateur d’en ajouter une (interchange target create) ou d’en faire une la cible par défaut (interchange target update --default).',
  target_disabled: ({ target }: { target: string }) =>
    `La cible ${target} est désactivée. Demandez à l’opérateur de l’activer.`,
  target_address:
    'L’adresse de la cible n’est pas autorisée. Demandez à l’opérateur de la changer : interchange target update --base.',
  target_secret:
    'Le secret de la cible ne peut pas être ouvert avec la clé maîtresse. Demandez à l’opérateur de le définir à nouveau : interchange target rotate-secret.',
  publish_busy: ({ records }: { records: Words }) =>
    `Une autre publication de ${records.fr} est en cours. Publiez à nouveau quand elle sera terminée.`,
  too_many_waiting: ({ count }: { count: number }) =>
    `${count} publications de ce compte attendent déjà, ce qui est la limite. Rien n’a été envoyé. Attendez leurs réponses, puis publiez à nouveau.`,
  target_changed: ({ target }: { target: string }) =>
    `La cible ${target} a été modifiée pendant que cette publication en attendait une autre. Rien n’a été envoyé. Publiez à nouveau.`,
  publish_overtaken:
    'La base de données n’a pas répondu, ou la machine a été suspendue, pendant si longtemps qu’une autre publication a peut-être pris la suite. Ce qui a été stocké est enregistré. Publiez à nouveau pour continuer.',
};
