/** The pages about exchanges: only those that the person may open. */
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { EXACT, PageTabs, TabCount } from '../../blocks/page/page-tabs.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { MANAGE, READ_DELIVERIES, useHeldCount } from './exchange-data.ts';

export function ExchangeTabs() {
  const t = useTranslations('exchange.tabs');
  const { may } = useSession();
  const held = useHeldCount();
  const isReader = may(READ_DELIVERIES);
  return (
    <PageTabs label={t('label')}>
      {isReader ? (
        <>
          <Link to="/exchange" activeOptions={EXACT}>
            {t('deliveries')}
          </Link>
          <Link to="/exchange/held" activeOptions={EXACT}>
            {t('held')} <TabCount count={held} />
          </Link>
        </>
      ) : undefined}
      {may(MANAGE) ? (
        <Link to="/exchange/connections" activeOptions={EXACT}>
          {t('connections')}
        </Link>
      ) : undefined}
      {isReader ? (
        <Link to="/exchange/callbacks" activeOptions={EXACT}>
          {t('callbacks')}
        </Link>
      ) : undefined}
    </PageTabs>
  );
}
