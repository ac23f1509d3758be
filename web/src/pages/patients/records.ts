/** Lists of a patient's records, of whatever kind, and each as FHIR. Contract: WEB-38. */
import { answered, api, send } from '../../api/api.ts';
import { fhirBody } from '../../api/fhir-body.ts';
import type { ListPart } from '../../blocks/list/cursor-list.ts';
import type { Purpose } from './purpose.tsx';

export const RECORD_KINDS = ['patient', 'encounters', 'lab', 'imaging', 'vitals'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];
export type ListedKind = Exclude<RecordKind, 'patient'>;

export interface RecordRow {
  id: string;
  /** Of an order its code, of an encounter its class. */
  code?: string | undefined;
  /** How many signs a set has. */
  signs?: number;
  status?: string | undefined;
  at: string | null | undefined;
}

interface ListRequest {
  patientId: string;
  purpose: Purpose;
  cursor: string | undefined;
}

const PAGE = 50;

/** Any of these opens the kind. */
export const PERMISSIONS: Record<RecordKind, readonly string[]> = {
  patient: ['patients.patients.get'],
  encounters: ['encounters.access', 'encounters.fhir.encounter.search'],
  lab: ['investigations.lab.list'],
  imaging: ['investigations.imaging.list'],
  vitals: ['encounters.vitals.read'],
};

const PATHS: Record<RecordKind, (id: string) => string> = {
  patient: (id) => `/patients/base/${id}/clinical/fhir`,
  encounters: (id) => `/encounters/fhir/Encounter/${id}`,
  lab: (id) => `/investigations/lab/orders/${id}/clinical/fhir`,
  imaging: (id) => `/investigations/imaging/orders/${id}/clinical/fhir`,
  vitals: (id) => `/encounters/vitals/${id}/clinical/fhir`,
};

export function listRecords(kind: ListedKind, request: ListRequest): Promise<ListPart<RecordRow>> {
  if (kind === 'encounters') return listEncounters(request);
  return kind === 'vitals' ? listVitals(request) : listOrders(kind, request);
}

/** The resource, or the Bundle of an order or a set. */
export async function readFhir(kind: RecordKind, id: string, purpose: Purpose): Promise<unknown> {
  const answer = await send('GET', `${PATHS[kind](encodeURIComponent(id))}?purposeOfUse=${purpose}`);
  const body = (await fhirBody(answer)) as { bundle?: unknown };
  return body.bundle ?? body;
}

async function listOrders(kind: 'lab' | 'imaging', request: ListRequest): Promise<ListPart<RecordRow>> {
  const params = { query: queryOf(request) };
  const { items, nextCursor } = await answered(
    kind === 'lab'
      ? api.GET('/investigations/lab/orders', { params })
      : api.GET('/investigations/imaging/orders', { params }),
  );
  const rows = items.map(({ orderId: id, code, status, orderedAt: at }) => ({ id, code, status, at }));
  return { items: rows, nextCursor };
}

async function listVitals(request: ListRequest): Promise<ListPart<RecordRow>> {
  const { items, nextCursor } = await answered(
    api.GET('/encounters/vitals', { params: { query: queryOf(request) } }),
  );
  const rows = items.map(({ vitalSetId: id, vitalSigns: signs, takenAt: at }) => ({ id, signs, at }));
  return { items: rows, nextCursor };
}

function queryOf({ patientId, purpose, cursor }: ListRequest) {
  const base = { patient: patientId, purposeOfUse: purpose, limit: PAGE };
  return cursor === undefined ? base : { ...base, cursor };
}

interface Searchset {
  link?: { relation: string; url: string }[];
  entry?: {
    resource: { id: string; status?: string; class?: { code?: string }; period?: { start?: string } };
  }[];
}

/** Encounters are searched as FHIR: the next page is a link. */
async function listEncounters({ patientId, purpose, cursor }: ListRequest): Promise<ListPart<RecordRow>> {
  const query = new URLSearchParams({ patient: patientId, purposeOfUse: purpose, _count: String(PAGE) });
  if (cursor !== undefined) query.set('cursor', cursor);
  const { entry = [], link = [] } = (await (
    await send('GET', `/encounters/fhir/Encounter?${query}`)
  ).json()) as Searchset;
  const next = link.find(({ relation }) => relation === 'next');
  return {
    items: entry.map(({ resource }) => ({
      id: resource.id,
      code: resource.class?.code,
      status: resource.status,
      at: resource.period?.start,
    })),
    nextCursor: next === undefined ? null : new URL(next.url).searchParams.get('cursor'),
  };
}
