/** Who is signed in, and in which facility they work: for every page. */
import { createContext, type ReactNode, useContext, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useTranslations } from 'use-intl';
import { chosenFacility, rememberFacility } from '../api/call-headers.ts';
import type { Facility, SignedIn } from '../api/session.ts';
import { readAllAgain } from '../app/queries.ts';
import { announce } from '../blocks/page/announcements.tsx';

interface SessionContextValue {
  session: SignedIn;
  /** The chosen one; undefined only where the account has none. */
  facility: Facility | undefined;
  chooseFacility: (facilityId: string) => void;
  /** Whether the person holds any of these; no names, no need. */
  may: (...permissions: readonly string[]) => boolean;
}

const SessionContext = createContext<SessionContextValue | undefined>(undefined);

export function useSession(): SessionContextValue {
  const value = useContext(SessionContext);
  if (value === undefined) throw new Error('useSession is for pages below the shell.');
  return value;
}

interface SessionProviderProperties {
  session: SignedIn;
  children: ReactNode;
}

export function SessionProvider({ session, children }: SessionProviderProperties) {
  const [wanted, setWanted] = useState(chosenFacility);
  const facility =
    session.facilities.find(({ id }) => id === wanted) ??
    session.facilities.find(({ id }) => id === session.defaultFacilityId) ??
    session.facilities[0];
  // Before the pages below ask anything.
  if (facility?.id !== chosenFacility()) rememberFacility(facility?.id);
  useReadingAgain(facility, session.facilities);
  const value = useMemo<SessionContextValue>(
    () => ({
      session,
      facility,
      chooseFacility: (facilityId) => {
        rememberFacility(facilityId);
        setWanted(facilityId);
      },
      may: (...permissions) =>
        permissions.length === 0 || permissions.some((one) => session.permissions.includes(one)),
    }),
    [session, facility],
  );
  return <SessionContext value={value}>{children}</SessionContext>;
}

/** Another facility was chosen, or the one of before was taken away: what was read is that of the other. */
function useReadingAgain(facility: Facility | undefined, facilities: readonly Facility[]): void {
  const t = useTranslations('shell');
  const shown = useRef(facility);
  useLayoutEffect(() => {
    const before = shown.current;
    shown.current = facility;
    if (before?.id === facility?.id) return;
    if (before !== undefined && facility !== undefined && !facilities.some(({ id }) => id === before.id))
      announce({ kind: 'bad', text: t('facilityTaken', { before: before.name, now: facility.name }) });
    void readAllAgain();
  }, [facility, facilities, t]);
}
