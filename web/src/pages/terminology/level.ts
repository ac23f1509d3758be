/** Whether a mapping counts at the whole organisation or at one facility. */
import { useTranslations } from 'use-intl';
import { useSession } from '../../shell/session-context.tsx';
import type { Level } from './draft.ts';

export function useLevels(): { value: Level; label: string }[] {
  const t = useTranslations('terminology');
  const { facility } = useSession();
  return [
    { value: 'organisation', label: t('organisation') },
    { value: 'facility', label: t('facilityOnly', { facility: facility?.name ?? '' }) },
  ];
}

/** Who may not change the organisation's maps at every facility begins with their own. */
export function useFirstLevel(): Level {
  const { may } = useSession();
  return may('terminology.maps.organisation') ? 'organisation' : 'facility';
}

/** The facility of a mapping as the service wants it: null for the organisation's. */
export function useFacilityOf(): (level: Level) => string | null {
  const { facility } = useSession();
  return (level) => (level === 'facility' ? (facility?.id ?? null) : null);
}
