/** Name, time zone and modules of a facility, in French. */
export const facility = {
  title: 'Établissement',
  text: 'Son nom, son fuseau horaire et les parties du service qui y sont actives.',
  noFacility: 'Votre compte n’a pas d’établissement',
  noFacilityText: 'Demandez à un administrateur de lui en donner un.',
  general: 'Général',
  name: 'Nom',
  timeZone: 'Fuseau horaire',
  timeZoneText:
    'Les dates sans fuseau y sont lues et affichées. Après un changement, importez de nouveau les dossiers : leurs dates ont été lues dans le fuseau d’avant. Exemple : Africa/Lagos.',
  id: 'Identifiant de l’établissement',
  idText: 'Les systèmes l’envoient dans l’en-tête x-facility-id.',
  save: 'Enregistrer',
  saved: 'Enregistré. Cela vaut dès le prochain appel.',
  modules: 'Modules',
  modulesText:
    'Ce que les systèmes peuvent faire dans cet établissement. Désactiver un module n’efface rien.',
  turnOff: 'Désactiver {name} ?',
  turnOffAction: 'Désactiver',
  turnedOn: '{name} : activé.',
  turnedOff: '{name} : désactivé.',
  stopNow: 'Dès le prochain appel :',
  kept: 'Les dossiers restent. Vous pouvez réactiver le module à tout moment.',
  module: {
    patients: {
      name: 'Patients',
      text: 'Les systèmes listent, trouvent et lisent les patients ; des fichiers sont importés.',
      stops: 'Les appels sur les patients et les importations sont refusés (403).',
    },
    encounters: {
      name: 'Venues',
      text: 'Les systèmes lisent les venues au format FHIR.',
      stops: 'Les appels sur les venues sont refusés (403).',
    },
    vitals: {
      name: 'Signes vitaux',
      text: 'Les systèmes lisent ce qui a été mesuré chez un patient.',
      stops: 'Les appels sur les signes vitaux sont refusés (403), et aucun n’est publié.',
    },
    lab: {
      name: 'Laboratoire',
      text: 'Les systèmes lisent les demandes, prélèvements et résultats du laboratoire.',
      stops: 'Les appels sur les demandes de laboratoire sont refusés (403), et aucune n’est publiée.',
    },
    imaging: {
      name: 'Imagerie',
      text: 'Les systèmes lisent les demandes, examens et comptes rendus d’imagerie.',
      stops: 'Les appels sur les demandes d’imagerie sont refusés (403), et aucune n’est publiée.',
    },
    publish: {
      name: 'Publication',
      text: 'Les demandes et les signes vitaux sont envoyés à des serveurs FHIR.',
      stops: 'Rien n’est publié vers les serveurs FHIR ; ces appels sont refusés (403).',
    },
    exchange: {
      name: 'Échange',
      text: 'Les modifications des patients sont livrées aux plateformes d’échange.',
      stops:
        'Rien de nouveau n’est mis en file. Ce qui s’y trouve attend que le module soit réactivé. Les modifications faites entre-temps ne sont pas envoyées plus tard.',
    },
  },
};
