/** What a publish would send, and the publish itself. Contract: WEB-46. */
import { Button, Group, NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { queries } from '../../app/queries.ts';
import { useServiceWords } from '../../app/service-words.ts';
import { useCommands } from '../../blocks/dialogs/commands.ts';
import { ConfirmDialog } from '../../blocks/dialogs/confirm-dialog.tsx';
import { announce } from '../../blocks/page/announcements.tsx';
import { Section } from '../../blocks/page/section.tsx';
import { SendButton } from '../../blocks/page/send-button.tsx';
import { CallFault, Fault } from '../../blocks/states/fault.tsx';
import { JsonViewer } from '../../blocks/values/json-viewer.tsx';
import css from './publishing.module.css';
import { ofRecord, type Plan, type Published, type PublishedKind, useTargets } from './publishing-data.ts';

export function PublishAgain(record: { kind: PublishedKind; recordId: string }) {
  const t = useTranslations('publishing');
  const navigate = useNavigate();
  const all = useTargets();
  const targets = (all ?? []).filter(({ enabled }) => enabled);
  const [wanted, setWanted] = useState<string>();
  const [isAsking, setAsking] = useState(false);
  const target = wanted ?? (targets.find((one) => one.default) ?? targets[0])?.name;
  const query: Record<string, string> = target === undefined ? {} : { target };
  const plan = useMutation({
    mutationFn: () => ofRecord<Plan>('POST', record, { ...query, dryRun: 'true' }),
  });
  useCommands([
    { id: 'publish-look', label: t('look'), run: () => plan.mutate() },
    ...(target === undefined ? [] : [{ id: 'publish-again', label: t('again'), run: () => setAsking(true) }]),
  ]);
  async function publish() {
    try {
      type OfOrderOrSet = Pick<Published, 'published'> & { orderId?: string };
      const { orderId, published } = await ofRecord<OfOrderOrSet>('POST', record, query);
      announce({ kind: 'good', text: t('published', { count: published.length }) });
      // Another order replaced this one: the publish is in the history of that.
      if (orderId !== undefined && orderId !== record.recordId)
        await navigate({ to: '/publishing/$kind/$recordId', params: { ...record, recordId: orderId } });
    } finally {
      await queries.invalidateQueries({ queryKey: ['publications'] });
    }
  }
  return (
    <Section title={t('again')}>
      {all === undefined || targets.length > 0 ? undefined : <p>{t('noTargetInUse')}</p>}
      <Group align="flex-end" gap="xs">
        <NativeSelect
          label={t('to')}
          size="xs"
          data={targets.map(({ name }) => name)}
          value={target}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
            plan.reset();
          }}
        />
        <SendButton variant="default" size="xs" isSending={plan.isPending} onClick={() => plan.mutate()}>
          {t('look')}
        </SendButton>
        <Button size="xs" disabled={target === undefined} onClick={() => setAsking(true)}>
          {t('again')}
        </Button>
      </Group>
      <CallFault error={plan.error} />
      {plan.data === undefined ? undefined : <Planned plan={plan.data} />}
      <ConfirmDialog
        opened={isAsking}
        title={t('confirm', { target: target ?? '' })}
        text={t('confirmText')}
        action={t('again')}
        onConfirm={publish}
        onClose={() => setAsking(false)}
      />
    </Section>
  );
}

function Planned({ plan: { requests, unmapped, faults, notSent = [] } }: { plan: Plan }) {
  const t = useTranslations('publishing');
  const tBlocks = useTranslations('blocks');
  const wordsOf = useServiceWords('publishing.faults');
  const faultText = ({ resourceType, code, reference, fault }: Plan['faults'][number]) =>
    `${tBlocks('named', { name: resourceType, what: wordsOf(code, fault, { reference: reference ?? '' }) })}.`;
  const codes = unmapped.map(({ code }) => code).join(', ');
  return (
    <>
      <p role="status">
        {t('would', { count: requests.length })}. {t('lookText')}
      </p>
      {unmapped.length === 0 ? undefined : <Fault text={t('unmapped', { codes })} />}
      {faults.length === 0 ? undefined : <Fault text={faults.map(faultText).join(' ')} />}
      {notSent.length === 0 ? undefined : <p>{t('notSent', { count: notSent.length })}</p>}
      {requests.map((request) => (
        <div key={`${request.resourceType}/${request.localId}`}>
          <p className={css.request}>
            <code>
              {request.method} {request.url}
            </code>
          </p>
          {request.resource === undefined ? undefined : (
            <JsonViewer
              value={request.resource}
              name={t('request', { record: `${request.resourceType}/${request.localId}` })}
              unfolded={0}
            />
          )}
        </div>
      ))}
    </>
  );
}
