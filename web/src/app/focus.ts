/** Where the focus is when what had it is gone: never nowhere, so that the keyboard goes on where it was. Contract: WEB-4. */

/** A dialog that closes gives the focus back after 10 ms, and takes it from a dialog that opened meanwhile. This is later. */
export const FOCUS_GIVEN_BACK_MS = 20;

/**
 * If what had the focus, or opened the dialog that had it, is gone or disabled, the heading of the page has it. The page
 * stays where it is: whoever presses buttons down a list goes on there.
 */
export function findFocus(): void {
  setTimeout(() => {
    if (document.activeElement === document.body)
      document.querySelector('h1')?.focus({ preventScroll: true });
  }, FOCUS_GIVEN_BACK_MS);
}
