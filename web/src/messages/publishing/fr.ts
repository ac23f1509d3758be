/** The words of the pages about publishing in French. */
import type { Catalogue } from '../catalogue.ts';

export const publishing: Catalogue['publishing'] = {
  title: 'Publication',
  text: 'Ce qui a été envoyé à des serveurs FHIR externes, du plus récent au plus ancien.',
  tabs: 'Publication',
  publications: 'Publications',
  targets: 'Cibles',
  kind: 'Dossier',
  kinds: { lab: 'Demande de laboratoire', imaging: 'Demande d’imagerie', vitals: 'Signes vitaux' },
  state: 'État',
  states: { running: 'En cours', done: 'Faite', failed: 'Échouée', interrupted: 'Interrompue' },
  target: 'Cible',
  patientFilter: 'Identifiant du patient',
  since: 'Commencée depuis',
  until: 'Commencée avant',
  started: 'Début',
  stored: 'Stockées',
  failure: 'Ce qui a échoué (en anglais)',
  empty: 'Rien n’a encore été publié',
  emptyText:
    'Vos systèmes publient une demande ou des signes vitaux par l’interface. Regardez d’abord les cibles.',
  targetsText:
    'Les serveurs FHIR où les dossiers sont publiés. L’opérateur du service les ajoute et les modifie.',
  noTargetInUse:
    'Il n’y a pas de serveur FHIR où publier. Demandez à l’opérateur du service d’en ajouter ou d’en activer un.',
  noTargets: 'Il n’y a pas de cible',
  noTargetsText:
    'Demandez à l’opérateur du service d’en ajouter une, avec la commande « interchange target create ».',
  name: 'Nom',
  health: 'État',
  healths: {
    closed: 'Fonctionne',
    open: 'Ne répond pas',
    probing: 'Essai à venir',
    disabled: 'Désactivée',
    failed: 'Dernier envoi échoué',
    unused: 'Pas d’envoi récent',
  },
  isDefault: 'par défaut',
  lastSuccess: 'Dernier succès',
  lastFailure: 'Dernier échec (en anglais)',
  back: 'Toutes les publications',
  history: 'Historique',
  historyText:
    'Chaque publication de ce dossier, de la plus récente à la plus ancienne. Après un échec, la suivante reprend là où il s’est arrêté.',
  noHistory: 'Ce dossier n’a pas encore été publié.',
  again: 'Publier à nouveau',
  to: 'Vers',
  look: 'Afficher ce qui serait envoyé',
  lookText: 'Rien n’a été envoyé pour l’instant.',
  would:
    '{count, plural, =0 {Rien ne serait envoyé} one {# requête serait envoyée} other {# requêtes seraient envoyées}}',
  unmapped: 'Codes sans code standard : {codes}. Associez-les d’abord sous Terminologie.',
  faults: {
    'code-refused': 'un code local n’a pas de code standard, la publication serait donc refusée',
    'code-allowed': 'un code local n’a pas de code standard ; la cible l’accepte',
    'sent-later':
      'renvoie à {reference}, envoyé plus tard ; la référence porte donc son identifiant à la place',
    'not-sent': 'renvoie à {reference}, qui n’est pas envoyé et dont la présence à la cible est inconnue',
  },
  notSent:
    '{count, plural, one {# dossier nommé n’est pas envoyé.} other {# dossiers nommés ne sont pas envoyés.}}',
  request: 'la requête de {record}',
  published:
    '{count, plural, one {# ressource est stockée sur la cible.} other {# ressources sont stockées sur la cible.}}',
  confirm: 'Publier vers {target} ?',
  confirmText: 'Le dossier est envoyé tel qu’il est. Ce que la cible a déjà est mis à jour.',
  mayNot: 'Pour voir son historique et le publier, votre rôle doit avoir la permission <name></name>.',
};
