/** The words of `errors.ts` in French. */
export const french = {
  purpose_refused:
    'Le réglage de confidentialité du patient refuse cette finalité d’usage (OPS, si vous n’en avez envoyé aucune). Ne réessayez pas avec la même finalité.',
  access_log:
    'Le journal d’accès n’a pas pu être écrit : les données ne sont donc pas transmises. Réessayez dans un instant.',
  bad_filter: ({ field, kind }: { field: string; kind: 'account' | 'date' }) =>
    kind === 'account'
      ? `${field} doit être l’identifiant ou l’adresse électronique d’un seul compte.`
      : `${field} doit être une date qui existe, sous la forme AAAA, AAAA-MM ou AAAA-MM-JJ, ou une date avec heure et fuseau (un + s’y envoie comme %2B).`,
};
