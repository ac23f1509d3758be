/** The words of the pages about roles in French. */
export const roles = {
  title: 'Rôles',
  text: 'Ce que les comptes ont le droit de faire. Chaque compte a un rôle.',
  create: 'Nouveau rôle',
  search: 'Rechercher un nom',
  name: 'Nom',
  permissions: 'Permissions',
  systems: 'Systèmes',
  people: 'Personnes',
  holders: {
    EHR: '{count, plural, one {# système a le rôle {name}} other {# systèmes ont le rôle {name}}}',
    STAFF: '{count, plural, one {# personne a le rôle {name}} other {# personnes ont le rôle {name}}}',
  },
  secondFactor: 'Second facteur',
  required: 'Exigé',
  notRequired: 'Non exigé',
  empty: 'Il n’y a encore aucun rôle',
  emptyText: 'Créez-en un : chaque compte a besoin d’un rôle.',
};

export const newRole = {
  title: 'Nouveau rôle',
  text: 'Nommez-le d’après le travail, par exemple « Laboratoire partenaire ». Donnez ce que le travail demande, et rien de plus.',
};

export const role = {
  title: 'Rôle',
  gone: 'Ce rôle n’existe pas',
  goneText: 'Quelqu’un l’a peut-être supprimé. Revenez à la liste.',
  heldBy: 'Qui l’a',
  all: {
    EHR: '{count, plural, one {Voir le système} other {Voir les # systèmes}}',
    STAFF: '{count, plural, one {Voir la personne} other {Voir les # personnes}}',
  },
  holdersNone: 'Personne pour l’instant. Attribuez-le à un compte, ou supprimez-le.',
  holdersElsewhere:
    'Leurs comptes sont dans des établissements qui ne sont pas les vôtres : ils ne vous sont pas montrés.',
  holdersHidden: 'Seuls ceux qui gèrent les comptes d’intégration ou les personnes voient qui ils sont.',
  holders:
    '{systems, plural, =0 {Aucun système} one {# système} other {# systèmes}} et {people, plural, =0 {aucune personne} one {# personne} other {# personnes}}. Une modification compte pour tous dès le prochain appel. Il peut être supprimé quand plus personne ne l’a.',
  properties: 'Rôle',
  name: 'Nom',
  nameHelp: 'Ce à quoi sert le rôle.',
  requires: 'Les personnes qui l’ont se connectent avec un second facteur',
  requiresHelp:
    'Qui n’en a pas en configure un à la prochaine connexion. Les systèmes ne sont pas concernés.',
  permissions: 'Permissions',
  permissionsText: 'Chacune ouvre des appels du service, et les pages qui en ont besoin.',
  notManager: 'Vous pouvez le lire. Pour le modifier, il vous faut la permission roles.manage.',
  strongerThanYou: 'Il contient une permission que vous n’avez pas : vous ne pouvez donc pas le modifier.',
  beginWith: 'Partir de :',
  presets: { 'read-only': 'Lecture seule', 'laboratory-partner': 'Laboratoire partenaire', full: 'Complet' },
  leftOut:
    '{count, plural, one {# permission ne vous appartient pas et a été omise.} other {# permissions ne vous appartiennent pas et ont été omises.}}',
  areas: {
    patients: 'Patients',
    encounters: 'Venues et signes vitaux',
    investigations: 'Laboratoire et imagerie',
    publish: 'Publication',
    records: 'Importations',
    terminology: 'Terminologie',
    exchange: 'Échange',
    administration: 'Administration',
    other: 'Autres',
  },
  heldOf: '{held} sur {all}',
  notYours: '{name}. Vous ne l’avez pas : vous ne pouvez donc pas la donner.',
  opens: '{count, plural, one {Ouvre # appel} other {Ouvre # appels}}',
  opensNamed: '{name} : {count, plural, one {ouvre # appel} other {ouvre # appels}}',
  opensNothing: 'N’ouvre aucun appel à elle seule.',
  chosen: '{count, plural, =0 {Choisissez au moins une permission} one {# permission} other {# permissions}}',
  create: 'Créer le rôle',
  save: 'Enregistrer',
  saved: '{name} est enregistré.',
  delete: 'Supprimer',
  deleteTitle: 'Supprimer {name} ?',
  deleteText: 'Personne n’a ce rôle. La suppression est définitive.',
  deleted: '{name} est supprimé.',
};
