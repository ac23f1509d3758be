/** Who changed which mapping, and when. Contract: WEB-33. */
import { getRouteApi } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Item } from '../../api/answer.ts';
import { timeColumn } from '../../blocks/list/columns.tsx';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { Email } from '../../blocks/values/email.tsx';
import { Identifier } from '../../blocks/values/identifier.tsx';
import { StatusBadge, type Tone } from '../../blocks/values/status-badge.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { useAccountAddresses } from '../accounts/account-data.ts';
import { Coded } from './coded.tsx';
import { useLevels } from './level.ts';
import { TerminologyTabs } from './terminology-tabs.tsx';

type MapChange = Item<'/terminology/maps/changes'>;

const TONES: Record<MapChange['kind'], Tone> = { created: 'good', changed: 'running', deleted: 'quiet' };
const route = getRouteApi('/shell/terminology/history');

export function ChangesPage() {
  const t = useTranslations('mapChanges');
  const search = route.useSearch();
  const { facility } = useSession();
  const list = useListOf(['terminology', 'changes', facility?.id], '/terminology/maps/changes', search);
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} />
      <TerminologyTabs />
      <ListPage
        label={t('title')}
        list={list}
        columns={useColumns(list.rows)}
        rowId={({ mapId, version }) => `${mapId} ${version}`}
        filters={[{ name: 'localCode', label: t('filter'), kind: 'text' }]}
        empty={<EmptyState title={t('empty')} text={t('emptyText')} />}
      />
    </>
  );
}

function useColumns(rows: readonly MapChange[]): Column<MapChange>[] {
  const t = useTranslations('terminology');
  const ofChange = useTranslations('mapChanges');
  const { session } = useSession();
  const levels = useLevels();
  const addressOf = useAccountAddresses(rows.map(({ changedBy }) => changedBy));
  const level = (facilityId: string | null) => levels[facilityId === null ? 0 : 1]?.label;
  const author = (accountId: string | null) => {
    if (accountId === null) return t('operator');
    if (accountId === session.account.userId) return t('you');
    const address = addressOf(accountId);
    return address === undefined ? <Identifier id={accountId} /> : <Email address={address} />;
  };
  return [
    {
      heading: ofChange('kind'),
      width: '7.5rem',
      cell: ({ kind }) => <StatusBadge tone={TONES[kind]} label={ofChange(`kinds.${kind}`)} />,
    },
    {
      heading: t('code'),
      cell: ({ localCode, localSystem }) => <Coded code={localCode} display={null} system={localSystem} />,
    },
    {
      heading: t('standard'),
      share: 1.6,
      cell: ({ targetCode, targetDisplay, targetSystem }) => (
        <Coded code={targetCode ?? '–'} display={targetDisplay} system={targetSystem} />
      ),
    },
    {
      heading: t('level'),
      width: '9.5rem',
      cell: ({ facilityId }) => level(facilityId),
    },
    timeColumn(t('changed'), ({ changedAt }) => changedAt),
    { heading: t('by'), cell: ({ changedBy }) => author(changedBy) },
  ];
}
