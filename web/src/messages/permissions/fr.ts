/** What each permission of the service allows, below its name, in French: the dots of a name are the levels here. */
import type { Catalogue } from '../catalogue.ts';

export const permissions: Catalogue['permissions'] = {
  patients: {
    patients: {
      list: 'Rechercher des patients',
      get: 'Lire un patient',
      write: 'Créer et modifier des patients',
      register: 'Rattacher à cet établissement un patient d’un autre établissement de l’organisation',
    },
    'access-log': { read: 'Lire le journal d’accès d’un patient' },
    privacy: { manage: 'Modifier les finalités d’usage qu’un patient refuse' },
  },
  encounters: {
    access: 'Lire et rechercher des venues en FHIR',
    fhir: {
      encounter: { search: 'Rechercher des venues en FHIR', read: 'Lire une venue en FHIR' },
    },
    write: 'Créer et modifier des venues',
    vitals: { read: 'Lire les signes vitaux', manage: 'Saisir et publier des signes vitaux' },
  },
  investigations: {
    lab: {
      list: 'Lire les demandes, résultats et comptes rendus de laboratoire',
      write: 'Saisir des demandes et des résultats de laboratoire',
      release: 'Valider et publier des comptes rendus de laboratoire',
    },
    imaging: {
      list: 'Lire les demandes et comptes rendus d’imagerie',
      write: 'Saisir et publier des demandes et des comptes rendus d’imagerie',
    },
  },
  publish: { publications: { read: 'Voir ce qui a été publié et l’état des cibles' } },
  records: { import: 'Importer des dossiers FHIR' },
  terminology: {
    maps: {
      read: 'Lire les correspondances de terminologie',
      manage: 'Modifier les correspondances de terminologie',
      organisation:
        'Modifier les correspondances de l’organisation sans avoir accès à tous ses établissements ; « Modifier les correspondances de terminologie » est également nécessaire',
    },
  },
  exchange: {
    connections: { manage: 'Gérer les connexions aux plateformes d’échange' },
    deliveries: {
      read: 'Examiner les envois',
      replay: 'Renvoyer ou ignorer les envois retenus',
      payload: 'Lire le contenu d’un envoi',
    },
  },
  accounts: { manage: 'Gérer les comptes d’intégration' },
  people: { manage: 'Gérer les comptes des personnes' },
  roles: { manage: 'Gérer les rôles' },
  facilities: { manage: 'Modifier le nom, le fuseau horaire et les modules des établissements' },
  administration: { audit: { read: 'Voir qui a modifié quoi dans l’administration' } },
};
