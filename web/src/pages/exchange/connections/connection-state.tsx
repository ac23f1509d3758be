/** Whether a connection delivers, and whether something of it waits for somebody. */
import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import { useSession } from '../../../shell/session-context.tsx';
import css from '../exchange.module.css';
import { type Connection, READ_DELIVERIES, useHeldCount } from '../exchange-data.ts';

export function ConnectionState({ connection }: { connection: Connection }) {
  const t = useTranslations('exchangeConnections');
  const held = useHeldCount();
  return (
    <span className={css.badges}>
      {badge()}
      {hasWaitingSecret(connection) ? <StatusBadge tone="warning" label={t('secretWaits')} /> : undefined}
      {/* Of the facility. Where none is held, no connection is asked for by itself. */}
      {held === undefined || held === 0 ? undefined : <Held connectionId={connection.id} />}
    </span>
  );

  function badge() {
    if (!connection.enabled) return <StatusBadge tone="quiet" label={t('states.disabled')} />;
    if (connection.circuitOpenSince !== null) return <StatusBadge tone="bad" label={t('states.down')} />;
    return <StatusBadge tone="good" label={t('states.up')} />;
  }
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

/** A new outbound secret was made, and does not sign yet. */
export function hasWaitingSecret({ secrets }: Connection): boolean {
  return secrets.some(({ direction, activeFrom }) => direction === 'outbound' && activeFrom === null);
}
