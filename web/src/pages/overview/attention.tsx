/** What needs somebody, with the page and filter that mends it. Contract: WEB-55. */
import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowRight, Check } from 'lucide-react';
import { useFormatter, useTranslations } from 'use-intl';
import type { Answer } from '../../api/answer.ts';
import { answered, api } from '../../api/api.ts';
import { Section } from '../../blocks/page/section.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import css from './overview.module.css';

type Item = Answer<'/overview'>['attention'][number];

/** Where each is mended; accounts of people in the list of people. */
const PLACES: Record<Item['kind'], { to: string; search?: Record<string, string> }> = {
  'held-deliveries': { to: '/exchange/held' },
  'exchanges-down': { to: '/exchange/connections' },
  'failing-targets': { to: '/publishing', search: { state: 'failed' } },
  'rejected-imports': { to: '/imports', search: { state: 'incomplete' } },
  'unmapped-codes': { to: '/terminology' },
  'accounts-must-change-password': {
    to: '/integration-accounts',
    search: { state: 'must-change-password' },
  },
  'accounts-require-password-setup': { to: '/integration-accounts', search: { state: 'requires-setup' } },
};

export function useAttention() {
  return useQuery({
    queryKey: ['overview', 'attention'],
    queryFn: () => answered(api.GET('/overview')),
  });
}

export function Attention() {
  const t = useTranslations('overview');
  const { data, error, isPending, refetch } = useAttention();
  return (
    <Section title={t('attention')}>
      {isPending ? <Skeleton height={66} animate={false} /> : undefined}
      {error === null ? undefined : <ErrorState error={error} onRetry={() => void refetch()} />}
      {data?.attention.length === 0 ? <Calm /> : undefined}
      {data === undefined || data.attention.length === 0 ? undefined : (
        <ul className={css.attention}>
          {data.attention.map((item) => (
            <Line key={item.kind} item={item} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function Line({ item: { kind, count, more, userTypes } }: { item: Item }) {
  const t = useTranslations('overview');
  const format = useFormatter();
  const { to, search } = PLACES[kind];
  return (
    <li className={css.line}>
      <strong className={css.count}>{t('count', { count: format.number(count), more: String(more) })}</strong>
      <div className={css.words}>
        <h3 className={css.name}>{t(`kinds.${kind}.name`)}</h3>
        <p className={css.quiet}>{t(`kinds.${kind}.text`)}</p>
      </div>
      <div className={css.links}>
        {(userTypes ?? ['EHR']).map((type) =>
          type === 'STAFF' ? link('/people', t('seePeople')) : link(to, t(`kinds.${kind}.link`)),
        )}
      </div>
    </li>
  );

  function link(place: string, words: string) {
    return (
      <Link key={place} to={place as '/'} search={(search ?? {}) as never} className={css.link}>
        {words}
        <ArrowRight size={14} aria-hidden="true" />
      </Link>
    );
  }
}

function Calm() {
  const t = useTranslations('overview');
  return (
    <div className={css.calm}>
      <Check size={20} className={css.check} aria-hidden="true" />
      <div>
        <h3 className={css.name}>{t('calm')}</h3>
        <p className={css.quiet}>{t('calmText')}</p>
      </div>
    </div>
  );
}
