/** What needs somebody, each with the way to mend it, and how much went through. Contract: WEB-55. */

import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { useTranslations } from 'use-intl';
import { OVERVIEW_PERMISSIONS } from '../../../../src/app/overview/overview-permissions.ts';
import { answered, api } from '../../api/api.ts';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { Activity } from './activity.tsx';
import { Attention, useAttention } from './attention.tsx';
import css from './overview.module.css';

export function OverviewPage() {
  const t = useTranslations('overview');
  const { facility, session, may } = useSession();
  const isShown = may(...OVERVIEW_PERMISSIONS) && facility !== undefined;
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

const STEPS = [
  { name: 'account', to: '/integration-accounts', permissions: ['accounts.manage'] },
  { name: 'import', to: '/imports', permissions: ['records.import'] },
  { name: 'map', to: '/terminology', permissions: ['terminology.maps.read', 'terminology.maps.manage'] },
] as const;

/** What to do first, where no system has an account at a facility of the person. */
function FirstSteps() {
  const t = useTranslations('overview');
  const { facility, may } = useSession();
  const { data } = useQuery({
    queryKey: ['overview', 'any-account'],
    queryFn: () => answered(api.GET('/accounts', { params: { query: { type: 'EHR', limit: 1 } } })),
    enabled: may('accounts.manage'),
  });
  if (data === undefined || data.items.length > 0) return undefined;
  return (
    <Section title={t('firstSteps')} text={t('firstStepsText', { facility: facility?.name ?? '' })}>
      <ol className={css.steps}>
        {STEPS.filter(({ permissions }) => may(...permissions)).map(({ name, to }) => (
          <li key={name} className={css.step}>
            <h3 className={css.name}>{t(`steps.${name}.name`)}</h3>
            <p className={css.quiet}>{t(`steps.${name}.text`)}</p>
            <Link to={to} className={css.link}>
              {t(`steps.${name}.link`)}
              <ArrowRight size={14} aria-hidden="true" />
            </Link>
          </li>
        ))}
      </ol>
    </Section>
  );
}
