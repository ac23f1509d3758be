/** Asks before something that cannot simply be undone: how many things it concerns, and what then happens. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { faultOfChange } from '../../app/queries.ts';
import { SendButton } from '../page/send-button.tsx';
import { CallFault } from '../states/fault.tsx';

interface ConfirmDialogProperties {
  opened: boolean;
  /** "Replay 12 deliveries?" */
  title: string;
  /** What happens, in a sentence. */
  text: ReactNode;
  /** The verb: "Replay 12". */
  action: string;
  /** Shown red, and the focus begins at Cancel. */
  isDangerous?: boolean;
  /** The dialog closes when it is done; what it throws is shown in the dialog. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

export function ConfirmDialog({
  opened,
  title,
  text,
  action,
  isDangerous = false,
  onConfirm,
  onClose,
}: ConfirmDialogProperties) {
  const t = useTranslations('blocks');
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  function close() {
    setError(undefined);
    onClose();
  }
  /** Not while it is sent: the outcome would be told to nobody, or by the next question. */
  function leave() {
    if (!isSending) close();
  }
  async function confirm() {
    setSending(true);
    setError(undefined);
    try {
      await onConfirm();
      close();
    } catch (caught) {
      setError(faultOfChange(caught));
    } finally {
      setSending(false);
    }
  }
  return (
    <Modal opened={opened} onClose={leave} title={title}>
      <Stack gap="md">
        <CallFault error={error} />
        <Text component="div">{text}</Text>
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            onClick={leave}
            disabled={isSending}
            data-autofocus={isDangerous || undefined}
          >
            {t('cancel')}
          </Button>
          <SendButton
            color={isDangerous ? 'red' : undefined}
            isSending={isSending}
            onClick={() => void confirm()}
            data-autofocus={!isDangerous || undefined}
          >
            {action}
          </SendButton>
        </Group>
      </Stack>
    </Modal>
  );
}
