/** One connection: what the exchange must know, its settings and secrets, and what can be done. Contract: WEB-43, WEB-44. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useFormatter, useTranslations } from 'use-intl';
import { CopiedValue } from '../../../blocks/copies/copied-value.tsx';
import { PageHeader } from '../../../blocks/page/page-header.tsx';
import { Section } from '../../../blocks/page/section.tsx';
import { PageNotRead } from '../../../blocks/states/page-not-read.tsx';
import { PageSkeleton } from '../../../blocks/states/page-skeleton.tsx';
import { Details } from '../../../blocks/values/details.tsx';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import { usePurposeName } from '../../patients/purpose.tsx';
import css from '../exchange.module.css';
import { type Connection, READ_DELIVERIES, readConnection, useHeldCount } from '../exchange-data.ts';
import { ConnectionActions } from './connection-actions.tsx';
import { ConnectionSecrets } from './connection-secrets.tsx';
import { ConnectionState } from './connection-state.tsx';
import { EditConnection } from './edit-connection.tsx';

const route = getRouteApi('/shell/exchange/connections/$connectionId');

export function ConnectionPage() {
  const t = useTranslations('exchangeConnections');
  const { connectionId } = route.useParams();
  const query = useQuery(readConnection(connectionId));
  const { data, isPending } = query;
  const { session } = useSession();
  const back = <Link to="/exchange/connections">{t('back')}</Link>;
  if (isPending) return <PageSkeleton />;
  if (data === undefined) return <PageNotRead title={t('title')} back={back} query={query} />;
  const own = session.facilities.map(({ id }) => id);
  // The service refuses each change of a connection that covers another facility too.
  const isChangeable = data.facilityIds?.every((id) => own.includes(id)) ?? session.everyFacility;
  const actions = isChangeable ? <ConnectionActions connection={data} /> : undefined;
  return (
    <>
      <PageHeader
        title={data.name}
        text={isChangeable ? (data.facilityIds === null ? t('coversAll') : undefined) : t('coversOthers')}
        back={back}
        actions={actions}
      />
      <div className={css.columns}>
        <div>
          <Settings connection={data} isChangeable={isChangeable} />
          <ForExchange connection={data} isChangeable={isChangeable} />
          {data.enabled ? <Resync connectionId={data.id} /> : undefined}
        </div>
        <ConnectionSecrets connection={data} />
      </div>
    </>
  );
}

function ForExchange({ connection, isChangeable }: { connection: Connection; isChangeable: boolean }) {
  const t = useTranslations('exchangeConnections');
  const { clientId, callbackUrl, callbackHeader, identifierSystem } = connection;
  return (
    <Section title={t('forExchange')} text={t('forExchangeText', { may: String(isChangeable) })}>
      <Details
        items={[
          [t('clientId'), <CopiedValue key="client" name={t('clientId')} value={clientId} />],
          [t('callbackUrl'), <CopiedValue key="callback" name={t('callbackUrl')} value={callbackUrl} />],
          [t('callbackHeader'), <code key="header">{callbackHeader}</code>],
          [t('identifierSystem'), <code key="system">{identifierSystem}</code>],
        ]}
      />
    </Section>
  );
}

function Settings({ connection, isChangeable }: { connection: Connection; isChangeable: boolean }) {
  const t = useTranslations('exchangeConnections');
  const format = useFormatter();
  const purposeName = usePurposeName();
  const { may, session } = useSession();
  const { id, address, facilityIds, purposeOfUse, maxInFlight, timeoutMs, circuitOpenSince } = connection;
  const since =
    circuitOpenSince === null
      ? ''
      : format.dateTime(new Date(circuitOpenSince), { dateStyle: 'medium', timeStyle: 'long' });
  const facilities = facilityIds?.map(
    (one) => session.facilities.find((known) => known.id === one)?.name ?? one,
  );
  return (
    <Section
      title={t('settings')}
      actions={isChangeable ? <EditConnection connection={connection} /> : undefined}
    >
      <Details
        items={[
          [
            t('state'),
            <span key="state">
              <ConnectionState connection={connection} /> <Held connectionId={connection.id} />
              {circuitOpenSince === null ? undefined : (
                <span className={css.quiet}>{t('downSince', { since, may: String(isChangeable) })}</span>
              )}{' '}
              {circuitOpenSince === null || !may(READ_DELIVERIES) ? undefined : (
                <Link to="/exchange" search={{ connection: id, status: 'queued' }}>
                  {t('lastTries')}
                </Link>
              )}
            </span>,
          ],
          [t('address'), <code key="address">{address}</code>],
          [t('facilities'), facilities?.join(', ') ?? t('allFacilities')],
          [t('purpose'), purposeName(purposeOfUse)],
          [t('maxInFlight'), format.number(maxInFlight)],
          [t('timeout'), t('timeoutValue', { ms: timeoutMs })],
        ]}
      />
      {may(READ_DELIVERIES) ? (
        <p>
          <Link to="/exchange" search={{ connection: id }}>
            {t('deliveries')}
          </Link>
        </p>
      ) : undefined}
    </Section>
  );
}

/** Only the operator can have patients delivered who did not change. */
function Resync({ connectionId }: { connectionId: string }) {
  const t = useTranslations('exchangeConnections');
  const command = `npx interchange connection resync --id ${connectionId}`;
  return (
    <Section title={t('resync')} text={t('resyncText')}>
      <CopiedValue name={t('command')} value={command} />
    </Section>
  );
}

/** How many of its deliveries are held at the facility, with the way to them for who may read them. */
function Held({ connectionId }: { connectionId: string }) {
  const t = useTranslations('exchangeConnections');
  const { may } = useSession();
  const count = useHeldCount({ connectionId });
  if (count === undefined || count === 0) return undefined;
  const badge = <StatusBadge tone="warning" label={t('held', { count })} />;
  if (!may(READ_DELIVERIES)) return badge;
  return (
    <Link to="/exchange/held" search={{ connection: connectionId }}>
      {badge}
    </Link>
  );
}
