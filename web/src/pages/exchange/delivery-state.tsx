/** The state of a delivery. One that is tried again because its last try failed says so: it is not merely young. */
import { useTranslations } from 'use-intl';
import { StatusBadge } from '../../blocks/values/status-badge.tsx';
import { DELIVERY_TONES, type Delivery } from './exchange-data.ts';

interface DeliveryStateProperties {
  delivery: Pick<Delivery, 'status' | 'lastAttempt' | 'waitReason'>;
}

export function DeliveryState({ delivery }: DeliveryStateProperties) {
  const t = useTranslations('exchange');
  const { status, lastAttempt, waitReason } = delivery;
  if (status === 'queued' && lastAttempt?.outcome === 'failed' && waitReason === null)
    return <StatusBadge tone="warning" label={t('retrying')} />;
  return <StatusBadge tone={DELIVERY_TONES[status]} label={t(`statuses.${status}`)} />;
}
