/**
 * Reads again and again while something runs that a page shows. Nobody may be there, so these reads say that no person asks,
 * and the session ends as if they were not made. Contract: WEB-65.
 */
import { focusManager } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { isPassing } from './queries.ts';

/** Headers of a read that a page makes by itself. */
export const BY_ITSELF = { 'x-interchange-console': 'background' };

interface Watch {
  /** Something runs. */
  isOn: boolean;
  /** Why the last read failed. A refusal ends the watch: the next one would be refused too. */
  error: unknown;
  everyMs: number;
  /** With `BY_ITSELF`. What fails is in the query, which the page shows. */
  read: () => Promise<unknown>;
}

export function useWatch({ isOn, error, everyMs, read }: Watch): void {
  const isWatching = isOn && (error === null || isPassing(error));
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  useEffect(() => {
    if (!isWatching) return undefined;
    const timer = setInterval(() => {
      if (focusManager.isFocused()) void latest.current().catch(() => undefined);
    }, everyMs);
    return () => clearInterval(timer);
  }, [isWatching, everyMs]);
}
