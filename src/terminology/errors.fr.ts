/** The words of `errors.ts` in French. */
import type { Words } from '../platform/words/words.ts';

export const french = {
  bad_map_entry: ({ fault }: { fault: Words }) => `La correspondance est refusée : ${fault.fr}.`,
  bad_map_file: ({ fault }: { fault: Words }) => fault.fr,
  bad_request: ({ field, fault }: { field: string; fault: Words }) =>
    `Le paramètre ${field} n’est pas valable : ${fault.fr}.`,
  maps_changed:
    'Les correspondances ont été modifiées après l’aperçu, ou l’aperçu est celui d’une autre importation. Rien n’a été modifié. Regardez de nouveau l’aperçu.',
  not_found:
    'La correspondance est introuvable. Vérifiez localSystem, localCode et targetSystem. level=facility supprime celle de l’établissement de x-facility-id. Sans lui, celle de l’organisation est supprimée.',
  permission_missing: ({ permission }: { permission: string }) =>
    `Ce compte ne peut pas modifier les correspondances de l’organisation, qui valent dans chaque établissement : il n’a pas accès à tous les établissements, ni la permission ${permission}. Pour modifier celles d’un seul établissement, envoyez facilityId dans la correspondance, ou level=facility dans la requête.`,
};
