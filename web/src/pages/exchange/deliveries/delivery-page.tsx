/** One delivery: what it is, what happened to it, and what can be done. Contract: WEB-42, WEB-65. */
import { Button } from '@mantine/core';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { queries } from '../../../app/queries.ts';
import { BY_ITSELF, useWatch } from '../../../app/watch.ts';
import { CopiedValue } from '../../../blocks/copies/copied-value.tsx';
import { CopyButton } from '../../../blocks/copies/copy-button.tsx';
import { useCommands } from '../../../blocks/dialogs/commands.ts';
import { PageHeader } from '../../../blocks/page/page-header.tsx';
import { Section } from '../../../blocks/page/section.tsx';
import { CallFault } from '../../../blocks/states/fault.tsx';
import { PageNotRead } from '../../../blocks/states/page-not-read.tsx';
import { PageSkeleton } from '../../../blocks/states/page-skeleton.tsx';
import { Details } from '../../../blocks/values/details.tsx';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import { ZonedTime } from '../../../blocks/values/zoned-time.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { DeliveryState } from '../delivery-state.tsx';
import css from '../exchange.module.css';
import { READ_PAYLOADS, REVIEW, useConnections, useHeldReason } from '../exchange-data.ts';
import { PatientLink } from '../patient-link.tsx';
import { DecisionDialog } from './decision-dialog.tsx';
import { DeliveryPayload } from './delivery-payload.tsx';
import {
  type DeliveryAsRead,
  type DeliveryDetail,
  DeliveryTimeline,
  nextWord,
} from './delivery-timeline.tsx';

const route = getRouteApi('/shell/exchange/deliveries/$deliveryId');

/** One that is queued is sent soon; who has just replayed it waits to see that. */
const WATCH_MS = 2_000;

function readDelivery(deliveryId: string, headers = {}) {
  return queryOptions({
    queryKey: ['delivery', deliveryId],
    queryFn: () =>
      answered(api.GET('/exchange/deliveries/{deliveryId}', { params: { path: { deliveryId } }, headers })),
  });
}

export function DeliveryPage() {
  const t = useTranslations('exchange.delivery');
  const { deliveryId } = route.useParams();
  const { may } = useSession();
  const query = useQuery(readDelivery(deliveryId));
  const { data, dataUpdatedAt, error, isPending } = query;
  useWatch({
    isOn: data?.status === 'queued',
    error,
    everyMs: WATCH_MS,
    read: () => queries.fetchQuery({ ...readDelivery(deliveryId, BY_ITSELF), staleTime: 0 }),
  });
  const back = <Link to="/exchange">{t('back')}</Link>;
  if (isPending) return <PageSkeleton />;
  if (data === undefined) return <PageNotRead title={t('title')} back={back} query={query} />;
  return (
    <>
      <Head delivery={data} back={back} />
      <CallFault error={error} />
      <div className={css.columns}>
        <div>
          <What delivery={data} readAt={dataUpdatedAt} />
          {may(READ_PAYLOADS) ? <DeliveryPayload delivery={data} /> : undefined}
        </div>
        <Section title={t('history')} text={t('historyText')}>
          <DeliveryTimeline delivery={data} readAt={dataUpdatedAt} />
        </Section>
      </div>
    </>
  );
}

function Head({ delivery, back }: { delivery: DeliveryDetail; back: ReactNode }) {
  const t = useTranslations('exchange');
  const { may } = useSession();
  const reasonOf = useHeldReason();
  const [action, setAction] = useState<'replay' | 'skip'>();
  const { id, event, status, heldReason } = delivery;
  const mayDecide = status === 'held' && may(REVIEW);
  useCommands(
    mayDecide
      ? [
          { id: 'delivery-replay', label: t('review.replayOne'), run: () => setAction('replay') },
          { id: 'delivery-skip', label: t('review.skipOne'), run: () => setAction('skip') },
        ]
      : [],
  );
  return (
    <>
      <PageHeader
        title={event === 'patient.created' ? t('events.created') : t('events.updated')}
        text={heldReason === null ? undefined : reasonOf(heldReason).help}
        back={back}
        actions={
          mayDecide ? (
            <>
              <Button variant="default" onClick={() => setAction('skip')}>
                {t('review.skipOne')}
              </Button>
              <Button onClick={() => setAction('replay')}>{t('review.replayOne')}</Button>
            </>
          ) : undefined
        }
      />
      <DecisionDialog
        action={action}
        selection={{ deliveryIds: [id] }}
        onClose={() => setAction(undefined)}
      />
    </>
  );
}

function What({ delivery, readAt }: DeliveryAsRead) {
  const t = useTranslations('exchange');
  const copy = useTranslations('blocks');
  const connectionWords = useTranslations('exchangeConnections');
  const connections = useConnections();
  const reasonOf = useHeldReason();
  const { id, heldReason, connectionId, connectionName, connectionEnabled } = delivery;
  const { patientId, sequence, occurredAt, nextAttemptAt, waitReason, waitsForId } = delivery;
  // Who may not manage connections has no page to follow the name to.
  const isManaged = connections?.some((one) => one.id === connectionId) === true;
  return (
    <Section title={t('delivery.what')}>
      <Details
        items={[
          [
            t('status'),
            <span key="status" className={css.badges}>
              <DeliveryState delivery={delivery} />
              {heldReason === null ? undefined : reasonOf(heldReason).short}
            </span>,
          ],
          waitReason === null
            ? undefined
            : [t('waits.label'), <WaitsFor key="waits" reason={waitReason} waitsForId={waitsForId} />],
          nextAttemptAt === null || waitReason !== null
            ? undefined
            : [
                t(`delivery.${nextWord(nextAttemptAt, readAt)}`),
                <ZonedTime key="next" at={nextAttemptAt} to="second" />,
              ],
          [t('delivery.confirmation'), <Confirmation key="confirmation" delivery={delivery} />],
          [t('occurred'), <ZonedTime key="occurred" at={occurredAt} to="second" />],
          [
            t('patient'),
            patientId === null ? (
              t('patientHidden')
            ) : (
              <span key="patient" className={css.copied}>
                <PatientLink patientId={patientId} />
                <CopyButton text={patientId} label={copy('copyNamed', { name: t('patient') })} />
              </span>
            ),
          ],
          [
            t('connection'),
            <span key="connection" className={css.badges}>
              {isManaged ? (
                <Link to="/exchange/connections/$connectionId" params={{ connectionId }}>
                  {connectionName}
                </Link>
              ) : (
                <span>{connectionName}</span>
              )}
              {connectionEnabled ? undefined : (
                <StatusBadge tone="quiet" label={connectionWords('states.disabled')} />
              )}
            </span>,
          ],
          [t('delivery.sequence'), t('delivery.sequenceText', { number: String(sequence) })],
          [t('delivery.id'), <CopiedValue key="id" name={t('delivery.id')} value={id} />],
        ]}
      />
    </Section>
  );
}

/** A reason that this console does not know, of a newer service, is shown as its code. */
function WaitsFor({ reason, waitsForId }: { reason: string; waitsForId: string | null }) {
  const t = useTranslations('exchange.waits');
  const text = t.has(reason as never) ? t(reason as never) : reason;
  if (waitsForId === null) return text;
  return (
    <Link to="/exchange/deliveries/$deliveryId" params={{ deliveryId: waitsForId }}>
      {text}
    </Link>
  );
}

function Confirmation({ delivery: { confirmation } }: { delivery: DeliveryDetail }) {
  const t = useTranslations('exchange.delivery');
  if (confirmation === null) return t('noConfirmation');
  if (confirmation.status !== 'accepted') return t('rejected');
  return t('accepted', { id: confirmation.assignedId ?? '–' });
}
