/** What exchanges said about the messages that they received. Contract: WEB-40. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Item } from '../../../api/answer.ts';
import { timeColumn } from '../../../blocks/list/columns.tsx';
import { useListOf } from '../../../blocks/list/cursor-list.ts';
import { choicesOf } from '../../../blocks/list/filter-bar.tsx';
import { ListPage } from '../../../blocks/list/list-page.tsx';
import type { Column } from '../../../blocks/list/record-table.tsx';
import { PageHeader } from '../../../blocks/page/page-header.tsx';
import { EmptyState } from '../../../blocks/states/empty-state.tsx';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import { useConnectionColumn, useConnectionFilter } from '../connection-column.tsx';
import { useConnectionsLoading } from '../exchange-data.ts';
import { ExchangeTabs } from '../exchange-tabs.tsx';

type Callback = Item<'/exchange/callbacks'>;

const STATUSES = ['accepted', 'rejected'] as const;
const OUTCOMES = ['applied', 'conflict'] as const;
const route = getRouteApi('/shell/exchange/callbacks');

export function CallbacksPage() {
  const t = useTranslations('exchangeCallbacks');
  const search = route.useSearch();
  const list = useListOf(['exchange-callbacks'], '/exchange/callbacks', search);
  const isLoading = useConnectionsLoading();
  const byConnection = useConnectionFilter(search.connection);
  return (
    <>
      <PageHeader title={t('title')} text={`${t('text')} ${t('conflictHelp')}`} />
      <ExchangeTabs />
      <ListPage
        label={t('list')}
        list={{ ...list, isPending: list.isPending || isLoading }}
        columns={useColumns(list.rows)}
        rowId={({ id }) => id}
        filters={[
          { name: 'status', label: t('status'), choices: choicesOf(STATUSES, (one) => t(`statuses.${one}`)) },
          {
            name: 'outcome',
            label: t('outcome'),
            choices: choicesOf(OUTCOMES, (one) => t(`outcomes.${one}`)),
          },
          ...byConnection,
        ]}
        empty={<EmptyState title={t('empty')} text={t('emptyText')} />}
      />
    </>
  );
}

function useColumns(rows: readonly Callback[]): Column<Callback>[] {
  const t = useTranslations('exchangeCallbacks');
  const connection = useConnectionColumn(rows);
  return [
    {
      heading: t('status'),
      width: '7.5rem',
      cell: ({ status }) =>
        status === 'accepted' ? (
          <StatusBadge tone="good" label={t('statuses.accepted')} />
        ) : (
          <StatusBadge tone="bad" label={t('statuses.rejected')} />
        ),
    },
    {
      heading: t('outcome'),
      width: '7.5rem',
      cell: ({ outcome }) =>
        outcome === 'conflict' ? (
          <StatusBadge tone="warning" label={t('outcomes.conflict')} />
        ) : (
          t('outcomes.applied')
        ),
    },
    {
      heading: t('assignedId'),
      share: 1.4,
      cell: ({ assignedId }) => (assignedId === null ? '–' : <code>{assignedId}</code>),
    },
    { heading: t('message'), share: 1.3, cell: ({ message }) => message ?? '–' },
    ...connection,
    timeColumn(t('received'), ({ receivedAt }) => receivedAt),
    {
      heading: t('delivery'),
      width: '9rem',
      cell: ({ deliveryId }) => (
        <Link to="/exchange/deliveries/$deliveryId" params={{ deliveryId }}>
          {t('toDelivery')}
        </Link>
      ),
    },
  ];
}
