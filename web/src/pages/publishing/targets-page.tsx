/** The FHIR servers that records are published to, as the operator has configured them. Contract: WEB-45. */
import { useTranslations } from 'use-intl';
import { timeColumn } from '../../blocks/list/columns.tsx';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { InEnglish } from '../../blocks/values/in-english.tsx';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';
import css from './publishing.module.css';
import { readTargets, type Target } from './publishing-data.ts';
import { PublishingTabs } from './publishing-tabs.tsx';

const TONES = {
  closed: 'good',
  open: 'bad',
  probing: 'warning',
  disabled: 'quiet',
  failed: 'warning',
  unused: 'quiet',
} as const;

export function TargetsPage() {
  const t = useTranslations('publishing');
  const list = useCursorList<Target>(['publish-targets', 'list'], async () => ({
    items: await readTargets(),
    nextCursor: null,
  }));
  return (
    <>
      <PageHeader title={t('targets')} text={t('targetsText')} />
      <PublishingTabs />
      <ListPage
        label={t('targets')}
        list={list}
        columns={useColumns()}
        hasTallRows
        rowId={({ name, scope }) => `${scope} ${name}`}
        empty={<EmptyState title={t('noTargets')} text={t('noTargetsText')} />}
      />
    </>
  );
}

function useColumns(): Column<Target>[] {
  const t = useTranslations('publishing');
  return [
    {
      heading: t('name'),
      share: 2,
      cell: ({ name, base, default: isDefault }) => (
        <div>
          <strong>{isDefault ? `${name} (${t('isDefault')})` : name}</strong>
          <div className={css.quiet}>{base}</div>
        </div>
      ),
    },
    {
      heading: t('health'),
      width: '12.75rem',
      cell: (target) => {
        const shown = shownState(target);
        return <StatusBadge tone={TONES[shown]} label={t(`healths.${shown}`)} />;
      },
    },
    timeColumn(t('lastSuccess'), ({ lastSuccessAt }) => lastSuccessAt),
    {
      heading: t('lastFailure'),
      share: 2.6,
      cell: ({ lastFailure }) =>
        lastFailure === null ? (
          '–'
        ) : (
          <div>
            <ZonedTime at={lastFailure.at} />
            <div className={css.quiet}>
              <InEnglish text={lastFailure.message} />
            </div>
          </div>
        ),
    },
  ];
}

/** That nothing speaks against a target (`closed`) is no sign that it works: its last publish is. */
function shownState({ enabled, state, lastSuccessAt, lastFailure }: Target): keyof typeof TONES {
  if (!enabled) return 'disabled';
  if (state !== 'closed') return state;
  if (lastFailure !== null && lastFailure.at > (lastSuccessAt ?? '')) return 'failed';
  return lastSuccessAt === null ? 'unused' : 'closed';
}
