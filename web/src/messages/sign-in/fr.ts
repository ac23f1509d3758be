/** Sign-in, second factors and passwords, in French. */
export const signIn = {
  title: 'Connexion',
  sessionEnded: 'Votre session est terminée. Connectez-vous pour revenir à cette page.',
  sessionEndedUnsaved:
    'Votre session est terminée. Votre saisie est conservée, mais pas encore enregistrée. Connectez-vous pour la reprendre.',
  email: 'Adresse électronique',
  password: 'Mot de passe',
  submit: 'Se connecter',
  refused: 'L’adresse ou le mot de passe est faux, ou le compte ne peut pas se connecter. Vérifiez les deux.',
  notKept:
    'Le navigateur n’a pas gardé votre connexion. Ouvrez la console à son adresse https, et autorisez-y les cookies.',
  locked:
    'Trop de connexions échouées. Attendez {minutes, plural, one {# minute} other {# minutes}}, puis reconnectez-vous. Un administrateur peut déverrouiller le compte plus tôt.',
  forgotten: 'Mot de passe oublié ? Un administrateur de votre organisation peut vous en donner un nouveau.',
  forSystems: 'Votre système doit changer son mot de passe ? <link>Changez-le ici</link>',
  secondFactor: 'Confirmez que c’est bien vous',
  expires: 'Il reste une étape, dans les cinq minutes qui suivent le mot de passe.',
  confirm: 'Confirmer',
  ways: {
    totp: 'Utiliser le code de votre application',
    passkey: 'Utiliser une clé d’accès',
    'recovery-code': 'Utiliser un code de secours',
  },
  totpText:
    'Ouvrez votre application d’authentification et saisissez le code qu’elle affiche pour interchange.',
  totpCode: 'Code à six chiffres',
  passkeyText:
    'Votre navigateur demande votre empreinte, votre visage, votre code PIN ou votre clé de sécurité.',
  passkeySubmit: 'Continuer avec une clé d’accès',
  recoveryText:
    'Chaque code de secours sert une seule fois. Vous en avez reçu dix en configurant votre second facteur.',
  recoveryCode: 'Code de secours',
  noCodesLeft:
    'Rien de tout cela sous la main ? Un administrateur peut retirer votre second facteur, et vous en configurerez un nouveau.',
  enrol: 'Configurez un second facteur',
  enrolText:
    'Votre rôle demande un second facteur à chaque connexion, et votre compte n’en a pas encore. Choisissez-en un :',
  changePassword: 'Choisissez un nouveau mot de passe',
  changePasswordText: 'Un administrateur a défini votre mot de passe. Changez-le avant de continuer.',
  oldPassword: 'Mot de passe actuel',
  newPassword: 'Nouveau mot de passe',
  changePasswordSubmit: 'Changer le mot de passe',
};

export const secondFactor = {
  app: 'Application d’authentification',
  appText: 'Une application sur votre téléphone affiche un nouveau code toutes les trente secondes.',
  passkey: 'Clé d’accès',
  passkeyText:
    'Votre appareil confirme que c’est vous : empreinte, visage, code PIN ou clé de sécurité. Rien à saisir.',
  password: 'Votre mot de passe, encore une fois',
  passwordText: 'Pour que personne d’autre ne change vos seconds facteurs en votre absence.',
  next: 'Continuer',
  scan: 'Scannez ceci avec l’application',
  qr: 'Code QR pour l’application d’authentification',
  orType: 'Ou saisissez-y cette clé',
  secret: 'Clé pour l’application',
  code: 'Le code que l’application affiche alors',
  confirm: 'Confirmer l’application',
  passkeyName: 'Nom de la clé d’accès',
  passkeyNameText: 'Pour la reconnaître plus tard, par exemple : portable, clé de sécurité bleue.',
  passkeyCreate: 'Créer la clé d’accès',
  passkeyStopped:
    'Le navigateur s’est arrêté : annulation, délai dépassé, ou clé d’accès déjà présente sur cet appareil.',
  passkeyElsewhere:
    'Les clés d’accès de ce service ne fonctionnent qu’à l’adresse {host}, et cette page est à l’adresse {here}. Ouvrez la console à l’adresse {address}',
  passkeyUnsupported:
    'Ce navigateur ne connaît pas les clés d’accès. Utilisez un autre navigateur ou un autre second facteur.',
  recovery: 'Gardez vos codes de secours',
  recoveryText:
    'Chacun vous connecte une fois, si vous perdez votre second facteur. Ils ne sont affichés que maintenant : gardez-les à l’abri des regards.',
  recoveryCodes: 'Codes de secours',
  download: 'Télécharger un fichier',
  copyAll: 'Copier tous les codes',
  kept: 'Je les ai gardés',
};

export const passwordStrength = {
  rule: 'Au moins 12 caractères. Plusieurs mots en font un bon.',
  typed: '{left, plural, one {Encore un caractère.} other {Encore # caractères.}}',
  short: 'Le mot de passe doit avoir au moins 12 caractères.',
  long: 'Le mot de passe doit avoir au plus 1024 caractères.',
  email: 'Le mot de passe ne doit pas être l’adresse électronique.',
  common: 'Ce mot de passe est l’un des plus courants. Choisissez-en un autre, par exemple plusieurs mots.',
  same: 'Le nouveau mot de passe doit différer de l’ancien.',
  accepted: 'Accepté. Plus long, il serait meilleur.',
  good: 'Bon : long, et peu courant.',
};

export const changePassword = {
  title: 'Changer un mot de passe',
  text: 'Pour le compte d’un système ou d’une personne. Toutes ses sessions se terminent : les systèmes se reconnectent avec le nouveau mot de passe.',
  email: 'Adresse électronique du compte',
  userType: 'Le compte appartient à',
  userTypes: { EHR: 'un système (compte d’intégration)', STAFF: 'une personne' },
  password: 'Mot de passe actuel',
  newPassword: 'Nouveau mot de passe',
  submit: 'Changer le mot de passe',
  refused:
    'L’adresse, le mot de passe actuel ou le genre de compte est faux, ou le compte ne peut pas se connecter. Vérifiez les trois.',
  done: 'Le mot de passe est changé',
  doneText:
    'Toutes les sessions du compte sont terminées. Connectez-vous désormais avec le nouveau mot de passe.',
  toSignIn: 'Vers la connexion à la console',
};

export const setPassword = {
  title: 'Définissez votre mot de passe',
  password: 'Nouveau mot de passe',
  repeated: 'Le même encore une fois',
  show: 'Afficher ce que je tape',
  submit: 'Définir le mot de passe',
  incomplete: 'Cette adresse est incomplète. Ouvrez le lien entier que vous avez reçu.',
  differ: 'Les deux mots de passe diffèrent.',
  done: 'Le mot de passe est défini',
  doneText: 'Utilisez-le désormais pour vous connecter. Vous pouvez fermer cette page.',
};
