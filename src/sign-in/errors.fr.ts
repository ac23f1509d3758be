/** The words of `errors.ts` in French. */
import {
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  type PasswordFault,
} from './credentials/password-fault.ts';

const PASSWORD_RULES: Readonly<Record<PasswordFault, string>> = {
  short: `Le mot de passe doit avoir au moins ${PASSWORD_MIN_LENGTH} caractères.`,
  long: `Le mot de passe doit avoir au plus ${PASSWORD_MAX_LENGTH} caractères.`,
  email: 'Le mot de passe ne doit pas être l’adresse électronique.',
  common: 'Le mot de passe est l’un des plus courants. Choisissez-en un autre, par exemple plusieurs mots.',
  same: 'Le nouveau mot de passe doit différer de l’ancien.',
};

export const french = {
  password_refused: ({ fault }: { fault: PasswordFault }) => PASSWORD_RULES[fault],
  token_refused:
    'Le jeton d’accès n’est pas valable : il a expiré, il a été révoqué, ou ce service ne l’a pas émis. Renouvelez-le et réessayez une fois. Si cela échoue, connectez-vous à nouveau.',
  not_signed_in: 'Vous n’êtes pas connecté, ou la session est terminée. Connectez-vous à la console.',
  refresh_refused:
    'Le jeton de renouvellement est inconnu, expiré, déjà utilisé ou révoqué. Connectez-vous à nouveau.',
  invalid_credentials:
    'L’identité (le userId que donne /auth/verify), le mot de passe ou le type d’utilisateur est faux, ou le compte ne peut pas se connecter. Vérifiez les trois.',
  password_wrong: 'Le mot de passe est faux. Tapez celui avec lequel vous vous connectez aujourd’hui.',
  second_factor_refused:
    'Le second facteur est faux, ou a déjà servi. Prenez le code suivant, ou essayez autrement.',
  totp_exists: 'Ce compte a déjà une application d’authentification. Retirez-la d’abord.',
  nothing_to_confirm: 'Il n’y a rien à confirmer, ou cela a été commencé il y a trop longtemps. Recommencez.',
  passkeys_unavailable:
    'On accède à ce service par une adresse IP, et une clé d’accès est liée à un nom de domaine. Utilisez une application d’authentification, ou demandez un nom de domaine à l’opérateur.',
  passkey_refused:
    'Cette clé d’accès est déjà connue, ou le compte en a 20. Utilisez-en une autre, ou retirez-en d’abord une.',
  second_factor_missing: 'Ce compte n’a pas encore de second facteur. Ajoutez-en d’abord un.',
  setup_link_refused:
    'Ce lien de configuration a déjà servi, a été remplacé ou est trop ancien, ou son compte a été modifié. Demandez-en un nouveau à la personne qui vous l’a donné.',
  sign_in_locked: (_: { retryAfterSeconds: number }) =>
    'Trop de connexions ont échoué. Attendez le nombre de secondes de l’en-tête retry-after, puis reconnectez-vous.',
  clock:
    'L’horloge de ce processus diffère trop de celle de la base de données : il n’émet pas de jetons. Réessayez dans 30 secondes, et prévenez l’opérateur.',
  sign_in_overloaded: 'Trop de connexions sont en cours. Réessayez dans un instant.',
  bad_email: ({ field }: { field: string }) =>
    `${field} n’est pas une adresse électronique. Envoyez-en une, par exemple ris@example.org.`,
  account_exists: 'Il y a déjà un compte avec cette adresse électronique. Utilisez une autre adresse.',
  account_type_refused: ({ userType }: { userType: string }) =>
    `Votre rôle ne gère pas les comptes du type ${userType}. Demandez à un administrateur dont le rôle le fait.`,
};
