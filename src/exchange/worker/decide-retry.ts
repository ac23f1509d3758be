/** What the outcome of a try means for the delivery and for the exchange. Pure. Contract: EXC-18, EXC-19. */

import type { Attempt, Result } from '../queue/lane.store.ts';
import type { Sign } from './breaker.ts';
import { honoured, meaningOf, type RetrySettings, retryDelay } from './retry.ts';
import type { Answer } from './send.ts';

export interface Judgement {
  outcome: Attempt['outcome'];
  status: number | null;
  failure: string | null;
  responseHash: Buffer | null;
  next: Result['next'];
  sign: Sign;
  /** The exchange asked to be left alone for so long; 0 when it did not. */
  restMs: number;
}

export interface JudgedBy {
  /** Tries before this one that counted. */
  attempts: number;
  /** False while the exchange is taken for down: the try is not used up. */
  counted: boolean;
  retry: RetrySettings;
  /** In [0, 1). */
  random: number;
}

export function judge(answer: Answer, by: JudgedBy): Judgement {
  if (answer.kind === 'unanswered')
    return {
      outcome: 'failed',
      status: null,
      failure: answer.code,
      responseHash: null,
      next: again(by, undefined),
      sign: answer.reached ? 'failing' : 'unreachable',
      restMs: 0,
    };
  const { status, responseHash } = answer;
  const outcome = meaningOf(status);
  const answered = { outcome, status, failure: null, responseHash, restMs: 0 };
  if (outcome === 'delivered') return { ...answered, next: { kind: 'advance' }, sign: 'up' };
  if (outcome === 'refused')
    return { ...answered, next: { kind: 'hold', reason: `refused_${status}` }, sign: 'up' };
  // A conflict concerns one delivery, whatever else the exchange is able to do.
  const next = again(by, answer.retryAfterMs);
  if (status === 409) return { ...answered, next, sign: 'up' };
  return { ...answered, next, sign: 'failing', restMs: honoured(by.retry, answer.retryAfterMs) };
}

function again(
  { attempts, counted, retry, random }: JudgedBy,
  retryAfterMs: number | undefined,
): Result['next'] {
  const afterMs = retryDelay(retry, counted ? attempts + 1 : 1, { retryAfterMs, random });
  return afterMs === undefined ? { kind: 'hold', reason: 'retries_exhausted' } : { kind: 'retry', afterMs };
}
