/** How far an import is, or how it ended: where nothing was taken, that is said. Contract: WEB-48. */
import { useTranslations } from 'use-intl';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { IMPORT_TONES, type Import } from './import-data.ts';

export function ImportState({ one: { state, progress } }: { one: Import }) {
  const t = useTranslations('imports');
  const hasEnded = state === 'finished' || state === 'rejected';
  const label = hasEnded && progress.resources === 0 ? t(`ofNone.${state}`) : t(`states.${state}`);
  return <StatusBadge tone={IMPORT_TONES[state]} label={label} />;
}
