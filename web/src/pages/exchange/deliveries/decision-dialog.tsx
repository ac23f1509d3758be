/** Asks before held deliveries are replayed or skipped, and says first how many the service means. Contract: WEB-41. */
import { Modal, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { FormButtons } from '../../../blocks/dialogs/form-buttons.tsx';
import { announce } from '../../../blocks/page/announcements.tsx';
import { useServerForm } from '../../../blocks/page/server-form.ts';
import { ServerFormFields } from '../../../blocks/page/server-form-fields.tsx';
import { readDeliveriesAgain, review, type Selection } from '../exchange-data.ts';

interface DecisionDialogProperties {
  /** undefined: closed. */
  action: 'replay' | 'skip' | undefined;
  selection: Selection;
  /** The selection is what the filters of a list mean. */
  isFiltered?: boolean;
  onClose: () => void;
}

export function DecisionDialog({ action, selection, isFiltered = false, onClose }: DecisionDialogProperties) {
  const t = useTranslations('exchange.review');
  const counted = useCount(action, selection);
  return (
    <Modal opened={action !== undefined} onClose={onClose} title={title()}>
      {action === undefined ? undefined : (
        <Decision
          {...{ action, selection, isFiltered, onClose }}
          count={counted.data?.count}
          heldAgain={action === 'replay' ? (counted.data?.heldAgain ?? 0) : 0}
          error={counted.error}
        />
      )}
    </Modal>
  );

  function title() {
    if (counted.error !== null) return t(action === 'skip' ? 'skipOne' : 'replayOne');
    if (counted.data === undefined) return t('counting');
    return t(action === 'skip' ? 'skipTitle' : 'replayTitle', { count: counted.data.count });
  }
}

/** Counted anew each time it opens: what is held changes by itself. */
function useCount(action: 'replay' | 'skip' | undefined, selection: Selection) {
  return useQuery({
    queryKey: ['held-asked', selection],
    queryFn: () => review('replay', selection, { dryRun: true }),
    enabled: action !== undefined,
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
}

interface DecisionProperties extends Required<Omit<DecisionDialogProperties, 'action'>> {
  action: 'replay' | 'skip';
  count: number | undefined;
  /** So many of them, because the connection does not cover the facility. */
  heldAgain: number;
  /** Why it could not be counted. */
  error: unknown;
}

function Decision({ action, selection, isFiltered, count, heldAgain, error, onClose }: DecisionProperties) {
  const t = useTranslations('exchange.review');
  const form = useServerForm({
    values: { reason: '' },
    submit: async ({ reason }) => {
      const done = await review(action, selection, { dryRun: false, reason });
      await readDeliveriesAgain();
      announce({ kind: 'good', text: t(action === 'skip' ? 'skipped' : 'replayed', { count: done.count }) });
      onClose();
    },
  });
  return (
    <ServerFormFields form={{ ...form, error: form.error ?? error }}>
      <Text>
        {count === 0 ? t('nothing') : t(action === 'skip' ? 'skipText' : 'replayText', { count: count ?? 0 })}
        {isFiltered && count !== 0 ? ` ${t('filtered', { count: count ?? 0 })}` : ''}
        {heldAgain > 0 ? ` ${t('heldAgain', { count: heldAgain })}` : ''}
      </Text>
      {action === 'skip' ? (
        <TextInput
          label={t('why')}
          description={t('whyHelp')}
          required
          maxLength={1_000}
          data-autofocus
          {...form.field('reason')}
        />
      ) : undefined}
      <FormButtons
        action={t(action === 'skip' ? 'skipSome' : 'replaySome', { count: count ?? 0 })}
        isSending={form.isSending}
        disabled={count === undefined || count === 0}
        isDangerous={action === 'skip'}
        onCancel={onClose}
      />
    </ServerFormFields>
  );
}
