/**
 * List the vital sets of one patient, so that a partner can discover their ids (docs/vitals.md).
 * Contract: FETCH-20.
 */
import { codingsOf, emitContext } from '../../clinical/content/coded-content.ts';
import { joinedAway } from '../../clinical/resources/observation.fhir.ts';
import { patientIdIn } from '../../fhir/reference.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { instantFromTimestamp } from '../../platform/db/timestamp.ts';
import type { CursorCodec } from '../../platform/http/cursor.ts';
import { mapPage, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { AccessLog } from '../../privacy/access-log/access-log.ts';
import { authoriseAccess } from '../../privacy/authorise-access.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { Translator } from '../../terminology/lookup/translate.ts';
import { listVitalSetPage, type VitalSetPosition } from './list-vital-sets.store.ts';

export interface ListVitalSetsDependencies {
  db: Queryable;
  accessLog: AccessLog;
  cursors: CursorCodec;
  translator: Translator;
}

export interface ListVitalSetsRequest extends PageRequest {
  /** Bare, or as Patient/<id>. */
  patient: string;
}

export interface VitalSetItem {
  vitalSetId: string;
  patientId: string;
  encounterId: string | null;
  /** ISO 8601 UTC. */
  takenAt: string;
  /** Number of Observations that the fetch answers. */
  vitalSigns: number;
}

/** 400 for a cursor of another list; 404 for a patient outside the scope; 403 when the purpose is refused. */
export async function listVitalSets(
  { db, accessLog, cursors, translator }: ListVitalSetsDependencies,
  { patient, ...request }: ListVitalSetsRequest,
  context: FacilityContext,
): Promise<Page<VitalSetItem>> {
  const { scope } = context;
  const patientId = patientIdIn(patient);
  const binding = ['vital-sets', scope.organisationId, scope.facilityId, patientId];
  const page = openPage<VitalSetPosition>(cursors, request, binding);
  if (!isUuid(patientId)) throw notFound('The patient');
  const found = await listVitalSetPage(db, scope, { patientId, ...page.slice });
  if (found === undefined) throw notFound('The patient');
  const sets = page.close(found.items, ({ takenText, id }) => [takenText, id]);
  const codes = sets.items.flatMap(({ pressures }) => pressures.map(({ code }) => code));
  const [translations] = await Promise.all([
    translator.translate(scope, codingsOf(codes)),
    authoriseAccess(accessLog, context, {
      patientId,
      action: 'vital-set.list',
      resourceType: 'Observation',
      resourceId: null,
      refusedPurposes: found.refusedPurposes,
    }),
  ]);
  const emitted = emitContext(scope.organisationId, translations);
  return mapPage(sets, (set) => ({
    vitalSetId: set.id,
    patientId,
    encounterId: set.encounterId,
    takenAt: instantFromTimestamp(set.takenText),
    vitalSigns: set.signs - joinedAway(set.pressures, emitted),
  }));
}
