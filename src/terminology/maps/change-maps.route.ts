/** PUT and DELETE /terminology/maps: one entry, by its local code and standard system. Contract: TERM-2, TERM-8, TERM-9. */
import type { Pool } from '../../platform/db/database.ts';
import { badRequest, forbidden } from '../../platform/http/errors.ts';
import type { Route } from '../../platform/http/route.ts';
import { Type } from '../../platform/json-schema.ts';
import { isUuid } from '../../platform/uuid.ts';
import { authorOf } from '../../tenancy/administration/author.ts';
import { type Access, type FacilityContext, facilityRoute } from '../../tenancy/callers/access.ts';
import { deleteMapEntry, putMapEntry } from './change-maps.ts';
import {
  CHANGING_MAPS,
  type Level,
  LevelParameter,
  MapItemSchema,
  mapScope,
  PutMapBody,
} from './map.schema.ts';

export function putMapRoute(deps: { db: Pool }): Route<Access> {
  return facilityRoute(CHANGING_MAPS, {
    docs: {
      operationId: 'putTerminologyMap',
      summary: 'Create or change one entry of a terminology map',
      description:
        'The service finds the entry by facilityId, localSystem, localCode and targetSystem, and replaces it completely: members that you leave out become empty. Fetches use the entry from now on. Sending it again changes nothing. Only an account that may use every facility, or whose role has terminology.maps.organisation, may change an entry of the organisation (one without facilityId).',
      tag: 'Terminology',
    },
    body: PutMapBody,
    bodyExample: {
      localSystem: 'urn:lab',
      localCode: 'HB',
      targetSystem: 'http://loinc.org',
      targetCode: '718-7',
    },
    responses: {
      200: { description: 'The entry existed. The answer shows it as it is now.', schema: MapItemSchema },
      201: { description: 'The entry is new.', schema: MapItemSchema },
    },
    handle: async ({ body: { facilityId, ...given } }, context) => {
      const scope = mapScope(context, levelOf(facilityId ?? null, context));
      const change = { now: context.now, author: authorOf(context) };
      const { entry, created } = await putMapEntry(deps.db, scope, { given, change });
      return { status: created ? 201 : 200, body: entry };
    },
  });
}

export function deleteMapRoute(deps: { db: Pool }): Route<Access> {
  return facilityRoute(CHANGING_MAPS, {
    docs: {
      operationId: 'deleteTerminologyMap',
      summary: 'Delete one entry of a terminology map',
      description:
        'Fetches no longer use the entry from now on. The service keeps on record who deleted it, and when. Only an account that may use every facility, or whose role has terminology.maps.organisation, may delete an entry of the organisation.',
      tag: 'Terminology',
    },
    query: Type.Object({
      localSystem: Type.Optional(
        Type.String({ description: 'Leave it out, or empty, for codes without a system.' }),
      ),
      localCode: Type.String(),
      targetSystem: Type.String(),
      level: LevelParameter(
        '`facility` deletes the entry of the facility of the call. Default: `organisation`.',
      ),
    }),
    responses: { 204: { description: 'Deleted.' } },
    handle: async ({ query }, context) => {
      const { localSystem = '', localCode, targetSystem, level } = query;
      const change = { now: context.now, author: authorOf(context) };
      const key = { localSystem, localCode, targetSystem };
      await deleteMapEntry(deps.db, mapScope(context, level), { key, change });
      return { status: 204 };
    },
  });
}

function levelOf(facilityId: string | null, { scope }: FacilityContext): Level {
  if (facilityId === null) return 'organisation';
  if (!isUuid(facilityId))
    throw badRequest({
      en: 'facilityId must be a UUID, or null for the whole organisation.',
      fr: 'facilityId doit être un UUID, ou null pour toute l’organisation.',
    });
  if (facilityId.toLowerCase() === scope.facilityId) return 'facility';
  throw forbidden(
    {
      en: 'facilityId is not the facility of this call. Send the same id in x-facility-id, or leave facilityId out for the whole organisation.',
      fr: 'facilityId n’est pas l’établissement de cet appel. Envoyez le même identifiant dans x-facility-id, ou omettez facilityId pour toute l’organisation.',
    },
    'tenancy_refused',
  );
}
