/** What somebody should look at first, in French. */
export const overview = {
  title: 'Vue d’ensemble',
  text: 'Ce qui vous attend à {facility}, et ce qui y est passé.',
  attention: 'À traiter',
  calm: 'Rien ne vous attend',
  calmText:
    'Les envois retenus, les échecs, les codes sans code standard et les comptes en attente apparaîtraient ici, dans la mesure où votre rôle les ouvre.',
  count: '{more, select, true {plus de {count}} other {{count}}}',
  kinds: {
    'held-deliveries': {
      name: 'Envois retenus',
      text: 'Une plateforme d’échange ne les a pas pris, ou le service ne peut pas les envoyer. Regardez le motif, puis renvoyez-les ou ignorez-les.',
      link: 'Les examiner',
    },
    'exchanges-down': {
      name: 'Plateformes où les envois échouent',
      text: 'Elles ne répondent pas, ou répondent à chaque message par un échec. Les envois attendent et sont réessayés d’eux-mêmes. Si cela dure, testez la connexion.',
      link: 'Voir les connexions',
    },
    'failing-targets': {
      name: 'Cibles de publication en échec',
      text: 'La dernière publication vers ces serveurs FHIR a échoué. Voyez pourquoi, puis publiez de nouveau.',
      link: 'Voir les échecs',
    },
    'rejected-imports': {
      name: 'Importations incomplètes',
      text: 'Ces sept derniers jours, des dossiers ou des fichiers ont été rejetés, ou une importation s’est arrêtée en chemin. Le rapport dit lesquels, et pourquoi. Chacune compte sept jours, même si son fichier a été importé de nouveau depuis. La liste en montre aussi de plus anciennes.',
      link: 'Lire les rapports',
    },
    'unmapped-codes': {
      name: 'Codes sans code standard',
      text: 'Les résultats portant ces codes locaux partent, mais d’autres risquent de ne pas les comprendre. Associez-les.',
      link: 'Les associer',
    },
    'accounts-must-change-password': {
      name: 'Comptes devant changer de mot de passe',
      text: 'D’ici là, ils ne peuvent rien faire. Envoyez l’adresse de la page au partenaire d’un système. Les personnes le font à leur prochaine connexion.',
      link: 'Voir les systèmes',
    },
    'accounts-require-password-setup': {
      name: 'Comptes encore sans mot de passe',
      text: 'Leur lien de configuration n’a pas servi. Un lien prend fin 72 heures après sa création ; réinitialisez alors le mot de passe pour en créer un autre.',
      link: 'Voir les systèmes',
    },
  },
  /** Beside the link of a kind of account, which leads to those of systems. */
  seePeople: 'Voir les personnes',
  activity: 'Activité',
  activityText: 'Heure par heure, dans le fuseau horaire de l’établissement ({zone}).',
  period: 'Période',
  periods: { '24': 'Dernières 24 heures', '168': '7 derniers jours' },
  hour: 'Heure à partir de',
  none: 'Rien sur cette période',
  series: {
    calls: 'Appels des systèmes et de la console',
    publishes: 'Publications',
    deliveries: 'Envois aux plateformes',
  },
  /** After a number, and as headings. */
  parts: {
    answered: '{count, plural, one {abouti} other {aboutis}}',
    refused: '{count, plural, one {refusé (4xx)} other {refusés (4xx)}}',
    failed: 'en échec',
    published: '{count, plural, one {réussie} other {réussies}}',
    delivered: '{count, plural, one {livré} other {livrés}}',
    attemptsFailed: '{count, plural, one {essai en échec} other {essais en échec}}',
  },
  firstSteps: 'Les trois premières étapes',
  firstStepsText:
    'Aucun système n’a encore de compte à {facility}. S’il y en a un ailleurs dans l’organisation, une personne qui gère les deux établissements peut ajouter celui-ci à son compte.',
  steps: {
    account: {
      name: 'Créer un compte d’intégration',
      text: 'Chaque système qui appelle a le sien. Vous recevez un guide de démarrage à envoyer au partenaire.',
      link: 'Créer un compte',
    },
    import: {
      name: 'Importer des dossiers',
      text: 'Des patients et leurs résultats, depuis des fichiers FHIR. Déposez un fichier et voyez d’abord ce qui changerait.',
      link: 'Importer un fichier',
    },
    map: {
      name: 'Associer les codes locaux',
      text: 'Donnez aux codes de votre laboratoire leur code standard, pour que les résultats soient compris ailleurs.',
      link: 'Associer des codes',
    },
  },
  nothingForRole: 'Votre rôle n’a pas de vue d’ensemble',
  nothingForRoleText: 'La navigation contient les pages que votre rôle ouvre.',
};
