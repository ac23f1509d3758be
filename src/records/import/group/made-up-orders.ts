/**
 * Orders that stand for reports, studies and results whose source had none (docs/fhir-mapping.md,
 * "Grouping").
 * Contract: IN-17.
 */
import { hash } from 'node:crypto';
import type { Discipline } from '../../../clinical/resources/discipline.ts';
import type { GroupedPart } from '../../../investigations/grouping.store.ts';
import type { MadeUpOrder } from '../../../investigations/place-parts.store.ts';

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
    const content = {
      discipline: discipline === 'other' ? 'laboratory' : discipline,
      patientId: part.patientId,
      encounterId: part.encounterId,
      status: orderStatus(part.status),
      code: part.code,
    } as const;
    orders.set(orderId, { id: orderId, ...content, digest: hash('sha256', JSON.stringify(content), 'hex') });
  }
  return [...orders.values()];
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
