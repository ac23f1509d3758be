/** Columns and filters of a list of deliveries. */
import { Checkbox } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useFormatter, useTranslations } from 'use-intl';
import type { Column } from '../../../blocks/list/record-table.tsx';
import { timeColumn } from '../../../blocks/list/time-column.tsx';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { useConnectionColumn } from '../connection-column.tsx';
import {
  DELIVERY_TONES,
  type Delivery,
  MANAGE,
  STATUSES,
  useConnections,
  useHeldReason,
} from '../exchange-data.ts';
import { PatientLink } from '../patient-link.tsx';

export function useFilters({
  isHeldPage,
  connection,
}: {
  isHeldPage: boolean;
  connection: string | undefined;
}) {
  const t = useTranslations('exchange');
  const connections = useConnections();
  const byName = {
    name: 'connection',
    label: t('connection'),
    kind: 'choice',
    choices: (connections ?? []).map(({ id, name }) => ({ value: id, label: name })),
  } as const;
  const byId = { name: 'connection', label: t('connectionFilter'), kind: 'text' } as const;
  const { may } = useSession();
  const status = {
    name: 'status',
    label: t('status'),
    kind: 'choice',
    choices: STATUSES.map((value) => ({ value, label: t(`statuses.${value}`) })),
  } as const;
  return [
    ...(isHeldPage ? [] : [status]),
    // Who may not read connections can still follow a link that names one.
    ...(may(MANAGE) ? [byName] : connection === undefined ? [] : [byId]),
    { name: 'patient', label: t('patientFilter'), kind: 'text' } as const,
    { name: 'since', label: t('since'), kind: 'day' } as const,
    { name: 'until', label: t('until'), kind: 'day' } as const,
  ];
}

export function useChoice({ chosen, toggle }: { chosen: readonly string[]; toggle: (id: string) => void }) {
  const t = useTranslations('exchange');
  const format = useFormatter();
  const column: Column<Delivery> = {
    name: 'choose',
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
    name: 'status',
    heading: t('status'),
    width: '8rem',
    cell: ({ status }) => <StatusBadge tone={DELIVERY_TONES[status]} label={t(`statuses.${status}`)} />,
  };
  const reason: Column<Delivery> = {
    name: 'reason',
    heading: t('reason'),
    width: '10.5rem',
    cell: ({ heldReason }) => (heldReason === null ? '–' : reasonOf(heldReason).short),
  };
  const occurred = timeColumn<Delivery>('occurred', t('occurred'), ({ occurredAt }) => occurredAt);
  return [
    isReview ? reason : status,
    {
      name: 'event',
      heading: t('event'),
      width: '9.5rem',
      cell: ({ id, event }) => (
        <Link to="/exchange/deliveries/$deliveryId" params={{ deliveryId: id }}>
          {event === 'patient.created' ? t('events.created') : t('events.updated')}
        </Link>
      ),
    },
    {
      name: 'patient',
      heading: t('patient'),
      cell: ({ patientId }) =>
        patientId === null ? t('patientHidden') : <PatientLink patientId={patientId} />,
    },
    ...connection,
    ...(isReview ? [] : [occurred]),
    timeColumn('attempt', t('attempt'), ({ lastAttempt }) => lastAttempt?.startedAt),
  ];
}
