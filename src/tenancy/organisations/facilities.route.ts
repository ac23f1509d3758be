/** /facilities: administrators see and change the facilities that are theirs. Contract: ADM-20, ADM-21. */

import type { Pool } from '../../platform/db/database.ts';
import { named } from '../../platform/http/named-schema.ts';
import { type ListDependencies, PAGE_PARAMETERS, pageSchema } from '../../platform/http/paging.ts';
import type { Route } from '../../platform/http/route.ts';
import { Choice } from '../../platform/http/schema.ts';
import { Type } from '../../platform/json-schema.ts';
import { authorOf } from '../administration/author.ts';
import { type Access, administrationRoute } from '../callers/access.ts';
import { notFound } from '../errors.ts';
import { changeFacility, listFacilityPage } from './facilities.ts';
import { MODULES } from './modules.ts';

const members = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  timeZone: Type.String({ maxLength: 100, description: 'IANA time zone, for dates without a zone.' }),
  modules: Type.Array(Choice(MODULES), { maxItems: 16, description: 'The modules that are on.' }),
};
const FacilitySchema = named(
  'Facility',
  Type.Object(
    { id: Type.String(), ...members },
    {
      examples: [
        {
          id: '1ad45065-64ba-4128-b0b5-1666625efdaf',
          name: 'Ikeja Clinic',
          timeZone: 'Africa/Lagos',
          modules: ['encounters', 'patients'],
        },
      ],
    },
  ),
);

export function listFacilitiesRoute(deps: ListDependencies): Route<Access> {
  return administrationRoute(['facilities.manage', 'accounts.manage', 'people.manage', 'roles.manage'], {
    docs: { operationId: 'listFacilities', summary: 'List the facilities that your account may use' },
    query: Type.Object(PAGE_PARAMETERS),
    responses: { 200: { description: 'By name.', schema: pageSchema(FacilitySchema) } },
    handle: async ({ query }, { scope, caller: account }) => ({
      body: await listFacilityPage(deps, scope, { ...query, account }),
    }),
  });
}

export function changeFacilityRoute({ db }: { db: Pool }): Route<Access> {
  return administrationRoute(['facilities.manage'], {
    docs: {
      operationId: 'changeFacility',
      summary: 'Change the name, the time zone or the modules of a facility',
      description:
        'From the next call on, in every process. Dates without a zone in stored records stay as they were read in the earlier time zone, until the records are imported again.',
    },
    params: Type.Object({ facilityId: Type.String() }),
    body: named('FacilityChanges', Type.Partial(Type.Object(members), { additionalProperties: false })),
    bodyExample: { timeZone: 'Africa/Lagos' },
    responses: { 200: { description: 'The facility as it is now.', schema: FacilitySchema } },
    handle: async ({ params, body }, context) => {
      const { organisationId } = context.scope;
      const facilityId = params.facilityId.toLowerCase();
      if (!context.caller.facilities.has(facilityId)) throw notFound('The facility');
      const change = { organisationId, facilityId, changes: body };
      const { facility } = await changeFacility(db, change, authorOf(context));
      return { body: facility };
    },
  });
}
