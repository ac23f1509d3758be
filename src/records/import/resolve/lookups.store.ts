/** How references find stored records: by id and by business identifier, many at a time. Contract: IN-10. */
import type { Queryable } from '../../../platform/db/database.ts';
import type { IdentifierKey, IdentifierMatch, RecordLookup } from '../map/resource-importer.ts';

/** Practitioner, Organization, Location: those that all facilities share, and those that this facility has alone. */
export function directoryLookup(resourceType: string, table: string): RecordLookup {
  return {
    async existing(db, { organisationId, facilityId }, ids) {
      return idsOf(db, {
        name: `import-${table}-existing`,
        text: `select id
          from ${table}
          where organisation_id = $1
            and id = any($2::uuid[])
            and (source_facility_id is null or source_facility_id = $3)`,
        values: [organisationId, ids, facilityId],
      });
    },
    async byIdentifier(db, { organisationId, facilityId }, keys) {
      return matches(db, keys, {
        name: `import-${table}-by-identifier`,
        text: `select distinct i.record_id as id, i.system, i.value
          from unnest($1::text[], $2::text[]) as wanted (system, value)
          join directory_identifier i
            on i.organisation_id = $3
            and i.resource_type = $4
            and i.value = wanted.value
            and i.system = wanted.system
          join ${table} t
            on t.organisation_id = $3
            and t.id = i.record_id
            and (t.source_facility_id is null or t.source_facility_id = $5)`,
        values: [organisationId, resourceType, facilityId],
      });
    },
  };
}

/** References find patients who are registered here. An entry with a condition may find those of the organisation. */
export const patientLookup: RecordLookup = {
  async existing(db, { organisationId, facilityId }, ids) {
    return idsOf(db, {
      name: 'import-patient-existing',
      text: `select patient_id as id
        from patient_registration
        where organisation_id = $1
          and facility_id = $2
          and patient_id = any($3::uuid[])`,
      values: [organisationId, facilityId, ids],
    });
  },
  async byIdentifier(db, { organisationId, facilityId }, keys, reach) {
    return matches(db, keys, {
      name: 'import-patient-by-identifier',
      text: `select distinct i.patient_id as id, i.system, i.value
        from unnest($1::text[], $2::text[]) as wanted (system, value)
        join patient_identifier i
          on i.organisation_id = $3
          and i.value = wanted.value
          and i.system = wanted.system
        where $4::uuid is null
          or exists (
            select
            from patient_registration r
            where r.organisation_id = $3
              and r.facility_id = $4
              and r.patient_id = i.patient_id)`,
      values: [organisationId, reach === 'facility' ? facilityId : null],
    });
  },
  async elsewhere(db, { organisationId, facilityId }, ids) {
    return idsOf(db, {
      name: 'import-patient-elsewhere',
      text: `select p.id
        from patient p
        where p.organisation_id = $1
          and p.id = any($3::uuid[])
          and not exists (
            select
            from patient_registration r
            where r.organisation_id = $1
              and r.facility_id = $2
              and r.patient_id = p.id)`,
      values: [organisationId, facilityId, ids],
    });
  },
};

export const encounterLookup: RecordLookup = {
  async existing(db, { organisationId, facilityId }, ids) {
    return idsOf(db, {
      name: 'import-encounter-existing',
      text: `select id
        from encounter
        where organisation_id = $1
          and facility_id = $2
          and id = any($3::uuid[])`,
      values: [organisationId, facilityId, ids],
    });
  },
  async byIdentifier(db, { organisationId, facilityId }, keys) {
    return matches(db, keys, {
      name: 'import-encounter-by-identifier',
      text: `select distinct i.encounter_id as id, i.system, i.value
        from unnest($1::text[], $2::text[]) as wanted (system, value)
        join encounter_identifier i
          on i.organisation_id = $3
          and i.facility_id = $4
          and i.value = wanted.value
          and i.system = wanted.system`,
      values: [organisationId, facilityId],
    });
  },
};

interface Statement {
  name: string;
  text: string;
  values: unknown[];
}

async function idsOf(db: Queryable, statement: Statement): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(statement);
  return rows.map(({ id }) => id);
}

async function matches(
  db: Queryable,
  keys: readonly IdentifierKey[],
  statement: Statement,
): Promise<IdentifierMatch[]> {
  if (keys.length === 0) return [];
  const wanted = [keys.map(({ system }) => system), keys.map(({ value }) => value)];
  const { rows } = await db.query<{ id: string; system: string; value: string }>({
    ...statement,
    values: [...wanted, ...statement.values],
  });
  return rows;
}
