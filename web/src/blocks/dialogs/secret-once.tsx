/** A secret that the service tells only now: shown, to be copied, and gone when the dialog closes. */
import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useTranslations } from 'use-intl';
import { CopyButton } from '../values/copy-button.tsx';
import css from './secret-once.module.css';

export interface Secret {
  /** "Password", "Setup link". */
  name: string;
  value: string;
}

interface SecretOnceProperties {
  title: string;
  /** undefined: closed. */
  secrets: readonly Secret[] | undefined;
  onClose: () => void;
}

export function SecretOnce({ title, secrets, onClose }: SecretOnceProperties) {
  const t = useTranslations('blocks');
  return (
    <Modal
      opened={secrets !== undefined}
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Text>{t('secretOnce')}</Text>
        {secrets?.map(({ name, value }) => (
          <div key={name}>
            <div className={css.name}>{name}</div>
            <div className={css.line}>
              <Code className={css.value}>{value}</Code>
              <CopyButton text={value} label={t('copyNamed', { name })} />
            </div>
          </div>
        ))}
        <Group justify="flex-end">
          <Button onClick={onClose}>{t('secretKept')}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
