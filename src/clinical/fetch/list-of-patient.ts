/**
 * A page of one patient's records, so that a partner can discover their ids: in scope, allowed by the privacy setting,
 * traced, with the codes that the maps give. Contract: FETCH-20, FETCH-21.
 */
import type { CodeableConcept } from '../../fhir/coded.ts';
import { patientIdIn } from '../../fhir/reference.ts';
import { mapPage, openPage, type Page, type PageRequest } from '../../platform/http/paging.ts';
import { isUuid } from '../../platform/uuid.ts';
import type { AccessAction } from '../../privacy/access-log/access-log.ts';
import { authoriseAccess, type TracedListDependencies } from '../../privacy/authorise-access.ts';
import type { FacilityContext } from '../../tenancy/callers/access.ts';
import { notFound } from '../../tenancy/errors.ts';
import type { Translator } from '../../terminology/lookup/translate.ts';
import { codingsOf, emitContext } from '../content/coded-content.ts';
import type { EmitContext } from '../description/element.ts';
import type { PatientPage, PatientPageKey, TimePosition } from './patient-page.store.ts';

export interface CodedListDependencies extends TracedListDependencies {
  translator: Translator;
}

export interface ListRequest extends PageRequest {
  /** Bare, or as Patient/<id>. */
  patient: string;
}

interface ListOfPatient<Item, Shown> {
  /** Which list a cursor is of. */
  name: readonly string[];
  action: AccessAction;
  resourceType: string;
  load: (key: PatientPageKey) => Promise<PatientPage<Item> | undefined>;
  /** Concepts to look up in the terminology maps. */
  conceptsOf: (item: Item) => (CodeableConcept | undefined)[];
  show: (item: Item, patientId: string, emitted: EmitContext) => Shown;
}

/** 400 for a cursor of another list; 404 for a patient outside the scope; 403 when the purpose is refused. */
export async function listOfPatient<Item extends { id: string; sortText: string }, Shown>(
  { accessLog, cursors, translator }: Omit<CodedListDependencies, 'db'>,
  { patient, ...request }: ListRequest,
  context: FacilityContext,
  { name, action, resourceType, load, conceptsOf, show }: ListOfPatient<Item, Shown>,
): Promise<Page<Shown>> {
  const { scope } = context;
  const patientId = patientIdIn(patient);
  const binding = [...name, scope.organisationId, scope.facilityId, patientId];
  const page = openPage<TimePosition>(cursors, request, binding);
  const found = isUuid(patientId) ? await load({ patientId, ...page.slice }) : undefined;
  if (found === undefined) throw notFound('The patient');
  const { refusedPurposes } = found;
  const closed = page.close(found.items, ({ sortText, id }) => [sortText, id]);
  const [translations] = await Promise.all([
    translator.translate(scope, codingsOf(closed.items.flatMap(conceptsOf))),
    authoriseAccess(accessLog, context, {
      patientId,
      action,
      resourceType,
      resourceId: null,
      refusedPurposes,
    }),
  ]);
  const emitted = emitContext(scope.organisationId, translations);
  return mapPage(closed, (item) => show(item, patientId, emitted));
}
