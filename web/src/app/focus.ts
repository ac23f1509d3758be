/** Where the focus is when what had it is gone: never nowhere, so that the keyboard goes on where it was. Contract: WEB-4. */
import { useEffect, useRef } from 'react';

/** A dialog that closes gives the focus back after 10 ms, and takes it from a dialog that opened meanwhile. This is later. */
export const FOCUS_GIVEN_BACK_MS = 20;

/** A dialog has closed: if what opened it is gone or disabled, the heading of the page has the focus. */
export function findFocus(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.querySelector('h1')?.focus();
  }, FOCUS_GIVEN_BACK_MS);
}

/**
 * While something is sent its button is disabled, and the browser takes the focus from what is disabled. Afterwards it has
 * the focus again, unless that went elsewhere.
 */
export function useKeptFocus(isSending: boolean): { keep: () => void } {
  const sender = useRef<Element | null>(null);
  useEffect(() => {
    if (isSending || document.activeElement !== document.body) return;
    if (sender.current instanceof HTMLElement) sender.current.focus();
  }, [isSending]);
  return {
    keep: () => {
      sender.current = document.activeElement;
    },
  };
}
