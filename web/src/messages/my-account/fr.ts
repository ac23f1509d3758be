/** The page of one's own account, in French. */
export const myAccount = {
  title: 'Mon compte',
  text: 'Votre mot de passe, votre second facteur et vos connexions en cours.',
  password: 'Mot de passe',
  passwordText: 'Vos autres sessions se terminent quand vous le changez ; celle-ci continue.',
  passwordChanged: 'Le mot de passe est changé. Vos autres sessions sont terminées.',
  secondFactor: 'Second facteur',
  required: 'Votre rôle en demande un à chaque connexion.',
  optional:
    'Avec lui, votre mot de passe seul n’ouvre rien. Votre rôle ne le demande pas ; nous le recommandons.',
  app: 'Application d’authentification',
  appOn: 'Configurée',
  none: 'Non configurée',
  setUpApp: 'Configurer une application',
  addPasskey: 'Ajouter une clé d’accès',
  passkeys: 'Clés d’accès',
  noPasskeys: 'Aucune pour l’instant',
  added: 'Ajoutée',
  lastUsed: 'dernière utilisation',
  neverUsed: 'pas encore utilisée',
  remove: 'Retirer',
  removeNamed: 'Retirer : {name}',
  recovery: 'Codes de secours',
  recoveryLeft: '{count, plural, one {Il en reste # sur dix} other {Il en reste # sur dix}}',
  recoveryNone: 'Ils sont créés avec votre premier second facteur.',
  renew: 'Créer de nouveaux codes',
  renewText: 'Dix nouveaux codes. Ceux que vous avez ne valent plus rien.',
  removeAppText:
    'Les codes de l’application ne valent plus rien. Avec le dernier second facteur disparaissent aussi les codes de secours.',
  removePasskeyText:
    'La clé d’accès ne vaut plus rien. Avec le dernier second facteur disparaissent aussi les codes de secours. Retirez-la également de l’appareil.',
  requiredText:
    'Votre rôle demande un second facteur : après le dernier, il faut aussitôt en configurer un autre.',
  removed: 'Retiré.',
  appAdded: 'L’application est configurée. Désormais, un de ses codes est demandé à chaque connexion.',
  passkeyAdded: 'La clé d’accès est ajoutée.',
  sessions: 'Vos connexions en cours',
  sessionsText: 'Terminez ce que vous ne reconnaissez pas, puis changez votre mot de passe.',
  sessionsMore:
    'Il y en a d’autres : seules les 1 000 plus récentes sont affichées. Changez votre mot de passe pour terminer toutes les sessions sauf celle-ci.',
  network: 'Réseau',
  signedIn: 'Connexion',
  used: 'Dernière activité',
  state: 'État',
  thisOne: 'Celle-ci',
};

/** What somebody signed in with. */
export const devices = {
  device: 'Appareil',
  browserOn: '{browser} sous {system}',
  unknownBrowser: 'Un navigateur',
  program: 'Un programme avec des jetons',
  end: 'Terminer',
  ended: 'La session est terminée.',
  endBrowser: 'Terminer la session de {device}, dernière activité le {used}',
  endUnknown: 'Terminer la session d’un navigateur, dernière activité le {used}',
  endProgram: 'Terminer la session d’un programme, dernière activité le {used}',
};
