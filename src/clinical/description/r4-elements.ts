/**
 * The elements of each R4 resource that the model holds, of parts of them, and of data types that have tables, in the
 * order of the FHIR pages (https://hl7.org/fhir/R4/resourcelist.html). A test compares them with HL7's definitions.
 * What every resource and every element can have, such as `meta` and `text`, is left out: docs/fhir-mapping.md says why it is
 * not kept.
 */
export const R4_ELEMENTS = {
  Encounter:
    'identifier status statusHistory class classHistory type serviceType priority subject episodeOfCare basedOn participant appointment period length reasonCode reasonReference diagnosis account hospitalization location serviceProvider partOf',
  'Encounter.participant': 'type period individual',
  'Encounter.hospitalization':
    'preAdmissionIdentifier origin admitSource reAdmission dietPreference specialCourtesy specialArrangement destination dischargeDisposition',
  'Encounter.location': 'location status physicalType period',
  ServiceRequest:
    'identifier instantiatesCanonical instantiatesUri basedOn replaces requisition status intent category priority doNotPerform code orderDetail quantity[x] subject encounter occurrence[x] asNeeded[x] authoredOn requester performerType performer locationCode locationReference reasonCode reasonReference insurance supportingInfo specimen bodySite note patientInstruction relevantHistory',
  Observation:
    'identifier basedOn partOf status category code subject focus encounter effective[x] issued performer value[x] dataAbsentReason interpretation note bodySite method specimen device referenceRange hasMember derivedFrom component',
  'Observation.referenceRange': 'low high type appliesTo age text',
  'Observation.component': 'code value[x] dataAbsentReason interpretation referenceRange',
  DiagnosticReport:
    'identifier basedOn status category code subject encounter effective[x] issued performer resultsInterpreter specimen result imagingStudy media conclusion conclusionCode presentedForm',
  ImagingStudy:
    'identifier status modality subject encounter started basedOn referrer interpreter endpoint numberOfSeries numberOfInstances procedureReference procedureCode location reasonCode reasonReference note description series',
  'ImagingStudy.series':
    'uid number modality description numberOfInstances endpoint bodySite laterality specimen started performer instance',
  'ImagingStudy.series.instance': 'uid sopClass number title',
  Specimen:
    'identifier accessionIdentifier status type subject receivedTime parent request collection processing container condition note',
  Patient:
    'identifier active name telecom gender birthDate deceased[x] address maritalStatus multipleBirth[x] photo contact communication generalPractitioner managingOrganization link',
  Practitioner: 'identifier active name telecom address gender birthDate photo qualification communication',
  Organization: 'identifier active type name alias telecom address partOf contact endpoint',
  Location:
    'identifier status operationalStatus name alias description mode type telecom address physicalType position managingOrganization partOf hoursOfOperation availabilityExceptions endpoint',
  HumanName: 'use text family given prefix suffix period',
  ContactPoint: 'system value use rank period',
  Address: 'use type text line city district state postalCode country period',
  Identifier: 'use type system value period assigner',
} as const;

export type DescribedType = keyof typeof R4_ELEMENTS;

type Words<Text extends string, Found = never> = Text extends `${infer First} ${infer Rest}`
  ? Words<Rest, Found | First>
  : Found | Text;

/** Names of the elements of a resource or of one of its parts. */
export type R4Element<Type extends DescribedType> = Words<(typeof R4_ELEMENTS)[Type]>;
