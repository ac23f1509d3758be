import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkEntry, type GivenEntry } from './map-entry.ts';

const LOINC = 'http://loinc.org';
const good: GivenEntry = {
  localSystem: 'urn:oid:1.2.3',
  localCode: 'HGB',
  targetSystem: LOINC,
  targetCode: '718-7',
};

function faultOf(given: GivenEntry): string {
  const checked = checkEntry({ ...good, ...given });
  return 'fault' in checked ? checked.fault.en : '';
}

describe('an entry that is taken', () => {
  test('has null for what was left out, and equivalent as its equivalence', () => {
    assert.deepEqual(checkEntry({ ...good, localDisplay: ' ', localSystem: null }), {
      entry: {
        localSystem: '',
        localCode: 'HGB',
        localDisplay: null,
        targetSystem: LOINC,
        targetCode: '718-7',
        targetDisplay: null,
        equivalence: 'equivalent',
        comment: null,
      },
    });
  });
  test('loses white space around its fields', () => {
    const checked = checkEntry({ ...good, localCode: ' HGB\t', targetDisplay: ' Hemoglobin\r\n' });
    assert.ok('entry' in checked);
    assert.deepEqual([checked.entry.localCode, checked.entry.targetDisplay], ['HGB', 'Hemoglobin']);
  });
  test('may have any well-formed target system', () => {
    for (const targetSystem of [
      'http://snomed.info/sct',
      'urn:oid:2.16.840.1',
      'https://example.org/a?b#c',
      'urn:ietf:bcp:47',
    ])
      assert.equal(faultOf({ targetSystem, targetCode: 'x' }), '', targetSystem);
  });
  test('may say that there is no target [TERM-5]', () => {
    assert.equal(faultOf({ equivalence: 'unmatched', targetCode: null }), '');
  });
});

test('an entry that no answer would ever follow is refused [TERM-15]', () => {
  for (const localSystem of [LOINC, 'http://terminology.hl7.org/CodeSystem/v2-0078'])
    assert.match(
      faultOf({ localSystem, targetSystem: 'http://snomed.info/sct', targetCode: '1' }),
      /^local system is one that no map starts from/,
      localSystem,
    );
  const snomed = 'http://snomed.info/sct';
  assert.equal(faultOf({ localSystem: snomed }), '');
  assert.match(
    faultOf({ localSystem: snomed, targetSystem: snomed, targetCode: '1' }),
    /^target system is the local system/,
  );
});

test('a known system in any other writing is refused, and told how it is written', () => {
  const writings: Record<string, string[]> = {
    'http://loinc.org': [
      'https://loinc.org/',
      'http://LOINC.org',
      'HTTP://loinc.org',
      'https://www.LOINC.org//',
      'http://loinc.org/',
      'loinc.org',
      'http://loinc.org|2.77',
      'loinc',
      'URN:OID:2.16.840.1.113883.6.1',
    ],
    'http://snomed.info/sct': ['https://www.snomed.info/sct/', 'http://snomed.info/SCT', 'SNOMED'],
    'http://unitsofmeasure.org': ['https://unitsofmeasure.org/', 'UCUM', 'urn:oid:2.16.840.1.113883.6.8'],
    'http://www.nlm.nih.gov/research/umls/rxnorm': ['https://nlm.nih.gov/research/umls/rxnorm/'],
    'http://dicom.nema.org/resources/ontology/DCM': ['http://dicom.nema.org/resources/ontology/dcm'],
    'http://hl7.org/fhir/sid/icd-10': ['https://hl7.org/fhir/sid/icd-10'],
    'http://terminology.hl7.org/CodeSystem/v3-ActCode': [
      'https://terminology.hl7.org/CodeSystem/v3-ActCode',
      'http://terminology.hl7.org/CodeSystem/v3-actcode',
    ],
    'http://terminology.hl7.org/CodeSystem/v3-ParticipationType': [
      'http://terminology.hl7.org/CodeSystem/V3-ParticipationType/',
    ],
  };
  for (const [system, others] of Object.entries(writings)) {
    for (const targetSystem of others)
      assert.equal(
        faultOf({ targetSystem, targetCode: '718-8' }),
        `target system must be written ${system}`,
        targetSystem,
      );
    assert.doesNotMatch(faultOf({ targetSystem: system, targetCode: '1' }), /must be written/, system);
  }
});

test('a system that only begins like a known one is another', () => {
  for (const targetSystem of [
    'https://loinc.org.example',
    'http://loinc.org/vs',
    'http://snomed.info/sct/11000146104',
  ])
    assert.equal(faultOf({ targetSystem, targetCode: 'x' }), '', targetSystem);
});

describe('an entry that is refused', () => {
  const cases: [name: string, given: GivenEntry, fault: RegExp][] = [
    ['no local code', { localCode: ' ' }, /^has no local code$/],
    ['two spaces inside a code', { localCode: 'A  B' }, /^local code is not a FHIR code/],
    ['a NUL in a code', { localCode: 'A\u0000B' }, /^local code is not a FHIR code: .*control characters/],
    ['a line break in a code', { localCode: 'A\nB' }, /^local code is not a FHIR code: .*white space/],
    [
      'two spaces inside a target code',
      { targetSystem: 'http://example.org/codes', targetCode: 'A  B' },
      /^target code is not a FHIR code: .*single spaces/,
    ],
    ['half a surrogate pair', { localCode: 'A\ud800' }, /^local code is not a FHIR code/],
    ['a code without an end', { localCode: 'x'.repeat(201) }, /^local code is not a FHIR code/],
    ['a local system with a space', { localSystem: 'my lab' }, /^local system is not a URI/],
    ['a tab in a local system', { localSystem: 'urn:\tx' }, /^local system is not a URI: .*white space/],
    ['half a pair in a local system', { localSystem: 'urn:\ud800' }, /^local system is not a URI/],
    ['no target system', { targetSystem: '' }, /^has no target system$/],
    [
      'a name as target system',
      { targetSystem: 'LOINC' },
      /^target system must be written http:\/\/loinc.org$/,
    ],
    [
      'LOINC with https',
      { targetSystem: 'https://loinc.org' },
      /^target system must be written http:\/\/loinc.org$/,
    ],
    ['a relative target system', { targetSystem: 'codes/lab' }, /^target system is not an absolute URI/],
    ['http without a host', { targetSystem: 'http://' }, /^target system is not an absolute URI/],
    ['a bad OID', { targetSystem: 'urn:oid:1..2' }, /^target system is not an absolute URI/],
    [
      'an endless target system',
      { targetSystem: `urn:x:${'/'.repeat(501)}x` },
      /^target system has more than 500/,
    ],
    ['no target code', { targetCode: null }, /^has no target code$/],
    ['a mistyped LOINC', { targetCode: '718-8' }, /^target code has a wrong LOINC check digit/],
    ['a code that is no LOINC', { targetCode: 'HGB' }, /^target code is not a LOINC code/],
    [
      'a unit that is no UCUM',
      { targetSystem: 'http://unitsofmeasure.org', targetCode: 'mmHg' },
      /^target code is not a valid UCUM unit$/,
    ],
    ['an unknown equivalence', { equivalence: 'same' }, /^equivalence is not one of relatedto, /],
    ['a target that is unmatched', { equivalence: 'unmatched' }, /^has a target code although/],
    ['narrower without a comment (R4 cmd-1)', { equivalence: 'narrower' }, /^needs a comment/],
    ['inexact without a comment (R4 cmd-1)', { equivalence: 'inexact' }, /^needs a comment/],
    [
      'an escape character in a display',
      { localDisplay: '\u001b[31m' },
      /^local display is too long .* or has control/,
    ],
    ['an endless comment', { comment: 'x'.repeat(1_001) }, /^comment is too long/],
  ];
  for (const [name, given, fault] of cases) test(name, () => assert.match(faultOf(given), fault));
});
