/** The words of `errors.ts` in French. */
export const french = {
  bad_status_system: ({ system }: { system: string }) =>
    `status a un système inconnu. Utilisez ${system}, ou aucun système.`,
  two_patients: 'patient et subject désignent des patients différents. N’en envoyez qu’un.',
  several_ids: '_id a plusieurs identifiants. Envoyez une requête pour chaque Encounter.',
  modifier: ({ parameter }: { parameter: string }) =>
    `${parameter} a un modificateur, ce qui suit les deux-points. Cette recherche n’en connaît aucun. Envoyez ${parameter} seul.`,
  bad_date: ({ part }: { part: 'prefix' | 'date' }) =>
    part === 'prefix'
      ? 'date a un préfixe inconnu. Utilisez ge, le, eq ou aucun préfixe.'
      : 'date doit être une date qui existe, sous la forme AAAA, AAAA-MM ou AAAA-MM-JJ, ou une date avec heure et fuseau (un + s’y envoie comme %2B), après le préfixe ge, le, eq ou aucun.',
};
