/**
 * Decides whether a delivery that was tried is done, tried again or held, and what the try says of the exchange. Pure.
 * Contract: EXC-16, EXC-17, EXC-18, EXC-19.
 */
import { spreadDelay } from '../../outbound/backoff.ts';
import type { ServerHealth } from '../../outbound/failure-count.ts';
import type { DeliveryAttempt, DeliveryResult } from '../queue/settle.store.ts';
import type { DeliveryAnswer } from './send.ts';

export interface DeliveryRetrySettings {
  /** Before each further try, in ms. After the last of them the delivery is held. */
  delaysMs: readonly number[];
  /** Each delay is spread by this part of it to either side. */
  jitter: number;
  /** `retry-after` is honoured up to this. */
  maxRetryAfterMs: number;
}

export interface RetryDecision
  extends Pick<DeliveryAttempt, 'outcome' | 'status' | 'failure' | 'responseHash'> {
  next: DeliveryResult['next'];
  health: ServerHealth;
  /** The exchange asked to be left alone for so long; 0 when it did not. */
  restMs: number;
}

export interface DecidedBy {
  /** Tries before this one that counted. */
  attempts: number;
  /** False while the breaker is open: the try is not used up. */
  counted: boolean;
  retry: DeliveryRetrySettings;
  /** In [0, 1). */
  random: number;
}

export function decideRetry(answer: DeliveryAnswer, by: DecidedBy): RetryDecision {
  if (answer.kind === 'unanswered')
    return {
      outcome: 'failed',
      status: null,
      failure: answer.code,
      responseHash: null,
      next: tryAgain(by, undefined),
      health: answer.reached ? 'failing' : 'unreachable',
      restMs: 0,
    };
  const { status, responseHash } = answer;
  const outcome = outcomeOfStatus(status);
  const answered = { outcome, status, failure: null, responseHash, restMs: 0 };
  if (outcome === 'delivered') return { ...answered, next: { kind: 'advance' }, health: 'up' };
  if (outcome === 'refused')
    return { ...answered, next: { kind: 'hold', reason: `refused_${status}` }, health: 'up' };
  // A conflict concerns one delivery, whatever else the exchange is able to do.
  const next = tryAgain(by, answer.retryAfterMs);
  if (status === 409) return { ...answered, next, health: 'up' };
  return { ...answered, next, health: 'failing', restMs: askedRest(by.retry, answer.retryAfterMs) };
}

const RETRIED_CLIENT_ERRORS = [401, 403, 404, 408, 409, 425, 429];

/** What an HTTP status says: taken, refused for good, or to be tried again. */
export function outcomeOfStatus(status: number): 'delivered' | 'refused' | 'failed' {
  if (status >= 200 && status < 300) return 'delivered';
  const final = status >= 400 && status < 500 && !RETRIED_CLIENT_ERRORS.includes(status);
  return final ? 'refused' : 'failed';
}

function tryAgain(
  { attempts, counted, retry, random }: DecidedBy,
  retryAfterMs: number | undefined,
): DeliveryResult['next'] {
  const afterMs = retryDelay(retry, counted ? attempts + 1 : 1, { retryAfterMs, random });
  return afterMs === undefined ? { kind: 'hold', reason: 'retries_exhausted' } : { kind: 'retry', afterMs };
}

/**
 * Milliseconds until the next try after `attempts` counted tries, the last included; undefined when there is
 * none left. `random` is in [0, 1).
 */
export function retryDelay(
  settings: DeliveryRetrySettings,
  attempts: number,
  { retryAfterMs, random }: { retryAfterMs: number | undefined; random: number },
): number | undefined {
  const delay = settings.delaysMs[attempts - 1];
  if (delay === undefined) return undefined;
  const spread = spreadDelay(delay, { from: 1 - settings.jitter, to: 1 + settings.jitter }, random);
  return Math.round(Math.max(spread, askedRest(settings, retryAfterMs)));
}

/** How much of `retry-after` is honoured, in ms. */
function askedRest({ maxRetryAfterMs }: DeliveryRetrySettings, retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? 0, maxRetryAfterMs);
}
