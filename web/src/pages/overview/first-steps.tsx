/** For an organisation that no system is connected to yet: what to do first. Contract: WEB-55. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import { Section } from '../../blocks/page/section.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './overview.module.css';

const STEPS = [
  { name: 'account', to: '/integration-accounts', permissions: ['accounts.manage'] },
  { name: 'import', to: '/imports', permissions: ['records.import'] },
  { name: 'map', to: '/terminology', permissions: ['terminology.maps.read', 'terminology.maps.manage'] },
] as const;

export function FirstSteps() {
  const t = useTranslations('overview');
  const { may } = useSession();
  const { data } = useQuery({
    queryKey: ['overview', 'any-account'],
    queryFn: () => answered(api.GET('/accounts', { params: { query: { type: 'EHR', limit: 1 } } })),
    enabled: may('accounts.manage'),
  });
  if (data === undefined || data.items.length > 0) return undefined;
  return (
    <Section title={t('firstSteps')} text={t('firstStepsText')}>
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
