/** What nobody may do to their own account, by its English words: a 409 names it in the language of the caller. */
export const OWN_CHANGES = {
  'disable their own account': 'désactiver son propre compte',
  'reset the password of their own account': 'réinitialiser le mot de passe de son propre compte',
  'change the role of their own account': 'changer le rôle de son propre compte',
  'take the last facility from their own account': 'retirer le dernier établissement de son propre compte',
  'remove the second factors of their own account here':
    'retirer ici les seconds facteurs de son propre compte',
} as const;

export type OwnChange = keyof typeof OWN_CHANGES;
