/** Whether a connection delivers, and whether a new secret of it waits for somebody. */
import { useTranslations } from 'use-intl';
import { StatusBadge } from '../../../blocks/values/status-badge.tsx';
import css from '../exchange.module.css';
import type { Connection } from '../exchange-data.ts';

export function ConnectionState({ connection }: { connection: Connection }) {
  const t = useTranslations('exchangeConnections');
  return (
    <span className={css.badges}>
      {badge()}
      {hasWaitingSecret(connection) ? <StatusBadge tone="warning" label={t('secretWaits')} /> : undefined}
    </span>
  );

  function badge() {
    if (!connection.enabled) return <StatusBadge tone="quiet" label={t('states.disabled')} />;
    if (connection.circuitOpenSince !== null) return <StatusBadge tone="bad" label={t('states.down')} />;
    return <StatusBadge tone="good" label={t('states.up')} />;
  }
}

/** A new outbound secret was made, and does not sign yet. */
export function hasWaitingSecret({ secrets }: Connection): boolean {
  return secrets.some(({ direction, activeFrom }) => direction === 'outbound' && activeFrom === null);
}
