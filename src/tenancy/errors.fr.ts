/** The words of `errors.ts` in French. */
import type { Module } from './organisations/modules.ts';
import { OWN_CHANGES, type OwnChange } from './own-changes.ts';
import { RECORD_NAMES, type RecordName } from './record-names.ts';

export const french = {
  password_change_required: ({ passwordPage }: { passwordPage: string | undefined }) =>
    passwordPage === undefined
      ? 'Ce compte doit d’abord définir son mot de passe dans l’application web. Ouvrez le lien de configuration, ou demandez-en un à un administrateur.'
      : `Ce compte doit d’abord changer son mot de passe dans l’application web : ouvrez ${passwordPage} dans un navigateur.`,
  session_ended: 'La session est terminée. Connectez-vous à nouveau.',
  sign_in_unfinished:
    'La connexion n’est pas terminée. Lisez GET /console/api/session, qui dit ce qui manque.',
  already_signed_in: 'Cette session est déjà connectée. Déconnectez-vous d’abord.',
  malformed_header: ({ header, repeated }: { header: string; repeated: boolean }) =>
    repeated
      ? `L’en-tête ${header} a été envoyé plusieurs fois, ou avec plusieurs valeurs. Envoyez-le une seule fois, avec un seul UUID.`
      : `L’en-tête ${header} doit être un seul UUID. Envoyez l’identifiant tel qu’il vous a été donné.`,
  facility_missing:
    'x-facility-id manque, et ce compte n’a pas d’établissement par défaut. Envoyez l’identifiant de l’établissement dans cet en-tête.',
  tenancy_refused:
    'Ce compte n’a pas accès à cette organisation ou à cet établissement. Vérifiez x-org-id et x-facility-id.',
  permission_missing: ({ permissions }: { permissions: readonly string[] }) =>
    `Ce compte n’a pas la permission ${permissions.join(' ou ')}. Demandez-la à l’administrateur de l’établissement.`,
  module_disabled: ({ module }: { module: Module }) =>
    `Le module ${module} est désactivé pour cet établissement. Adressez-vous à l’administrateur de l’établissement.`,
  not_found: ({ record }: { record: RecordName }) =>
    `${RECORD_NAMES[record]} est introuvable. Vérifiez l’identifiant. S’il est juste, il appartient peut-être à un autre établissement : vérifiez x-org-id et x-facility-id.`,
  name_length: ({ field, max }: { field: string; max: number }) =>
    `${field} doit avoir de 1 à ${max} caractères.`,
  name_not_one_line: ({ field }: { field: string }) =>
    `${field} doit être une seule ligne de texte, sans caractère de contrôle ni marque qui change le sens du texte.`,
  bad_time_zone: ({ field }: { field: string }) =>
    `${field} doit être un nom de la base des fuseaux horaires de l’IANA, par exemple Africa/Lagos.`,
  role_exists: 'Cette organisation a déjà un rôle de ce nom. Choisissez un autre nom.',
  role_held: 'Des comptes ont ce rôle. Donnez-leur d’abord un autre rôle, puis supprimez-le.',
  last_administrator:
    'Après cette modification, plus personne ne pourrait gérer les personnes et les rôles. Donnez d’abord à une autre personne un rôle avec people.manage et roles.manage.',
  own_account: ({ change }: { change: OwnChange }) =>
    `Personne ne peut ${OWN_CHANGES[change]}. Demandez à un autre administrateur, ou à l’opérateur.`,
  permission_not_held: ({ permissions }: { permissions: readonly string[] }) =>
    `Votre propre rôle n’a pas ${permissions.join(', ')} : vous ne pouvez ni le donner ni le gérer. Demandez à un administrateur qui l’a.`,
  facility_not_held:
    'Cela concerne un établissement auquel votre propre compte n’a pas accès. Demandez à un administrateur de cet établissement.',
};
