/** SQL that answers many look-ups of local codes of one organisation at once. */
import type { Queryable } from '../../platform/db/database.ts';
import type { FacilityScope, OrganisationScope } from '../../tenancy/scope.ts';
import { type StandardCoding, type Translations, translationKey } from '../maps/apply-map.ts';

/** The codings that one caller asks for. A code that came without a system has the empty one. */
export interface LookUp {
  scope: FacilityScope;
  codings: readonly { system: string; code: string }[];
}

interface TargetRow {
  asked: number;
  local_system: string;
  local_code: string;
  target_system: string;
  target_code: string;
  target_display: string | null;
}

/**
 * One statement for all look-ups, which are of facilities of the organisation. Of several entries for one code and
 * target system the facility's own wins, also when it says that there is no such code. Only entries whose target means
 * the same as the local code, or more than it, are answered (R4 concept-map-equivalence).
 */
export async function lookUpCodes(
  db: Queryable,
  { organisationId }: OrganisationScope,
  lookUps: readonly LookUp[],
): Promise<Translations[]> {
  const asked = lookUps.flatMap((lookUp, position) =>
    lookUp.codings.map((coding) => ({ lookUp, position, coding })),
  );
  const { rows } = await db.query<TargetRow>({
    name: 'terminology-look-up',
    text: `
      select asked.position as asked, asked.local_system, asked.local_code,
        entry.target_system, entry.target_code, entry.target_display
      from unnest($2::int[], $3::uuid[], $4::text[], $5::text[])
        as asked (position, facility_id, local_system, local_code)
      cross join lateral (
        select distinct on (map.target_system)
          map.target_system, map.target_code, map.target_display, map.equivalence
        from terminology_map map
        where map.organisation_id = $1
          and map.local_system = asked.local_system
          and map.local_code = asked.local_code
          and (map.facility_id is null or map.facility_id = asked.facility_id)
        order by map.target_system, map.facility_id nulls last
      ) entry
      where entry.equivalence in ('equal', 'equivalent', 'wider', 'subsumes')`,
    values: [
      organisationId,
      asked.map(({ position }) => position),
      asked.map(({ lookUp }) => lookUp.scope.facilityId),
      asked.map(({ coding }) => coding.system),
      asked.map(({ coding }) => coding.code),
    ],
  });
  const answers = lookUps.map(() => new Map<string, StandardCoding[]>());
  for (const row of rows) addTarget(answers[row.asked], row);
  return answers;
}

function addTarget(answer: Map<string, StandardCoding[]> | undefined, row: TargetRow): void {
  if (answer === undefined) return;
  const key = translationKey({ system: row.local_system, code: row.local_code });
  const target: StandardCoding = { system: row.target_system, code: row.target_code };
  if (row.target_display !== null) target.display = row.target_display;
  const targets = answer.get(key);
  if (targets === undefined) answer.set(key, [target]);
  else targets.push(target);
}
