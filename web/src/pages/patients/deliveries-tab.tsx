/** What was sent of a patient to health information exchanges. Contract: WEB-35. */
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { timeColumn } from '../../blocks/list/columns.tsx';
import { useListOf } from '../../blocks/list/cursor-list.ts';
import { ListPage } from '../../blocks/list/list-page.tsx';
import type { Column } from '../../blocks/list/record-table.tsx';
import { EmptyState } from '../../blocks/states/empty-state.tsx';
import { useSession } from '../../shell/session-context.tsx';
import { useConnectionColumn } from '../exchange/connection-column.tsx';
import { DeliveryState } from '../exchange/delivery-state.tsx';
import { type Delivery, useConnectionsLoading } from '../exchange/exchange-data.ts';
import type { Purpose } from './purpose.tsx';

export function DeliveriesTab({ patientId, purpose }: { patientId: string; purpose: Purpose }) {
  const t = useTranslations('patient');
  const { facility } = useSession();
  const list = useListOf(['deliveries', facility?.id], '/exchange/deliveries', {
    patient: patientId,
    purposeOfUse: purpose,
  });
  const isLoading = useConnectionsLoading();
  return (
    <ListPage
      label={t('tabs.deliveries')}
      list={{ ...list, isPending: list.isPending || isLoading }}
      columns={useColumns(list.rows)}
      rowId={({ id }) => id}
      empty={<EmptyState title={t('deliveriesEmpty')} text={t('deliveriesEmptyText')} />}
    />
  );
}

function useColumns(rows: readonly Delivery[]): Column<Delivery>[] {
  const t = useTranslations('exchange');
  const connection = useConnectionColumn(rows);
  return [
    {
      heading: t('status'),
      width: '8rem',
      cell: (delivery) => <DeliveryState delivery={delivery} />,
    },
    {
      heading: t('event'),
      cell: ({ id, event }) => (
        <Link to="/exchange/deliveries/$deliveryId" params={{ deliveryId: id }}>
          {event === 'patient.created' ? t('events.created') : t('events.updated')}
        </Link>
      ),
    },
    ...connection,
    timeColumn(t('occurred'), ({ occurredAt }) => occurredAt),
    timeColumn(t('attempt'), ({ lastAttempt }) => lastAttempt?.startedAt),
  ];
}
