/** The words of the pages about connections to exchanges, and about their callbacks, in French. */
import type { Catalogue } from '../catalogue.ts';

// What comes after "Elle est joignable, mais", by the status that the exchange answered.
const WRONG_PATH =
  'n’a rien à ce chemin. Le chemin de l’adresse est probablement faux : vérifiez-le d’abord. S’il est juste, adressez-vous à l’opérateur de la plateforme.';
const PAUSE = 'demande une pause. Refaites le test dans une minute.';
const EVENT_NOT_TAKEN =
  'n’accepte pas l’événement connection.test ; cela ne concerne pas forcément les envois.';

export const exchangeConnections: Catalogue['exchangeConnections'] = {
  title: 'Connexions d’échange',
  text: 'Où partent les modifications des patients de cet établissement.',
  list: 'Connexions',
  create: 'Se connecter à une plateforme',
  empty: 'Cet établissement n’a pas de connexion',
  emptyText:
    'Une connexion envoie chaque modification d’un patient de cet établissement à une plateforme d’échange. Demandez à la plateforme son adresse et votre identifiant de client.',
  name: 'Nom',
  nameHelp: 'Comment vous appelez la plateforme ici.',
  address: 'Adresse',
  addressHelp: 'Où partent les messages. Elle commence par https://.',
  clientId: 'Identifiant de client',
  clientIdHelp: 'Sous quel nom la plateforme vous connaît. C’est elle qui vous le donne.',
  facilities: 'Établissements',
  facilitiesHelp: 'Les modifications de leurs patients sont envoyées.',
  facilitiesEditHelp:
    'Les modifications de leurs patients sont envoyées. Ce qui attend encore pour un établissement que vous retirez est alors retenu : à vous de décider.',
  allFacilities: 'Tous ceux de l’organisation',
  state: 'État',
  states: { up: 'Activée', down: 'Envois en échec', disabled: 'Désactivée' },
  held: '{count, plural, one {# retenu} other {# retenus}}',
  downSince:
    'Depuis {since}, la plateforme ne répond pas, ou répond à chaque message par un échec tel que 401 ou 503. Un message à la fois est essayé jusqu’à ce que cela cesse.{may, select, true { Envoyez un test pour voir ce qu’elle répond.} other {}}',
  secretWaits: 'Nouveau secret en attente',
  created: 'Créée',
  createSubmit: 'Se connecter',
  keepTitle: 'Donnez ceci à la plateforme',
  keepText:
    'La plateforme vérifie nos messages avec le secret d’envoi, et signe ses réponses avec le secret de réponse. Transmettez-lui les deux, et l’adresse de réponse, par une voie sûre. Les patients déjà présents sont envoyés à leur prochaine modification ; l’opérateur peut les envoyer tous maintenant.',
  rotatedText:
    'Donnez les nouveaux secrets à la plateforme. Les réponses signées avec l’ancien secret sont encore acceptées pendant le temps choisi.',
  rotatedWaits:
    'Les messages sont signés avec l’ancien secret jusqu’à ce que vous activiez le nouveau sur cette page : faites-le quand la plateforme l’a reçu.',
  rotatedDiscarded: 'Un nouveau secret précédent, qui attendait, a été jeté. Il n’a jamais servi.',
  outboundSecret: 'Secret d’envoi',
  callbackSecret: 'Secret de réponse',
  callbackUrl: 'Adresse de réponse',
  back: 'Toutes les connexions',
  forExchange: 'Ce que la plateforme sait',
  forExchangeText:
    'Les secrets ne sont affichés qu’à leur création. {may, select, true {S’ils sont perdus, renouvelez-les.} other {S’ils sont perdus, demandez à une personne qui peut modifier cette connexion de les renouveler.}}',
  callbackHeader: 'En-tête de la signature',
  callbackHeaderHelp: 'L’en-tête dans lequel la plateforme signe ses réponses.',
  identifierSystem: 'Système des identifiants attribués',
  identifierSystemHelp: 'Un URI. Les identifiants que la plateforme donne aux patients sont gardés sous lui.',
  settings: 'Réglages',
  edit: 'Modifier',
  purpose: 'Finalité',
  purposeHelp: 'Les patients qui s’opposent à cette finalité ne sont pas envoyés.',
  maxInFlight: 'Requêtes simultanées',
  timeout: 'Délai d’attente',
  timeoutMs: 'Délai d’attente en millisecondes',
  timeoutValue: '{ms, number} ms',
  save: 'Enregistrer',
  saved: 'La connexion est enregistrée.',
  savedElsewhere:
    'La connexion est enregistrée. Elle ne couvre plus {facility}. Pour la voir, choisissez en haut l’un de ses établissements.',
  coversAll:
    'Elle couvre tous les établissements de l’organisation. Seules les personnes qui ont accès à tous peuvent la modifier ou la tester.',
  coversOthers:
    'Cette connexion couvre aussi des établissements auxquels vous n’avez pas accès : vous ne pouvez ni la modifier ni la tester. Adressez-vous à une personne qui a accès à tous, ou à l’opérateur.',
  secrets: 'Secrets',
  secretsText: 'Ils ne sont plus jamais affichés après leur création.',
  directions: { outbound: 'Envoi', callback: 'Réponse' },
  secretStates: {
    waiting: 'Attend l’activation',
    planned: 'Commence plus tard',
    active: 'Utilisé',
    ending: 'Valable jusqu’à',
    ended: 'Terminé le',
  },
  made: 'Créé',
  lastUsed: 'Dernier usage',
  never: 'Pas encore',
  deliveries: 'Afficher ses envois',
  lastTries: 'Voir ce que les derniers essais ont donné.',
  resync: 'Patients pas encore envoyés',
  resyncText:
    'Les patients qui étaient là avant la connexion, ou qui ont été modifiés pendant qu’elle était désactivée, sont envoyés à leur prochaine modification. Pour les envoyer maintenant, demandez à l’opérateur d’exécuter cette commande.',
  command: 'Commande',
  rotate: 'Renouveler les secrets',
  rotateText:
    'Crée de nouveaux secrets. Les messages sont signés avec l’ancien jusqu’à ce que vous activiez le nouveau : rien ne se perd entre-temps.',
  rotateWhich: 'Lesquels',
  rotateBoth: 'Les deux secrets',
  rotateOutbound: 'Envoi seulement : signe nos messages',
  rotateCallback: 'Réponse seulement : signe ce que la plateforme renvoie',
  overlap: 'Heures pendant lesquelles les anciennes signatures de réponse restent acceptées',
  overlapHelp:
    '0 : les deux anciens secrets cessent aussitôt. Choisissez cela quand un secret est connu d’autres personnes.',
  rotateSubmit: 'Créer de nouveaux secrets',
  activate: 'Activer le nouveau secret',
  activateTitle: 'Signer désormais avec le nouveau secret ?',
  activateText: 'Faites-le quand la plateforme a le nouveau secret. L’ancien ne sert plus.',
  activateAction: 'Activer',
  activated: 'Les messages sont désormais signés avec le nouveau secret.',
  enable: 'Activer',
  enabled: 'La connexion est activée.',
  disable: 'Désactiver',
  disableTitle: 'Désactiver {name} ?',
  disableText:
    'Rien ne part tant qu’elle est désactivée. Les modifications des patients ne sont pas mises en file, et les réponses de la plateforme sont refusées.',
  disabled: 'La connexion est désactivée.',
  test: 'Envoyer un test',
  testTitle: 'Test de {name}',
  testText: 'Un message signé, sans données de patient. Les envois ne sont pas touchés.',
  testSending: 'En attente de la plateforme',
  testResult: 'Résultat',
  testTaken: 'Accepté',
  testNotTaken: 'Non accepté',
  testAnswer: 'Réponse',
  testNoAnswer: 'Aucune',
  testTime: 'Durée',
  testMessage: 'Ce que cela signifie',
  testResults: {
    taken: 'La plateforme a accepté le message de test.',
    'not-authorised':
      'La plateforme a répondu {status}. Vérifiez l’identifiant de client, le secret d’envoi et l’horloge de la plateforme.',
    redirected:
      'La plateforme a répondu {status}. Les redirections ne sont pas suivies : corrigez l’adresse.',
    failing:
      'La plateforme a répondu {status}. {status, select, 501 {Elle est joignable, mais n’accepte pas les requêtes POST. Vérifiez d’abord l’adresse : elle mène peut-être à un autre serveur.} other {Elle ne fonctionne pas normalement : adressez-vous à son opérateur.}}',
    'not-taken': `La plateforme a répondu {status}. Elle est joignable, mais {status, select,
      404 {${WRONG_PATH}} 410 {${WRONG_PATH}}
      405 {${EVENT_NOT_TAKEN} Si elle les refuse aussi, vérifiez le chemin de l’adresse.}
      408 {${PAUSE}} 425 {${PAUSE}} 429 {${PAUSE}}
      415 {n’accepte pas le JSON, le format des envois. Adressez-vous à son opérateur.}
      other {${EVENT_NOT_TAKEN}}}`,
    unanswered: 'La plateforme n’a pas répondu ({cause}). Adressez-vous à son opérateur.',
    unreachable:
      'La plateforme n’a pas pu être jointe ({cause}). Vérifiez l’adresse, le réseau et le certificat.',
    'address-refused':
      'L’adresse de la connexion n’est pas autorisée, rien n’a donc été envoyé. Corrigez l’adresse ou demandez à l’opérateur.',
  },
  testAgain: 'Envoyer à nouveau',
  testTooSoon:
    'Cette connexion vient d’être testée. Attendez {seconds, plural, one {# seconde} other {# secondes}}, puis envoyez à nouveau.',
};

export const exchangeCallbacks: Catalogue['exchangeCallbacks'] = {
  title: 'Réponses des plateformes',
  text: 'Ce que les plateformes ont dit des messages reçus, du plus récent au plus ancien.',
  list: 'Réponses',
  empty: 'Aucune plateforme n’a encore répondu',
  emptyText:
    'Une plateforme confirme chaque message par une réponse. Donnez-lui l’adresse de réponse de la connexion.',
  status: 'Réponse',
  statuses: { accepted: 'Accepté', rejected: 'Rejeté' },
  outcome: 'Résultat',
  outcomes: { applied: 'Gardée', conflict: 'Conflit' },
  conflictHelp:
    'Conflit : la plateforme avait déjà donné un autre identifiant au patient. Rien n’a été changé. Demandez-lui lequel est juste.',
  assignedId: 'Id attribué',
  message: 'Message',
  received: 'Reçue',
  delivery: 'Envoi',
  toDelivery: 'Ouvrir l’envoi',
};
