/** What needs somebody, each with the way to mend it, and how much went through. Contract: WEB-55. */
import { useTranslations } from 'use-intl';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { Activity } from './activity.tsx';
import { Attention, useAttention } from './attention.tsx';
import { FirstSteps } from './first-steps.tsx';

/** As the service asks for them. */
const PERMISSIONS = [
  'exchange.deliveries.read',
  'exchange.connections.manage',
  'publish.publications.read',
  'records.import',
  'terminology.maps.read',
  'terminology.maps.manage',
  'accounts.manage',
  'roles.manage',
];

export function OverviewPage() {
  const t = useTranslations('overview');
  const { facility, session, may } = useSession();
  const isShown = may(...PERMISSIONS) && facility !== undefined;
  return (
    <>
      <PageHeader
        title={t('title')}
        text={t('text', { facility: facility?.name ?? session.organisation.name })}
      />
      {isShown ? <Shown /> : <EmptyState title={t('nothingForRole')} text={t('nothingForRoleText')} />}
    </>
  );
}

/** How long the list of what needs somebody is, nobody knows before it is read: what stands below waits, and does not jump. Contract: WEB-68. */
function Shown() {
  const { isPending } = useAttention();
  return (
    <>
      <FirstSteps />
      <Attention />
      {isPending ? undefined : <Activity />}
    </>
  );
}
