/** Calls, publishes and deliveries over a day or a week, with what failed of them. Contract: WEB-55. */
import { SegmentedControl, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import type { paths } from '../../api/schema.d.ts';
import { Section } from '../../blocks/page/section.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { Chart } from '../../blocks/values/chart.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './overview.module.css';

type ActivityOf = paths['/overview/activity']['get']['responses'][200]['content']['application/json'];
type Name = ActivityOf['series'][number]['name'];

const PERIODS = ['24', '168'] as const;
/** Beside each other: how much, and what of it failed. */
const SHOWN: readonly (readonly [all: Name, failed: Name])[] = [
  ['calls', 'calls-failed'],
  ['publishes', 'publish-failures'],
  ['deliveries', 'delivery-failures'],
];
const route = getRouteApi('/shell/');

export function Activity() {
  const t = useTranslations('overview');
  const { facility } = useSession();
  const navigate = route.useNavigate();
  const { hours } = route.useSearch();
  const period = PERIODS.find((one) => one === hours) ?? '24';
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['overview', 'activity', period],
    queryFn: () =>
      answered(api.GET('/overview/activity', { params: { query: { hours: period === '168' ? 168 : 24 } } })),
  });
  return (
    <Section
      title={t('activity')}
      text={t('activityText', { zone: facility?.timeZone ?? 'UTC' })}
      actions={
        <SegmentedControl
          size="xs"
          aria-label={t('period')}
          value={period}
          data={PERIODS.map((value) => ({ value, label: t(`periods.${value}`) }))}
          onChange={(value) =>
            void navigate({ search: { hours: value === '24' ? undefined : value }, replace: true })
          }
        />
      }
    >
      {isPending ? <Skeleton height={320} animate={false} /> : undefined}
      {error === null ? undefined : <ErrorState error={error} onRetry={() => void refetch()} />}
      {data === undefined ? undefined : <Charts activity={data} />}
    </Section>
  );
}

function Charts({ activity: { from, stepSeconds, series } }: { activity: ActivityOf }) {
  const t = useTranslations('overview');
  const began = new Date(from).getTime();
  const pointsOf = (name: Name) =>
    (series.find((one) => one.name === name)?.points ?? []).map((value, index) => ({
      at: new Date(began + index * stepSeconds * 1_000).toISOString(),
      value,
    }));
  return (
    <div className={css.charts}>
      {SHOWN.flatMap((pair) =>
        pair.map((name, index) => (
          <Chart
            key={name}
            kind="bars"
            title={t(`series.${name}`)}
            timeHeading={t('hour')}
            points={pointsOf(name)}
            tone={index === 0 ? 'accent' : 'bad'}
          />
        )),
      )}
    </div>
  );
}
