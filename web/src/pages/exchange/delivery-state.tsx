/** The state of a delivery. One that is queued because its last try failed says so: it is not merely young. */
import { useTranslations } from 'use-intl';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { DELIVERY_TONES, type Delivery } from './exchange-data.ts';

export function DeliveryState({ delivery }: { delivery: Pick<Delivery, 'status' | 'lastAttempt'> }) {
  const t = useTranslations('exchange');
  const { status, lastAttempt } = delivery;
  if (status === 'queued' && lastAttempt?.outcome === 'failed')
    return <StatusBadge tone="warning" label={t('retrying')} />;
  return <StatusBadge tone={DELIVERY_TONES[status]} label={t(`statuses.${status}`)} />;
}
