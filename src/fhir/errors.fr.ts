/** The words of `errors.ts` in French. */
export const french = {
  not_acceptable:
    'Cet appel ne répond qu’en application/fhir+json. Envoyez Accept: application/fhir+json, ou _format=json.',
};
