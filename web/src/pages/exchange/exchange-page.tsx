/** What was sent to health information exchanges. */
import { getRouteApi } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../api/api.ts';
import type { components } from '../../api/schema.d.ts';
import { useCursorList } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { PageHeader } from '../../blocks/page/page-header.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { Identifier } from '../../blocks/values/identifier.tsx';
import { StatusBadge, type Tone } from '../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../blocks/values/zoned-time.tsx';

type Delivery = components['schemas']['Delivery'];
type Status = Delivery['status'];

const TONES: Record<Status, Tone> = {
  queued: 'running',
  held: 'warning',
  delivered: 'good',
  skipped: 'quiet',
};
const STATUSES = Object.keys(TONES) as Status[];

const route = getRouteApi('/shell/exchange');

export function ExchangePage() {
  const t = useTranslations('exchange');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const list = useCursorList<Delivery>(['deliveries', search], (cursor) =>
    answered(
      api.GET('/exchange/deliveries', {
        params: {
          query: {
            ...search,
            status: search.status as Status,
            limit: 50,
            ...(cursor === undefined ? {} : { cursor }),
          },
        },
      }),
    ),
  );
  return (
    <>
      <PageHeader title={t('title')} text={t('text')} />
      <ListPage
        label={t('deliveries')}
        list={list}
        columns={useColumns()}
        rowId={({ id }) => id}
        filters={[
          {
            name: 'status',
            label: t('status'),
            kind: 'choice',
            choices: STATUSES.map((value) => ({ value, label: t(`statuses.${value}`) })),
          },
          { name: 'patient', label: t('patientFilter'), kind: 'text' },
          { name: 'since', label: t('since'), kind: 'day' },
          { name: 'until', label: t('until'), kind: 'day' },
        ]}
        values={search}
        onFilter={(change) => void navigate({ search: (old) => ({ ...old, ...change }), replace: true })}
        empty={<EmptyState title={t('empty')} text={t('emptyText')} />}
      />
    </>
  );
}

function useColumns(): Column<Delivery>[] {
  const t = useTranslations('exchange');
  return [
    {
      name: 'status',
      heading: t('status'),
      width: '8rem',
      cell: ({ status }) => <StatusBadge tone={TONES[status]} label={t(`statuses.${status}`)} />,
    },
    {
      name: 'event',
      heading: t('event'),
      width: '10rem',
      cell: ({ event }) => (event === 'patient.created' ? t('events.created') : t('events.updated')),
    },
    { name: 'patient', heading: t('patient'), cell: ({ patientId }) => <Identifier id={patientId} /> },
    {
      name: 'occurred',
      heading: t('occurred'),
      width: '13.5rem',
      cell: ({ occurredAt }) => <ZonedTime at={occurredAt} />,
    },
    {
      name: 'attempt',
      heading: t('attempt'),
      width: '13.5rem',
      cell: ({ lastAttempt }) => <ZonedTime at={lastAttempt?.startedAt} />,
    },
  ];
}
