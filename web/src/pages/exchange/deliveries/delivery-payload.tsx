/** The message of a delivery. It is read when somebody asks for it, because the patient's access log then says so. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { answered, api } from '../../../api/api.ts';
import { usePatientShown } from '../../../app/unsaved-forms.ts';
import { Section } from '../../../blocks/page/section.tsx';
import { ErrorState } from '../../../blocks/states/error-state.tsx';
import { TableSkeleton } from '../../../blocks/states/table-skeleton.tsx';
import { JsonViewer } from '../../../blocks/values/json-viewer.tsx';
import type { DeliveryDetail } from './delivery-timeline.tsx';

export function DeliveryPayload({ delivery: { id, hasPayload } }: { delivery: DeliveryDetail }) {
  const t = useTranslations('exchange.delivery');
  const [isWanted, setWanted] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['delivery-payload', id],
    queryFn: () =>
      answered(
        api.GET('/exchange/deliveries/{deliveryId}/payload', { params: { path: { deliveryId: id } } }),
      ),
    enabled: isWanted,
  });
  usePatientShown(data !== undefined);
  return (
    <Section title={t('payload')} text={hasPayload ? t('payloadText') : t('payloadGone')}>
      {content()}
    </Section>
  );

  function content() {
    if (!hasPayload) return undefined;
    if (!isWanted)
      return (
        <Button variant="default" size="xs" onClick={() => setWanted(true)}>
          {t('payloadShow')}
        </Button>
      );
    if (data !== undefined) return <JsonViewer value={data} name={t('payloadName')} />;
    if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
    return <TableSkeleton rows={4} />;
  }
}
