/** Columns and filters of a list of deliveries. */
import { Checkbox } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useFormatter, useTranslations } from 'use-intl';
import { timeColumn } from '../../../blocks/list/columns.tsx';
import { choicesOf, type Filter } from '../../../blocks/list/filter-bar.tsx';
import type { Column } from '../../../blocks/list/record-table.tsx';
import { ZonedTime } from '../../../blocks/values/zoned-time.tsx';
import { useConnectionColumn, useConnectionFilter } from '../connection-column.tsx';
import { DeliveryState } from '../delivery-state.tsx';
import css from '../exchange.module.css';
import { type Delivery, STATUSES, useHeldReason } from '../exchange-data.ts';
import { PatientLink } from '../patient-link.tsx';

interface FilterOptions {
  isHeldPage: boolean;
  /** The one of the address. */
  connection: string | undefined;
}

export function useFilters({ isHeldPage, connection }: FilterOptions): Filter[] {
  const t = useTranslations('exchange');
  const byConnection = useConnectionFilter(connection);
  const status = {
    name: 'status',
    label: t('status'),
    choices: choicesOf(STATUSES, (one) => t(`statuses.${one}`)),
  };
  return [
    ...(isHeldPage ? [] : [status]),
    ...byConnection,
    { name: 'patient', label: t('patientFilter'), kind: 'text' },
    { name: 'since', label: t('since'), kind: 'day' },
    { name: 'until', label: t('until'), kind: 'day' },
  ];
}

export function useChoice({ chosen, toggle }: { chosen: readonly string[]; toggle: (id: string) => void }) {
  const t = useTranslations('exchange');
  const format = useFormatter();
  const column: Column<Delivery> = {
    heading: t('choose'),
    width: '4.75rem',
    cell: ({ id, patientId, occurredAt }) => (
      <Checkbox
        size="xs"
        checked={chosen.includes(id)}
        onChange={() => toggle(id)}
        aria-label={t('chooseOne', {
          patient: patientId ?? '–',
          at: format.dateTime(new Date(occurredAt), { dateStyle: 'medium', timeStyle: 'medium' }),
        })}
      />
    ),
  };
  return column;
}

export function useColumns(
  rows: readonly Delivery[],
  { isReview }: { isReview: boolean },
): Column<Delivery>[] {
  const t = useTranslations('exchange');
  const connection = useConnectionColumn(rows);
  const reasonOf = useHeldReason();
  const status: Column<Delivery> = {
    heading: t('status'),
    width: '8rem',
    cell: (delivery) => <DeliveryState delivery={delivery} />,
  };
  const reason: Column<Delivery> = {
    heading: t('reason'),
    width: '10.5rem',
    cell: ({ heldReason }) => (heldReason === null ? '–' : reasonOf(heldReason).short),
  };
  const occurred = timeColumn<Delivery>(t('occurred'), ({ occurredAt }) => occurredAt);
  return [
    isReview ? reason : status,
    {
      heading: t('event'),
      width: '9.5rem',
      cell: ({ id, event, patientId }) => {
        const words = event === 'patient.created' ? t('events.created') : t('events.updated');
        // The page of one is closed where its patient may not be named.
        if (patientId === null) return words;
        return (
          <Link to="/exchange/deliveries/$deliveryId" params={{ deliveryId: id }}>
            {words}
          </Link>
        );
      },
    },
    {
      heading: t('patient'),
      cell: ({ patientId }) =>
        patientId === null ? t('patientHidden') : <PatientLink patientId={patientId} />,
    },
    ...connection,
    ...(isReview ? [] : [occurred]),
    {
      heading: t('attempt'),
      width: '13.5rem',
      cell: ({ lastAttempt }) => <LastAttempt attempt={lastAttempt} />,
    },
  ];
}

/** When it was; and what came back, where that was no success. */
function LastAttempt({ attempt }: { attempt: Delivery['lastAttempt'] }) {
  const t = useTranslations('exchange');
  return (
    <div>
      <ZonedTime at={attempt?.startedAt} />
      {attempt?.outcome === 'failed' || attempt?.outcome === 'refused' ? (
        <div className={css.answer}>
          {t('lastAnswer', { status: String(attempt.status), failure: attempt.failure ?? '–' })}
        </div>
      ) : undefined}
    </div>
  );
}
