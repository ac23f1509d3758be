/** The words of `errors.ts` in French. */
export const french = {
  not_acceptable:
    'Cet appel ne répond qu’en application/fhir+json. Envoyez Accept: application/fhir+json, ou _format=json.',
  fhir_release:
    'Le type de contenu nomme une autre version de FHIR. Cet appel accepte FHIR R4. Envoyez du R4 avec fhirVersion=4.0, ou omettez fhirVersion.',
};
