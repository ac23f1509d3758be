/**
 * Orders that stand for reports, studies and results whose source had none (docs/fhir-mapping.md,
 * "Grouping").
 * Contract: IN-17.
 */
import { hash } from 'node:crypto';
import { jsonbValue } from '../../../clinical/kept/stored-row.fhir.ts';
import type { Discipline } from '../../../clinical/resources/discipline.ts';
import type { CodeableConcept } from '../../../fhir/coded.ts';
import type { GroupedPart } from '../../../investigations/grouping.store.ts';
import type { MadeUpOrder } from '../../../investigations/place-parts.store.ts';
import type { StandingResult } from '../../../investigations/result-grouping.store.ts';
import { gatheredId } from './assign-orders.ts';

/** What an order could stand for. */
export interface Standing {
  orderId: string | null | undefined;
  part: GroupedPart;
  discipline: Discipline;
}

/** The made-up orders of the candidates. Each takes its content from the first part that it could stand for. */
export function madeUpOrders(
  candidates: Iterable<Standing>,
  isMadeUp: (orderId: string) => boolean,
): MadeUpOrder[] {
  const orders = new Map<string, MadeUpOrder>();
  for (const { orderId, part, discipline } of candidates) {
    if (orderId === null || orderId === undefined || orders.has(orderId) || !isMadeUp(orderId)) continue;
    const order = {
      discipline: discipline === 'other' ? 'laboratory' : discipline,
      patientId: part.patientId,
      encounterId: part.encounterId,
      status: orderStatus(part.status),
      code: part.code,
    } as const;
    orders.set(orderId, withDigest(orderId, order));
  }
  return [...orders.values()];
}

/** Where statuses differ, the first of these that a result gives its order. */
const STATUSES = ['active', 'unknown', 'completed', 'revoked', 'entered-in-error'];

/** The made-up orders of results, by all results that are under them; the others among `under` are left out. */
export function gatheredOrders(under: ReadonlyMap<string, readonly StandingResult[]>): MadeUpOrder[] {
  return [...under].flatMap(([orderId, results]) => {
    const standing = standingFor(orderId, results);
    const [first] = standing;
    if (first === undefined) return [];
    const statuses = new Set(standing.map(({ status }) => orderStatus(status)));
    const order = {
      discipline: 'laboratory',
      patientId: first.patientId,
      encounterId: alike(standing.map(({ encounterId }) => encounterId)),
      status: STATUSES.find((status) => statuses.has(status)) ?? 'unknown',
      code: alike(standing.map(({ code }) => code)),
    } as const;
    return [withDigest(orderId, order)];
  });
}

/** Results that the order was made for: not the members of panels. Of panels that are members of each other, the one with the lowest id. */
function standingFor(orderId: string, results: readonly StandingResult[]): readonly StandingResult[] {
  const members = new Set(
    results.flatMap(({ id, memberIds }) => memberIds.filter((member) => member !== id)),
  );
  const made = results.filter((result) => gatheredId(result) === orderId);
  const top = made.filter(({ id }) => !members.has(id));
  return top.length > 0 ? top : made.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, 1);
}

/** What all say that say something; null where they differ, or none does. */
function alike<Value>(values: readonly (Value | null)[]): Value | null {
  const said = values.filter((value) => value !== null);
  return new Set(said.map((value) => JSON.stringify(value))).size === 1 ? (said[0] ?? null) : null;
}

function withDigest(id: string, order: Omit<MadeUpOrder, 'id' | 'digest'>): MadeUpOrder {
  // Of a code that is not stored yet, the digest is that of the stored one.
  const stored = { ...order, code: jsonbValue(order.code) as CodeableConcept | null };
  return { id, ...stored, digest: hash('sha256', JSON.stringify(stored), 'hex') };
}

/** What the status of a report, study or result says about its order (R4 request-status). */
function orderStatus(status: string): string {
  switch (status) {
    case 'registered':
    case 'partial':
    case 'preliminary':
      return 'active';
    case 'cancelled':
      return 'revoked';
    case 'entered-in-error':
    case 'unknown':
      return status;
    default:
      return 'completed';
  }
}
