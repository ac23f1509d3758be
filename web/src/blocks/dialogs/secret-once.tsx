/** A secret that the service tells only now: shown, to be copied, and gone when the dialog closes. Contract: WEB-77. */
import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { useTranslations } from 'use-intl';
import { FOCUS_GIVEN_BACK_MS } from '../../app/focus.ts';
import { CopyButton } from '../copies/copy-button.tsx';
import css from './secret-once.module.css';

export interface Secret {
  /** "Password", "Setup link". */
  name: string;
  value: string;
}

interface SecretOnceProperties {
  title: string;
  /** What to do with it, besides keeping it. */
  text?: ReactNode;
  /** undefined: closed. */
  secrets: readonly Secret[] | undefined;
  onClose: () => void;
}

/** Going back does not leave the page while a secret is shown. While it is asked for, its form sees to that. */
export function useStayForSecret(isShown: boolean): void {
  useBlocker({ shouldBlockFn: () => isShown, enableBeforeUnload: false });
}

export function SecretOnce({ title, text, secrets, onClose }: SecretOnceProperties) {
  const t = useTranslations('blocks');
  const isWanted = secrets !== undefined;
  const [isReady, setReady] = useState(false);
  useStayForSecret(isWanted);
  // The dialog that led here has closed, and first gives the focus back. This one gives it back to what has it when its
  // effects run: at once, before it takes the focus itself.
  useEffect(() => {
    const timer = setTimeout(() => flushSync(() => setReady(isWanted)), FOCUS_GIVEN_BACK_MS);
    return () => clearTimeout(timer);
  }, [isWanted]);
  return (
    <Modal
      opened={isWanted && isReady}
      onClose={onClose}
      title={title}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        {text === undefined ? undefined : <Text>{text}</Text>}
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
