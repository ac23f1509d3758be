/**
 * Words that may be repeated of what a target says about a refusal: none that could be a finding or a name.
 * Contract: PUB-29.
 */

/** FHIR R4, value set "issue-type". */
export const ISSUE_TYPES: ReadonlySet<string> = words(`
  invalid structure required value invariant security login unknown expired forbidden suppressed processing
  not-supported duplicate multiple-matches not-found deleted too-long code-invalid extension too-costly
  business-rule conflict transient lock-error no-store exception timeout incomplete throttled informational
`);

/**
 * In lower case. Not among them, however often servers write them: what is also a name (`Max`, `Will May`, `An Do`) or
 * a finding (`large`, `expired`, `resolved`, `failure`).
 */
export const KNOWN_WORDS: ReadonlySet<string> = words(`
  a and any are as at be been by cannot can't could did does doesn't don't each for from had has have if in into
  is isn't it its more must no none not of on one only or other same should than that the their there these this
  to was were when which while with without would you your

  access accepted account allow allowed already another api assigned attribute authentication authorization
  authorized bad base because before binding body bundle cardinality cause change check client code codes coding
  conditional conflict constraint contain contains content create created creating creation credentials current
  database data date datatype default defined delete deleted denied does duplicate element elements enabled
  enforce enforced error errors etag exception exceeded exist existing exists expected extension extra fail failed
  fhir field fields find forbidden format found given header http id identifier ids ignored illegal incoming
  incorrect index information integrity internal invalid issue issues json known least length limit literal
  location logical lookup malformed many mandatory match matched matches matching maximum media message meta
  method minimum mismatch missing modified multiple name need needed never new null number object occurred
  operation outcome parameter parse parsed parser parsing path pattern payload permission permitted please policy
  problem processing profile properties property provide provided query quota rate read reason received reference
  referenced references referential refused regex rejected relative remove repeat repeats request requests require
  required requires resolve resource resources response retry revision rule schema search security see send server
  service set size specified specify state status storage store stored string structure such support supported
  syntax system tag temporarily text timeout token too transaction type types unable unauthorized unavailable
  unexpected unique unknown unprocessable unrecognised unrecognized unresolved unsupported update updated updates
  uri url use used user valid validate validated validation validator value values version versioned versions
  violated violates violation wait warning write wrong xml

  quantity codeableconcept coding reference identifier period range ratio instant decimal integer boolean

  account allergyintolerance bundle careplan condition device devicerequest diagnosticreport encounter
  imagingstudy location medicationrequest observation operationoutcome organization patient practitioner
  practitionerrole procedure provenance servicerequest specimen structuredefinition valueset codesystem
`);

/** Names that are written with capitals, exactly as they are written: FHIR types, and a few others. */
export const CAPITALISED_NAMES: ReadonlySet<string> = words(`
  AllergyIntolerance Bundle CarePlan Condition Device DeviceRequest DiagnosticReport Encounter ImagingStudy Location
  MedicationRequest Observation OperationOutcome Organization Patient Practitioner PractitionerRole Procedure
  Provenance ServiceRequest Specimen StructureDefinition ValueSet CodeSystem

  CodeableConcept Coding Identifier Period Quantity Range Ratio Reference ofType

  FHIR HTTP JSON XML URL URI
`);

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ''));
}
