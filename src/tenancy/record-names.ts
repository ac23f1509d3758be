/** What is not found, by its English name: a 404 names it in the language of the caller. */
export const RECORD_NAMES = {
  'The record': 'La donnée',
  'The patient': 'Le patient',
  'The encounter': 'La venue',
  'The vital set': 'Le relevé de signes vitaux',
  'The order': 'La demande',
  'The laboratory order': 'La demande de laboratoire',
  'The imaging order': 'La demande d’imagerie',
  'The ServiceRequest': 'La ressource ServiceRequest',
  'The Specimen': 'La ressource Specimen',
  'The Observation': 'La ressource Observation',
  'The ImagingStudy': 'La ressource ImagingStudy',
  'The DiagnosticReport': 'La ressource DiagnosticReport',
  'The import': 'L’importation',
  'The role': 'Le rôle',
  'The facility': 'L’établissement',
  'The account': 'Le compte',
  'The session': 'La session',
  'The passkey': 'La clé d’accès',
  'The authenticator app': 'L’application d’authentification',
  'The connection': 'La connexion',
  'The delivery': 'L’envoi',
  'A delivery': 'Un envoi',
} as const;

export type RecordName = keyof typeof RECORD_NAMES;
