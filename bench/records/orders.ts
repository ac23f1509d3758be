/**
 * Laboratory orders with 40 results, imaging orders and vital sets of six, set-based, in the shape that an import
 * leaves behind; and the terminology map of the local codes. $1 organisation, $2 facility.
 */
import { recordIdSql } from './ids.ts';
import type { LoadSize } from './open-records.ts';

const RESULTS = 40;
/** One result in so many has a local code, which is mapped to LOINC. */
const LOCAL_EVERY = 10;
const LOCAL_SYSTEM = 'https://hospital.example.org/laboratory-codes';

const TIME = `timestamptz '2023-01-01' + n * interval '17 minutes'`;
const TIME_TEXT = `to_char(${TIME}, 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
const PATIENT = recordIdSql('patient', '1 + n % 1000');
const DOCTOR = `jsonb_build_object('type', 'Practitioner', 'id', ${recordIdSql('practitioner', '1 + n % 500')}, 'display', 'Dr. Practitioner')`;
const DIGEST = `decode(md5(n::text), 'hex')`;
const UCUM = 'http://unitsofmeasure.org';

const categoryJson = (system: string, code: string, display: string) =>
  JSON.stringify([{ coding: [{ system, code, display }] }]);
const codeJson = (system: string, code: string, display: string) =>
  JSON.stringify({ coding: [{ system, code, display }], text: display });

export function orderStatements({ orders }: LoadSize): string[] {
  const each = `from generate_series(1, ${orders}) n`;
  return [...mapStatements(), ...labStatements(each), ...imagingStatements(each), ...vitalStatements(each)];
}

function mapStatements(): string[] {
  return [
    `insert into terminology_map (organisation_id, id, facility_id, local_system, local_code, local_display,
       target_system, target_code, target_display, created_at, updated_at)
     select $1, gen_random_uuid(), $2, '${LOCAL_SYSTEM}', 'L' || m, 'Substance ' || m, 'http://loinc.org',
       (2000 + m) || '-1', 'Substance ' || m || ' [Moles/volume] in Serum or Plasma', now(), now()
     from generate_series(0, ${RESULTS - 1}, ${LOCAL_EVERY}) m`,
  ];
}

function labStatements(each: string): string[] {
  const results = `${each}, generate_series(0, ${RESULTS - 1}) m`;
  const result = recordIdSql('labResult', `n * ${RESULTS} + m`);
  const panel = codeJson(
    'http://loinc.org',
    '24323-8',
    'Comprehensive metabolic 2000 panel - Serum or Plasma',
  );
  const coding = `case when m % ${LOCAL_EVERY} = 0
       then jsonb_build_object('system', '${LOCAL_SYSTEM}', 'code', 'L' || m, 'display', 'Substance ' || m)
       else jsonb_build_object('system', 'http://loinc.org', 'code', (2000 + m) || '-1',
         'display', 'Substance ' || m || ' [Moles/volume] in Serum or Plasma') end`;
  return [
    orderStatement(each, 'labOrder', {
      discipline: 'laboratory',
      category: categoryJson('http://snomed.info/sct', '108252007', 'Laboratory procedure'),
      code: panel,
    }),
    `insert into observation
       (organisation_id, facility_id, id, order_id, patient_id, kind, vital_sign, status, category, code, effective_type,
        effective_start, effective_at, issued_source, issued_at, performer, value_type, value_number, value_unit,
        value_unit_system, value_unit_code, interpretation, content_digest)
     select $1, $2, ${result}, ${recordIdSql('labOrder', 'n')}, ${PATIENT}, 'laboratory', false, 'final',
       '${categoryJson('http://terminology.hl7.org/CodeSystem/observation-category', 'laboratory', 'Laboratory')}',
       jsonb_build_object('coding', jsonb_build_array(${coding}), 'text', 'Substance ' || m),
       'dateTime', ${TIME_TEXT}, ${TIME}, ${TIME_TEXT}, ${TIME}, jsonb_build_array(${DOCTOR}),
       'Quantity', 100 + m + 0.50, 'mmol/L', '${UCUM}', 'mmol/L',
       '${categoryJson('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', 'N', 'Normal')}',
       decode(md5(n || '-' || m), 'hex')
     ${results}`,
    `insert into observation_reference_range
       (organisation_id, facility_id, observation_id, component, position, low_number, low_unit, low_unit_system,
        low_unit_code, high_number, high_unit, high_unit_system, high_unit_code)
     select $1, $2, ${result}, -1, 0, 90.0, 'mmol/L', '${UCUM}', 'mmol/L', 150.0, 'mmol/L', '${UCUM}', 'mmol/L'
     ${results}`,
    reportStatement(each, 'n * 2', {
      order: recordIdSql('labOrder', 'n'),
      discipline: 'laboratory',
      category: categoryJson('http://terminology.hl7.org/CodeSystem/v2-0074', 'LAB', 'Laboratory'),
      code: panel,
    }),
    `insert into investigation_report_result (organisation_id, facility_id, report_id, position, observation_id)
     select $1, $2, ${recordIdSql('report', 'n * 2')}, m, ${result}
     ${results}`,
  ];
}

function imagingStatements(each: string): string[] {
  const chest = codeJson('http://loinc.org', '36643-5', 'XR Chest 2 Views');
  const study = recordIdSql('study', 'n');
  const modality = `'{"system":"http://dicom.nema.org/resources/ontology/DCM","code":"DX"}'::jsonb`;
  return [
    orderStatement(each, 'imagingOrder', {
      discipline: 'imaging',
      category: categoryJson('http://snomed.info/sct', '363679005', 'Imaging'),
      code: chest,
    }),
    reportStatement(each, 'n * 2 + 1', {
      order: recordIdSql('imagingOrder', 'n'),
      discipline: 'imaging',
      category: categoryJson('http://terminology.hl7.org/CodeSystem/v2-0074', 'RAD', 'Radiology'),
      code: chest,
    }),
    `insert into imaging_study (organisation_id, facility_id, id, order_id, patient_id, status, started_source,
       started_at, number_of_series, number_of_instances, content_digest)
     select $1, $2, ${study}, ${recordIdSql('imagingOrder', 'n')}, ${PATIENT}, 'available', ${TIME_TEXT}, ${TIME}, 1, 2,
       ${DIGEST}
     ${each}`,
    `insert into imaging_series (organisation_id, facility_id, study_id, position, uid, number, modality,
       number_of_instances)
     select $1, $2, ${study}, 0, '1.2.826.0.1.' || n, 1, ${modality}, 2
     ${each}`,
    `insert into imaging_instance (organisation_id, facility_id, study_id, series_position, position, uid, sop_class)
     select $1, $2, ${study}, 0, m, '1.2.826.0.1.' || n || '.' || m,
       '{"system":"urn:ietf:rfc:3986","code":"urn:oid:1.2.840.10008.5.1.4.1.1.1.1"}'::jsonb
     ${each}, generate_series(0, 1) m`,
  ];
}

function vitalStatements(each: string): string[] {
  const set = recordIdSql('vitalSet', 'n');
  return [
    `insert into vital_set (organisation_id, facility_id, id, patient_id, taken_at)
     select $1, $2, ${set}, ${PATIENT}, ${TIME}
     ${each}`,
    `insert into observation
       (organisation_id, facility_id, id, vital_set_id, patient_id, kind, vital_sign, status, category, code,
        effective_type, effective_start, effective_at, performer, value_type, value_number, value_unit,
        value_unit_system, value_unit_code, content_digest)
     select $1, $2, gen_random_uuid(), ${set}, ${PATIENT}, 'vital-sign', true, 'final',
       '${categoryJson('http://terminology.hl7.org/CodeSystem/observation-category', 'vital-signs', 'Vital Signs')}',
       jsonb_build_object('coding', jsonb_build_array(jsonb_build_object('system', 'http://loinc.org', 'code', v.code,
         'display', v.display)), 'text', v.display),
       'dateTime', ${TIME_TEXT}, ${TIME}, jsonb_build_array(${DOCTOR}), 'Quantity', v.value, v.unit, '${UCUM}', v.unit,
       decode(md5(n || v.code), 'hex')
     ${each}, (values ('8867-4', 'Heart rate', 72.0, '/min'), ('9279-1', 'Respiratory rate', 16.0, '/min'),
       ('8310-5', 'Body temperature', 36.8, 'Cel'), ('59408-5', 'Oxygen saturation', 98.0, '%'),
       ('29463-7', 'Body weight', 71.5, 'kg'), ('8302-2', 'Body height', 172.0, 'cm')) v (code, display, value, unit)`,
  ];
}

interface Words {
  discipline: 'laboratory' | 'imaging';
  category: string;
  code: string;
}

function orderStatement(
  each: string,
  kind: 'labOrder' | 'imagingOrder',
  { discipline, category, code }: Words,
): string {
  return `insert into investigation_order
       (organisation_id, facility_id, id, patient_id, discipline, status, intent, category, code, authored_at,
        authored_source, requester, sort_at, content_digest)
     select $1, $2, ${recordIdSql(kind, 'n')}, ${PATIENT}, '${discipline}', 'completed', 'order', '${category}', '${code}',
       ${TIME}, ${TIME_TEXT}, ${DOCTOR}, ${TIME}, ${DIGEST}
     ${each}`;
}

function reportStatement(
  each: string,
  number: string,
  { order, discipline, category, code }: Words & { order: string },
): string {
  return `insert into investigation_report
       (organisation_id, facility_id, id, order_id, patient_id, discipline, status, category, code, effective_type,
        effective_start, effective_at, issued_source, issued_at, conclusion, content_digest)
     select $1, $2, ${recordIdSql('report', number)}, ${order}, ${PATIENT}, '${discipline}', 'final', '${category}',
       '${code}', 'dateTime', ${TIME_TEXT}, ${TIME}, ${TIME_TEXT}, ${TIME}, 'Within the ranges.', ${DIGEST}
     ${each}`;
}
