/** Patients and encounters, set-based, in the shape that an import leaves behind. $1 organisation, $2 facility. */
import { nameSql, recordIdSql } from './ids.ts';
import type { LoadSize } from './open-records.ts';

/** One encounter in two belongs to a patient who has more than a page of 20; the rest have one each. */
const HEAVY_ENCOUNTERS = 26;

/** Patients from 1 to this number have more than a page of encounters. */
export function heavyPatients({ encounters }: Pick<LoadSize, 'encounters'>): number {
  return Math.floor(encounters / 2 / HEAVY_ENCOUNTERS);
}

const FAMILY = nameSql('n * 7');
// Each given name goes with many family names.
const GIVEN = nameSql('n * 13 + n / 1000');

export function peopleStatements(size: LoadSize): string[] {
  const heavy = heavyPatients(size);
  const heavyTotal = heavy * HEAVY_ENCOUNTERS;
  const light = size.patients - heavy;
  const patient = recordIdSql('patient', 'n');
  const encounter = recordIdSql('encounter', 'n');
  const patientOf = `case when n <= ${heavyTotal} then 1 + (n - 1) % ${heavy} else ${heavy} + 1 + (n - ${heavyTotal} - 1) % ${light} end`;
  const people = `from generate_series(1, ${size.patients}) n where $2::uuid is not null`;
  return [
    `insert into practitioner (organisation_id, id, display, content_digest)
     select $1, ${recordIdSql('practitioner', 'n')}, 'Dr. Practitioner ' || n, decode(md5(n::text), 'hex')
     from generate_series(1, 500) n where $2::uuid is not null`,
    `insert into patient (organisation_id, id, active, gender, birth_date, sort_name, content_digest)
     select $1, ${patient}, true, case n % 2 when 0 then 'female' else 'male' end,
       (date '1930-01-01' + n % 30000)::text, ${FAMILY} || ' ' || ${GIVEN}, decode(md5(n::text), 'hex')
     ${people}`,
    `insert into patient_registration (organisation_id, facility_id, patient_id)
     select $1, $2, ${patient} from generate_series(1, ${size.patients}) n`,
    `insert into patient_name (organisation_id, patient_id, position, use, family, given)
     select $1, ${patient}, 0, 'official', initcap(${FAMILY}), array[initcap(${GIVEN})]
     ${people}`,
    `insert into patient_identifier (organisation_id, patient_id, position, use, system, value)
     select $1, ${patient}, 0, 'usual', 'https://hospital.example.org/patient-number', 'M-' || n
     ${people}`,
    `insert into patient_telecom (organisation_id, patient_id, position, system, value, use)
     select $1, ${patient}, 0, 'phone', '+234 ' || 8000000000 + n, 'mobile'
     ${people}`,
    `insert into patient_search_key (organisation_id, patient_id, kind, key, sort_name)
     select distinct $1::uuid, ${patient}, k.kind, k.key, ${FAMILY} || ' ' || ${GIVEN}
     from generate_series(1, ${size.patients}) n,
       lateral (values ('name', ${FAMILY}), ('name', ${GIVEN}), ('identifier', 'm-' || n),
         ('phone', '234' || 8000000000 + n)) k (kind, key)
     where $2::uuid is not null`,
    `insert into encounter (
       organisation_id, facility_id, id, patient_id, status, class_code, class_display, period_start, period_end,
       sort_start, type, reason_code, content_digest
     )
     select $1, $2, ${encounter}, ${recordIdSql('patient', patientOf)}, 'finished', 'AMB', 'ambulatory', s,
       s + interval '20 minutes', s,
       '[{"coding":[{"system":"http://snomed.info/sct","code":"185349003","display":"Encounter for check up"}],"text":"Encounter for check up"}]',
       '[{"coding":[{"system":"http://snomed.info/sct","code":"271737000","display":"Anemia (disorder)"}]}]',
       decode(md5(n::text), 'hex')
     from generate_series(1, ${size.encounters}) n,
       lateral (select timestamptz '2012-01-01' + (n * 7 % 130000) * interval '55 minutes' as s) start`,
    `insert into encounter_participant (
       organisation_id, facility_id, encounter_id, position, practitioner_id, display, type, period_start, period_end
     )
     select $1, $2, ${encounter}, 0, ${recordIdSql('practitioner', '1 + n % 500')}, 'Dr. Practitioner ' || (1 + n % 500),
       '[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ParticipationType","code":"PPRF","display":"primary performer"}],"text":"primary performer"}]',
       null, null
     from generate_series(1, ${size.encounters}) n`,
  ];
}
