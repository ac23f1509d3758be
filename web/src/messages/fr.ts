/** The words of the console in French. */

import { accounts, integrationAccount, integrationAccounts, people, person } from './accounts/fr.ts';
import { audit } from './audit/fr.ts';
import type { Catalogue } from './catalogue.ts';
import { exchangeCallbacks, exchangeConnections } from './exchange/connections-fr.ts';
import { exchange } from './exchange/fr.ts';
import { facility } from './facility/fr.ts';
import { imports } from './imports/fr.ts';
import { devices, myAccount } from './my-account/fr.ts';
import { overview } from './overview/fr.ts';
import { patient, patients } from './patients/fr.ts';
import { permissions } from './permissions/fr.ts';
import { publishing } from './publishing/fr.ts';
import { newRole, role, roles } from './roles/fr.ts';
import { changePassword, passwordStrength, secondFactor, setPassword, signIn } from './sign-in/fr.ts';
import { mapChanges, mapEditor, mapImport, terminology, terminologyMaps } from './terminology/fr.ts';

export const fr: Catalogue = {
  shell: {
    skip: 'Aller à la page',
    navigation: 'Pages',
    bar: 'Outils',
    openNavigation: 'Ouvrir la navigation',
    groups: {
      organisation: 'Organisation',
      records: 'Dossiers',
      exchange: 'Échange',
      account: 'Compte',
    },
    facility: 'Établissement',
    facilityTaken: 'Vous ne pouvez plus travailler à {before}. La console montre maintenant {now}.',
    search: 'Aller à, ou faire',
    page: 'Page',
    person: 'Compte : {email}',
    toMyAccount: 'Mon compte',
    colours: 'Couleurs',
    schemes: { light: 'Claires', dark: 'Sombres', auto: 'Comme le système' },
    language: 'Langue',
    languageMissing: 'Les mots de cette langue ne sont pas arrivés. Rechargez la page dans un instant.',
    signOut: 'Se déconnecter',
    signOutFailed: 'Vous êtes toujours connecté : le service n’a pas répondu. Réessayez.',
    missingPermission: 'Votre rôle n’ouvre pas cette page',
    missingPermissionText:
      '{count, plural, one {Elle demande la permission <names></names>.} other {Elle demande l’une des permissions <names></names>.}} Demandez-la à un administrateur de votre organisation.',
    notFound: 'Cette page n’existe pas',
    notFoundText:
      'L’adresse ne mène nulle part. Elle vient peut-être d’une version plus ancienne de la console.',
    toOverview: 'Aller à la vue d’ensemble',
  },
  blocks: {
    loading: 'Chargement',
    retry: 'Réessayer',
    notRead: 'La lecture a échoué',
    notFound: 'Cela n’existe plus, ou relève d’un autre établissement.',
    unreachable: 'Le service est injoignable. Vérifiez votre connexion, puis réessayez.',
    answerLost:
      'La réponse du service n’est pas arrivée. C’est peut-être fait quand même : vérifiez avant de réessayer.',
    answered: 'Le service a répondu {status}. Réessayez dans un instant.',
    consoleFailed: 'La console a échoué. Rechargez la page.',
    codeMissing:
      'Le service n’a pas cette page, bien que la console ait été rechargée. Réessayez dans une minute, ou prévenez l’opérateur.',
    correlationId: 'Pour l’opérateur, l’identifiant de corrélation :',
    cancel: 'Annuler',
    close: 'Fermer',
    showPassword: 'Afficher le mot de passe',
    unsavedTitle: 'Quitter sans enregistrer ?',
    unsavedText: 'Ce que vous avez modifié sur cette page n’est pas enregistré.',
    leave: 'Quitter',
    copied: 'Copié.',
    notCopied: 'Le navigateur n’a pas permis la copie. Sélectionnez le texte et copiez-le vous-même.',
    copyNamed: 'Copier : {name}',
    theValue: 'La valeur {fault}',
    chooseFacility: 'Choisissez au moins un établissement.',
    secretToCome:
      'Cette page attend une réponse du service qui ne sera affichée qu’une fois. Restez ici jusqu’à son arrivée.',
    secretOnce: 'Ceci n’est affiché qu’une fois. Copiez-le maintenant, et gardez-le à l’abri des regards.',
    secretKept: 'Je l’ai gardé',
    dismiss: 'Fermer',
    palette: 'Commandes',
    paletteLabel: 'Tapez une partie du nom',
    paletteNone: 'Rien ne porte ce nom.',
    members: '{count, plural, one {# élément} other {# éléments}}',
    moreMembers: 'et {count, plural, one {# autre} other {# autres}}',
    filters: 'Filtres',
    any: 'Tout',
    clearFilters: 'Effacer les filtres',
    nothingFound: 'Rien ne correspond aux filtres',
    nothingFoundText: 'Changez un filtre, ou effacez-les tous.',
    shown:
      '{more, select, true {{count, plural, one {# ligne pour l’instant} other {# lignes pour l’instant}}} other {{count, plural, one {# ligne} other {# lignes}}}}',
    readMore: 'Afficher la suite',
    readingMore: 'Lecture de la suite',
    rowsNotRead: 'Ces lignes n’ont pas pu être relues.',
    restNotRead: 'Les lignes suivantes n’ont pas pu être lues.',
    named: '{name} : {what}',
    before: 'Avant :',
    after: 'Après :',
  },
  signIn,
  secondFactor,
  passwordStrength,
  changePassword,
  setPassword,
  overview,
  accounts,
  integrationAccounts,
  integrationAccount,
  people,
  person,
  roles,
  newRole,
  role,
  terminology,
  terminologyMaps,
  mapEditor,
  mapImport,
  mapChanges,
  patients,
  patient,
  exchange,
  exchangeConnections,
  exchangeCallbacks,
  permissions,
  publishing,
  imports,
  facility,
  audit,
  devices,
  myAccount,
};
