/** Loads the records that the benchmark reads, set-based, in the shape that an import leaves behind. */
import pg from 'pg';
import { checkEncounterTexts } from '../src/encounters/check-texts.ts';

export interface LoadedRecords {
  organisationId: string;
  facilityId: string;
}

export interface LoadSize {
  patients: number;
  encounters: number;
}

/** One patient in five has a full page of encounters and more; the rest share what is left evenly. */
const HEAVY_SHARE = 5;
const HEAVY_ENCOUNTERS = 26;

export async function loadRecords(url: string, scope: LoadedRecords, size: LoadSize): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query('select count(*)::int as n from encounter');
    await client.query('set synchronous_commit = off');
    if (rows[0]?.n < size.encounters)
      for (const text of statements(size)) await client.query(text, [scope.organisationId, scope.facilityId]);
    // An import leaves each row with its text; a row that got it later lies beside its dead one.
    const { missing } = await checkEncounterTexts(client, scope.organisationId, { renew: true });
    if (missing > 0) await client.query('vacuum (full, analyze) encounter');
    await client.query('vacuum (analyze)');
  } finally {
    await client.end();
  }
}

/** Ids are made from numbers, so that the load generator knows them without asking. */
export function patientId(number: number): string {
  return `00000000-0000-4000-8000-1${String(number).padStart(11, '0')}`;
}

export function encounterId(number: number): string {
  return `00000000-0000-4000-8000-2${String(number).padStart(11, '0')}`;
}

/** Patients from 1 to this number have more than a page of encounters. */
export function heavyPatients(size: LoadSize): number {
  return Math.floor(size.patients / HEAVY_SHARE);
}

function statements(size: LoadSize): string[] {
  const heavy = heavyPatients(size);
  const heavyTotal = heavy * HEAVY_ENCOUNTERS;
  const light = size.patients - heavy;
  const id = (kind: number, number: string) =>
    `('00000000-0000-4000-8000-${kind}' || lpad((${number})::text, 11, '0'))::uuid`;
  const patientOf = `case when n <= ${heavyTotal} then 1 + (n - 1) % ${heavy} else ${heavy} + 1 + (n - ${heavyTotal} - 1) % ${light} end`;
  return [
    `insert into practitioner (organisation_id, id, display, content_digest)
     select $1, ${id(3, 'n')}, 'Dr. Practitioner ' || n, decode(md5(n::text), 'hex')
     from generate_series(1, 500) n where $2::uuid is not null
     on conflict do nothing`,
    `insert into patient (organisation_id, id, active, gender, birth_date, sort_name, content_digest)
     select $1, ${id(1, 'n')}, true, case n % 2 when 0 then 'female' else 'male' end,
       (date '1930-01-01' + (n % 30000))::text, 'family' || n || ' given' || n, decode(md5(n::text), 'hex')
     from generate_series(1, ${size.patients}) n where $2::uuid is not null
     on conflict do nothing`,
    `insert into patient_registration (organisation_id, facility_id, patient_id)
     select $1, $2, ${id(1, 'n')} from generate_series(1, ${size.patients}) n
     on conflict do nothing`,
    `insert into patient_name (organisation_id, patient_id, position, use, family, given)
     select $1, ${id(1, 'n')}, 0, 'official', 'Family' || n, array['Given' || n]
     from generate_series(1, ${size.patients}) n where $2::uuid is not null
     on conflict do nothing`,
    `insert into encounter (
       organisation_id, facility_id, id, patient_id, status, class_code, class_display, period_start, period_end,
       sort_start, type, reason_code, content_digest
     )
     select $1, $2, ${id(2, 'n')}, ${id(1, patientOf)}, 'finished', 'AMB', 'ambulatory', s, s + interval '20 minutes', s,
       '[{"coding":[{"system":"http://snomed.info/sct","code":"185349003","display":"Encounter for check up"}],"text":"Encounter for check up"}]',
       '[{"coding":[{"system":"http://snomed.info/sct","code":"271737000","display":"Anemia (disorder)"}]}]',
       decode(md5(n::text), 'hex')
     from generate_series(1, ${size.encounters}) n,
       lateral (select timestamptz '2012-01-01' + (n * 7 % 130000) * interval '55 minutes' as s) start
     on conflict do nothing`,
    `insert into encounter_participant (
       organisation_id, facility_id, encounter_id, position, practitioner_id, display, type, period_start, period_end
     )
     select $1, $2, ${id(2, 'n')}, 0, ${id(3, '1 + n % 500')}, 'Dr. Practitioner ' || (1 + n % 500),
       '[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v3-ParticipationType","code":"PPRF","display":"primary performer"}],"text":"primary performer"}]',
       null, null
     from generate_series(1, ${size.encounters}) n
     on conflict do nothing`,
  ];
}
