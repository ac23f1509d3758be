/** The pages about publishing. */
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { EXACT, PageTabs } from '../../blocks/page/page-tabs.tsx';

export function PublishingTabs() {
  const t = useTranslations('publishing');
  return (
    <PageTabs label={t('tabs')}>
      <Link to="/publishing" activeOptions={EXACT}>
        {t('publications')}
      </Link>
      <Link to="/publishing/targets" activeOptions={EXACT}>
        {t('targets')}
      </Link>
    </PageTabs>
  );
}
