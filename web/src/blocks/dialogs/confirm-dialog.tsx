/** Asks before something that cannot simply be undone: how many things it concerns, and what then happens. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
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
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: close });
  function close() {
    confirm.reset();
    onClose();
  }
  /** Not while it is sent: the outcome would be told to nobody, or by the next question. */
  function leave() {
    if (!confirm.isPending) close();
  }
  return (
    <Modal opened={opened} onClose={leave} title={title}>
      <Stack gap="md">
        <CallFault error={confirm.error} />
        <Text component="div">{text}</Text>
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            onClick={leave}
            disabled={confirm.isPending}
            data-autofocus={isDangerous || undefined}
          >
            {t('cancel')}
          </Button>
          <SendButton
            color={isDangerous ? 'red' : undefined}
            isSending={confirm.isPending}
            onClick={() => confirm.mutate()}
            data-autofocus={!isDangerous || undefined}
          >
            {action}
          </SendButton>
        </Group>
      </Stack>
    </Modal>
  );
}
