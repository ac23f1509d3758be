/** The pages about terminology. */
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { EXACT, PageTabs } from '../../blocks/page/page-tabs.tsx';
import { useSession } from '../../shell/session-context.tsx';

export function TerminologyTabs() {
  const t = useTranslations('terminology');
  const { may } = useSession();
  return (
    <PageTabs label={t('views')}>
      <Link to="/terminology" activeOptions={EXACT}>
        {t('unmapped')}
      </Link>
      <Link to="/terminology/maps" activeOptions={EXACT}>
        {t('maps')}
      </Link>
      {may('terminology.maps.manage') ? (
        <Link to="/terminology/import" activeOptions={EXACT}>
          {t('import')}
        </Link>
      ) : undefined}
      <Link to="/terminology/history" activeOptions={EXACT}>
        {t('changes')}
      </Link>
    </PageTabs>
  );
}
