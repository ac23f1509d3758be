/**
 * How references find stored records: by id and by business identifier, many at a time.
 * Contract: IN-10, IN-53.
 */
import { rowByKey, rowsByIndex } from '../../../platform/db/by-key.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { FacilityScope } from '../../../tenancy/scope.ts';
import type { IdentifierKey, IdentifierMatch, RecordLookup } from '../map/record-lookup.ts';

/** Clinical records of one table. They belong to a facility: neither kind of look-up leaves it, whatever the reach. */
export function facilityLookup(table: string): RecordLookup {
  return {
    existing: (db, { organisationId, facilityId }, ids) =>
      idsOf(db, {
        name: `import-${table}-existing`,
        text: `select id
          from ${table}
          where organisation_id = $1
            and facility_id = $2
            and id = any($3::uuid[])`,
        values: [organisationId, facilityId, ids],
      }),
    byIdentifier: (db, { organisationId, facilityId }, keys) =>
      matches(db, organisationId, keys, {
        name: `import-${table}-identified`,
        text: `select r.id, wanted.system, wanted.value
          from unnest($2::text[], $3::text[]) as wanted (system, value)
          join ${table} r
            on r.organisation_id = $1
            and r.facility_id = $4
            and r.identifier @> jsonb_build_array(jsonb_build_object('system', wanted.system, 'value', wanted.value))`,
        values: [facilityId],
      }),
  };
}

/** Whom clinical records of one table are about. */
export async function patientsOf(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { table, ids }: { table: string; ids: readonly string[] },
): Promise<string[]> {
  return idsOf(db, {
    name: `import-${table}-patients`,
    text: `select distinct patient_id as id
      from ${table}
      where organisation_id = $1
        and facility_id = $2
        and id = any($3::uuid[])`,
    values: [organisationId, facilityId, ids],
  });
}

const BY_VALUE = { column: 'value', value: 'wanted.value' };

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
      return matches(db, organisationId, keys, {
        name: `import-${table}-by-identifier`,
        text: `select i.record_id as id, i.system, i.value
          from unnest($2::text[], $3::text[]) as wanted (system, value)
          cross join ${rowsByIndex('directory_identifier', 'i', { first: { resource_type: '$4' }, ...BY_VALUE })} i
          cross join ${rowByKey(table, 't', { id: 'i.record_id' }, 't.source_facility_id')} t
          where i.system = wanted.system
            and (t.source_facility_id is null or t.source_facility_id = $5)`,
        values: [resourceType, facilityId],
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
    return matches(db, organisationId, keys, {
      name: 'import-patient-by-identifier',
      // Not exists: the planner may answer that by reading every registration of the facility.
      text: `select i.patient_id as id, i.system, i.value
        from unnest($2::text[], $3::text[]) as wanted (system, value)
        cross join ${rowsByIndex('patient_identifier', 'i', BY_VALUE)} i
        where i.system = wanted.system
          and (
            $4::uuid is null
            or (
              select count(*)
              from patient_registration r
              where r.organisation_id = $1
                and r.facility_id = $4
                and r.patient_id = i.patient_id
            ) > 0
          )`,
      values: [reach === 'facility' ? facilityId : null],
    });
  },
  async elsewhere(db, { organisationId, facilityId }, ids) {
    return idsOf(db, {
      name: 'import-patient-elsewhere',
      text: `select p.id
        from patient p
        where p.organisation_id = $1
          and p.id = any($3::uuid[])
          and (
            select count(*)
            from patient_registration r
            where r.organisation_id = $1
              and r.facility_id = $2
              and r.patient_id = p.id
          ) = 0`,
      values: [organisationId, facilityId, ids],
    });
  },
};

/** Many encounters have identifiers, which have a table of their own. */
export const encounterLookup: RecordLookup = {
  ...facilityLookup('encounter'),
  async byIdentifier(db, { organisationId, facilityId }, keys) {
    return matches(db, organisationId, keys, {
      name: 'import-encounter-by-identifier',
      text: `select i.encounter_id as id, i.system, i.value
        from unnest($2::text[], $3::text[]) as wanted (system, value)
        cross join ${rowsByIndex('encounter_identifier', 'i', { first: { facility_id: '$4' }, ...BY_VALUE })} i
        where i.system = wanted.system`,
      values: [facilityId],
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

/** Records of one identifier that are found at most: two make it ambiguous already. Sources give one to very many by mistake. */
const FOUND_OF_ONE_IDENTIFIER = 100;

/** `statement` has the organisation as `$1`, the systems as `$2` and the values as `$3`. Each identifier is looked for once. */
async function matches(
  db: Queryable,
  organisationId: string,
  keys: readonly IdentifierKey[],
  statement: Statement,
): Promise<IdentifierMatch[]> {
  if (keys.length === 0) return [];
  const distinct = new Map(keys.map((key) => [JSON.stringify([key.system, key.value]), key]));
  const asked = [...distinct.values()];
  const { rows } = await db.query<IdentifierMatch>({
    name: statement.name,
    text: `
      select unnest((array_agg(distinct found.id))[1:${FOUND_OF_ONE_IDENTIFIER}]) as id, found.system, found.value
      from (
        ${statement.text}
      ) found
      group by found.system, found.value`,
    values: [
      organisationId,
      asked.map(({ system }) => system),
      asked.map(({ value }) => value),
      ...statement.values,
    ],
  });
  return rows;
}
