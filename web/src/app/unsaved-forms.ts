/** Whether something is typed on the page that is not saved. */
import { useEffect, useId } from 'react';

const changedForms = new Set<string>();

/** On the page is something that is not saved. */
export function isSomethingTyped(): boolean {
  return changedForms.size > 0;
}

/** A page with a form that is changed outlives the session of the person. Not for pages of a patient. Contract: WEB-5. */
export function useTyped(isTyped: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isTyped) return undefined;
    changedForms.add(id);
    return () => {
      changedForms.delete(id);
    };
  }, [isTyped, id]);
}
