/** Calls, publishes and deliveries over a day or a week, with what failed of them. Contract: WEB-55. */
import { SegmentedControl, Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Answer } from '../../api/answer.ts';
import { answered, api } from '../../api/api.ts';
import { Chart, type ChartSeries } from '../../blocks/chart/chart.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { ErrorState } from '../../blocks/states/error-state.tsx';
import { useSession } from '../../shell/session-context.tsx';
import css from './overview.module.css';

type ActivityOf = Answer<'/overview/activity'>;
type Name = ActivityOf['series'][number]['name'];

const PERIODS = ['24', '168'] as const;
interface Part {
  part: 'answered' | 'refused' | 'failed' | 'published' | 'delivered' | 'attemptsFailed';
  all: Name;
  /** Parts of their own that `all` contains. */
  less: readonly Name[];
  tone: ChartSeries['tone'];
}

const CHARTS: readonly { name: 'calls' | 'publishes' | 'deliveries'; parts: readonly Part[] }[] = [
  {
    name: 'calls',
    parts: [
      { part: 'answered', all: 'calls', less: ['calls-refused', 'calls-failed'], tone: 'accent' },
      { part: 'refused', all: 'calls-refused', less: [], tone: 'warning' },
      { part: 'failed', all: 'calls-failed', less: [], tone: 'bad' },
    ],
  },
  {
    name: 'publishes',
    parts: [
      { part: 'published', all: 'publishes', less: ['publish-failures'], tone: 'accent' },
      { part: 'failed', all: 'publish-failures', less: [], tone: 'bad' },
    ],
  },
  {
    name: 'deliveries',
    parts: [
      { part: 'delivered', all: 'deliveries', less: [], tone: 'accent' },
      { part: 'attemptsFailed', all: 'delivery-failures', less: [], tone: 'bad' },
    ],
  },
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
      {isPending ? <Skeleton height={396} animate={false} /> : undefined}
      {error === null ? undefined : <ErrorState error={error} onRetry={() => void refetch()} />}
      {data === undefined ? undefined : <Charts activity={data} />}
    </Section>
  );
}

function Charts({ activity: { from, stepSeconds, series } }: { activity: ActivityOf }) {
  const t = useTranslations('overview');
  const valuesOf = (name: Name) => series.find((one) => one.name === name)?.points ?? [];
  const began = new Date(from).getTime();
  const times = valuesOf('calls').map((_, index) => new Date(began + index * stepSeconds * 1_000));
  return (
    <div className={css.charts}>
      {CHARTS.map(({ name, parts }) => (
        <Chart
          key={name}
          title={t(`series.${name}`)}
          timeHeading={t('hour')}
          empty={t('none')}
          times={times}
          series={parts.map(({ part, all, less, tone }) => ({
            nameOf: (count) => t(`parts.${part}`, { count }),
            tone,
            values: valuesOf(all).map((value, index) =>
              less.reduce((rest, other) => rest - (valuesOf(other)[index] ?? 0), value),
            ),
          }))}
        />
      ))}
    </div>
  );
}
