/**
 * Reads again and again while something runs that a page shows. Nobody may be there, so these reads say that no person asks,
 * and the session ends as if they were not made. Contract: WEB-65.
 */
import { focusManager } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';

/** Headers of a read that a page makes by itself. */
export const BY_ITSELF = { 'x-interchange-console': 'background' };

interface Watch {
  /** Something runs. */
  isOn: boolean;
  everyMs: number;
  /** With `BY_ITSELF`. What fails is in the query, which the page shows. */
  read: () => Promise<unknown>;
}

export function useWatch({ isOn, everyMs, read }: Watch): void {
  const latest = useRef(read);
  useEffect(() => {
    latest.current = read;
  });
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => {
      if (focusManager.isFocused()) void latest.current().catch(() => undefined);
    }, everyMs);
    return () => clearInterval(timer);
  }, [isOn, everyMs]);
}
