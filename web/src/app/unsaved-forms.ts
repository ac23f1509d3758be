/** Whether something is typed on the page that is not saved, and may outlive the session. */
import { useEffect, useId } from 'react';

const changedForms = new Set<string>();
const shownOfPatients = new Set<string>();

/** On the page is something that is not saved, and nothing of a patient beside it. */
export function isSomethingTyped(): boolean {
  return changedForms.size > 0 && shownOfPatients.size === 0;
}

/** A page with a form that is changed outlives the session of the person. Not for pages of a patient. Contract: WEB-5. */
export function useTyped(isTyped: boolean): void {
  useMembership(changedForms, isTyped);
}

/** While the page shows data of a patient, it does not outlive the session, whatever is typed. Contract: WEB-5. */
export function usePatientShown(isShown: boolean): void {
  useMembership(shownOfPatients, isShown);
}

function useMembership(members: Set<string>, isMember: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isMember) return undefined;
    members.add(id);
    return () => {
      members.delete(id);
    };
  }, [members, isMember, id]);
}
