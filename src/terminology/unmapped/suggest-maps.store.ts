/** SQL of maps that may fit an unmapped code. */
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope } from '../../tenancy/scope.ts';
import type { MapEntry } from '../maps/map-entry.ts';

export interface LikeMap extends Omit<MapEntry, 'targetCode' | 'equivalence' | 'comment'> {
  /** Null: the map of the organisation. */
  facilityId: string | null;
  targetCode: string;
}

/** Looked at, those with the same code first. */
const MOST = 500;

/** Maps of the organisation, those of other facilities too, with that code or with any of the words in a name. */
export async function findLikeMaps(
  db: Queryable,
  { organisationId }: FacilityScope,
  { code, words }: { code: string; words: readonly string[] },
): Promise<LikeMap[]> {
  const { rows } = await db.query<LikeMap>({
    name: 'terminology-like-maps',
    text: `
      select m.facility_id as "facilityId", m.local_system as "localSystem", m.local_code as "localCode",
        m.local_display as "localDisplay", m.target_system as "targetSystem", m.target_code as "targetCode",
        m.target_display as "targetDisplay"
      from terminology_map m
      where m.organisation_id = $1
        and m.target_code is not null
        and m.equivalence in ('equal', 'equivalent', 'wider', 'subsumes')
        and (m.local_code = $2
          or lower(m.local_display) like any ($3::text[])
          or lower(m.target_display) like any ($3::text[]))
      order by (m.local_code = $2) desc, m.updated_at desc
      limit ${MOST}`,
    // A word holds letters and digits only, so nothing of it is a pattern.
    values: [organisationId, code, words.map((word) => `%${word}%`)],
  });
  return rows;
}

/** How the code was called where it was met. */
export async function findMetDisplay(
  db: Queryable,
  { organisationId, facilityId }: FacilityScope,
  { system, code }: { system: string; code: string },
): Promise<string | undefined> {
  const { rows } = await db.query<{ display: string }>({
    name: 'terminology-met-display',
    text: `
      select u.local_display as display
      from terminology_unmapped u
      where u.organisation_id = $1
        and u.facility_id = $2
        and u.local_system = $3
        and u.local_code = $4
        and u.local_display is not null
      limit 1`,
    values: [organisationId, facilityId, system, code],
  });
  return rows[0]?.display;
}
