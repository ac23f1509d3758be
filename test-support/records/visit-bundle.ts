/** Bundles of the records of one visit each, for tests that fill an organisation. */

/** A patient with a visit, results with their report and a study, and vital signs; all named by `source` and `number`. */
export function visitEntries(source: string, number: number): { resource: object }[] {
  const name = (type: string, more = '') => `${type}-${source}-${number}${more}`;
  const about = (type: string) => ({ reference: `${type}/${name(type)}` });
  const day = new Date(Date.UTC(2020, 0, 1 + number)).toISOString();
  const identifier = (type: string) => [{ system: 'urn:oid:1.2.3', value: name(type, '-identifier') }];
  const clinical = (resourceType: string, more: object) => ({
    resourceType,
    status: 'final',
    identifier: identifier(resourceType),
    subject: about('Patient'),
    encounter: about('Encounter'),
    ...more,
  });
  const laboratory = [
    {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }],
    },
  ];
  const observations = ['-a', '-b', '-c'].map((more) => ({
    ...clinical('Observation', { category: laboratory, code: { text: 'Test' }, effectiveDateTime: day }),
    id: name('Observation', more),
    identifier: [{ system: 'urn:oid:1.2.3', value: name('Observation', more) }],
    valueString: 'x',
  }));
  const vitalSigns = ['8867-4', '8310-5'].map((code) => ({
    ...clinical('Observation', { code: { coding: [{ system: 'http://loinc.org', code }] } }),
    id: name('Observation', `-${code}`),
    effectiveDateTime: day,
    identifier: undefined,
  }));
  const resources = [
    {
      resourceType: 'Patient',
      id: name('Patient'),
      identifier: identifier('Patient'),
      name: [{ family: name('Patient'), given: ['Ada'] }],
      birthDate: '1980-01-01',
    },
    {
      resourceType: 'Practitioner',
      id: name('Practitioner'),
      identifier: identifier('Practitioner'),
      name: [{ family: name('Practitioner') }],
    },
    {
      resourceType: 'Encounter',
      id: name('Encounter'),
      identifier: identifier('Encounter'),
      status: 'finished',
      class: { code: 'AMB' },
      subject: about('Patient'),
      period: { start: day, end: day },
      participant: [
        { individual: about('Practitioner') },
        {
          individual: {
            reference: `Practitioner?identifier=urn:oid:1.2.3|${name('Practitioner', '-identifier')}`,
          },
        },
      ],
    },
    ...observations,
    ...vitalSigns,
    {
      ...clinical('ImagingStudy', { status: 'available' }),
      id: name('ImagingStudy'),
      subject: { type: 'Patient', identifier: identifier('Patient')[0] },
      encounter: { type: 'Encounter', identifier: identifier('Encounter')[0] },
    },
    {
      ...clinical('DiagnosticReport', { category: laboratory, code: { text: 'Panel' } }),
      id: name('DiagnosticReport'),
      result: observations.map(({ id }) => ({ reference: `Observation/${id}` })),
    },
  ];
  return resources.map((resource) => ({ resource }));
}
