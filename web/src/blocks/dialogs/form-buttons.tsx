/** At the end of a form in a dialog: leave it, or send it. */
import { Button, Group } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { SendButton } from '../page/send-button.tsx';

interface FormButtonsProperties {
  /** The verb that sends the form: "Save". */
  action: string;
  isSending: boolean;
  /** It cannot be sent as it is. */
  disabled?: boolean;
  /** Shown red. */
  isDangerous?: boolean;
  onCancel: () => void;
}

export function FormButtons({
  action,
  isSending,
  disabled = false,
  isDangerous = false,
  onCancel,
}: FormButtonsProperties) {
  const t = useTranslations('blocks');
  return (
    <Group justify="flex-end" gap="xs">
      <Button variant="default" onClick={onCancel}>
        {t('cancel')}
      </Button>
      <SendButton
        type="submit"
        color={isDangerous ? 'red' : undefined}
        isSending={isSending}
        disabled={disabled}
      >
        {action}
      </SendButton>
    </Group>
  );
}
