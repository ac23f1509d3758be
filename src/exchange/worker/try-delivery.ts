/** One try of one delivery: the trace of the access, and the line for the ledger. Contract: EXC-26. */

import type { PurposeOfUse } from '../../fhir/purpose-of-use.ts';
import type { LeaseEnd } from '../../outbound/lease-end.ts';
import { NOT_WRITTEN } from '../../outbound/outbound-client.ts';
import type { AccessEntry } from '../../privacy/access-log/access-log.ts';
import { allowsPurpose } from '../../privacy/decide.ts';
import type { ConnectionKey, LeasedDelivery } from '../queue/lane.store.ts';
import type { DeliveryAttempt, DeliveryResult } from '../queue/settle.store.ts';
import { type DeliveryRetrySettings, decideRetry, type RetryDecision } from './decide-retry.ts';
import type { LoadedConnection } from './loaded-connection.ts';
import type { DeliveryAnswer } from './send.ts';

/** A delivery that is leased for one try. */
export interface Try extends LeasedDelivery {
  body: string;
  leaseToken: string;
  leaseEnd: LeaseEnd;
  /** Of the connection when it was leased: what the access is logged under. */
  purposeOfUse: PurposeOfUse;
  /** Sent to find out whether the exchange is up again. */
  probe: boolean;
  /** Fresh for each try; also its correlation id. */
  nonce: string;
}

/** The entry that must be durable before the try is sent. The connection's id stands for an account. */
export function deliveryAccess(key: ConnectionKey, item: Try): AccessEntry {
  const { purposeOfUse } = item;
  return {
    organisationId: key.organisationId,
    facilityId: item.facilityId,
    patientId: item.patientId,
    accountId: key.connectionId,
    action: 'patient.deliver',
    resourceType: 'Patient',
    resourceId: item.patientId,
    purposeOfUse,
    outcome: allowsPurpose(item.refusedPurposes, purposeOfUse) ? 'allowed' : 'refused',
    correlationId: item.nonce,
  };
}

export interface TryContext {
  connection: LoadedConnection;
  retry: DeliveryRetrySettings;
  now: () => Date;
  /** Whether the try is used up, asked when it has ended. */
  counts: () => boolean;
  /** Asked just before the request is written. */
  maySend: () => Promise<boolean>;
}

/** The result, and what it says of the exchange as a whole. */
export interface Tried extends Pick<RetryDecision, 'health' | 'restMs'> {
  result: DeliveryResult;
}

/** Sign and post. Undefined when it might not be sent. Never throws: what went wrong is in the result. */
export async function tryDelivery(item: Try, context: TryContext): Promise<Tried | undefined> {
  const startedAt = context.now();
  const startedMs = performance.now();
  const answer = await post(item, context, startedAt).catch(unsendable);
  if (answer.kind === 'unanswered' && answer.code === NOT_WRITTEN) return undefined;
  const counted = context.counts();
  const by = { attempts: item.attempts, counted, retry: context.retry, random: Math.random() };
  const { next, health, restMs, ...decided } = decideRetry(answer, by);
  const durationMs = Math.round(performance.now() - startedMs);
  const attempt = { nonce: item.nonce, startedAt, durationMs, ...decided };
  return { result: resultOf(item, { next, counted, attempt }), health, restMs };
}

function post(
  { body, deliveryId, nonce }: Try,
  { connection, maySend }: TryContext,
  time: Date,
): Promise<DeliveryAnswer> {
  const secret = connection.secretAt(time);
  return connection.sender.post({ body, deliveryId, nonce, time, secret, mayWrite: maySend });
}

/** A request that could not even be made; the settings of the connection are at fault. */
function unsendable(): DeliveryAnswer {
  return { kind: 'unanswered', code: 'UNSENDABLE', reached: false };
}

/** The result of a try that was logged as an access and then not sent. */
export function notSent(item: Try, why: 'withheld' | 'unsent', at: Date): DeliveryResult {
  const attempt: DeliveryAttempt = {
    nonce: item.nonce,
    startedAt: at,
    durationMs: 0,
    outcome: why,
    status: null,
    failure: null,
    responseHash: null,
  };
  const next: DeliveryResult['next'] =
    why === 'withheld' ? { kind: 'hold', reason: 'privacy_refused' } : { kind: 'retry', afterMs: 0 };
  return resultOf(item, { next, counted: false, attempt });
}

/** The result of a delivery of a facility that the connection does not cover any more: people decide about it. */
export function notCovered(item: LeasedDelivery & { leaseToken: string }): DeliveryResult {
  const next = { kind: 'hold', reason: 'facility_not_covered' } as const;
  return resultOf(item, { next, counted: false, attempt: null });
}

function resultOf(
  item: LeasedDelivery & { leaseToken: string },
  rest: Pick<DeliveryResult, 'next' | 'counted' | 'attempt'>,
): DeliveryResult {
  const { patientId, sequence, leaseToken } = item;
  return { patientId, sequence, leaseToken, ...rest };
}
