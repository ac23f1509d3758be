/** What was sent to health information exchanges; and of it what is held, to be decided about. Contract: WEB-40. */
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useCommands } from '../../../blocks/dialogs/commands.ts';
import { useListOf } from '../../../blocks/list/cursor-list.ts';
import { ListPage } from '../../../blocks/list/list-page.tsx';
import { PageHeader } from '../../../blocks/page/page-header.tsx';
import { EmptyState } from '../../../blocks/states/empty-state.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { MANAGE, READ_DELIVERIES, REVIEW, useConnectionsLoading } from '../exchange-data.ts';
import { ExchangeTabs } from '../exchange-tabs.tsx';
import { useChoice, useColumns, useFilters } from './delivery-columns.tsx';
import { HeldReview } from './held-review.tsx';

const all = getRouteApi('/shell/exchange');
const held = getRouteApi('/shell/exchange/held');

/** All deliveries. Who may manage connections only goes on to them. */
export function ExchangePage() {
  const { may } = useSession();
  const search = all.useSearch();
  if (!may(READ_DELIVERIES)) return <Navigate to="/exchange/connections" replace />;
  return <Deliveries search={search} />;
}

/** Those that are held. */
export function HeldPage() {
  return <Deliveries isHeldPage search={{ ...held.useSearch(), status: 'held' }} />;
}

interface DeliveriesProperties {
  search: Partial<Record<'status' | 'connection' | 'patient' | 'since' | 'until', string>>;
  isHeldPage?: boolean;
}

function Deliveries({ search, isHeldPage = false }: DeliveriesProperties) {
  const t = useTranslations('exchange');
  const { may } = useSession();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { status, ...rest } = search;
  const list = useListOf(['deliveries'], '/exchange/deliveries', search);
  const isLoading = useConnectionsLoading();
  const isReview = status === 'held';
  // What was chosen under other filters, or is decided already, is not chosen any more.
  const held = new Set(list.rows.map(({ id }) => id));
  const present = isReview ? chosen.filter((id) => held.has(id)) : [];
  const toggle = (id: string) =>
    setChosen(present.includes(id) ? present.filter((one) => one !== id) : [...present, id]);
  const columns = useColumns(list.rows, { isReview });
  const choice = useChoice({ chosen: present, toggle });
  const filters = useFilters({ isHeldPage, connection: rest.connection });
  useExchangeCommands();
  return (
    <>
      {isHeldPage ? (
        <PageHeader title={t('review.title')} />
      ) : (
        <PageHeader title={t('title')} text={t('text')} />
      )}
      <ExchangeTabs />
      <ListPage
        label={t('deliveries')}
        list={{ ...list, isPending: list.isPending || isLoading }}
        columns={isReview && may(REVIEW) ? [choice, ...columns] : columns}
        rowId={({ id }) => id}
        filters={filters}
        actions={
          isReview ? <HeldReview filters={rest} chosen={present} onClear={() => setChosen([])} /> : undefined
        }
        empty={<NothingThere isHeldPage={isHeldPage} />}
      />
    </>
  );
}

function NothingThere({ isHeldPage }: { isHeldPage: boolean }) {
  const t = useTranslations('exchange');
  const { may } = useSession();
  if (isHeldPage)
    return (
      <EmptyState title={t('review.none')} text={t('review.noneText')}>
        <Link to="/exchange">{t('review.toAll')}</Link>
      </EmptyState>
    );
  return (
    <EmptyState title={t('empty')} text={t('emptyText')}>
      {may(MANAGE) ? <Link to="/exchange/connections">{t('toConnections')}</Link> : undefined}
    </EmptyState>
  );
}

function useExchangeCommands() {
  const t = useTranslations('exchange');
  const tBlocks = useTranslations('blocks');
  const navigate = all.useNavigate();
  const { may } = useSession();
  useCommands([
    {
      id: 'exchange-held',
      label: tBlocks('named', { name: t('title'), what: t('review.title') }),
      run: () => void navigate({ to: '/exchange/held' }),
    },
    ...(may(MANAGE)
      ? [
          {
            id: 'exchange-connections',
            label: t('toConnections'),
            run: () => void navigate({ to: '/exchange/connections' }),
          },
        ]
      : []),
  ]);
}
